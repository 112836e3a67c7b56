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
	"runtime"
	"slices"
	"strings"
	"testing"
)

// imageVersion is what the tests' image says that it is.
const imageVersion = "v0.0.0-test"

// image is an image in the OCI layout, unpacked.
type image struct {
	root       string // of its files
	configPath string
	config     struct {
		Config struct {
			User       string
			Entrypoint []string
		} `json:"config"`
	}
}

// layout is a folder in the OCI layout.
type layout string

func (l layout) index() string { return filepath.Join(string(l), "index.json") }

func (l layout) blob(digest string) string {
	return filepath.Join(string(l), "blobs", strings.ReplaceAll(digest, ":", string(filepath.Separator)))
}

// unpack reads the image of an architecture, and writes its files below root.
func (l layout) unpack(architecture, root string) (*image, error) {
	var index, manifest struct {
		Manifests []struct {
			Digest   string
			Platform struct{ Architecture string }
		}
		Layers []struct{ Digest string }
		Config struct{ Digest string }
	}
	if err := decodeFile(l.index(), &index); err != nil {
		return nil, err
	}
	for _, found := range index.Manifests {
		if found.Platform.Architecture == architecture {
			if err := decodeFile(l.blob(found.Digest), &manifest); err != nil {
				return nil, err
			}
		}
	}
	i := &image{root: root, configPath: l.blob(manifest.Config.Digest)}
	if err := decodeFile(i.configPath, &i.config); err != nil {
		return nil, fmt.Errorf("the image for %s: %w", architecture, err)
	}
	for _, layer := range manifest.Layers {
		if err := untar(l.blob(layer.Digest), root); err != nil {
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
		if header.Typeflag != tar.TypeReg {
			continue
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

// makeImage builds the image for this machine, and unpacks it.
func (c *cluster) makeImage(dir string) error {
	built, err := buildImages(c.root, runtime.GOARCH)
	if err != nil {
		return err
	}
	c.image, err = built.unpack(runtime.GOARCH, filepath.Join(dir, "image"))
	return err
}

// buildImages builds the images of architectures in a copy of the repository, as make image does.
func buildImages(root string, architectures ...string) (layout, error) {
	build := exec.Command("make", "--silent", "image", "ARCHITECTURES="+strings.Join(architectures, " "), "VERSION="+imageVersion)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make image: %w\n%s", err, out)
	}
	return layout(filepath.Join(root, "tmp", "image")), nil
}

// TestImage looks at what is in the image, and runs it.
func TestImage(t *testing.T) {
	w := newWorld(t)
	files, err := w.image.files()
	w.must(err)
	if want := []string{"/etc/ssl/certs/ca-certificates.crt", "/gateway", "/manager"}; !slices.Equal(files, want) {
		t.Errorf("the image holds %v, want %v", files, want)
	}
	if config := w.image.config.Config; config.User != "65532:65532" || !slices.Equal(config.Entrypoint, []string{"/manager"}) {
		t.Errorf("the image is run as %s, with %v", config.User, config.Entrypoint)
	}
	w.saysItsVersion(w.image)
}
