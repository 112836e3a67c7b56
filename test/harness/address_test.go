package harness_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/test/harness"
)

// drawIn tells the process that TestNoAddressIsGivenTwice starts to draw too.
const drawIn = "TASKONCE_HARNESS_DRAW"

const (
	drawnHere  = 200
	drawnThere = 2000 // and given back when that process ends
)

// draw prints addresses.
func draw() {
	for range drawnThere {
		address, err := harness.UnusedAddress()
		if err != nil {
			panic(err)
		}
		fmt.Println(address)
	}
}

// TestNoAddressIsGivenTwice, neither to one process nor to another one meanwhile, although nobody ever listens on one.
func TestNoAddressIsGivenTwice(t *testing.T) {
	given := map[string]bool{}
	give := func(address string) {
		if given[address] {
			t.Fatalf("%s, of %d, is given for the second time", address, len(given))
		}
		given[address] = true
	}
	for range drawnHere {
		address, err := harness.UnusedAddress()
		if err != nil {
			t.Fatal(err)
		}
		give(address)
	}
	other := exec.CommandContext(t.Context(), os.Args[0])
	other.Env = append(os.Environ(), drawIn+"=yes")
	printed, err := other.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range strings.Fields(string(printed)) {
		give(address)
	}
	if len(given) != drawnHere+drawnThere {
		t.Errorf("%d were given", len(given))
	}
}
