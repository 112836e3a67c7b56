package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the times in /proc: USER_HZ is 100 wherever Linux runs Go.
const tick = 10 * time.Millisecond

// cpu returns the processor time that each program has used so far: this one and those that it started.
func cpu() map[string]time.Duration {
	used := map[string]time.Duration{}
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
			name = "clients and receiver"
		case fields[1] != self:
			continue
		default:
			name, _, _ = strings.Cut(name, ".") // the harness runs etcd.program
		}
		user, _ := strconv.ParseInt(fields[11], 10, 64)
		system, _ := strconv.ParseInt(fields[12], 10, 64)
		used[name] += time.Duration(user+system) * tick
	}
	return used
}
