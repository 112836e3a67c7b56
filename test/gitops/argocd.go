package gitops

import (
	"fmt"
	"os"
	"path/filepath"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/taskonce/taskonce/test/harness"
)

// Health is Argo CD's word for how an object is, and why.
type Health struct{ Status, Message string }

// ArgoCD returns what the health script of config/argocd says of an object of that kind.
func ArgoCD(object any, kind schema.GroupVersionKind) (Health, error) {
	script, err := healthScript(kind)
	if err != nil {
		return Health{}, err
	}
	read, err := asRead(object, kind)
	if err != nil {
		return Health{}, err
	}
	vm := lua.NewState(lua.Options{SkipOpenLibs: true}) // Argo CD lets scripts use little
	defer vm.Close()
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable, lua.OpenString} {
		vm.Push(vm.NewFunction(open))
		vm.Call(0, 0)
	}
	vm.SetGlobal("obj", value(vm, read.Object))
	if err := vm.DoString(script); err != nil {
		return Health{}, err
	}
	answer, ok := vm.Get(-1).(*lua.LTable)
	if !ok {
		return Health{}, fmt.Errorf("the script returned %s instead of a table", vm.Get(-1).Type())
	}
	return Health{Status: lua.LVAsString(answer.RawGetString("status")), Message: lua.LVAsString(answer.RawGetString("message"))}, nil
}

func healthScript(kind schema.GroupVersionKind) (string, error) {
	root, err := harness.Root()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, "config", "argocd", "argocd-cm.yaml"))
	if err != nil {
		return "", err
	}
	var patch struct{ Data map[string]string }
	if err := yaml.Unmarshal(text, &patch); err != nil {
		return "", err
	}
	name := "resource.customizations.health." + kind.Group + "_" + kind.Kind
	script, ok := patch.Data[name]
	if !ok {
		return "", fmt.Errorf("config/argocd/argocd-cm.yaml has no %s", name)
	}
	return script, nil
}

// value makes what was JSON a value of Lua.
func value(vm *lua.LState, from any) lua.LValue {
	switch from := from.(type) {
	case map[string]any:
		table := vm.NewTable()
		for key, member := range from {
			table.RawSetString(key, value(vm, member))
		}
		return table
	case []any:
		table := vm.NewTable()
		for _, member := range from {
			table.Append(value(vm, member))
		}
		return table
	case string:
		return lua.LString(from)
	case bool:
		return lua.LBool(from)
	case int64:
		return lua.LNumber(from)
	case float64:
		return lua.LNumber(from)
	default:
		return lua.LNil
	}
}
