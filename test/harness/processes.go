package harness

import (
	"context"
	"errors"
	"time"
)

// Processes are programs that serve together, in the order of their start.
type Processes []*Process

// Add takes what a start returned, and returns its error.
func (all *Processes) Add(p *Process, err error) error {
	if p != nil {
		*all = append(*all, p)
	}
	return err
}

// Wait returns when ctx ends, or with an error when one of the programs does.
func (all Processes) Wait(ctx context.Context) error {
	failed := make(chan error, len(all))
	for _, p := range all {
		go func() {
			<-p.Done
			failed <- p.EndedByItself()
		}()
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// Stop ends the programs, the last one first: each may still need those before it.
func (all *Processes) Stop(patience time.Duration) error {
	var errs []error
	for len(*all) > 0 {
		last := (*all)[len(*all)-1]
		*all = (*all)[:len(*all)-1]
		select {
		case <-last.Done: // said already
		default:
			errs = append(errs, last.Stop(patience))
		}
	}
	return errors.Join(errs...)
}
