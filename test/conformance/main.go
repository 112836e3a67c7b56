// Command conformance draws the table effect × case of the conformance suite. It reads what "go test -json" prints of
// the tests named TestConformance, and fails where a cell is missing, failed, or was skipped.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	table, err := read(os.Stdin)
	if err == nil {
		err = table.print(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// event is a line of "go test -json" (go doc test2json).
type event struct {
	Action, Package, Test, Output string
}

// table is what was run: worlds and cases in the order in which they began.
type table struct {
	worlds, cases []string
	cells         map[[2]string]string
	failed        []string
}

// read gathers the cells. What a failed package printed is passed on.
func read(input io.Reader) (*table, error) {
	t := &table{cells: map[[2]string]string{}}
	printed := map[string]*strings.Builder{}
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(os.Stderr, lines.Text())
			continue
		}
		if printed[e.Package] == nil {
			printed[e.Package] = &strings.Builder{}
		}
		if e.Action == "output" && !strings.HasPrefix(e.Output, "=== ") {
			printed[e.Package].WriteString(e.Output)
		}
		if e.Action == "fail" && e.Test == "" {
			t.failed = append(t.failed, e.Package)
			fmt.Fprint(os.Stderr, printed[e.Package])
		}
		t.note(e)
	}
	return t, lines.Err()
}

// note takes an event of a cell, TestConformance/<world>/<case>.
func (t *table) note(e event) {
	parts := strings.Split(e.Test, "/")
	if len(parts) != 3 || parts[0] != "TestConformance" {
		return
	}
	world, name := strings.ReplaceAll(parts[1], "_", " "), strings.ReplaceAll(parts[2], "_", " ")
	if !slices.Contains(t.worlds, world) {
		t.worlds = append(t.worlds, world)
	}
	if !slices.Contains(t.cases, name) {
		t.cases = append(t.cases, name)
	}
	if slices.Contains([]string{"pass", "fail", "skip"}, e.Action) {
		t.cells[[2]string{world, name}] = e.Action
	}
}

// print writes the table and returns what keeps it from being whole.
func (t *table) print(w io.Writer) error {
	slices.Sort(t.worlds)
	width := 0
	for _, name := range t.cases {
		width = max(width, len(name))
	}
	fmt.Fprintf(w, "%-*s", width, "")
	for _, world := range t.worlds {
		fmt.Fprintf(w, " | %s", world)
	}
	fmt.Fprintln(w)
	missing, passed := 0, 0
	for _, name := range t.cases {
		fmt.Fprintf(w, "%-*s", width, name)
		for _, world := range t.worlds {
			cell := t.cells[[2]string{world, name}]
			switch cell {
			case "pass":
				passed++
			case "":
				cell = "MISSING"
				missing++
			default:
				cell = strings.ToUpper(cell)
				missing++
			}
			fmt.Fprintf(w, " | %-*s", len(world), cell)
		}
		fmt.Fprintln(w)
	}
	switch {
	case len(t.failed) > 0:
		return fmt.Errorf("failed in %s", strings.Join(t.failed, ", "))
	case missing > 0 || passed == 0:
		return fmt.Errorf("%d cells did not pass, and %d did", missing, passed)
	}
	fmt.Fprintf(w, "%d effects × %d cases: each of the %d cells is a test that passed\n", len(t.worlds), len(t.cases), passed)
	return nil
}
