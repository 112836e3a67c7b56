package afterlife_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

// releases are the folders of what earlier releases installed and stored.
func releases(t *testing.T) []string {
	t.Helper()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(root, "test", "upgrade", "testdata", "*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("there is no earlier release to upgrade from (%v)", err)
	}
	return found
}

// upgrade starts this operator on the kinds of an earlier release, and then installs these kinds under it. What was
// stored before reads as it did, takes an update that changes nothing, and is replayed; and so does what the earlier
// operator goes on to store where the kinds were the first to be upgraded.
func (w *world) upgrade(release string) {
	w.Helper()
	w.install("-f", w.kindsOf(release))
	namespace := w.newNamespace()
	w.template(namespace, "plain", "plain", "}}")
	stored := w.store(namespace, filepath.Join(release, "objects.yaml"))

	w.Log("the operator first")
	operator := w.operator()
	w.must(w.client.Create(w.Context(), manifest(namespace, "between", "plain")))
	between := w.finished(namespace, "between")
	w.replayed(namespace, "finished")

	w.Log("then the kinds")
	w.install("-k", "config/crd")
	for _, object := range stored {
		w.unchanged(object)
	}
	w.must(w.client.Create(w.Context(), manifest(namespace, "after", "plain")))
	w.finished(namespace, "after")
	w.must(w.client.Delete(w.Context(), between.DeepCopy()))
	w.must(w.client.Create(w.Context(), manifest(namespace, "between", "plain")))
	if again := w.finished(namespace, "between"); again.Status.ResultDigest != between.Status.ResultDigest || w.effects(namespace, "between") != 1 {
		w.Errorf("%d effects; %+v", w.effects(namespace, "between"), again.Status)
	}
	w.replayed(namespace, "finished")

	w.Log("what the earlier operator writes under these kinds")
	beside := w.newNamespace()
	w.template(beside, "plain", "plain", "}}")
	for _, object := range w.store(beside, filepath.Join(release, "objects.yaml")) {
		w.unchanged(object)
	}
	w.replayed(beside, "finished")
	removeOperator(w, namespace, operator)
	removeKinds(w, namespace, operator)
}

// install applies kinds and waits until the API server serves them.
func (w *world) install(args ...string) {
	w.Helper()
	w.kubectl(append([]string{"apply", "--server-side", "--force-conflicts"}, args...)...)
	var names []string
	for _, kind := range []string{"taskdecisions", "taskrecords", "tasksubmissions", "tasktemplates"} {
		name := kind + "." + v1alpha1.GroupVersion.Group
		names = append(names, name)
		w.await(name+" is established", func(ctx context.Context) (bool, error) {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := w.client.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
				return false, err
			}
			return apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established), nil
		})
	}
	w.await("the kinds are found", func(ctx context.Context) (bool, error) {
		found, _, _ := w.plane.Kubectl(ctx, "api-resources", "--api-group="+v1alpha1.GroupVersion.Group, "-o", "name")
		return slices.Equal(slices.Sorted(slices.Values(strings.Fields(found))), names), nil
	})
}

// kindsOf writes the kinds of all that a release installs to a file, and returns its path.
func (w *world) kindsOf(release string) string {
	w.Helper()
	path := filepath.Join(w.TempDir(), "kinds.yaml")
	w.must(os.WriteFile(path, []byte(strings.Join(definitions(w.T, filepath.Join(release, "install.yaml")), "\n---\n")), 0o600))
	return path
}

// definitions are the CRDs among the documents of a file.
func definitions(t *testing.T, path string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		if strings.Contains(document, "\nkind: CustomResourceDefinition\n") {
			all = append(all, document)
		}
	}
	return all
}

// store creates what a release had stored, in a namespace of its own, and returns it as it is read.
func (w *world) store(namespace, path string) []*unstructured.Unstructured {
	w.Helper()
	text, err := os.ReadFile(path)
	w.must(err)
	list := &struct{ Items []map[string]any }{}
	w.must(yaml.Unmarshal(text, list))
	var stored []*unstructured.Unstructured
	for _, item := range list.Items {
		object := &unstructured.Unstructured{Object: item}
		object.SetNamespace(namespace)
		status, hasStatus := item["status"]
		w.must(w.client.Create(w.Context(), object))
		if hasStatus {
			patch, err := json.Marshal(map[string]any{"status": status})
			w.must(err)
			w.must(w.client.Status().Patch(w.Context(), object, client.RawPatch(types.MergePatchType, patch))) // the operator may be writing, too
		}
		stored = append(stored, object)
	}
	return stored
}

// unchanged reads an object again under other kinds, and stores it as it is.
func (w *world) unchanged(was *unstructured.Unstructured) {
	w.Helper()
	is := &unstructured.Unstructured{}
	is.SetGroupVersionKind(was.GroupVersionKind())
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { // the operator may be writing, too
		w.must(w.client.Get(w.Context(), client.ObjectKeyFromObject(was), is))
		return w.client.Update(w.Context(), is.DeepCopy())
	}); err != nil {
		w.Errorf("%s %s cannot be stored any more: %v", was.GetKind(), was.GetName(), err)
	}
	for _, object := range []*unstructured.Unstructured{was, is} { // a restored record learns its own UID
		unstructured.RemoveNestedField(object.Object, "spec", "action", "uid")
	}
	if was.GetKind() != "TaskTemplate" && !reflect.DeepEqual(was.Object["spec"], is.Object["spec"]) { // templates get defaults of new fields
		w.Errorf("%s %s reads otherwise:\n%v\n%v", was.GetKind(), was.GetName(), was.Object["spec"], is.Object["spec"])
	}
}

