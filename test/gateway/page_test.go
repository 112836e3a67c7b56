package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/cli"
	pages "github.com/taskonce/taskonce/internal/gateway/page"
	"github.com/taskonce/taskonce/test/harness"
)

// shownItem is what the page shows of one.
type shownItem struct {
	Name, Key, Template, Reason, For string
	Deleted                          bool
}

// shown is what the page shows.
type shown struct {
	Now, AsOf          time.Time
	Trouble            string
	Namespaces         []string
	Waiting, InProcess struct {
		Total int
		Items []shownItem
	}
	Recent struct {
		Success, Failed int
		Items           []shownItem
	}
}

// page is a page of this world's namespace, by a gateway of its own: its URL.
func (w *world) page(flags ...string) (*harness.Process, string) {
	w.Helper()
	address := unused(w.T)
	process, _, err := installation.gateway(w.Context(), append([]string{"--page-bind-address=" + address, "--page-namespaces=" + w.namespace}, flags...)...)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(process.Kill)
	return process, "http://" + address
}

// mayRead binds the role of the page in this world's namespace, as an installation that has the page on does.
func (w *world) mayRead() {
	w.Helper()
	w.bind("taskonce-gateway-page", rbacv1.Subject{Kind: "ServiceAccount", Namespace: harness.ManagerNamespace, Name: harness.GatewayServiceAccount})
}

// look returns what a page shows to the bearer of a token, and all of it as text.
func (w *world) look(url, token string) (int, shown, string) {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, url+"/page/state", http.NoBody)
	if err != nil {
		w.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, shown{}, ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.Fatal(err)
	}
	var view shown
	if response.StatusCode == http.StatusOK {
		if err := json.Unmarshal(body, &view); err != nil {
			w.Fatalf("%v: %s", err, body)
		}
	}
	return response.StatusCode, view, string(body)
}

// await looks until what is shown is as wanted.
func (w *world) await(process *harness.Process, url, what string, wanted func(shown) bool) (all string) {
	w.Helper()
	var status int
	err := process.Await(w.Context(), func(context.Context) bool {
		var view shown
		status, view, all = w.look(url, "")
		return status == http.StatusOK && wanted(view)
	})
	if err != nil {
		w.Fatalf("%s: %v; it shows, with %d: %s", what, err, status, all)
	}
	return all
}

func names(items []shownItem) []string {
	var all []string
	for _, item := range items {
		all = append(all, item.Name)
	}
	slices.Sort(all)
	return all
}

// TestPage plays what the page has to show: what waits, what is in process, what finished, and none of their secrets.
func TestPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	process, url := w.page("--page-authentication=none")
	w.await(process, url, "without rights", func(s shown) bool {
		return strings.Contains(s.Trouble, "taskonce-gateway-page") && s.AsOf.IsZero()
	})
	w.mayRead()
	w.await(process, url, "with rights", func(s shown) bool { return s.Trouble == "" && !s.AsOf.IsZero() })
	w.template("award", "/plain/points")
	w.template("refuse", "/refuse/points")
	w.template("approved", "/plain/points", func(s *v1alpha1.TaskTemplateSpec) { s.Approval = &v1alpha1.Approval{Required: true} })
	w.template("slow", "/hold/points", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.Timeout.Duration = 10 * time.Minute })
	const secret = `,"parameters":{"order":"a secret"}}`
	for name, template := range map[string]string{"done": "award", "refused": "refuse", "asks": "approved", "runs": "slow", "<b>&order</b>": "award"} {
		w.send(installation.passing, w.token, submits(name, template, with("Prefer", "wait=0"), saying(`{"template":"`+template+`"`+secret)))
	}
	text := w.await(process, url, "everything", func(s shown) bool {
		return slices.Equal(names(s.Waiting.Items), []string{"asks"}) && slices.Equal(names(s.InProcess.Items), []string{"runs"}) && s.Recent.Success == 2 && s.Recent.Failed == 1
	})
	for _, hidden := range []string{"secret", "order\":", "receipt", "message", "result"} {
		if strings.Contains(text, hidden) {
			t.Errorf("it shows %q: %s", hidden, text)
		}
	}
	_, view, _ := w.look(url, "")
	if asks := view.Waiting.Items[0]; asks.For != "an approval" || asks.Template != "approved" || asks.Reason != "AwaitingApproval" {
		t.Errorf("what waits is shown as %+v", asks)
	}
	if keys := view.Recent.Items; !slices.ContainsFunc(keys, func(i shownItem) bool { return i.Key == "<b>&order</b>" }) {
		t.Errorf("the last are %+v", keys)
	}
	if status := w.asForeigner(url); status != http.StatusMisdirectedRequest {
		t.Errorf("a page whose name leads here is answered with %d", status)
	}
	w.cancel("asks")
	w.await(process, url, "after the decision", func(s shown) bool { return s.Waiting.Total == 0 && s.Recent.Failed == 2 })
}

