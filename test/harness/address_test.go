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
	drawnHere  = 2000
	drawnThere = 200
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

// TestNoAddressIsGivenTwice, neither here nor to another process meanwhile, although nobody ever listens on one.
func TestNoAddressIsGivenTwice(t *testing.T) {
	given := map[string]bool{}
	for i := range drawnHere {
		address, err := harness.UnusedAddress()
		if err != nil {
			t.Fatal(err)
		}
		if given[address] {
			t.Fatalf("%s is given for the second time in %d draws", address, i+1)
		}
		given[address] = true
	}
	other := exec.CommandContext(t.Context(), os.Args[0])
	other.Env = append(os.Environ(), drawIn+"=yes")
	printed, err := other.Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := strings.Fields(string(printed))
	if len(theirs) != drawnThere {
		t.Fatalf("the other process drew %d", len(theirs))
	}
	for _, address := range theirs {
		if given[address] {
			t.Fatalf("%s is given to another process too", address)
		}
	}
}
