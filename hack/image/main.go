// Command image makes what the Dockerfile makes, where there is no container engine: an image of the programs and the
// authorities that they trust, for one or more architectures, as a folder in the OCI layout. crane push uploads it.
package main

import (
	"archive/tar"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nonroot is the user, as in distroless images.
const nonroot = "65532:65532"

func main() {
	programs := flag.String("programs", "", "The folders of the static programs, as ARCHITECTURE=PATH with commas between them.")
	authorities := flag.String("authorities", "/etc/ssl/certs/ca-certificates.crt", "The certificates of authorities to trust.")
	version := flag.String("version", "unknown", "The version, for a label.")
	out := flag.String("out", "", "The folder to write to; what is there is removed.")
	flag.Parse()
	if err := write(strings.Split(*programs, ","), *authorities, *version, *out); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func write(programs []string, authorities, version, out string) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, program := range programs {
		architecture, path, ok := strings.Cut(program, "=")
		if !ok {
			return fmt.Errorf("--programs must be as amd64=bin, and is %q", program)
		}
		image, err := build(architecture, path, authorities, version)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: "linux", Architecture: architecture},
		}})
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	_, err := layout.Write(out, index)
	return err
}

// build makes the image of one architecture. It says nothing of when it was made, so that it is the same each time.
func build(architecture, programs, authorities, version string) (v1.Image, error) {
	entries, err := os.ReadDir(programs)
	if err != nil {
		return nil, err
	}
	all := []file{{"etc/ssl/certs/ca-certificates.crt", authorities, 0o444}}
	for _, entry := range entries {
		all = append(all, file{entry.Name(), filepath.Join(programs, entry.Name()), 0o555})
	}
	layer, err := files(all...)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", architecture
	config.Config = v1.Config{User: nonroot, Entrypoint: []string{"/manager"}, Labels: map[string]string{
		"org.opencontainers.image.source": "https://github.com/taskonce/taskonce", "org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.version": version,
	}}
	return mutate.ConfigFile(image, config)
}

// file is one of the image.
type file struct {
	name, path string
	mode       int64
}

// files makes a layer of files that nobody may write to.
func files(all ...file) (v1.Layer, error) {
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	for _, f := range all {
		text, err := os.ReadFile(f.path)
		if err != nil {
			return nil, err
		}
		if err := writer.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(text)), ModTime: time.Unix(0, 0)}); err != nil {
			return nil, err
		}
		if _, err := writer.Write(text); err != nil {
			return nil, err
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
}
