package main

import (
	"strings"
	"testing"
	"time"
)

// TestDashboardAsksQuestions: each panel's title is the question that it answers, and it has a place of its own.
func TestDashboardAsksQuestions(t *testing.T) {
	panels, err := readDashboard()
	if err != nil {
		t.Fatal(err)
	}
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, panel := range panels {
		if ids[panel.ID] {
			t.Errorf("two panels have the id %d", panel.ID)
		}
		ids[panel.ID] = true
		if !strings.HasSuffix(panel.Title, "?") {
			t.Errorf("%q is no question", panel.Title)
		}
		if panel.Type != "row" && (len(panel.Targets) == 0 || panel.Description == "") {
			t.Errorf("%q has no query, or does not say what its answer means", panel.Title)
		}
		for x := panel.GridPos.X; x < panel.GridPos.X+panel.GridPos.W; x++ {
			for y := panel.GridPos.Y; y < panel.GridPos.Y+panel.GridPos.H; y++ {
				if x >= 24 || places[[2]int{x, y}] != "" {
					t.Fatalf("%q lies over %q, or beyond the edge", panel.Title, places[[2]int{x, y}])
				}
				places[[2]int{x, y}] = panel.Title
			}
		}
		for _, target := range panel.Targets {
			if strings.Contains(target.query(time.Minute), "$") {
				t.Errorf("%q: nobody fills in what stands in %s", panel.Title, target.Expr)
			}
		}
	}
}
