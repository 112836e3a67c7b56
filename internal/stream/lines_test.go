package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// stopped is a stream whose reader stands still until it is told to go on.
type stopped struct {
	bytes.Buffer
	goOn chan struct{}
}

func (s *stopped) Write(text []byte) (int, error) {
	<-s.goOn
	return s.Buffer.Write(text)
}

// isUnderWay reports whether a line is that the stream has not taken.
func (l *Lines) isUnderWay() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.under != nil && len(l.under) == 0
}

// TestAReaderThatStandsStill holds up one line, and all that wait beside it for no longer.
func TestAReaderThatStandsStill(t *testing.T) {
	reader := &stopped{goOn: make(chan struct{})}
	lines := NewLines(reader)
	lines.patience = 10 * time.Millisecond
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			if _, err := lines.Write([]byte("a line\n")); !errors.Is(err, errStalled) {
				t.Errorf("got %v", err)
			}
		})
	}
	all.Wait()
	lines.patience = time.Hour
	if _, err := lines.Write([]byte("a line\n")); !errors.Is(err, errStalled) {
		t.Errorf("afterwards: got %v", err)
	}
	close(reader.goOn)
	for lines.isUnderWay() {
		runtime.Gosched()
	}
	if _, err := lines.Write([]byte("the next\n")); err != nil || reader.String() != "a line\nthe next\n" {
		t.Errorf("when it is read again: %v, and it took %q", err, reader.String())
	}
}

// torn is a stream that takes a part of what it is told to, and then all.
type torn struct {
	bytes.Buffer
	part int
}

func (s *torn) Write(text []byte) (int, error) {
	if s.part >= 0 {
		n, _ := s.Buffer.Write(text[:s.part])
		s.part = -1
		return n, errors.New("no space left on device")
	}
	return s.Buffer.Write(text)
}

func TestALineThatIsTornOffEndsBeforeTheNext(t *testing.T) {
	for part, want := range map[int]string{0: "two\n", 2: "on\ntwo\n"} {
		stream := &torn{part: part}
		lines := NewLines(stream)
		if n, err := lines.Write([]byte("one\n")); err == nil || n != 0 {
			t.Errorf("%d bytes, %v", n, err)
		}
		if n, err := fmt.Fprintln(lines, "two"); err != nil || n != len("two\n") || stream.String() != want {
			t.Errorf("after %d bytes of the first: %d, %v, and it took %q", part, n, err, stream.String())
		}
	}
}

// TestAPipeThatNobodyReads is the same with a real one, which holds some lines before it is full.
func TestAPipeThatNobodyReads(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	lines := NewLines(writer)
	lines.patience = 10 * time.Millisecond
	line := append(bytes.Repeat([]byte("x"), 999), '\n')
	written := 0
	for ; err == nil; written++ {
		_, err = lines.Write(line)
	}
	if !errors.Is(err, errStalled) {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(reader) // an error shows in the text
		read <- string(text)
	}()
	for lines.isUnderWay() {
		runtime.Gosched()
	}
	lines.patience = time.Hour
	if _, err := lines.Write([]byte("the last\n")); err != nil {
		t.Error(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := <-read, strings.Repeat(string(line), written)+"the last\n"; got != want {
		t.Errorf("read %d bytes; want %d", len(got), len(want))
	}
}
