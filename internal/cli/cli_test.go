package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/pkg/submit"
)

// at runs the plugin without a cluster.
func at(stdin string, args ...string) (out, complaints string, code int) {
	streams, in, stdout, stderr := genericiooptions.NewTestIOStreams()
	in.WriteString(stdin)
	code = Main(context.Background(), args, streams, "v1")
	return stdout.String(), stderr.String(), code
}

func TestNameNeedsNoCluster(t *testing.T) {
	for _, test := range []struct {
		args      []string
		out, says string
		code      int
	}{
		{[]string{"name", "grant-coupon-42"}, "grant-coupon-42\n", "", 0},
		{[]string{"name", "task_submit:42:stu-7:3:web-1"}, "task-submit-42-stu-7-3-we-x3xeacmppfnisvkj4bysicyvpq\n", "", 0},
		{[]string{"name", "--parts", "a:b", "c", "-o", "yaml"}, "key: a%3Ab:c\nname: a-3ab-c-o3y4fxq5gdm2ow5ipkjwiriomn\nrecord: ik-ln6be7zzlvorz5gi2lgcojxnef\n", "", 0},
		{[]string{"name", "a", "-o", "json"}, "{\n    \"key\": \"a\",\n    \"name\": \"a\",\n    \"record\": \"ik-t6wotgr4gje7baonstyju4jaau\"\n}\n", "", 0},
		{[]string{"name", " a"}, "", "error: the key begins or ends with white space\n", 1},
		{[]string{"name", "a", "b"}, "", "give --parts", 1},
		{[]string{"name", "a", "-o", "wide"}, "", "allowed formats are: json,name,yaml", 1},
		{[]string{"name"}, "", "requires at least 1 arg", 1},
	} {
		out, complaints, code := at("", test.args...)
		if out != test.out || code != test.code || !strings.Contains(complaints, test.says) {
			t.Errorf("%v: %q, %q, %d", test.args, out, complaints, code)
		}
	}
}

