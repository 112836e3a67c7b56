// Package ledger is the log of the demo's receiver: one line of JSON for everything that reached it, written and
// synced before anything is answered. What a run of the demo came to is judged from this file.
package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// Kind says what an entry is.
type Kind string

const (
	// Call is a request for an effect, logged when all of it was read.
	Call Kind = "call"
	// Effect is a real effect: something that must happen once.
	Effect Kind = "effect"
	// Check is a question whether an effect happened, logged with what it is answered.
	Check Kind = "check"
)

// Entry is one line of the log.
type Entry struct {
	Time time.Time `json:"time"`
	Kind Kind      `json:"kind"`
	// Path of the request; its first segment is the behaviour that was asked for.
	Path string `json:"path"`
	// Key is the decoded Idempotency-Key; of a check, the key that it asks about.
	Key string `json:"key"`
	// BusinessKey is what the header Business-Key said.
	BusinessKey string `json:"businessKey,omitempty"`
	// Attempt is the header Taskonce-Attempt.
	Attempt string `json:"attempt,omitempty"`
	// Traceparent is the W3C trace context of the request.
	Traceparent string `json:"traceparent,omitempty"`
	// Amount is the body's member "amount", digit for digit.
	Amount json.Number `json:"amount,omitempty"`
	// Receipt numbers the effects.
	Receipt int `json:"receipt,omitempty"`
	// Status is the answer of a check.
	Status int `json:"status,omitempty"`
}

// Log appends entries to a file. It is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	file *os.File
}

// Open opens a log for appending, and makes it where there is none.
func Open(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	return &Log{file: file}, nil
}

// Append gives the entry the present time and returns when it is on the disk.
func (l *Log) Append(entry Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	entry.Time = time.Now().UTC()
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return l.file.Sync()
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// Read returns the entries of a log in the order in which they were written. A last line without its end is being
// written and is left out.
func Read(path string) ([]Entry, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	raw = raw[:bytes.LastIndexByte(raw, '\n')+1]
	var entries []Entry
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		var entry Entry
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			return nil, fmt.Errorf("line %d of the receiver's log: %w", len(entries)+1, err)
		}
		entries = append(entries, entry)
	}
	return entries, lines.Err()
}

// Select returns the entries of one kind and key.
func Select(entries []Entry, kind Kind, key string) []Entry {
	var found []Entry
	for _, entry := range entries {
		if entry.Kind == kind && entry.Key == key {
			found = append(found, entry)
		}
	}
	return found
}
