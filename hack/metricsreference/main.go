// Command metricsreference prints docs/metrics.md: the reference of the metrics, from the metrics themselves.
package main

import (
	"fmt"
	"os"

	"github.com/taskonce/taskonce/internal/gateway"
	"github.com/taskonce/taskonce/internal/telemetry"
)

func main() {
	var ofGateway []telemetry.Metric
	for _, metric := range gateway.Metrics() {
		ofGateway = append(ofGateway, telemetry.Metric(metric))
	}
	if err := telemetry.WriteReference(os.Stdout, ofGateway); err != nil {
		fmt.Fprintln(os.Stderr, "metricsreference:", err)
		os.Exit(1)
	}
}
