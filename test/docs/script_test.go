package docs_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// elsewhere are the documents whose commands test/install runs: they install, upgrade and uninstall.
var elsewhere = []string{"docs/install.md", "docs/security.md", "docs/uninstall.md", "docs/upgrade.md"}

// script turns a document into a bash script of as many lines, so that bash's line numbers are the document's: kubectl
// commands are kept, manifests are applied, and everything else is left blank. What it does not know is a fault.
func (d *document) script(t *testing.T) string {
	t.Helper()
	if slices.Contains(elsewhere, d.path) {
		return ""
	}
	out := make([]string, len(d.lines))
	for _, b := range d.blocks {
		switch b.language {
		case "sh":
			d.commands(t, b, out)
		case "yaml":
			d.manifests(t, b, out)
		case "bash", "shell", "yml":
			t.Errorf("%s:%d: say sh, yaml or console instead of %s, so that it is tested", d.path, b.open+1, b.language)
		}
	}
	if strings.Join(out, "") == "" {
		return ""
	}
	out[0] = fmt.Sprintf("PS4='+ %s:$LINENO: '; set -x", d.path) // a document begins with its title
	return strings.Join(out, "\n")
}

// others are what may begin a command that is not run here.
var others = []string{"cd", "cat", "export", "git", "go", "hack/modules.sh"}

var (
	runs    = regexp.MustCompile(`^(kubectl |\w+=\$\(kubectl |sed .*\| kubectl )`)
	heredoc = regexp.MustCompile(`<<-?\s*["']?(\w+)["']?`)
)

// commands copies a block's kubectl commands, each with the lines that it goes on in.
func (d *document) commands(t *testing.T, b block, out []string) {
	t.Helper()
	targets := makeTargets(t)
	for i := b.open + 1; i < b.close; i++ {
		first, end := d.lines[i], d.endOfCommand(i)
		word, rest, _ := strings.Cut(strings.TrimSpace(first), " ")
		switch {
		case word == "" || word == "#":
		case runs.MatchString(first):
			copy(out[i:end+1], d.lines[i:end+1])
		case word == "make":
			for _, target := range strings.Fields(strings.SplitN(rest, "#", 2)[0]) {
				if !strings.Contains(target, "=") && !slices.Contains(targets, target) {
					t.Errorf("%s:%d: the Makefile has no target %s", d.path, i+1, target)
				}
			}
		case !slices.Contains(others, word):
			t.Errorf("%s:%d: this test does not know what to do with %q", d.path, i+1, first)
		}
		i = end
	}
}

// endOfCommand returns the last line of a command that goes on after a backslash or with a here-document.
func (d *document) endOfCommand(i int) int {
	var ends string
	for ; ; i++ {
		line := d.lines[i]
		switch found := heredoc.FindStringSubmatch(line); {
		case ends != "":
			if line == ends {
				return i
			}
		case found != nil:
			ends = found[1]
		case !strings.HasSuffix(line, `\`):
			return i
		}
	}
}

// manifests has a block applied that holds objects of ours. Any other YAML must be YAML.
func (d *document) manifests(t *testing.T, b block, out []string) {
	t.Helper()
	objects, err := decode(d.text(b))
	if err != nil {
		t.Errorf("%s:%d: %v", d.path, b.open+1, err)
		return
	}
	if path, ok := strings.CutPrefix(d.lines[b.open+1], "# config/"); ok {
		d.sameAsFile(t, b, filepath.Join(root(t), "config", path), objects)
	}
	ours := func(object map[string]any) bool {
		version, _ := object["apiVersion"].(string)
		return strings.HasPrefix(version, "taskonce.dev/")
	}
	if slices.ContainsFunc(objects, ours) {
		copy(out[b.open:b.close+1], d.lines[b.open:b.close+1])
		out[b.open], out[b.close] = "kubectl apply --validate=strict -f - <<'END-OF-BLOCK'", "END-OF-BLOCK"
	}
}

// sameAsFile compares a block that begins with the name of a file with that file.
func (d *document) sameAsFile(t *testing.T, b block, path string, objects []map[string]any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%s:%d: %v", d.path, b.open+2, err)
		return
	}
	if there, err := decode(string(text)); err != nil || !reflect.DeepEqual(there, objects) {
		t.Errorf("%s:%d: %s says something else than the document (%v)", d.path, b.open+2, filepath.Base(path), err)
	}
}

func decode(text string) ([]map[string]any, error) {
	var objects []map[string]any
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		var object map[string]any
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

var target = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)

func makeTargets(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, found := range target.FindAllStringSubmatch(string(text), -1) {
		targets = append(targets, found[1])
	}
	return targets
}
