package install_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// TestTheChartSaysWhatTheManifestsSay renders the chart with its defaults and compares each object with the manifest's; then
// with the gateway, whose manifest is one of its own.
func TestTheChartSaysWhatTheManifestsSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	operator := w.read("dist/install.yaml")
	saysTheSame(t, w.render("taskonce", system), operator)
	saysTheSame(t, w.render("taskonce", system, "--set", "gateway.enabled=true"), operator+"\n---\n"+w.read("dist/gateway.yaml"))
}

func saysTheSame(t *testing.T, rendered, kustomized string) {
	t.Helper()
	manifest := objects(t, kustomized)
	delete(manifest, "Namespace taskonce-system") // helm makes it
	chart := objects(t, rendered)
	delete(chart, "Pod taskonce-test") // only helm test makes it
	for name := range manifest {
		if chart[name] == nil {
			t.Errorf("the chart has no %s", name)
		} else if !reflect.DeepEqual(manifest[name], chart[name]) {
			said, _ := yaml.Marshal(chart[name])
			want, _ := yaml.Marshal(manifest[name])
			t.Errorf("%s: the chart says\n%s\nand the manifest\n%s", name, said, want)
		}
	}
	for name := range chart {
		if manifest[name] == nil {
			t.Errorf("the manifest has no %s", name)
		}
	}
}

// render runs helm template.
func (w *world) render(release, namespace string, flags ...string) string {
	w.Helper()
	out, err := w.helm(append([]string{"template", release, "dist/chart", "--namespace", namespace}, flags...)...)
	if err != nil {
		w.Fatalf("helm template %v: %v\n%s", flags, err, out)
	}
	return out
}

// objects decodes manifests, without what Helm and kustomize label in their own ways, and rules in one order. The keys are kind and name.
func objects(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		if object.Object == nil {
			continue
		}
		strip(object.Object)
		name := object.GetKind() + " " + object.GetName()
		if in := object.GetNamespace(); in != "" && in != system {
			name += " in " + in
		}
		found[name] = object.Object
	}
}

// toolLabels are those that say which tool has installed something, and what Helm says of the release.
var toolLabels = []string{"app.kubernetes.io/managed-by", "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/version", "helm.sh/chart", "helm.sh/resource-policy"}

func strip(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, label := range toolLabels {
			delete(value, label)
		}
		for name, each := range value {
			strip(each)
			if inner, ok := each.(map[string]any); ok && len(inner) == 0 && (name == "labels" || name == "annotations") {
				delete(value, name)
			}
			if rules, ok := each.([]any); ok && name == "rules" {
				slices.SortFunc(rules, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			}
		}
	case []any:
		for _, each := range value {
			strip(each)
		}
	}
}

