package install_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// imageVersion is what the tests' image says that it is.
const imageVersion = "v0.0.0-test"

// image is an image in the OCI layout, unpacked.
type image struct {
	root   string // of its files
	config struct {
		Config struct {
			User       string
			Entrypoint []string
		} `json:"config"`
	}
}

// unpack reads the only image of a layout, and writes its files below root.
func unpack(layout, root string) (*image, error) {
	var index, manifest struct {
		Manifests, Layers []struct{ Digest string }
		Config            struct{ Digest string }
	}
	blob := func(digest string) string {
		return filepath.Join(layout, "blobs", strings.ReplaceAll(digest, ":", string(filepath.Separator)))
	}
	if err := decodeFile(filepath.Join(layout, "index.json"), &index); err != nil {
		return nil, err
	}
	if err := decodeFile(blob(index.Manifests[0].Digest), &manifest); err != nil {
		return nil, err
	}
	i := &image{root: root}
	if err := decodeFile(blob(manifest.Config.Digest), &i.config); err != nil {
		return nil, err
	}
	for _, layer := range manifest.Layers {
		if err := untar(blob(layer.Digest), root); err != nil {
			return nil, err
		}
	}
	return i, nil
}

func decodeFile(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func untar(path, root string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		file, err := io.ReadAll(archive)
		if err != nil {
			return err
		}
		if err := put(root, header.Name, file, header.FileInfo().Mode()); err != nil {
			return err
		}
	}
}

// files are the paths of the image's files.
func (i *image) files() ([]string, error) {
	var all []string
	err := filepath.WalkDir(i.root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, strings.TrimPrefix(path, i.root))
		}
		return err
	})
	return all, err
}

// makeImage builds the image as make image does, and unpacks it.
func (c *cluster) makeImage(dir string) (err error) {
	build := exec.Command("make", "--silent", "image", "ARCHITECTURES="+runtime.GOARCH, "VERSION="+imageVersion)
	build.Dir = c.root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("make image: %w\n%s", err, out)
	}
	c.image, err = unpack(filepath.Join(c.root, "tmp", "image"), filepath.Join(dir, "image"))
	return err
}

// TestImage looks at what is in the image, and runs it.
func TestImage(t *testing.T) {
	w := newWorld(t)
	files, err := w.image.files()
	w.must(err)
	if want := []string{"/etc/ssl/certs/ca-certificates.crt", "/manager"}; !slices.Equal(files, want) {
		t.Errorf("the image holds %v, want %v", files, want)
	}
	if config := w.image.config.Config; config.User != "65532:65532" || !slices.Equal(config.Entrypoint, []string{"/manager"}) {
		t.Errorf("the image is run as %s, with %v", config.User, config.Entrypoint)
	}
	run := &exec.Cmd{Path: "/manager", Args: []string{"/manager", "--version"}, Dir: "/", SysProcAttr: confined(w.image.root)}
	out, err := run.CombinedOutput()
	if want := "taskonce manager " + imageVersion + "\n"; err != nil || string(out) != want {
		t.Errorf("--version: %v, %q, want %q", err, out, want)
	}
}

// TestTheProgramIsTheSameWhereverItIsBuilt builds it a second time, in a copy of the repository elsewhere.
func TestTheProgramIsTheSameWhereverItIsBuilt(t *testing.T) {
	w := newWorld(t)
	elsewhere := t.TempDir()
	for _, needed := range append(copied(t, w.root), "Makefile", "hack/image") {
		from, to := filepath.Join(w.root, needed), filepath.Join(elsewhere, needed)
		if stat, err := os.Stat(from); err != nil {
			t.Fatal(err)
		} else if stat.IsDir() {
			w.must(os.CopyFS(to, os.DirFS(from)))
		} else {
			w.must(put(elsewhere, needed, []byte(readFile(t, from)), 0o600))
		}
	}
	again := cluster{root: elsewhere}
	w.must(again.makeImage(t.TempDir()))
	if readFile(t, w.image.root+"/manager") != readFile(t, again.image.root+"/manager") {
		t.Error("the program differs")
	}
}

// copied is what the Dockerfile copies before it builds: so it must be enough to build with.
func copied(t *testing.T, root string) []string {
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
