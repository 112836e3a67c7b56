package harness

import (
	"context"
	"os"
	"strings"
)

// LaunchReceiver starts the program of test/receiver, which keeps its ledger in a file, and returns when it listens,
// with the address.
func LaunchReceiver(ctx context.Context, program, log, ledger string) (p *Process, address string, err error) {
	if p, err = Launch("receiver", log, nil, program, "--listen=127.0.0.1:0", "--log="+ledger); err != nil {
		return nil, "", err
	}
	err = p.Await(ctx, func(context.Context) bool {
		said, _ := os.ReadFile(log)
		line, _, whole := strings.Cut(string(said), "\n")
		address = strings.TrimPrefix(line, "listening on ")
		return whole
	})
	if err != nil {
		p.Kill()
		return nil, "", err
	}
	return p, address, nil
}
