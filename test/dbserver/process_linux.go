package dbserver

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// What a process may be in, as /proc/<pid>/stat has it. One that is gone is in every state.
const (
	stopped = "tT"
	dead    = "ZXx"
)

// awaitState returns as soon as a process is in one of the states.
func awaitState(pid int, states string) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return
		}
		_, rest, _ := strings.Cut(string(text), ") ") // the name before it may hold anything
		if strings.ContainsAny(rest[:1], states) {
			return
		}
		<-tick.C
	}
}

// children returns the processes that a process has started and that are left.
func children(pid int) []int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	var found []int
	for _, field := range strings.Fields(string(text)) {
		if child, err := strconv.Atoi(field); err == nil {
			found = append(found, child)
		}
	}
	return found
}
