package install_test

import (
	"debug/buildinfo"
	"path/filepath"
	"testing"
)

// TestSBOM compares what make sbom lists with what the program itself says that it is made of.
func TestSBOM(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sbom := w.command(t.Context(), "make", "--silent", "sbom", "VERSION="+imageVersion)
	if out, err := sbom.CombinedOutput(); err != nil {
		t.Fatalf("make sbom: %v\n%s", err, out)
	}
	var list struct {
		Components []struct{ Name, Version string }
	}
	w.must(decodeFile(filepath.Join(w.root, "tmp", "sbom.json"), &list))
	listed := map[string]string{}
	for _, component := range list.Components {
		listed[component.Name] = component.Version
	}
	program, err := buildinfo.ReadFile(filepath.Join(w.root, "tmp", "manager"))
	w.must(err)
	for _, module := range program.Deps {
		if listed[module.Path] != module.Version {
			t.Errorf("%s is in the program as %s, and listed as %q", module.Path, module.Version, listed[module.Path])
		}
	}
	if len(program.Deps) < 10 {
		t.Errorf("the program says that it is made of %d modules", len(program.Deps))
	}
}
