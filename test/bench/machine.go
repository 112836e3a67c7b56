package main

import (
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/taskonce/taskonce/test/bench/report"
)

// machine says where and when it is measured.
func machine() report.Machine {
	version, _ := exec.Command("git", "describe", "--tags", "--always").Output() // without git, without a version
	return report.Machine{
		Processors: runtime.NumCPU(), Model: processor(), Go: runtime.Version(),
		Version: strings.TrimSpace(string(version)), Date: time.Now().UTC().Format(time.DateOnly),
	}
}
