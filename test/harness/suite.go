package harness

import (
	"fmt"
	"os"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Main is the main function of a package of tests that share an installation. run starts what they share, runs them,
// stops it, and returns their exit code. What goes wrong beside the tests fails the package.
func Main(run func() (code int, err error)) {
	ctrl.SetLogger(logr.Discard()) // envtest's own words are of no use here
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
