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
// with the gateway, whose manifest is one of its own, and with what others watch them by.
func TestTheChartSaysWhatTheManifestsSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	operator := w.read("dist/install.yaml")
	saysTheSame(t, w.render("taskonce", system), operator)
	gateway := operator + "\n---\n" + w.read("dist/gateway.yaml")
	saysTheSame(t, w.render("taskonce", system, "--set", "gateway.enabled=true"), gateway)
	monitoring, _, err := w.plane.Kubectl(t.Context(), "kustomize", filepath.Join(w.root, "config", "prometheus"))
	w.must(err)
	everything := "gateway.enabled=true,metrics.serviceMonitor.enabled=true,metrics.rules.enabled=true,metrics.dashboards.enabled=true"
	saysTheSame(t, w.render("taskonce", system, "--set", everything), gateway+"\n---\n"+monitoring)
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

// The objects that most values are looked for in.
const (
	manager = "Deployment taskonce-controller-manager: "
	gateway = "Deployment taskonce-gateway: "
	check   = "Pod taskonce-test: "
	without = "!"
)

// values are one other setting of each value of the chart, and what is only rendered with it, or, after without, only without
// it: an object, or all of a kind, and what is in it.
var values = map[string][]string{
	"fullnameOverride=other":                       {"Deployment other-controller-manager: kind: Deployment"},
	"namespaces={a}":                               {manager + "--namespaces=a", check + "--namespaces=a"},
	"image.repository=registry.example/it":         {manager + "registry.example/it:latest", gateway + "registry.example/it:latest", check + "registry.example/it:latest"},
	"image.tag=v7":                                 {manager + "ghcr.io/taskonce/taskonce:v7", gateway + "ghcr.io/taskonce/taskonce:v7", check + "ghcr.io/taskonce/taskonce:v7"},
	"image.digest=sha256:" + zeros:                 {manager + "taskonce@sha256:" + zeros, gateway + "taskonce@sha256:" + zeros, check + "taskonce@sha256:" + zeros},
	"image.pullPolicy=Always":                      {manager + "imagePullPolicy: Always", gateway + "imagePullPolicy: Always", check + "imagePullPolicy: Always"},
	"image.pullSecrets[0].name=key":                {manager + "imagePullSecrets:", gateway + "imagePullSecrets:", check + "imagePullSecrets:"},
	"replicas=3":                                   {manager + "replicas: 3"},
	"crds.install=false":                           {without + "CustomResourceDefinition: kind: CustomResourceDefinition"},
	"crds.keep=false":                              {without + "CustomResourceDefinition: helm.sh/resource-policy: keep"},
	"policies.install=false":                       {without + "ValidatingAdmissionPolicy: kind: ValidatingAdmissionPolicy"},
	"roles.install=false":                          {without + "ClusterRole taskonce-viewer: kind: ClusterRole"},
	"webhook.enabled=false":                        {manager + "--webhook-bind-address=0", check + "--webhook-bind-address=0"},
	"webhook.certificate.source=cert-manager":      {manager + "--webhook-cert-dir=/certificate"},
	"webhook.certificate.issuerRef.name=corporate": {"Certificate taskonce-webhook: name: corporate"},
	"metrics.enabled=false":                        {manager + "--metrics-bind-address=0", gateway + "--metrics-bind-address=0"},
	"metrics.authentication=none":                  {manager + "--metrics-authentication=none", gateway + "--metrics-authentication=none"},
	"metrics.serviceMonitor.enabled=true":          {"ServiceMonitor taskonce-controller-manager: kind: ServiceMonitor", "ServiceMonitor taskonce-gateway: kind: ServiceMonitor"},
	"metrics.serviceMonitor.labels.team=a":         {"ServiceMonitor taskonce-controller-manager: team: a", "ServiceMonitor taskonce-gateway: team: a"},
	"metrics.serviceMonitor.interval=7s":           {"ServiceMonitor taskonce-controller-manager: interval: 7s", "ServiceMonitor taskonce-gateway: interval: 7s"},
	"metrics.rules.enabled=true":                   {"PrometheusRule: kind: PrometheusRule"},
	"metrics.rules.labels.team=b":                  {"PrometheusRule: team: b"},
	"metrics.dashboards.enabled=true":              {"ConfigMap: grafana_dashboard"},
	"metrics.dashboards.labels.team=c":             {"ConfigMap: team: c"},
	"serviceAccount.annotations.role=cloud":        {"ServiceAccount taskonce-controller-manager: role: cloud"},
	"log.format=text":                              {manager + "--log-format=text", gateway + "--log-format=text"},
	"log.level=debug":                              {manager + "--log-level=debug", gateway + "--log-level=debug"},
	"extraArgs={--workers=7}":                      {manager + "--workers=7"},
	"extraEnv[0].name=HTTPS_PROXY":                 {manager + "name: HTTPS_PROXY", check + "name: HTTPS_PROXY"},
	"extraVolumes[0].name=more":                    {manager + "- name: more", check + "- name: more"},
	"extraVolumeMounts[0].name=m,extraVolumeMounts[0].mountPath=/more": {manager + "mountPath: /more", check + "mountPath: /more"},
	"labels.cost=centre":                                                  {manager + "cost: centre", gateway + "cost: centre", check + "cost: centre", "CustomResourceDefinition: cost: centre"},
	"podLabels.pod=label":                                                 {manager + "pod: label", check + "pod: label"},
	"podAnnotations.pod=annotation":                                       {manager + "pod: annotation"},
	"resources.limits.memory=1Gi":                                         {manager + "memory: 1Gi", check + "memory: 1Gi"},
	"gracePeriodSeconds=45":                                               {manager + "terminationGracePeriodSeconds: 80"},
	"priorityClassName=system-cluster-critical":                           {manager + "priorityClassName: system-cluster-critical", check + "priorityClassName: system-cluster-critical"},
	"nodeSelector.disk=fast":                                              {manager + "disk: fast", check + "disk: fast"},
	"tolerations[0].key=dedicated":                                        {manager + "key: dedicated", check + "key: dedicated"},
	"affinity.nodeAffinity.x=y":                                           {manager + "nodeAffinity:", check + "nodeAffinity:"},
	"topologySpreadKey=topology.kubernetes.io/zone":                       {manager + "topologyKey: topology.kubernetes.io/zone"},
	"podDisruptionBudget.enabled=false":                                   {without + "PodDisruptionBudget taskonce-controller-manager: kind: PodDisruptionBudget"},
	"podDisruptionBudget.maxUnavailable=2":                                {"PodDisruptionBudget taskonce-controller-manager: maxUnavailable: 2"},
	"networkPolicy.enabled=true":                                          {"NetworkPolicy taskonce-controller-manager: kind: NetworkPolicy"},
	"networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus": {"NetworkPolicy taskonce-controller-manager: app: prometheus"},
	"networkPolicy.egress[0].ports[0].port=443":                           {"NetworkPolicy taskonce-controller-manager: - Egress"},
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

// with is what a value needs to be looked at.
var with = map[string]string{
	"image":                         "gateway.enabled=true",
	"labels":                        "gateway.enabled=true",
	"log":                           "gateway.enabled=true",
	"metrics":                       "gateway.enabled=true",
	"webhook.certificate.issuerRef": "webhook.certificate.source=cert-manager",
	"metrics.serviceMonitor":        "metrics.serviceMonitor.enabled=true",
	"metrics.rules":                 "metrics.rules.enabled=true",
	"metrics.dashboards":            "metrics.dashboards.enabled=true",
	"networkPolicy":                 "networkPolicy.enabled=true",
}

// TestEveryValueIsUsed sets each value of the chart to something else and looks for what that changes, and where.
func TestEveryValueIsUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	unset := map[string]map[string]string{} // by the flags beside the value
	for setting, wants := range values {
		var flags []string
		for begin, needs := range with {
			if strings.HasPrefix(setting, begin) && !strings.HasPrefix(setting, needs) {
				flags = append(flags, "--set="+needs)
			}
		}
		slices.Sort(flags)
		beside := strings.Join(flags, " ")
		if unset[beside] == nil {
			unset[beside] = documents(t, w.render("taskonce", system, flags...))
		}
		before, after := unset[beside], documents(t, w.render("taskonce", system, append(flags, "--set", setting)...))
		for _, want := range wants {
			want, absent := strings.CutPrefix(want, without)
			if shows(before, want) != absent || shows(after, want) == absent {
				t.Errorf("%s: %q is rendered without it: %v, and with it: %v", setting, want, shows(before, want), shows(after, want))
			}
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

// documents are the objects of a rendered chart, as text, by kind, and by kind and name.
func documents(t *testing.T, rendered string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for document := range strings.SplitSeq("\n"+rendered, "\n---\n") {
		var object struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		found[object.Kind] += document + "\n"
		found[object.Kind+" "+object.Metadata.Name] += document + "\n"
	}
	return found
}

// shows says whether "object: text" is so.
func shows(documents map[string]string, want string) bool {
	object, text, _ := strings.Cut(want, ": ")
	return strings.Contains(documents[object], text)
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
