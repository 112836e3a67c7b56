package setting

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
)

// Common are the options of every program. A program's own embed them.
type Common struct {
	version bool
	log     Log
}

// Register adds the flags.
func (c *Common) Register(flags *flag.FlagSet) {
	config.RegisterFlags(flags)
	flags.BoolVar(&c.version, "version", false, "Print the version, and do nothing else.")
	c.log.Register(flags)
}

// VersionOnly reports whether the version is asked for, which needs nothing else.
func (c *Common) VersionOnly() bool { return c.version }

// Check says what is wrong with them.
func (c *Common) Check() error { return c.log.Check() }

// install has the process do as they say.
func (c *Common) install() {
	c.log.Install()
	LimitMemory(memlimit.FromCgroup)
}

// options are a program's own, with Common among them.
type options interface {
	VersionOnly() bool
	// Open looks at what they leave to this machine or name on it, so that what is wrong is said before a cluster is asked.
	Open() error
	install()
}

// Main runs a program until it is told to stop. It ends the process with status 2 where parse, Open or Cluster find the options
// wrong, and with 1 where run fails; both are said in one line.
func Main[O options](name, version string, parse func([]string, func(string) (string, bool), io.Writer) (O, error), run func(context.Context, *rest.Config, O) error) {
	wanted, err := parse(os.Args[1:], os.LookupEnv, os.Stdout)
	switch {
	case errors.Is(err, ErrHelp):
		return
	case err == nil && wanted.VersionOnly():
		fmt.Println("taskonce", name, version)
		return
	case err == nil:
		err = wanted.Open()
	}
	exitOn(name, err, 2)
	cluster, err := Cluster()
	exitOn(name, err, 2)
	wanted.install()
	exitOn(name, run(ctrl.SetupSignalHandler(), cluster, wanted), 1)
}

func exitOn(name string, err error, status int) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(status)
	}
}