// asForeigner is how a browser asks for a name of somebody else's that leads to this machine.
func (w *world) asForeigner(url string) int {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, url+"/page/state", http.NoBody)
	if err != nil {
		w.Fatal(err)
	}
	request.Host = "rebound.example"
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

func (w *world) cancel(name string) {
	w.Helper()
	decision := &v1alpha1.TaskDecision{ObjectMeta: metav1.ObjectMeta{Name: "cancel-" + name}}
	decision.Spec = v1alpha1.TaskDecisionSpec{Submission: name, UID: w.submission(name).UID, Action: v1alpha1.DecisionCancel, Reason: "nobody wants it"}
	w.create(decision)
}

// TestPageAndInboxAgree: the page lists what the plugin does, also where only a look at records and templates finds it out.
// For that it has exactly the rights of its role.
func TestPageAndInboxAgree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mayRead()
	asked := w.pageWithin()
	w.template("vanishes", "/drop/points")
	w.template("approved", "/plain/points", func(s *v1alpha1.TaskTemplateSpec) { s.Approval = &v1alpha1.Approval{Required: true} })
	w.template("unreachable", "", func(s *v1alpha1.TaskTemplateSpec) {
		s.BusinessKey, s.Effect.HTTP.URL = "${params.order}", "http://"+unused(t)+"/"
		s.Retry.MaxAttempts, s.Retry.InitialDelay, s.Retry.MaxDelay = 1000, metav1.Duration{Duration: 3 * time.Second}, metav1.Duration{Duration: 3 * time.Second}
	})
	process, url := w.page("--page-authentication=none")
	inProcess := func(reason string) func(shown) bool {
		return func(s shown) bool {
			return slices.ContainsFunc(s.InProcess.Items, func(i shownItem) bool { return i.Reason == reason })
		}
	}
	w.send(installation.passing, w.token, submits("asks", "approved", with("Prefer", "wait=0")))
	w.send(installation.passing, w.token, submits("lost", "vanishes", with("Prefer", "wait=0")))
	w.await(process, url, "an outcome that nobody knows", func(s shown) bool { return slices.Equal(names(s.Waiting.Items), []string{"asks", "lost"}) })
	w.send(installation.passing, w.token, submits("holds", "unreachable", with("Prefer", "wait=0")))
	w.await(process, url, "one that tries again", inProcess("Retrying"))
	w.send(installation.passing, w.token, submits("held", "unreachable", with("Prefer", "wait=0")))
	w.await(process, url, "one that waits for its turn", inProcess("BusinessKeyHeld"))
	for _, name := range []string{"lost", "holds"} {
		if err := w.admin.Delete(t.Context(), w.submission(name)); err != nil {
			t.Fatal(err)
		}
	}
	w.await(process, url, "one that is gone, and one that waits for another that is", func(s shown) bool {
		return slices.Equal(names(s.Waiting.Items), []string{"asks", "held", "lost"}) && s.InProcess.Total == 0
	})
	_, view, _ := w.look(url, "")
	var listed []string
	for _, item := range view.Waiting.Items {
		if item.Deleted != (item.Name == "lost") {
			t.Errorf("%s is said to be deleted: %v", item.Name, item.Deleted)
		}
		listed = append(listed, fmt.Sprintf("%s %s %s %s", w.namespace, item.Name, item.Reason, item.For))
	}
	if wanted := w.inbox(); !slices.Equal(listed, wanted) {
		t.Errorf("the page lists\n%s\nand the plugin\n%s", strings.Join(listed, "\n"), strings.Join(wanted, "\n"))
	}
	w.rights(process, asked)
}

