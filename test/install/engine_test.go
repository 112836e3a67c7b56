package install_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestTheDockerfileBuildsTheSameProgram has a container engine build the Dockerfile, holds what it makes against what make
// image makes, and runs it.
func TestTheDockerfileBuildsTheSameProgram(t *testing.T) {
	w := newWorld(t)
	made := layout(filepath.Join(w.dir, "layout"))
	w.sh("hack/image/engine.sh " + string(made) + " " + imageVersion)
	built, err := made.unpack("", filepath.Join(w.dir, "engine")) // its index does not say for what architecture
	w.must(err)

	files, err := w.image.files()
	w.must(err)
	for _, file := range files {
		if readFile(t, w.image.root+file) != readFile(t, built.root+file) {
			t.Errorf("%s is another one", file)
		}
	}
	if got, want := built.config.Config, w.image.config.Config; got.User != want.User || !slices.Equal(got.Entrypoint, want.Entrypoint) {
		t.Errorf("it is run as %s with %v, and make image's as %s with %v", got.User, got.Entrypoint, want.User, want.Entrypoint)
	}
	for _, program := range []string{"manager", "gateway"} {
		var out bytes.Buffer
		ended, err := launchIn(built.root, &exec.Cmd{Path: "/" + program, Args: []string{"/" + program, "--version"}, Stdout: &out})
		w.must(err)
		if want, err := "taskonce "+program+" "+imageVersion+"\n", <-ended; err != nil || out.String() != want {
			t.Errorf("%s --version: %v, %q, want %q", program, err, out.String(), want)
		}
	}
}