// replayed applies what was finished before the upgrade once more.
func (w *world) replayed(namespace, name string) {
	w.Helper()
	found := &v1alpha1.TaskSubmission{}
	w.must(w.client.Get(w.Context(), client.ObjectKey{Namespace: namespace, Name: name}, found))
	again := found.DeepCopy()
	w.must(w.client.Delete(w.Context(), found))
	again.ObjectMeta = manifest(namespace, name, "").ObjectMeta
	again.Status = v1alpha1.TaskSubmissionStatus{}
	w.must(w.client.Create(w.Context(), again))
	if last := w.finished(namespace, name); !last.Status.Replayed || last.Status.ResultDigest != found.Status.ResultDigest || last.Status.ResultDigest == "" || w.effects(namespace, name) != 0 {
		w.Errorf("%d effects; %+v", w.effects(namespace, name), last.Status)
	}
}

// TestKindsOnlyGrow compares the kinds with those of earlier releases: what was stored stays valid.
func TestKindsOnlyGrow(t *testing.T) {
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	now := map[string]*apiextensionsv1.CustomResourceDefinition{}
	paths, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		for _, kind := range kinds(t, path) {
			now[kind.Name] = kind
		}
	}
	for _, release := range releases(t) {
		for _, old := range kinds(t, filepath.Join(release, "install.yaml")) {
			if now[old.Name] == nil {
				t.Errorf("%s: %s is gone", release, old.Name)
				continue
			}
			for _, version := range old.Spec.Versions {
				i := slices.IndexFunc(now[old.Name].Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
					return v.Name == version.Name && v.Served
				})
				if i < 0 {
					t.Errorf("%s: %s is not served as %s any more", release, old.Name, version.Name)
					continue
				}
				for _, fault := range narrowed(old.Name, version.Schema.OpenAPIV3Schema, now[old.Name].Spec.Versions[i].Schema.OpenAPIV3Schema) {
					t.Errorf("%s: %s", filepath.Base(release), fault)
				}
			}
		}
	}
}

func kinds(t *testing.T, path string) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, document := range definitions(t, path) {
		kind := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(document), kind); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, kind)
	}
	return all
}

// narrowed says where a schema takes less than it did: a field that is gone, of another type, newly required, or bounded
// more closely.
func narrowed(at string, old, now *apiextensionsv1.JSONSchemaProps) (faults []string) {
	if old.Type != now.Type {
		faults = append(faults, at+" has another type")
	}
	for _, name := range now.Required {
		if !slices.Contains(old.Required, name) {
			faults = append(faults, at+"."+name+" is required now")
		}
	}
	for _, value := range old.Enum {
		if len(now.Enum) > 0 && !slices.ContainsFunc(now.Enum, func(v apiextensionsv1.JSON) bool { return bytes.Equal(v.Raw, value.Raw) }) {
			faults = append(faults, at+" takes "+string(value.Raw)+" no longer")
		}
	}
	if shorter(old.MaxLength, now.MaxLength) || shorter(old.MaxItems, now.MaxItems) || shorter(old.MaxProperties, now.MaxProperties) {
		faults = append(faults, at+" takes less than it did")
	}
	for name := range old.Properties {
		before, after := old.Properties[name], now.Properties[name]
		if _, kept := now.Properties[name]; !kept {
			faults = append(faults, at+"."+name+" is gone")
			continue
		}
		faults = append(faults, narrowed(at+"."+name, &before, &after)...)
	}
	if old.Items != nil && old.Items.Schema != nil && now.Items != nil && now.Items.Schema != nil {
		faults = append(faults, narrowed(at+"[]", old.Items.Schema, now.Items.Schema)...)
	}
	return faults
}

func shorter(old, now *int64) bool { return now != nil && (old == nil || *now < *old) }

func TestNarrowedFindsWhatTakesLess(t *testing.T) {
	one, two := int64(1), int64(2)
	text := func(most *int64) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: most}
	}
	object := func(field string, props apiextensionsv1.JSONSchemaProps, required ...string) *apiextensionsv1.JSONSchemaProps {
		return &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{field: props}, Required: required}
	}
	for reason, test := range map[string]struct {
		old, now *apiextensionsv1.JSONSchemaProps
		faults   int
	}{
		"the same":     {object("a", text(&one)), object("a", text(&one)), 0},
		"longer":       {object("a", text(&one)), object("a", text(&two)), 0},
		"shorter":      {object("a", text(&two)), object("a", text(&one)), 1},
		"bounded":      {object("a", text(nil)), object("a", text(&one)), 1},
		"gone":         {object("a", text(nil)), object("b", text(nil)), 1},
		"required":     {object("a", text(nil)), object("a", text(nil), "a"), 1},
		"another type": {object("a", text(nil)), object("a", apiextensionsv1.JSONSchemaProps{Type: "integer"}), 1},
		"a word less":  {enum(`"x"`, `"y"`), enum(`"x"`), 1},
		"a word more":  {enum(`"x"`), enum(`"x"`, `"y"`), 0},
	} {
		if faults := narrowed("k", test.old, test.now); len(faults) != test.faults {
			t.Errorf("%s: %v", reason, faults)
		}
	}
}

func enum(values ...string) *apiextensionsv1.JSONSchemaProps {
	schema := &apiextensionsv1.JSONSchemaProps{Type: "string"}
	for _, value := range values {
		schema.Enum = append(schema.Enum, apiextensionsv1.JSON{Raw: []byte(value)})
	}
	return schema
}
