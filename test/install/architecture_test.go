package install_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// machines are the architectures that make image builds for, as programs say it.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// TestImagesOfArchitectures builds the images of both, and again in a copy of what the Dockerfile copies, elsewhere: nothing
// differs. One differs from the other in its programs alone.
func TestImagesOfArchitectures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	here, err := buildImages(w.root, "amd64", "arm64")
	w.must(err)
	elsewhere, err := buildImages(w.copied(), "amd64", "arm64")
	w.must(err)
	if readFile(t, here.index()) != readFile(t, elsewhere.index()) {
		t.Error("the digests of the images differ from those that were built elsewhere")
	}
	images := map[string]*image{}
	for architecture := range machines {
		images[architecture], err = here.unpack(architecture, filepath.Join(t.TempDir(), architecture))
		w.must(err)
		if got := images[architecture].settings(t)["architecture"]; got != architecture {
			t.Errorf("the image for %s says that it is for %v", architecture, got)
		}
	}
	sameBut(t, images["amd64"], images["arm64"])
}

// sameBut compares images of two architectures: their files, but for the programs, and their settings, but for what names
// the architecture and the layers.
func sameBut(t *testing.T, amd64, arm64 *image) {
	t.Helper()
	files, err := amd64.files()
	if err != nil {
		t.Fatal(err)
	}
	if others, err := arm64.files(); err != nil || !slices.Equal(files, others) {
		t.Errorf("one image has %v, and the other %v (%v)", files, others, err)
	}
	for _, path := range files {
		one, other := amd64.root+path, arm64.root+path
		if !isProgram(t, one, elf.EM_X86_64) && readFile(t, one) != readFile(t, other) {
			t.Errorf("%s differs", path)
		} else if isProgram(t, one, elf.EM_X86_64) != isProgram(t, other, elf.EM_AARCH64) {
			t.Errorf("%s is not a program of the image's architecture in both", path)
		}
	}
	of := func(i *image) map[string]any {
		settings := i.settings(t)
		delete(settings, "architecture")
		delete(settings, "rootfs")
		return settings
	}
	if !reflect.DeepEqual(of(amd64), of(arm64)) {
		t.Errorf("one image is set to %v, and the other to %v", of(amd64), of(arm64))
	}
}

// settings are the image's configuration.
func (i *image) settings(t *testing.T) (settings map[string]any) {
	t.Helper()
	if err := decodeFile(i.configPath, &settings); err != nil {
		t.Fatal(err)
	}
	return settings
}

// isProgram reports whether a file is a program for a machine that needs no library.
func isProgram(t *testing.T, path string, machine elf.Machine) bool {
	t.Helper()
	program, err := elf.Open(path)
	if err != nil {
		return false
	}
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP {
			t.Errorf("%s is linked dynamically", path)
		}
	}
	return program.Close() == nil && program.Machine == machine
}

// copied is a folder that holds what the Dockerfile copies before it builds, and what make image needs beside that.
func (w *world) copied() string {
	w.Helper()
	elsewhere := w.TempDir()
	for _, needed := range append(copies(w.T, w.root), "Makefile", "hack/image") {
		from, to := filepath.Join(w.root, needed), filepath.Join(elsewhere, needed)
		if stat, err := os.Stat(from); err != nil {
			w.Fatal(err)
		} else if stat.IsDir() {
			w.must(os.CopyFS(to, os.DirFS(from)))
		} else {
			w.must(put(elsewhere, needed, []byte(readFile(w.T, from)), 0o600))
		}
	}
	return elsewhere
}

// copies are what the Dockerfile copies before it builds: so it must be enough to build with.
func copies(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	for _, found := range regexp.MustCompile(`(?m)^COPY (\S+(?: \S+)*) \S+$`).FindAllStringSubmatch(readFile(t, filepath.Join(root, "Dockerfile")), -1) {
		if !strings.HasPrefix(found[1], "--from") {
			all = append(all, strings.Fields(found[1])...)
		}
	}
	if len(all) < 4 {
		t.Fatalf("the Dockerfile copies only %v", all)
	}
	return all
}
