// Package docs_test keeps the documentation true: its manifests are applied to a real API server, its kubectl commands
// are run there beside the real operator, and what it names (files, headings, make targets, tests, names of keys) must
// be there.
package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/test/harness"
)

// document is one Markdown file.
type document struct {
	path   string // relative to the repository
	lines  []string
	blocks []block
}

// block is a fenced block. Lines are counted from 0 here, and from 1 wherever a person reads them.
type block struct {
	language    string
	open, close int // the lines of the fences
}

var fence = regexp.MustCompile("^( *)```+ *([a-z]*)")

func root(t *testing.T) string {
	t.Helper()
	dir, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// documents returns what users read: the Markdown files in the repository's folder and in docs.
func documents(t *testing.T) []*document {
	t.Helper()
	var all []*document
	for _, pattern := range []string{"README.md", "*.md", "docs/*.md", "docs/effects/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if pattern != "*.md" || filepath.Base(path) != "README.md" {
				all = append(all, read(t, path))
			}
		}
	}
	if len(all) < 2 {
		t.Fatal("there are no documents")
	}
	return all
}

func read(t *testing.T, path string) *document {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name, err := filepath.Rel(root(t), path)
	if err != nil {
		t.Fatal(err)
	}
	d := &document{path: name, lines: strings.Split(string(text), "\n")}
	for i := 0; i < len(d.lines); i++ {
		found := fence.FindStringSubmatch(d.lines[i])
		if found == nil {
			continue
		}
		b := block{language: found[2], open: i, close: i + 1}
		for b.close < len(d.lines) && strings.TrimSpace(d.lines[b.close]) != "```" {
			d.lines[b.close] = strings.TrimPrefix(d.lines[b.close], found[1]) // a block inside a list
			b.close++
		}
		if b.close == len(d.lines) {
			t.Fatalf("%s:%d: the block is not closed", name, i+1)
		}
		d.blocks = append(d.blocks, b)
		i = b.close
	}
	return d
}

// text returns the inside of a block.
func (d *document) text(b block) string { return strings.Join(d.lines[b.open+1:b.close], "\n") }

// prose calls visit for each line outside of blocks, counted from 1.
func (d *document) prose(visit func(number int, line string)) {
	next := 0
	for i, line := range d.lines {
		if next < len(d.blocks) && i >= d.blocks[next].open {
			if i == d.blocks[next].close {
				next++
			}
			continue
		}
		visit(i+1, line)
	}
}
