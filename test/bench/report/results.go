// Package report is what the bench measured, as files of samples, and what follows from them: medians, goals, a table, a
// page and its pictures. It measures nothing, so whoever has the files gets the same figures.
package report

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Sections, each a file of its own and measured in a control plane of its own.
const (
	SectionRate     = "rate"     // submissions a second, beside a bare client
	SectionGentle   = "gentle"   // latency where nothing waits for anything
	SectionWays     = "ways"     // requests of each way through the lifecycle
	SectionPeer     = "peer"     // Jobs
	SectionWebhook  = "webhook"  // with admission, and without
	SectionSlow     = "slow"     // a fast receiver beside a slow one
	SectionStampede = "stampede" // duplicates of one key, beside others
	SectionMemory   = "memory"   // of the operator: idle, with work, after work
	SectionLong     = "long"     // memory of the operator before and after a long run
	SectionHistory  = "history"  // starts on what has finished, and what a killed process left
	SectionTogether = "together" // two active operators
	SectionGateway  = "gateway"  // through the HTTP gateway, beside pkg/submit
)

// Sides of a comparison.
const (
	Operator  = "operator"
	Bare      = "bare client"
	Jobs      = "jobs"
	With      = "with"
	Without   = "without"
	Duplicate = "duplicates"
	Unseen    = "duplicates, without the webhooks"
	Refused   = "refused creates"
	Gateway   = "gateway"
	Library   = "pkg/submit"
)

// Section is what was measured of one question.
type Section struct {
	Name        string       `json:"name"`
	Machine     Machine      `json:"machine"`
	Comparisons []Comparison `json:"comparisons"`
}

// Machine is where it was measured, and of which version.
type Machine struct {
	Processors int    `json:"processors"`
	Model      string `json:"model,omitempty"`
	Go         string `json:"go"`
	Version    string `json:"version,omitempty"` // of this repository
	Date       string `json:"date"`
}

// Comparison is what is compared, in pairs that are measured in turns.
type Comparison struct {
	Name  string `json:"name"`
	Pairs []Pair `json:"pairs"`
	// Profiles are those of the sides, taken apart from the pairs.
	Profiles map[string]Profile `json:"profiles,omitempty"`
}

// Pair is each side, measured once, one right after the other.
type Pair struct {
	First string            `json:"first"` // the side that was measured first
	Sides map[string]Sample `json:"sides"`
}

// Results is everything that was measured, by section.
type Results map[string]*Section

// Path returns the file of a section.
func Path(dir, section string) string { return filepath.Join(dir, section+".json") }

// Read returns what a folder has.
func Read(dir string) (Results, error) {
	results := Results{}
	for _, name := range []string{
		SectionRate, SectionGentle, SectionWays, SectionPeer, SectionWebhook, SectionSlow, SectionStampede, SectionMemory, SectionLong, SectionHistory, SectionTogether, SectionGateway,
	} {
		section := &Section{}
		text, err := os.ReadFile(Path(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, section); err != nil {
			return nil, errors.Join(errors.New(Path(dir, name)), err)
		}
		results[name] = section
	}
	return results, nil
}

// Write stores a section in a folder.
func (s *Section) Write(dir string) error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return os.WriteFile(Path(dir, s.Name), append(text, '\n'), 0o600)
}

// Remove removes sections from a folder, as far as it has them.
func Remove(dir string, sections []string) (err error) {
	for _, name := range sections {
		if failed := os.Remove(Path(dir, name)); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// Of returns a comparison, which is added where it is missing.
func (s *Section) Of(comparison string) *Comparison {
	for i := range s.Comparisons {
		if s.Comparisons[i].Name == comparison {
			return &s.Comparisons[i]
		}
	}
	s.Comparisons = append(s.Comparisons, Comparison{Name: comparison})
	return &s.Comparisons[len(s.Comparisons)-1]
}

// Faults returns what is wrong with what was measured, which is another thing than being slow.
func (r Results) Faults() (faults []string) {
	for _, name := range sortedKeys(r) {
		for _, comparison := range r[name].Comparisons {
			for _, pair := range comparison.Pairs {
				for _, side := range sortedKeys(pair.Sides) {
					for _, fault := range pair.Sides[side].Faults {
						faults = append(faults, name+", "+comparison.Name+", "+side+": "+fault)
					}
				}
			}
		}
	}
	return faults
}
