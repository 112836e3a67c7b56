package controller_test

import (
	"os"
	"runtime"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// cycles is how often a submission comes and goes; make soak asks for more.
func cycles() int {
	if n, err := strconv.Atoi(os.Getenv("TASKONCE_CYCLES")); err == nil {
		return n
	}
	return 30
}

var _ = Describe("What comes and goes", func() {
	It("leaves no record, claim, slot, goroutine or memory behind", func() {
		w := newWorld()
		w.template("work", forOrder, removedAfter(time.Second), keptFor(10*time.Second))
		runtime.GC()
		goroutines := runtime.NumGoroutine()
		for i := range cycles() {
			name := "a" + strconv.Itoa(i)
			w.submit(name, with(`{"order":"`+name+`"}`))
			w.run(name)
			w.expectOnce(name, v1alpha1.ReasonApplied)
			switch i % 3 {
			case 0: // somebody deletes it
				w.remove(name)
				w.run(name)
			case 1: // somebody deletes it, and applies it again
				w.again(name, with(`{"order":"`+name+`"}`))
				w.run(name)
			}
			w.clock.Step(soon)
			w.sweep()
		}
		w.clock.Step(time.Minute)
		w.sweep()
		w.clock.Step(time.Minute)
		w.sweep()
		Expect(w.versions()).To(BeEmpty())
		Expect(w.op.Remembered()).To(BeZero())
		Expect(w.op.InFlight()).To(BeZero())
		Eventually(runtime.NumGoroutine).Should(BeNumerically("<=", goroutines+10))
	})
})