// values are one other setting of each value of the chart, and something that is only rendered with it, or, after a
// !, only without it.
var values = map[string]string{
	"fullnameOverride=other":                       "other-controller-manager",
	"namespaces={a}":                               "--namespaces=a",
	"image.repository=registry.example/it":         "registry.example/it:latest",
	"image.tag=v7":                                 "ghcr.io/taskonce/taskonce:v7",
	"image.digest=sha256:" + zeros:                 "taskonce@sha256:" + zeros,
	"image.pullPolicy=Always":                      "imagePullPolicy: Always",
	"image.pullSecrets[0].name=key":                "imagePullSecrets:",
	"replicas=3":                                   "replicas: 3",
	"crds.install=false":                           "!kind: CustomResourceDefinition",
	"crds.keep=false":                              "!helm.sh/resource-policy: keep",
	"policies.install=false":                       "!kind: ValidatingAdmissionPolicy",
	"roles.install=false":                          "!name: taskonce-viewer",
	"webhook.enabled=false":                        "--webhook-bind-address=0",
	"webhook.certificate.source=cert-manager":      "--webhook-cert-dir=/certificate",
	"webhook.certificate.issuerRef.name=corporate": "name: corporate",
	"metrics.enabled=false":                        "--metrics-bind-address=0",
	"metrics.authentication=none":                  "--metrics-authentication=none",
	"metrics.serviceMonitor.enabled=true":          "kind: ServiceMonitor",
	"metrics.serviceMonitor.labels.team=a":         "team: a",
	"metrics.serviceMonitor.interval=7s":           "interval: 7s",
	"metrics.rules.enabled=true":                   "kind: PrometheusRule",
	"metrics.rules.labels.team=b":                  "team: b",
	"metrics.dashboards.enabled=true":              "grafana_dashboard",
	"metrics.dashboards.labels.team=c":             "team: c",
	"serviceAccount.annotations.role=cloud":        "role: cloud",
	"log.format=text":                              "--log-format=text",
	"log.level=debug":                              "--log-level=debug",
	"extraArgs={--workers=7}":                      "--workers=7",
	"extraEnv[0].name=HTTPS_PROXY":                 "name: HTTPS_PROXY",
	"extraVolumes[0].name=more":                    "- name: more",
	"extraVolumeMounts[0].name=m,extraVolumeMounts[0].mountPath=/more": "mountPath: /more",
	"labels.cost=centre":                                                  "cost: centre",
	"podLabels.pod=label":                                                 "pod: label",
	"podAnnotations.pod=annotation":                                       "pod: annotation",
	"resources.limits.memory=1Gi":                                         "memory: 1Gi",
	"gracePeriodSeconds=45":                                               "terminationGracePeriodSeconds: 75",
	"priorityClassName=system-cluster-critical":                           "priorityClassName: system-cluster-critical",
	"nodeSelector.disk=fast":                                              "disk: fast",
	"tolerations[0].key=dedicated":                                        "key: dedicated",
	"affinity.nodeAffinity.x=y":                                           "nodeAffinity:",
	"topologySpreadKey=topology.kubernetes.io/zone":                       "topologyKey: topology.kubernetes.io/zone",
	"podDisruptionBudget.enabled=false":                                   "!kind: PodDisruptionBudget",
	"podDisruptionBudget.maxUnavailable=2":                                "maxUnavailable: 2",
	"networkPolicy.enabled=true":                                          "kind: NetworkPolicy",
	"networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus": "app: prometheus",
	"networkPolicy.egress[0].ports[0].port=443":                           "- Egress",
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// with is what a value needs to be looked at.
var with = map[string]string{
	"webhook.certificate.issuerRef": "webhook.certificate.source=cert-manager",
	"metrics.serviceMonitor":        "metrics.serviceMonitor.enabled=true",
	"metrics.rules":                 "metrics.rules.enabled=true",
	"metrics.dashboards":            "metrics.dashboards.enabled=true",
	"networkPolicy":                 "networkPolicy.enabled=true",
}

// TestEveryValueIsUsed sets each value of the chart to something else and looks for what that changes.
func TestEveryValueIsUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for setting, want := range values {
		var flags []string
		for begin, needs := range with {
			if strings.HasPrefix(setting, begin) {
				flags = append(flags, "--set", needs)
			}
		}
		out := w.render("taskonce", system, append(flags, "--set", setting)...)
		if absent, ok := strings.CutPrefix(want, "!"); ok {
			if strings.Contains(out, absent+"\n") {
				t.Errorf("%s: %q is rendered still", setting, absent)
			}
		} else if !strings.Contains(out, want) {
			t.Errorf("%s: nothing with %q is rendered", setting, want)
		}
	}
	var defaults map[string]any
	w.must(yaml.Unmarshal([]byte(w.read("dist/chart/values.yaml")), &defaults))
	for _, path := range leaves("", defaults) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(values)), func(setting string) bool { return strings.HasPrefix(setting, path) }) {
			t.Errorf("no test sets the value %s", path)
		}
	}
}

// leaves are the paths of all values that are not just maps of others.
func leaves(path string, value any) []string {
	inner, ok := value.(map[string]any)
	if !ok || len(inner) == 0 || strings.HasSuffix(path, "resources") || strings.HasSuffix(path, "labels") {
		return []string{path}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(inner)) {
		all = append(all, leaves(strings.TrimPrefix(path+"."+name, "."), inner[name])...)
	}
	return all
}

// TestWrongValuesAreRefused has the schema refuse a few.
func TestWrongValuesAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, wrong := range []string{"replicass=2", "replicas=two", "log.level=loud", "webhook.certificate.source=somebody", "extraArgs={workers}", "namespaces={A}", "image.digest=abc"} {
		if out, err := w.helm("template", "taskonce", "dist/chart", "--set", wrong); err == nil || !strings.Contains(out, "schema") {
			t.Errorf("%s was not refused by the schema: %s", wrong, out)
		}
	}
}

// TestTheChartIsClean runs helm lint.
func TestTheChartIsClean(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if out, err := w.helm("lint", "--strict", "dist/chart"); err != nil {
		t.Errorf("helm lint: %v\n%s", err, out)
	}
}

// helm runs it, without a cluster.
func (w *world) helm(args ...string) (string, error) {
	var out bytes.Buffer
	cmd := w.command(w.Context(), filepath.Join(w.bin, "helm"), args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}
