// Command dist writes the Helm chart: the templates of hack/chart, and beside them what config/ says, as kustomize has
// built it into dist/install.yaml and dist/gateway.yaml. So the chart and the manifests come from the same source.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func main() {
	manifests := flag.String("manifests", "", "What kustomize has built of config/default and of config/gateway, with a comma between them.")
	source := flag.String("source", "hack/chart", "The chart's own templates and values.")
	monitoring := flag.String("monitoring", "config/prometheus", "A folder with alert rules and dashboards; it may be missing.")
	out := flag.String("out", "", "The folder to write the chart to; what is there is removed.")
	flag.Parse()
	if err := write(strings.Split(*manifests, ","), *source, *monitoring, *out); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func write(manifests []string, source, monitoring, out string) error {
	var objects []*unstructured.Unstructured
	for _, path := range manifests {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		decoded, err := decode(text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		objects = append(objects, decoded...)
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.CopyFS(out, os.DirFS(source)); err != nil {
		return err
	}
	files, err := templates(objects)
	if err != nil {
		return err
	}
	if err := addMonitoring(files, monitoring); err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // it is published
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // it is published
			return err
		}
	}
	return nil
}
