package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`^#{1,6} +(.*)$`)
	code    = regexp.MustCompile("`[^`]*`")
)

// TestLinksLeadSomewhere checks the files, and the headings in them, that documents refer to.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, d := range documents(t) {
		d.prose(func(number int, line string) {
			for _, found := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
				if strings.Contains(found[1], "://") || strings.HasPrefix(found[1], "mailto:") {
					continue
				}
				file, anchor, _ := strings.Cut(found[1], "#")
				path := filepath.Join(root(t), d.path)
				if file != "" {
					path = filepath.Join(filepath.Dir(path), file)
				}
				if _, err := os.Stat(path); err != nil {
					t.Errorf("%s:%d: there is no %s", d.path, number, file)
				} else if anchor != "" && !slices.Contains(read(t, path).anchors(), anchor) {
					t.Errorf("%s:%d: %s has no heading #%s", d.path, number, filepath.Base(path), anchor)
				}
			}
		})
	}
}

// TestPathsThatAreNamedExist checks every path of this repository in running text. What npm and make write is not there yet.
func TestPathsThatAreNamedExist(t *testing.T) {
	path := regexp.MustCompile(`^(api|clients|cmd|config|dist|docs|examples|hack|internal|pkg|test)/[\w./-]+$`)
	checked := 0
	for _, d := range documents(t) {
		d.prose(func(number int, line string) {
			for _, span := range code.FindAllString(line, -1) {
				name := strings.Trim(span, "`")
				if !path.MatchString(name) {
					continue
				}
				checked++
				if _, err := os.Stat(filepath.Join(root(t), name)); err != nil {
					t.Errorf("%s:%d: there is no %s", d.path, number, name)
				}
			}
		})
	}
	if checked < 50 {
		t.Errorf("only %d paths were found", checked)
	}
}

// anchors returns what the headings are called in links, as GitHub makes it.
func (d *document) anchors() []string {
	var anchors []string
	d.prose(func(_ int, line string) {
		if found := heading.FindStringSubmatch(line); found != nil {
			kept := strings.Map(func(r rune) rune {
				switch {
				case r == ' ':
					return '-'
				case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127 && r != '→' && r != '’' && r != '“' && r != '”' && r != '…':
					return r
				}
				return -1
			}, strings.ToLower(found[1]))
			anchors = append(anchors, kept)
		}
	})
	return anchors
}

// TestTargetsThatAreNamedExist checks every `make …` in running text; those in blocks are checked with their commands.
func TestTargetsThatAreNamedExist(t *testing.T) {
	targets := makeTargets(t)
	for _, d := range documents(t) {
		d.prose(func(number int, line string) {
			for _, span := range code.FindAllString(line, -1) {
				words := strings.Fields(strings.Trim(span, "`"))
				for i, word := range words {
					if i > 0 && words[0] == "make" && !strings.Contains(word, "=") && !slices.Contains(targets, word) {
						t.Errorf("%s:%d: the Makefile has no target %s", d.path, number, word)
					}
				}
			}
		})
	}
}

// TestNamesOfKeys checks each row of a table whose first two cells are a key and a name.
func TestNamesOfKeys(t *testing.T) {
	row := regexp.MustCompile("^\\| `([^`]+)` \\| `([a-z0-9-]+)` \\|")
	checked := 0
	for _, d := range documents(t) {
		under := ""
		d.prose(func(number int, line string) {
			if found := heading.FindStringSubmatch(line); found != nil {
				under = found[1]
			}
			if found := row.FindStringSubmatch(line); found != nil && strings.HasPrefix(under, "Keys") {
				checked++
				if name, err := v1alpha1.NameForKey(found[1]); name != found[2] {
					t.Errorf("%s:%d: the name of %q is %q (%v)", d.path, number, found[1], name, err)
				}
			}
		})
	}
	if checked == 0 {
		t.Error("no table of keys and names was found")
	}
}

// TestReasonsThatAreNamed checks every `Phase/Reason` in the documents.
func TestReasonsThatAreNamed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "api", "v1alpha1", "reason.go"))
	if err != nil {
		t.Fatal(err)
	}
	pair := regexp.MustCompile(`\b(Pending|Processing|Success|Failed)/([A-Z]\w+)`)
	for _, d := range documents(t) {
		for i, line := range d.lines {
			for _, found := range pair.FindAllStringSubmatch(line, -1) {
				if !strings.Contains(string(text), `Reason = "`+found[2]+`"`) {
					t.Errorf("%s:%d: there is no reason %s", d.path, i+1, found[2])
				}
			}
		}
	}
}

// TestTestsThatAreNamedExist checks what documents give as evidence: names of tests, `demo: name of a step` and
// `spec: text of a spec`.
func TestTestsThatAreNamedExist(t *testing.T) {
	tests, steps := sources(t)
	named := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	quoted := regexp.MustCompile("`(demo|spec): ([^`]+)`")
	for _, d := range documents(t) {
		d.prose(func(number int, line string) {
			for _, name := range named.FindAllString(line, -1) {
				if !strings.Contains(tests, "func "+name+"(") {
					t.Errorf("%s:%d: there is no %s", d.path, number, name)
				}
			}
			for _, found := range quoted.FindAllStringSubmatch(line, -1) {
				in := tests
				if found[1] == "demo" {
					in = steps
				}
				if !strings.Contains(in, `"`+found[2]+`"`) {
					t.Errorf("%s:%d: there is no %s %q", d.path, number, found[1], found[2])
				}
			}
		})
	}
}

// sources returns the text of all tests, and that of the demo's steps.
func sources(t *testing.T) (tests, steps string) {
	t.Helper()
	var all, demo strings.Builder
	err := filepath.WalkDir(root(t), func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "tmp" || name == "bin" || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		}
		into := &all
		switch {
		case strings.HasSuffix(name, "_test.go"):
		case filepath.Base(filepath.Dir(path)) == "demo" && strings.HasPrefix(name, "steps"):
			into = &demo
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		into.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String(), demo.String()
}