// inbox is what the plugin lists: namespace, name, reason, and what for.
func (w *world) inbox() (lines []string) {
	w.Helper()
	var out bytes.Buffer
	if code := cli.Main(w.Context(), []string{"inbox", "-n", w.namespace, "--kubeconfig", installation.plane.Kubeconfig}, genericiooptions.IOStreams{Out: &out, ErrOut: &out}, ""); code != 0 {
		w.Fatalf("%d: %s", code, out.String())
	}
	columns := regexp.MustCompile(`  +`)
	for line := range strings.Lines(out.String()) {
		if cells := columns.Split(strings.TrimSpace(line), -1); len(cells) == 5 && cells[0] == w.namespace {
			lines = append(lines, strings.Join(slices.Delete(cells, 2, 3), " "))
		}
	}
	return lines
}

// used is what was asked of the API server, as verb and resource.
type used struct {
	next http.RoundTripper
	mu   sync.Mutex
	all  map[string]bool
}

// RoundTrip implements http.RoundTripper.
func (u *used) RoundTrip(request *http.Request) (*http.Response, error) {
	_, path, _ := strings.Cut(request.URL.Path, "/namespaces/")
	verb := "list"
	switch elements := strings.Split(path, "/"); {
	case request.Method != http.MethodGet:
		verb = request.Method
	case len(elements) > 2:
		verb = "get"
	case request.URL.Query().Get("watch") != "":
		verb = "watch"
	}
	u.mu.Lock()
	u.all[verb+" "+strings.Split(path+"//", "/")[1]] = true
	u.mu.Unlock()
	return u.next.RoundTrip(request)
}

// pageWithin runs a page in this process, as the gateway, and returns what it asks for.
func (w *world) pageWithin() *used {
	w.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", installation.kubeconfig)
	if err != nil {
		w.Fatal(err)
	}
	asked := &used{all: map[string]bool{}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		asked.next = next
		return asked
	})
	within, err := pages.New(config, []string{w.namespace})
	if err != nil {
		w.Fatal(err)
	}
	go func() { _ = within.Run(w.Context()) }()
	return asked
}

// rights waits until each right of the page's role was used, and fails where another one was.
func (w *world) rights(process *harness.Process, asked *used) {
	w.Helper()
	role := &rbacv1.ClusterRole{}
	if err := w.admin.Get(w.Context(), client.ObjectKey{Name: "taskonce-gateway-page"}, role); err != nil {
		w.Fatal(err)
	}
	granted := map[string]bool{}
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				granted[verb+" "+resource] = true
			}
		}
	}
	now := map[string]bool{}
	if err := process.Await(w.Context(), func(context.Context) bool {
		asked.mu.Lock()
		defer asked.mu.Unlock()
		now = maps.Clone(asked.all)
		return maps.Equal(now, granted)
	}); err != nil {
		w.Fatalf("%v: it was given %v, and used %v", err, granted, now)
	}
}

// TestWhoSeesThePage: by default there is none; where it is on, the API server is asked.
func TestWhoSeesThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/", "/page/state", "/page.js"} {
		response, err := http.Get(installation.passing + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusNotFound {
			t.Errorf("by default %s is answered with %d", path, response.StatusCode)
		}
	}
	w.mayRead()
	process, url := w.page()
	viewer := w.account("viewer")
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-page-viewer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "taskonce-page-viewer"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: w.namespace, Name: "viewer"}},
	}
	if err := w.admin.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	var status int
	if err := process.Await(t.Context(), func(context.Context) bool {
		status, _, _ = w.look(url, viewer)
		return status == http.StatusOK
	}); err != nil {
		t.Fatalf("the viewer gets %d: %v", status, err)
	}
	for token, wanted := range map[string]int{"": 401, "forged": 401, w.token: 403} {
		if got, _, body := w.look(url, token); got != wanted || strings.Contains(body, w.namespace+`"`) {
			t.Errorf("%.10q gets %d: %s", token, got, body)
		}
	}
	response, err := http.Get(url + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		t.Errorf("the page itself is answered with %d", response.StatusCode)
	}
}
