package install_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// inline is code within a sentence.
var inline = regexp.MustCompile("`([^`\n]+)`")

// others are flags of other programs that the pages speak of.
var others = []string{"--server-side", "--reset-then-reuse-values", "--set", "--take-ownership", "--force-conflicts"}

// TestWhatThePagesNameExists looks up every flag, value and file that the pages name in their sentences.
func TestWhatThePagesNameExists(t *testing.T) {
	w := newWorld(t)
	flags := w.read("docs/flags.md")
	var defaults map[string]any
	w.must(yaml.Unmarshal([]byte(w.read("dist/chart/values.yaml")), &defaults))
	seen := 0
	for _, page := range append([]string{"docs/audit.md", "docs/backup.md"}, pages...) {
		for _, found := range inline.FindAllStringSubmatch(w.read(page), -1) {
			name, _, _ := strings.Cut(found[1], " ")
			name = strings.TrimRight(name, ":")
			var there bool
			switch {
			case strings.HasPrefix(name, "--"):
				name, _, _ = strings.Cut(name, "=")
				there = slices.Contains(others, name) || strings.Contains(flags, "| `"+name+"` |")
			case value.MatchString(name):
				there = has(defaults, strings.Split(name, "."))
			case file.MatchString(name):
				_, err := os.Stat(filepath.Join(w.root, name))
				there = err == nil
			default:
				continue
			}
			if seen++; !there {
				t.Errorf("%s names %s, which does not exist", page, found[0])
			}
		}
	}
	if seen < 15 {
		t.Errorf("the pages name only %d things, so they are looked for in the wrong way", seen)
	}
}

var (
	value = regexp.MustCompile(`^(image|crds|policies|roles|webhook|metrics|log|serviceAccount|podDisruptionBudget|networkPolicy|gateway)\.[A-Za-z.]+$`)
	file  = regexp.MustCompile(`^(config|dist|docs|hack|test)/\S+$`)
)

// has reports whether there is a value at a path.
func has(values any, path []string) bool {
	for _, name := range path {
		inner, ok := values.(map[string]any)
		if !ok || inner[name] == nil {
			return false
		}
		values = inner[name]
	}
	return true
}