func TestErrorsInKubectlsManner(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{Group: "taskonce.dev", Resource: "tasksubmissions"}, "a")
	dial := func(err error) error {
		return &url.Error{Op: "Get", URL: "https://10.0.0.1:6443/apis", Err: &net.OpError{Op: "dial", Err: err}}
	}
	refused := dial(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	for _, test := range []struct {
		err  error
		want string
	}{
		{notFound, `Error from server (NotFound): tasksubmissions.taskonce.dev "a" not found`},
		{refused, "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?"},
		{dial(&net.DNSError{Err: "no such host", Name: "nowhere", IsNotFound: true}), "Unable to connect to the server: dial: lookup nowhere: no such host"},
		{fmt.Errorf("timed out; the last try: %w", refused), `error: timed out; the last try: Get "https://10.0.0.1:6443/apis": dial: connect: connection refused`},
		{apierrors.NewUnauthorized("Unauthorized"), "error: You must be logged in to the server (Unauthorized)"},
		{errors.New("something"), "error: something"},
		{errors.New("error: said already"), "error: said already"},
		{failed(exitRefused, "of %w", notFound), `error: of tasksubmissions.taskonce.dev "a" not found`},
	} {
		if got := said(test.err); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestWhatIsRefused: the action, and not who asks, nor how.
func TestWhatIsRefused(t *testing.T) {
	submissions := schema.GroupResource{Group: "taskonce.dev", Resource: "tasksubmissions"}
	rights := apierrors.NewForbidden(submissions, "a", errors.New(`User "ann" cannot create resource "tasksubmissions" in API group "taskonce.dev" in the namespace "shop"`))
	denied := apierrors.NewForbidden(submissions, "a", errors.New(`admission webhook "policy.example" denied the request: not on Sundays`))
	for _, test := range []struct {
		reason string
		err    error
		code   int
	}{
		{"admission", denied, exitRefused},
		{"a quota", apierrors.NewForbidden(submissions, "a", errors.New("exceeded quota: all")), exitRefused},
		{"not valid", apierrors.NewInvalid(schema.GroupKind{}, "a", nil), exitRefused},
		{"too large", apierrors.NewRequestEntityTooLargeError("limit is 3145728"), exitRefused},
		{"rights", rights, exitError},
		{"nobody is known", apierrors.NewUnauthorized("Unauthorized"), exitError},
		{"no such namespace", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "shop"), exitError},
		{"a certificate that is not trusted", &tls.CertificateVerificationError{Err: errors.New("unknown authority")}, exitError},
		{"no connection", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, exitError},
	} {
		s, err := (&submit.Client{}).Prepare(submit.Action{Namespace: "shop", Key: "a", Template: "t"})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{test.err, &submit.RefusedError{Name: "a", Err: test.err}} {
			if got := codeOf(notSubmitted(s, err)); got != test.code {
				t.Errorf("%s: %d, want %d: %v", test.reason, got, test.code, notSubmitted(s, err))
			}
		}
		unknown := &submit.UnknownError{Name: "a", Err: test.err}
		if got := codeOf(notSubmitted(s, unknown)); got != exitUnknown {
			t.Errorf("%s, while an answer is lost: %d", test.reason, got)
		}
	}
}

func TestTheGravestExitCodeCounts(t *testing.T) {
	for _, test := range []struct {
		codes []int
		want  int
	}{
		{nil, 0},
		{[]int{0, 0}, 0},
		{[]int{0, 2}, 2},
		{[]int{4, 2}, 4},
		{[]int{2, 3, 4}, 3},
		{[]int{3, 1, 2}, 1},
	} {
		var said bytes.Buffer
		tally := newTally(&said)
		for _, code := range test.codes {
			if code == 0 {
				tally.add(nil)
			} else {
				tally.add(failed(code, "x"))
			}
		}
		if got := codeOf(tally.err()); got != test.want || report(&said, tally.err()) != test.want {
			t.Errorf("%v: %d, want %d", test.codes, got, test.want)
		}
	}
}

func TestParameters(t *testing.T) {
	for _, test := range []struct {
		reason string
		given  parameters
		want   string
		says   string
	}{
		{"none", parameters{}, `{}`, ""},
		{"texts and JSON", parameters{each: []string{"a=1", "b:=1", "c:= [true] ", "d=x=y", `e:={"f": null}`}}, `{"a":"1","b":1,"c":[true],"d":"x=y","e":{"f":null}}`, ""},
		{"the whole, and one more", parameters{whole: `{"a": 12345678901234567890}`, each: []string{"b="}}, `{"a":12345678901234567890,"b":""}`, ""},
		{"YAML", parameters{whole: "a: 1\nb: [x]"}, `{"a":1,"b":["x"]}`, ""},
		{"twice", parameters{whole: `{"a": 1}`, each: []string{"a=2"}}, "", "given twice"},
		{"no name", parameters{each: []string{"=1"}}, "", "must be name=text"},
		{"no JSON", parameters{each: []string{"a:=b"}}, "", "for a text write a=b"},
		{"no object", parameters{whole: "[1]"}, "", "must be an object"},
		{"null", parameters{whole: "null"}, "", "must be an object"},
		{"no file", parameters{whole: "@nowhere"}, "", "nowhere"},
	} {
		got, err := test.given.JSON()
		if test.says != "" {
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", test.reason, err)
			}
		} else if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v", test.reason, got, err)
		}
	}
}

