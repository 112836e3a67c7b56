package layout_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestCommandsGetTheControlPlanesEnvironment: kubectl keeps what it discovers for six hours under a server's address,
// and control planes get the same ports again. So whoever names a kubeconfig in an environment begins with Environ.
func TestCommandsGetTheControlPlanesEnvironment(t *testing.T) {
	hand := regexp.MustCompile(`os\.Environ\(\).*"KUBECONFIG=`)
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
		case !hand.Match(text):
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
