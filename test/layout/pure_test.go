package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// impure are the functions of package time that ask a clock or wait for one.
var impure = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

// TestLifecycleHasNoClockAndNoGoroutine: time goes in as a value, and a wake-up comes out.
func TestLifecycleHasNoClockAndNoGoroutine(t *testing.T) {
	const dir = "../../internal/lifecycle"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".go" || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, filepath.Join(dir, entry.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: a goroutine", files.Position(node.Pos()))
			case *ast.SelectorExpr:
				if pkg, ok := node.X.(*ast.Ident); ok && slices.Contains([]string{"time", "metav1"}, pkg.Name) && slices.Contains(impure, node.Sel.Name) {
					t.Errorf("%s: %s.%s asks a clock", files.Position(node.Pos()), pkg.Name, node.Sel.Name)
				}
			}
			return true
		})
	}
}
