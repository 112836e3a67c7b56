package install_test

import (
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
		run := &exec.Cmd{Path: "/" + program, Args: []string{"/" + program, "--version"}, Dir: "/", SysProcAttr: confined(built.root)}
		if out, err := run.CombinedOutput(); err != nil || string(out) != "taskonce "+program+" "+imageVersion+"\n" {
			t.Errorf("%s --version: %v, %q", program, err, out)
		}
	}
}