// TestTheSameDecisionHasTheSameName, and another one has another.
func TestTheSameDecisionHasTheSameName(t *testing.T) {
	name := func(s *story, action v1alpha1.DecisionAction, digest string, try int) string {
		return decisionName(s.subject, &v1alpha1.TaskDecision{Spec: v1alpha1.TaskDecisionSpec{
			Submission: s.Name.Name, UID: s.uid(), Attempt: s.attempt(), Action: action, TemplateDigest: digest, Reason: "whatever",
		}}, try)
	}
	asked := func(options ...option) *story {
		return told(append([]option{begun(v1alpha1.OutcomeUnknown, "")}, options...)...)
	}
	confirmed := name(asked(), v1alpha1.DecisionConfirmApplied, "", 1)
	if confirmed != "refund-1001-confirm-applied-5g3nwzujsz5y" || confirmed != name(asked(), v1alpha1.DecisionConfirmApplied, "", 1) {
		t.Errorf("it is %s now", confirmed)
	}
	seen := map[string]string{confirmed: "confirmed"}
	for reason, other := range map[string]string{
		"another action":       name(asked(), v1alpha1.DecisionConfirmNotApplied, "", 1),
		"another attempt":      name(asked(journal(func(a *v1alpha1.Action) { a.Attempt.Number = 2 })), v1alpha1.DecisionConfirmApplied, "", 1),
		"after a Retry":        name(asked(journal(func(a *v1alpha1.Action) { a.Retries = 1 })), v1alpha1.DecisionConfirmApplied, "", 1),
		"after one was futile": name(asked(), v1alpha1.DecisionConfirmApplied, "", 2),
		"without a record":     name(told(), v1alpha1.DecisionConfirmApplied, "", 1),
		"an approval":          name(told(), v1alpha1.DecisionApprove, digest, 1),
		"of an edit":           name(told(), v1alpha1.DecisionApprove, "sha256:other", 1),
	} {
		if seen[other] != "" {
			t.Errorf("%s has the name of %s", reason, seen[other])
		}
		seen[other] = reason
	}
}

// TestADecisionThatStandsIsNotMadeAgain, and one that was overtaken is.
func TestADecisionThatStandsIsNotMadeAgain(t *testing.T) {
	made := func(action v1alpha1.DecisionAction) option {
		return journal(func(a *v1alpha1.Action) { a.Decision = &v1alpha1.DecisionRef{Name: "d", Action: action} })
	}
	agreed := journal(func(a *v1alpha1.Action) {
		a.Approval = &v1alpha1.DecisionRef{Name: "d", Action: v1alpha1.DecisionApprove}
	})
	between := []option{begun(v1alpha1.OutcomeNotApplied, ""), is(processing, v1alpha1.ReasonRetrying, "")}
	over := []option{begun(v1alpha1.OutcomeNotApplied, ""), is(hasFailed, v1alpha1.ReasonCancelled, "")}
	for _, test := range []struct {
		reason string
		given  *story
		kind   v1alpha1.DecisionAction
		stands bool
	}{
		{"no record", told(), v1alpha1.DecisionCancel, false},
		{"cancelled", told(append(over, made(v1alpha1.DecisionCancel))...), v1alpha1.DecisionCancel, true},
		{"ended by another decision", told(append(over, made(v1alpha1.DecisionConfirmNotApplied))...), v1alpha1.DecisionCancel, false},
		{"ended by nobody", told(over...), v1alpha1.DecisionCancel, false},
		{"cancelled, and opened again", told(append(between, made(v1alpha1.DecisionRetry))...), v1alpha1.DecisionCancel, false},
		{"opened again", told(append(between, made(v1alpha1.DecisionRetry))...), v1alpha1.DecisionRetry, true},
		{"opened again, and failed again", told(append(over, made(v1alpha1.DecisionRetry))...), v1alpha1.DecisionRetry, false},
		{"approved", told(append(between, agreed, under(digest))...), v1alpha1.DecisionApprove, true},
		{"approved, and edited", told(append(between, agreed, under("sha256:other"))...), v1alpha1.DecisionApprove, false},
	} {
		if got := standingDecision(test.given.subject, test.kind) != nil; got != test.stands {
			t.Errorf("%s: %v", test.reason, got)
		}
	}
}

