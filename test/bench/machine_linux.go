package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/taskonce/taskonce/test/bench/report"
)

// tick is the unit of the times in /proc, in seconds: USER_HZ is 100 wherever Linux runs Go.
const tick = 0.01

// cpu returns the processor time in seconds that each program has used so far: this one, those that it started, and all
// others together.
func cpu() map[string]float64 {
	used := map[string]float64{report.Others: busy()}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	self := strconv.Itoa(os.Getpid())
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name is in parentheses and may hold anything; fields are counted from behind it.
		head, tail, _ := strings.Cut(string(text), " (")
		name, fields := tail[:max(0, strings.LastIndexByte(tail, ')'))], strings.Fields(tail[strings.LastIndexByte(tail, ')')+1:])
		if len(fields) < 13 {
			continue
		}
		switch {
		case head == self:
			name = report.Clients
		case fields[1] != self:
			continue
		default:
			name = program(name)
		}
		user, _ := strconv.ParseInt(fields[11], 10, 64)
		system, _ := strconv.ParseInt(fields[12], 10, 64)
		used[name] += float64(user+system) * tick
		used[report.Others] -= float64(user+system) * tick
	}
	return used
}

// program is what runs under a name of at most 15 characters: the harness runs etcd.program.
func program(name string) string {
	name, _, _ = strings.Cut(name, ".")
	if name == report.Controller[:15] {
		return report.Controller
	}
	return name
}

// busy is how long all processors have not been idle, in seconds.
func busy() float64 {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var sum int64
	for i, field := range strings.Fields(line) {
		ticks, err := strconv.ParseInt(field, 10, 64)
		// The name, idle, waiting for a disk, and guests, who are in the first two already.
		if err != nil || i == 4 || i == 5 || i > 8 {
			continue
		}
		sum += ticks
	}
	return float64(sum) * tick
}

// memory returns what a process has resident, in MiB.
func residentMiB(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, line, found := strings.Cut(string(text), "VmRSS:")
	var kib float64
	if _, err := fmt.Sscan(line, &kib); err != nil || !found {
		return 0, fmt.Errorf("no VmRSS in /proc/%d/status", pid)
	}
	return kib / 1024, nil
}

// processor names the machine's processor.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	_, line, _ := strings.Cut(string(text), "model name")
	line, _, _ = strings.Cut(line, "\n")
	return strings.TrimSpace(strings.TrimLeft(line, "\t :"))
}
