package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestWhatIsLeaked(t *testing.T) {
	ended, going := types.NamespacedName{Name: "ended"}, types.NamespacedName{Name: "going"}
	open := map[types.NamespacedName]bool{going: true}
	idle := &census{Goroutines: map[string]int{"workers": 32, "watch": 1}}
	some := func(actions ...types.NamespacedName) []types.NamespacedName { return actions }
	for _, tt := range []struct {
		reason string
		held   census
		leaks  int
	}{
		{"as an idle one", census{Goroutines: map[string]int{"workers": 32, "watch": 1}}, 0},
		{"less than an idle one", census{Goroutines: map[string]int{"workers": 31}}, 0},
		{"more connections", census{Goroutines: map[string]int{"net/http.(*Transport).dialConn": 9}}, 0},
		{"what goes on", census{Remembered: some(going), Waiting: some(going)}, 0},
		{"a watch more", census{Goroutines: map[string]int{"watch": 2}}, 1},
		{"attempts that never return", census{Goroutines: map[string]int{"attempt": 3}}, 1},
		{"a place in the table", census{InFlight: some(going)}, 1},
		{"a memory", census{Remembered: some(going, ended)}, 1},
		{"a place in a queue", census{Waiting: some(ended)}, 1},
	} {
		if found := tt.held.beyond(idle, open); len(found) != tt.leaks {
			t.Errorf("%s: found %q", tt.reason, found)
		}
	}
}
