package install_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsRenderedConforms has kubeconform check the manifest and the chart, with everything on that needs no kinds of
// others, against the schemas of the API server itself.
func TestWhatIsRenderedConforms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	raw, _, err := w.plane.Kubectl(t.Context(), "get", "--raw", "/openapi/v2")
	w.must(err)
	dir := t.TempDir()
	w.must(writeSchemas(dir, raw))
	chart := filepath.Join(dir, "chart.yaml")
	rendered := w.render("other", "elsewhere", "--set", "networkPolicy.enabled=true,metrics.dashboards.enabled=true,extraEnv[0].name=A,extraEnv[0].value=b")
	few := w.render("few", "elsewhere", "--set", "namespaces={a,b},metrics.authentication=delegated")
	w.must(os.WriteFile(chart, []byte(rendered+"\n---\n"+few), 0o600))
	gateway := filepath.Join(dir, "gateway.yaml")
	w.must(os.WriteFile(gateway, []byte(w.renderedGateways()), 0o600))
	wrong := filepath.Join(dir, "wrong.yaml")
	w.must(os.WriteFile(wrong, []byte(strings.ReplaceAll(rendered, "replicas: 2", "replicass: 2")), 0o600))
	for path, want := range map[string]bool{"dist/install.yaml": true, "dist/gateway.yaml": true, chart: true, gateway: true, wrong: false} {
		cmd := w.command(t.Context(), "go", "tool", "-modfile=hack/tools/go.mod", "kubeconform", "-strict", "-summary", "-schema-location", dir+"/{{.ResourceKind}}.json", path)
		cmd.Env = append(cmd.Env, "GOWORK=off")
		if out, err := cmd.CombinedOutput(); (err == nil) != want {
			t.Errorf("kubeconform of %s: %v\n%s", filepath.Base(path), err, out)
		}
	}
}

// writeSchemas writes a JSON schema for each kind of an OpenAPI document, which knows no field but those.
func writeSchemas(dir, openapi string) error {
	var document struct{ Definitions map[string]map[string]any }
	if err := json.Unmarshal([]byte(openapi), &document); err != nil {
		return err
	}
	for _, definition := range document.Definitions {
		closed(definition)
	}
	for name, definition := range document.Definitions {
		kinds, _ := definition["x-kubernetes-group-version-kind"].([]any)
		if len(kinds) != 1 {
			continue // options of requests
		}
		used := map[string]any{}
		collect(used, document.Definitions, name)
		schema, err := json.Marshal(map[string]any{"$ref": "#/definitions/" + name, "definitions": used})
		if err != nil {
			return err
		}
		kind := strings.ToLower(kinds[0].(map[string]any)["kind"].(string))
		if err := os.WriteFile(filepath.Join(dir, kind+".json"), schema, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// closed has a schema allow no other properties than it names, and a number where it may be one.
func closed(value any) {
	switch value := value.(type) {
	case map[string]any:
		if value["format"] == "int-or-string" {
			value["type"] = []any{"integer", "string"}
			delete(value, "format")
		}
		if _, ok := value["properties"].(map[string]any); ok && value["additionalProperties"] == nil {
			value["additionalProperties"] = false
		}
		for _, each := range value {
			closed(each)
		}
	case []any:
		for _, each := range value {
			closed(each)
		}
	}
}

// collect adds a definition and all that it refers to.
func collect(used map[string]any, all map[string]map[string]any, name string) {
	if used[name] != nil {
		return
	}
	used[name] = all[name]
	var follow func(any)
	follow = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			if to, ok := value["$ref"].(string); ok {
				collect(used, all, strings.TrimPrefix(to, "#/definitions/"))
			}
			for _, each := range value {
				follow(each)
			}
		case []any:
			for _, each := range value {
				follow(each)
			}
		}
	}
	follow(all[name])
}
