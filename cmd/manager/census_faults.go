//go:build faults

package main

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"

	"github.com/taskonce/taskonce/internal/controller"
)

// serveCensus answers, at the address that TASKONCE_CENSUS names, what this process holds: so a test can see what leaks.
func serveCensus(submissions *controller.Submissions) error {
	address := os.Getenv("TASKONCE_CENSUS")
	if address == "" {
		return nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	go func() {
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { //nolint:gosec // a test asks
			_ = json.NewEncoder(w).Encode(struct {
				controller.Census
				Goroutines map[string]int
			}{submissions.Census(), goroutines()})
		}))
	}()
	return nil
}

// goroutines counts the goroutines of this process by what started them.
func goroutines() map[string]int {
	stacks := make([]byte, 8<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	counts := map[string]int{}
	for line := range strings.Lines(string(stacks)) {
		if starter, ok := strings.CutPrefix(line, "created by "); ok {
			starter, _, _ = strings.Cut(starter, " in goroutine")
			counts[strings.TrimSpace(starter)]++
		}
	}
	return counts
}
