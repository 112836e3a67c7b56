package report

import (
	"math"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestWhatAReplicaNeeds(t *testing.T) {
	results := made()
	webhook := &Section{Name: SectionWebhook}
	into := webhook.Of(Busy)
	into.Pairs = []Pair{{Sides: map[string]Sample{
		With:    {Submissions: 100, Seconds: 2, CPU: map[string]float64{Manager: 0.3}},
		Without: {Submissions: 100, Seconds: 1, CPU: map[string]float64{Manager: 0.2}},
	}}}
	results[SectionWebhook] = webhook
	results.edit(SectionGentle, TenASec, Operator, func(s *Sample) { s.Seconds, s.CPU = 10, map[string]float64{Manager: 0.4} })
	waiting := results[SectionMemory].Of(Waiting)
	waiting.Pairs = []Pair{{Sides: map[string]Sample{Operator: {Figures: map[string]float64{MemoryMiB: 60, Objects: 1000}}}}}

	got := results.Replica()
	for name, each := range map[string][2]float64{
		"gentle": {got.Gentle, 0.06}, "busy": {got.Busy, 0.15}, "worked": {got.Worked, 55}, "full": {got.Full, 150},
	} {
		if math.Abs(each[0]-each[1]) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, each[0], each[1])
		}
	}
}

// TestTheDeploymentAsksForWhatWasMeasured holds config/manager against the samples: it fails when the operator grows.
func TestTheDeploymentAsksForWhatWasMeasured(t *testing.T) {
	results, err := Read("../measured")
	if err != nil {
		t.Fatal(err)
	}
	uses, asks := results.Replica(), asked(t)
	const mebi = 1 << 20
	for _, row := range []struct {
		name        string
		asked, used float64
	}{
		{"requests.cpu (processors), and 10 submissions a second take", asks.Requests.Cpu().AsApproximateFloat64(), uses.Gentle},
		{"requests.memory (MiB), and after work there are", asks.Requests.Memory().AsApproximateFloat64() / mebi, uses.Worked},
		{"limits.memory (MiB), of which Go is to use nine tenths, and much that waits takes", 0.9 * asks.Limits.Memory().AsApproximateFloat64() / mebi, uses.Full},
	} {
		if math.IsNaN(row.used) || row.asked < row.used {
			t.Errorf("the Deployment has %.3g as %s %.3g: raise it in config/manager/manager.yaml and in hack/chart/values.yaml", row.asked, row.name, row.used)
		}
		if row.asked > 3*row.used {
			t.Errorf("the Deployment has %.3g as %s %.3g only: lower it in both", row.asked, row.name, row.used)
		}
	}
	if _, limited := asks.Limits[corev1.ResourceCPU]; limited {
		t.Error("a limit on processors makes the leader late for its lease, and everybody else for the webhooks")
	}
}

func asked(t *testing.T) corev1.ResourceRequirements {
	t.Helper()
	text, err := os.ReadFile("../../../config/manager/manager.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	if err := yaml.UnmarshalStrict(text, &deployment); err != nil {
		t.Fatal(err)
	}
	return deployment.Spec.Template.Spec.Containers[0].Resources
}
