package controller_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/taskonce/taskonce/internal/controller"
)

// TestTheOldestKubernetesIsTheSameEverywhere: what the operator says, the page, the chart, and what is tested.
func TestTheOldestKubernetesIsTheSameEverywhere(t *testing.T) {
	for path, says := range map[string]string{
		"docs/install.md":       `\*\*Kubernetes (1\.\d+) or later\.\*\*`,
		"hack/chart/Chart.yaml": `kubeVersion: ">=(1\.\d+)\.0-0"`,
		"Makefile":              `KUBERNETES_VERSION \?= v(1\.\d+)\.\d+`,
	} {
		text, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(says).FindSubmatch(text)
		if len(found) != 2 || string(found[1]) != controller.OldestKubernetes {
			t.Errorf("%s says %q, and the operator %s", path, found, controller.OldestKubernetes)
		}
	}
}
