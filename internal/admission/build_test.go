package admission_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// submission is a manifest: what is empty is left out.
type submission struct {
	name, generateName, key, template, parameters string
	annotations                                   map[string]string
	more                                          map[string]any // of the spec
}

func (s submission) manifest() string {
	GinkgoHelper()
	metadata, spec := map[string]any{}, map[string]any{"templateRef": map[string]any{"name": s.template}}
	put := func(into map[string]any, field, value string) {
		if value != "" {
			into[field] = value
		}
	}
	put(metadata, "name", s.name)
	put(metadata, "generateName", s.generateName)
	put(spec, "idempotencyKey", s.key)
	if s.annotations != nil {
		metadata["annotations"] = s.annotations
	}
	if s.parameters != "" {
		spec["parameters"] = json.RawMessage(s.parameters)
	}
	maps.Copy(spec, s.more)
	return object("TaskSubmission", metadata, spec)
}

func object(kind string, metadata, spec map[string]any) string {
	GinkgoHelper()
	text, err := json.MarshalIndent(map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind, "metadata": metadata, "spec": spec}, "", "  ")
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// named gives a submission the name that belongs to its key.
func (s submission) named() submission {
	s.name = nameOf(s.key)
	return s
}

// template makes one that sends its parameters to the receiver; edits are merged into its spec.
func template(name string, edits map[string]any) string {
	GinkgoHelper()
	spec := map[string]any{"effect": map[string]any{"http": map[string]any{"method": "POST", "url": receiver.url + "/" + name}}}
	maps.Copy(spec, edits)
	return object("TaskTemplate", map[string]any{"name": name}, spec)
}

const orderSchema = `{"type":"object","required":["order"],"properties":{"order":{"type":"string"},"points":{"type":"integer"},"card":{"type":"object","properties":{"number":{"type":"string"}}}}}`

// work is the template that most specs use: any key, and parameters with an order.
func work() string {
	return template("work", map[string]any{"parametersSchema": map[string]any{"openAPIV3Schema": json.RawMessage(orderSchema)}})
}

func newNamespace(templates ...string) string {
	GinkgoHelper()
	namespace, err := plane.Namespace(ctx)
	Expect(err).NotTo(HaveOccurred())
	for _, manifest := range templates {
		apply(namespace, manifest)
	}
	if len(templates) > 0 {
		Expect(run(namespace, "", "wait", "--for=condition=Ready", "tasktemplates", "--all", "--timeout=90s")).To(ContainSubstring("condition met"))
	}
	return namespace
}

// kubectl runs the real one as an administrator, and returns what it wrote to standard output and to standard error.
func kubectl(namespace, stdin string, args ...string) (ok bool, said string) {
	GinkgoHelper()
	var out bytes.Buffer
	command := exec.CommandContext(ctx, filepath.Join(plane.Programs, "kubectl"), append([]string{"--namespace", namespace}, args...)...)
	command.Env = plane.Environ()
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &out, &out
	err := command.Run()
	return err == nil, strings.TrimSpace(out.String())
}

// run expects kubectl to succeed.
func run(namespace, stdin string, args ...string) string {
	GinkgoHelper()
	ok, said := kubectl(namespace, stdin, args...)
	Expect(ok).To(BeTrue(), said)
	return said
}

// refused expects kubectl to fail.
func refused(namespace, stdin string, args ...string) string {
	GinkgoHelper()
	ok, said := kubectl(namespace, stdin, args...)
	Expect(ok).To(BeFalse(), said)
	return said
}

func apply(namespace, manifest string) string {
	GinkgoHelper()
	return run(namespace, manifest, "apply", "-f", "-")
}

func create(namespace, manifest string) string {
	GinkgoHelper()
	return run(namespace, manifest, "create", "-f", "-")
}

func get(namespace, name string) *v1alpha1.TaskSubmission {
	GinkgoHelper()
	found := &v1alpha1.TaskSubmission{}
	Expect(admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)).To(Succeed())
	return found
}

// stands waits until a submission has come to phase and reason, and until the webhooks know that.
func stands(namespace, name, want string) {
	GinkgoHelper()
	Eventually(func() string {
		status := get(namespace, name).Status
		return string(status.Phase) + "/" + string(status.Reason)
	}).Should(Equal(want))
	Eventually(func() bool { return isCached(get(namespace, name)) }).Should(BeTrue(), "the webhooks' cache lags behind")
}

// isCached reports whether the cache that the webhooks ask has a submission as it is: none that has finished.
func isCached(now *v1alpha1.TaskSubmission) bool {
	cached := &v1alpha1.TaskSubmission{}
	err := door.submissions.Cache.Get(ctx, client.ObjectKeyFromObject(now), cached)
	if now.Status.Phase.Terminal() {
		return apierrors.IsNotFound(err)
	}
	return err == nil && cached.ResourceVersion == now.ResourceVersion
}

// records returns how many records there are in a namespace.
func records(namespace string) int {
	GinkgoHelper()
	list := &v1alpha1.TaskRecordList{}
	Expect(admin.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
	return len(list.Items)
}
