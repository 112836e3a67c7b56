package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Run plays the steps, prints what happens, and returns the verdict. The error says that something could not be
// played or judged; where it is nil, the verdict is whole.
func Run(ctx context.Context, options Options, out io.Writer) (verdict Verdict, err error) {
	begun := time.Now()
	chosen, err := options.selected()
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(out, "One business action, one side effect: here is what usually breaks that, and what becomes of it.")
	fmt.Fprintln(out, "Bringing up etcd, kube-apiserver, a receiver that misbehaves, and the operator …")
	if options.Fault != "" {
		fmt.Fprintf(out, "The operator is built with a rule switched off: %s.\n", options.Fault)
	}
	w, err := open(ctx, options)
	defer func() {
		red := err != nil || len(verdict.Red()) > 0
		err = errors.Join(err, w.shut(), w.leave(out, options.Keep || red))
	}()
	if err != nil {
		return nil, err
	}
	stages, playing := w.play(ctx, chosen, out)
	verdict, err = w.judge(ctx, chosen, stages, out)
	if err = errors.Join(playing, err); err != nil || len(verdict.Red()) > 0 {
		fmt.Fprintf(out, "\n%s\n", w.manager.LogTail())
	}
	if verdict != nil {
		fmt.Fprintf(out, "\n%s\n", verdict.conclusion(time.Since(begun)))
	}
	return verdict, err
}

// play plays all steps at once, except that nothing begins before those have done their worst which kill the
// operator. What a step has to say is printed in the order of the list.
func (w *world) play(ctx context.Context, chosen []step, out io.Writer) ([]*stage, error) {
	stages, faults := make([]*stage, len(chosen)), make([]error, len(chosen))
	for i, s := range chosen {
		stages[i] = &stage{world: w, seen: map[string]*v1alpha1.TaskSubmission{}}
		if s.disturb != nil {
			faults[i] = s.disturb(ctx, stages[i])
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-w.manager.Done: // nothing more will happen, so nothing more is waited for
			cancel()
		case <-ctx.Done():
		}
	}()
	done := make([]chan struct{}, len(chosen))
	for i, s := range chosen {
		done[i] = make(chan struct{})
		go func() {
			defer close(done[i])
			if faults[i] == nil {
				faults[i] = s.play(ctx, stages[i])
			}
		}()
	}
	for i, s := range chosen {
		<-done[i]
		printStep(out, i+1, s, stages[i], faults[i])
		if faults[i] != nil {
			faults[i] = fmt.Errorf("%s: %w", s.name, faults[i])
		}
	}
	return stages, errors.Join(faults...)
}

// judge ends the operator in order, lets the receiver finish, and compares what is known then with what was said.
func (w *world) judge(ctx context.Context, chosen []step, stages []*stage, out io.Writer) (Verdict, error) {
	ending := errors.Join(w.manager.Stop(stopPatience), w.receiver.drain(ctx)) // what is known is judged all the same
	e, err := w.gather(ctx)
	if err != nil {
		return nil, errors.Join(ending, err)
	}
	if err := w.printSubmissions(ctx, out); err != nil {
		return nil, errors.Join(ending, err)
	}
	e.printLedger(out)
	var verdict Verdict
	for i, s := range chosen {
		verdict = append(verdict, Judgement{Step: s.name, Findings: s.judge(e.of(stages[i]))})
	}
	verdict.print(out)
	return verdict, ending
}

// leave removes the demo's folder or, without the programs, says where it is.
func (w *world) leave(out io.Writer, keep bool) error {
	if !keep || w.dir == "" {
		return os.RemoveAll(w.dir)
	}
	fmt.Fprintf(out, "The logs, and the receiver's ledger, are in %s.\n", w.dir)
	for _, program := range []string{managerProgram, receiverProgram, pluginProgram} {
		_ = os.Remove(filepath.Join(w.dir, program)) // it may not have been built
	}
	return nil
}
