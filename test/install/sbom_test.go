package install_test

import (
	"debug/buildinfo"
	"path/filepath"
	"testing"
)

// TestSBOM compares what make sbom lists with what the programs themselves say that they are made of.
func TestSBOM(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sbom := w.command(t.Context(), "make", "--silent", "sbom", "VERSION="+imageVersion)
	if out, err := sbom.CombinedOutput(); err != nil {
		t.Fatalf("make sbom: %v\n%s", err, out)
	}
	for _, program := range []string{"manager", "gateway"} {
		w.listsEveryModule(program)
	}
}

func (w *world) listsEveryModule(name string) {
	w.Helper()
	var list struct {
		Components []struct{ Name, Version string }
	}
	w.must(decodeFile(filepath.Join(w.root, "tmp", "sbom-"+name+".json"), &list))
	listed := map[string]string{}
	for _, component := range list.Components {
		listed[component.Name] = component.Version
	}
	program, err := buildinfo.ReadFile(filepath.Join(w.root, "tmp", name))
	w.must(err)
	for _, module := range program.Deps {
		if listed[module.Path] != module.Version {
			w.Errorf("%s is in the %s as %s, and listed as %q", module.Path, name, module.Version, listed[module.Path])
		}
	}
	if len(program.Deps) < 10 {
		w.Errorf("the %s says that it is made of %d modules", name, len(program.Deps))
	}
}