// TestWhatASelectionTakesIn: a decision is made where it can be of use.
func TestWhatASelectionTakesIn(t *testing.T) {
	for _, test := range []struct {
		reason string
		given  *story
		verbs  string
	}{
		{"nothing was begun", told(is(pending, v1alpha1.ReasonNotYet, "")), "cancel"},
		{"it waits for its approval", told(is(pending, v1alpha1.ReasonAwaitingApproval, "")), "approve cancel"},
		{"under way", told(begun("", ""), is(processing, v1alpha1.ReasonExecuting, "")), ""},
		{"in doubt", told(begun(v1alpha1.OutcomeUnknown, ""), is(processing, v1alpha1.ReasonOutcomeUnknown, "")), "confirm-applied confirm-not-applied"},
		{"between attempts", told(begun(v1alpha1.OutcomeNotApplied, ""), is(processing, v1alpha1.ReasonRetrying, ""), under(digest)), "cancel"},
		{"between attempts, and edited", told(begun(v1alpha1.OutcomeNotApplied, ""), is(processing, v1alpha1.ReasonRetrying, ""), under("sha256:other")), "approve cancel"},
		{"edited, and approved again", told(begun(v1alpha1.OutcomeNotApplied, ""), is(processing, v1alpha1.ReasonRetrying, ""), under("sha256:other"), journal(func(a *v1alpha1.Action) { a.ApprovedDigest = "sha256:other" })), "cancel"},
		{"done", told(begun(v1alpha1.OutcomeApplied, ""), is(success, v1alpha1.ReasonApplied, "")), ""},
		{"done, with a business key", told(begun(v1alpha1.OutcomeApplied, ""), journal(holding), is(success, v1alpha1.ReasonApplied, "")), "release"},
		{"a duplicate", told(begun(v1alpha1.OutcomeNotApplied, ""), journal(holding), journal(func(a *v1alpha1.Action) { a.DuplicateOf = "x" }), is(success, v1alpha1.ReasonAlreadyApplied, "")), ""},
		{"failed", told(begun(v1alpha1.OutcomeNotApplied, ""), is(hasFailed, v1alpha1.ReasonRejected, "")), "retry"},
		{"failed, and gone", told(begun(v1alpha1.OutcomeNotApplied, ""), is(hasFailed, v1alpha1.ReasonRejected, ""), gone), ""},
		{"denied", told(begun("", ""), journal(unapproved), is(hasFailed, v1alpha1.ReasonCancelled, "")), ""},
		{"never valid", told(is(hasFailed, v1alpha1.ReasonInvalidParameters, "")), ""},
	} {
		var verbs []string
		for _, d := range decisions {
			if d.fits(test.given.subject) {
				verbs = append(verbs, d.verb)
			}
		}
		if got := strings.Join(verbs, " "); got != test.verbs {
			t.Errorf("%s: %q, want %q", test.reason, got, test.verbs)
		}
	}
}

// TestAQuestionEndsWithTheCommand: nothing is decided by an interrupt while nobody answers.
func TestAQuestionEndsWithTheCommand(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupt signal received"))
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	streams.In, _ = io.Pipe()
	o := &decide{session: &session{IOStreams: streams, terminal: func(any) bool { return true }}, kind: decisions[0], dryRun: "none", reason: "why"}
	if err := o.agree(ctx, []*subject{told().subject}, 0); err == nil || err.Error() != "nothing was decided: interrupt signal received" {
		t.Errorf("%v", err)
	}
}

// TestManyAreAskedFor on a terminal, and only a yes is one.
func TestManyAreAskedFor(t *testing.T) {
	for answer, agreed := range map[string]bool{"y\n": true, "Yes\n": true, "n\n": false, "\n": false, "": false, "yeah\n": false} {
		streams, in, _, stderr := genericiooptions.NewTestIOStreams()
		in.WriteString(answer)
		o := &decide{session: &session{IOStreams: streams, terminal: func(any) bool { return true }}, kind: decisions[0], dryRun: "none", reason: "why"}
		err := o.agree(t.Context(), []*subject{told().subject, told(begun(v1alpha1.OutcomeUnknown, ""), gone).subject}, 3)
		if (err == nil) != agreed {
			t.Errorf("%q: %v", answer, err)
		}
		if answer == "y\n" {
			golden(t, "preview", stderr.String()+"\n")
		}
	}
}
