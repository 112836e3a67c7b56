package install_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// farewell is what a program does after its grace period: the operator's manager ends what has nothing left to store, and both
// export their last spans.
var farewell = map[string]time.Duration{"manager": 11 * time.Second, "gateway": time.Second}

var graceFlag = regexp.MustCompile("(?m)^\\| `--grace-period` \\| `([^`]+)`")

// TestPodsAreGivenTheTime: from when a pod is asked to end until it is killed there is time for the sleep of preStop, for the grace
// period that its program has been told, or has by itself, and for its farewell.
func TestPodsAreGivenTheTime(t *testing.T) {
	w := newWorld(t)
	byItself := graceFlag.FindAllStringSubmatch(w.read("docs/flags.md"), -1) // the operator's, then the gateway's
	if len(byItself) != 2 {
		t.Fatalf("the page of flags says %q", byItself)
	}
	defaults := map[string]string{"manager": byItself[0][1], "gateway": byItself[1][1]}
	chart := func(seconds string) string {
		return w.render("taskonce", system, "--set", "gateway.enabled=true,gracePeriodSeconds="+seconds+",gateway.gracePeriodSeconds="+seconds)
	}
	for what, text := range map[string]string{
		"the manifests":           w.read("dist/install.yaml") + "\n---\n" + w.read("dist/gateway.yaml"),
		"the chart":               w.render("taskonce", system, "--set", "gateway.enabled=true"),
		"the chart, with none":    chart("0"),
		"the chart, with a week":  chart("604800"),
		"the chart, with a fixed": chart("10"),
	} {
		for name, object := range objects(t, text) {
			if !strings.HasPrefix(name, "Deployment ") {
				continue
			}
			deployment := &appsv1.Deployment{}
			w.must(runtime.DefaultUnstructuredConverter.FromUnstructured(object, deployment))
			pod := &deployment.Spec.Template.Spec
			given, needed := time.Duration(*pod.TerminationGracePeriodSeconds)*time.Second, needed(t, deployment, defaults)
			if spare := given - needed; spare < 5*time.Second || spare > 30*time.Second {
				t.Errorf("%s, %s: the pod is given %s, and needs %s", what, name, given, needed)
			}
		}
	}
}

// needed is how long a pod takes to end at most.
func needed(t *testing.T, deployment *appsv1.Deployment, defaults map[string]string) time.Duration {
	t.Helper()
	container := &deployment.Spec.Template.Spec.Containers[0]
	grace := defaults[container.Name]
	for _, argument := range container.Args {
		if said, is := strings.CutPrefix(argument, "--grace-period="); is {
			grace = said
		}
	}
	period, err := time.ParseDuration(grace)
	if err != nil {
		t.Fatalf("%s is told a grace period of %q: %v", container.Name, grace, err)
	}
	return time.Duration(container.Lifecycle.PreStop.Sleep.Seconds)*time.Second + period + farewell[container.Name]
}
