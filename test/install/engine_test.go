package install_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// TestTheDockerfileBuildsTheSameProgram has a container engine build the Dockerfile, for each architecture, holds what it makes
// against what make image makes, and runs what this machine can.
func TestTheDockerfileBuildsTheSameProgram(t *testing.T) {
	w := newWorld(t)
	wanted, err := buildImages(w.root, "amd64", "arm64")
	w.must(err)
	for architecture := range machines {
		want, err := wanted.unpack(architecture, filepath.Join(w.dir, "wanted", architecture))
		w.must(err)
		made := layout(filepath.Join(w.dir, "layout", architecture))
		// It compiles, which may take a machine that is busy longer than a command of a page.
		if out, err := w.command(t.Context(), "hack/image/engine.sh", string(made), imageVersion, architecture).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		built, err := made.unpack("", filepath.Join(w.dir, "engine", architecture)) // its index does not say for what architecture
		w.must(err)
		sameFiles(t, built, want)
		if got := built.settings(t)["architecture"]; got != architecture {
			t.Errorf("the image for %s says that it is for %v", architecture, got)
		}
		if got, want := built.config.Config, want.config.Config; got.User != want.User || !slices.Equal(got.Entrypoint, want.Entrypoint) {
			t.Errorf("it is run as %s with %v, and make image's as %s with %v", got.User, got.Entrypoint, want.User, want.Entrypoint)
		}
		if architecture == runtime.GOARCH {
			w.saysItsVersion(built)
		}
	}
}

// sameFiles says which of the files that are wanted an image has otherwise.
func sameFiles(t *testing.T, built, want *image) {
	t.Helper()
	files, err := want.files()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if readFile(t, want.root+file) != readFile(t, built.root+file) {
			t.Errorf("%s is another one", file)
		}
	}
}

// saysItsVersion runs each program of an image.
func (w *world) saysItsVersion(built *image) {
	w.Helper()
	for _, program := range []string{"manager", "gateway"} {
		var out bytes.Buffer
		ended, err := launchIn(built.root, &exec.Cmd{Path: "/" + program, Args: []string{"/" + program, "--version"}, Stdout: &out})
		w.must(err)
		if want, err := "taskonce "+program+" "+imageVersion+"\n", <-ended; err != nil || out.String() != want {
			w.Errorf("%s --version: %v, %q, want %q", program, err, out.String(), want)
		}
	}
}
