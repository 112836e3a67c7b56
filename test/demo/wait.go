package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// patience is how long anything is waited for: several times what a slow machine needs.
	patience = 2 * time.Minute
	// stopPatience is how long the operator may take to end when it is asked to.
	stopPatience = time.Minute
	// glance is how often that is looked at which tells nobody that it changed.
	glance = 50 * time.Millisecond
)

// until waits for a condition that tells nobody when it becomes true.
func until(ctx context.Context, what string, condition func(context.Context) (bool, error)) error {
	if err := wait.PollUntilContextTimeout(ctx, glance, patience, true, condition); err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}

// pass lets time go by: what the demo plays takes place in real time.
func pass(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
