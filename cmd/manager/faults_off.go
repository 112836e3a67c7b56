//go:build !faults

package main

import (
	"github.com/taskonce/taskonce/internal/controller"
	"github.com/taskonce/taskonce/internal/effect/httpcall"
	"github.com/taskonce/taskonce/internal/lifecycle"
)

// faults switches no rule off: that needs a build for tests.
func faults(*httpcall.Options) lifecycle.Off { return lifecycle.Off{} }

// serveCensus serves nothing.
func serveCensus(*controller.Submissions) error { return nil }
