//go:build faults

package main

import (
	"os"

	"github.com/taskonce/taskonce/internal/effect/httpcall"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// faults switches off the one rule that TASKONCE_FAULT names, so that a test can show what it prevents.
func faults(options *httpcall.Options) lifecycle.Off {
	switch os.Getenv("TASKONCE_FAULT") {
	case "reuse-connections":
		options.Unsafe.ReuseConnections = true
	case "ignore-settle":
		return lifecycle.Off{SettleAfter: true}
	case "no-orphan-wait":
		return lifecycle.Off{OrphanWait: true}
	}
	return lifecycle.Off{}
}
