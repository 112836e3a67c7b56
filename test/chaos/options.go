package main

import (
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/taskonce/taskonce/internal/lifecycle"
)

const (
	// lease is how long a silent leader is waited for. Its replicas elect quickly, so that many faults fit into a run.
	lease = 2 * time.Second
	// timeout of an attempt, as the templates state it.
	timeout = time.Second
	// stall is longer than timeout, and shorter than timeout and settleAfter together.
	stall = 2 * time.Second
	// longStall is that of a receiver that is looked at for a weakness of the operator.
	longStall = 3 * time.Second
	// slack is how much later than it meant to the receiver still applies a call: on a slow machine, too, what it
	// promises of settleAfter is true.
	slack = 500 * time.Millisecond
	// settleAfter is when the templates, and people, believe that nothing happened.
	settleAfter = 4 * time.Second
	// orphaned is how long an attempt of a silent process is waited for.
	orphaned = timeout + lifecycle.Grace
	// patience is how long anything is waited for: several times what a slow machine needs.
	patience = 2 * time.Minute
	// glance is how often that is looked at which tells nobody that it changed.
	glance = 100 * time.Millisecond
)

// Options says how a run is made.
type Options struct {
	// Seed of everything that is drawn.
	Seed uint64
	// Duration is how long faults come at least. They come until each kind has happened.
	Duration time.Duration
	// Clients is how many there are at once.
	Clients int
	// Dir is a folder for logs and the ledger. Empty: a temporary one, which is kept where something is wrong.
	Dir string
	// Keep keeps the temporary folder also when all is well.
	Keep bool
	// Weakness switches a rule of the operator off, so that the verdict can be seen to find what it prevents. Then no
	// other fault comes, and the receiver stalls.
	Weakness string
}

// draw returns the numbers of one drawer: what the others draw does not change them.
func draw(seed uint64, drawer string) *rand.Rand {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(drawer))
	return rand.New(rand.NewPCG(seed, hash.Sum64()))
}
