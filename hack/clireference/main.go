// Command clireference prints docs/cli.md: the reference of the kubectl plugin, from the commands themselves.
package main

import (
	"fmt"
	"os"

	"github.com/taskonce/taskonce/internal/cli"
)

func main() {
	// What is printed must not depend on who prints it.
	if err := os.Setenv("KUBECACHEDIR", "$HOME/.kube/cache"); err != nil {
		fail(err)
	}
	if err := cli.WriteReference(os.Stdout); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "clireference:", err)
	os.Exit(1)
}
