// Command metricsreference prints docs/metrics.md: the reference of the metrics, from the metrics themselves.
package main

import (
	"fmt"
	"os"

	"github.com/taskonce/taskonce/internal/telemetry"
)

func main() {
	if err := telemetry.WriteReference(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "metricsreference:", err)
		os.Exit(1)
	}
}
