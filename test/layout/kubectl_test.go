package layout_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kubeconfig begins a variable of an environment, as Go writes it. It is in two pieces, so that this file has none.
const kubeconfig = `"KUBECONFIG` + "="

// givesByHand reports whether a kubeconfig is put into an environment that does not begin, on the same line, with a control
// plane's Environ.
func givesByHand(text string) bool {
	for line := range strings.Lines(text) {
		before, _, names := strings.Cut(line, kubeconfig)
		before = strings.ReplaceAll(before, "os.Environ(", "")
		if names && !strings.Contains(before, ".Environ(") {
			return true
		}
	}
	return false
}

// TestCommandsGetTheControlPlanesEnvironment: kubectl keeps what it discovers for six hours under a server's address,
// and control planes get the same ports again. So whoever names a kubeconfig in an environment begins with Environ.
func TestCommandsGetTheControlPlanesEnvironment(t *testing.T) {
	own := filepath.Join("..", "..", "test", "harness", "programs.go")
	found := false
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "node_modules" {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // of this repository
		switch {
		case err != nil:
			return err
		case !givesByHand(string(text)):
		case path == own:
			found = true
		default:
			t.Errorf("%s gives a command a kubeconfig without (*harness.ControlPlane).Environ", path)
		}
		return nil
	})
	if err != nil || !found {
		t.Errorf("%s is not seen, so this test sees nothing (%v)", own, err)
	}
}

func TestWhatGivesAKubeconfigByHand(t *testing.T) {
	for text, byHand := range map[string]bool{
		`append(os.Environ(), ` + kubeconfig + `"+path)`:                         true,
		`append(environment, ` + kubeconfig + `"+path)`:                          true,
		"append(os.Environ(),\n\t\"HOME=\"+home,\n\t" + kubeconfig + `"+path)`:   true,
		"append(plane.Environ(),\n\t" + kubeconfig + `"+path)`:                   true, // begins on another line
		`append(plane.Environ(bin), ` + kubeconfig + `"+path)`:                   false,
		`append(append(plane.Environ(), more...), ` + kubeconfig + `"+path)`:     false,
		`fmt.Println("export KUBECONFIG=" + path)`:                               false, // for a person
		`append(os.Environ(), "HOME="+home) // and ` + kubeconfig + `" is unset`: true,
	} {
		if got := givesByHand(text); got != byHand {
			t.Errorf("%t, want %t:\n%s", got, byHand, text)
		}
	}
}
