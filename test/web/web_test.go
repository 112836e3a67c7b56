package web_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/test/harness"
	"github.com/taskonce/taskonce/test/web/school"
)

var (
	opened *school.School
	page   string // the URL of the office's
	chrome string // the path of the browser
)

// templates are what is changed of the example's.
var templates = []*strings.Replacer{
	// Nothing of this one begins before a test says so.
	strings.NewReplacer("name: award-homework\n", "name: award-homework-later\n", "spec:\n", "spec:\n  suspend: true\n"),
	// The receiver dies during the call of this one, and cannot be asked.
	strings.NewReplacer("name: award-homework\n", "name: award-homework-cut\n", "/plain/points", "/drop/points"),
	strings.NewReplacer("name: award-homework\n", "name: award-homework-approved\n", "spec:\n", "spec:\n  approval: {required: true}\n"),
}

func TestMain(m *testing.M) {
	harness.Main(func() (int, error) { return run(m) })
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background()
	if chrome, err = browser(ctx); err != nil {
		return 1, err
	}
	// An answer on a slow network comes when its page has given it up, and not before.
	opened, err = school.Open(ctx, school.Options{Example: []string{"--slow=10m"}, Gateway: []string{"--rate=0"}})
	defer func() { err = errors.Join(err, opened.Close()) }()
	if err != nil {
		return 1, err
	}
	for _, template := range templates {
		if err := opened.AddTemplate(ctx, template); err != nil {
			return 1, err
		}
	}
	if page, err = openOffice(ctx, opened); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// browser returns the path of Chromium, and installs it where it is missing and can be.
func browser(ctx context.Context) (string, error) {
	root, err := harness.Root()
	if err != nil {
		return "", err
	}
	ensure := exec.CommandContext(ctx, filepath.Join(root, "hack", "chromium", "ensure.sh"))
	ensure.Stderr = os.Stderr
	path, err := ensure.Output()
	if err != nil {
		return "", fmt.Errorf("hack/chromium/ensure.sh: %w", err)
	}
	return strings.TrimSpace(string(path)), nil
}

// TestPages plays each file of tests in a browser of its own.
func TestPages(t *testing.T) {
	files, err := filepath.Glob("*.test.mjs")
	if err != nil || len(files) == 0 {
		t.Fatal("there is nothing to play", err)
	}
	for i, file := range files {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			play(t, []string{fmt.Sprintf("TASKS=%d", 1000*(i+1))}, "--test-reporter=spec", file)
		})
	}
}

// TestPictures draws the pictures of the documents into TASKONCE_PICTURES, or somewhere, so that it works when it is wanted.
func TestPictures(t *testing.T) {
	t.Parallel()
	pictures := os.Getenv("TASKONCE_PICTURES")
	if pictures == "" {
		pictures = t.TempDir()
	}
	play(t, []string{"TASKS=41", "PICTURES=" + pictures}, "pictures.mjs")
}

// play runs a script of this folder.
func play(t *testing.T, environment []string, arguments ...string) {
	t.Helper()
	node := exec.CommandContext(t.Context(), "node", arguments...)
	node.Env = append(append(opened.Plane.Environ(), environment...),
		"SCHOOL="+opened.URL, "LEDGER="+opened.Ledger, "CHROMIUM="+chrome, "PAGE="+page, "HOSTILE="+hostile, "OFFICE="+office,
		"KUBECTL="+filepath.Join(opened.Plane.Programs, "kubectl"))
	if out, err := node.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("%s", out)
	}
}
