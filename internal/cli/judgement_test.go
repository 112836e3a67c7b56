package cli

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// desk is an API server with one decision, whose answers are what a test says: each is given once, and then it is in order.
type desk struct {
	client.WithWatch
	creates, gets, watches []error
	// lands says that a create is carried out although its answer is an error.
	lands  bool
	stored *v1alpha1.TaskDecision
	// judges is what the operator says, when it is watched or read again; empty: nothing.
	judges v1alpha1.DecisionState
}

func next(errs *[]error) (err error) {
	if len(*errs) > 0 {
		err, *errs = (*errs)[0], (*errs)[1:]
	}
	return err
}

func (d *desk) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	decision := object.(*v1alpha1.TaskDecision)
	err := next(&d.creates)
	switch {
	case err != nil && !d.lands:
		return err
	case d.stored != nil && d.stored.Name == decision.Name:
		return apierrors.NewAlreadyExists(schema.GroupResource{}, decision.Name)
	}
	d.stored = decision.DeepCopy()
	return err
}

func (d *desk) Get(_ context.Context, _ client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if err := next(&d.gets); err != nil {
		return err
	}
	d.stored.DeepCopyInto(into.(*v1alpha1.TaskDecision))
	return nil
}

func (d *desk) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	err := next(&d.watches)
	if err == nil {
		d.stored.Status.State = d.judges
	}
	w := watch.NewFake()
	w.Stop() // it ends at once; what was said is read again
	return w, err
}

// TestADecisionThatWasMadeIsNotLost has the API server blink at each request.
func TestADecisionThatWasMadeIsNotLost(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{}, "d", errors.New("not you"))
	unavailable := apierrors.NewServiceUnavailable("a moment")
	nobody := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	const applied = v1alpha1.DecisionApplied
	for _, test := range []struct {
		reason string
		desk   desk
		code   int
		says   string
	}{
		{"nothing is wrong", desk{judges: applied}, exitDone, "cancelled"},
		{"its create is cut, and landed", desk{creates: []error{io.ErrUnexpectedEOF}, lands: true, judges: applied}, exitDone, "cancelled already"},
		{"its create is cut, and did not", desk{creates: []error{io.ErrUnexpectedEOF, unavailable}, judges: applied}, exitDone, "cancelled"},
		{"nobody listens for a moment", desk{creates: []error{nobody}, judges: applied}, exitDone, "cancelled"},
		{"its create is cut, and then it may not", desk{creates: []error{io.ErrUnexpectedEOF, forbidden}}, exitUnknown, "is unknown: give the same command again"},
		{"denied", desk{creates: []error{forbidden}}, exitRefused, "not you"},
		{"it cannot be read for a moment", desk{gets: []error{unavailable, io.EOF, nobody}, judges: applied}, exitDone, "cancelled"},
		{"it cannot be watched for a moment", desk{watches: []error{unavailable, apierrors.NewResourceExpired("old")}, judges: applied}, exitDone, "cancelled"},
		{"it may not be read", desk{gets: []error{forbidden}}, exitUnknown, "is made, and what came of it cannot be seen"},
		{"it was deleted", desk{gets: []error{apierrors.NewNotFound(schema.GroupResource{}, "d")}}, exitUnknown, "cannot be seen"},
		{"refused by the operator", desk{judges: v1alpha1.DecisionRefused}, exitRefused, "has called the decision"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			o := deciderAt(&test.desk)
			line, err := o.say(o.settle(t.Context(), o.make(t.Context(), told().subject)))
			if err != nil {
				line = err.Error()
			}
			if codeOf(err) != test.code || !strings.Contains(line, test.says) {
				t.Errorf("%d: %s", codeOf(err), line)
			}
		})
	}
}

// TestTheTimeIsForTheJudgement: a decision is made although the time to wait for another one is over, and none is after an
// interrupt.
func TestTheTimeIsForTheJudgement(t *testing.T) {
	over, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	o := deciderAt(&desk{})
	made := o.make(t.Context(), told().subject)
	if line, err := o.say(o.settle(over, made)); codeOf(err) != exitUnknown || !strings.Contains(err.Error(), "is made and not judged yet") {
		t.Errorf("%s, %v", line, err)
	}
	o = deciderAt(&desk{})
	if _, err := o.say(o.make(over, told().subject)); codeOf(err) != exitError || !strings.Contains(err.Error(), "not cancelled: interrupted") {
		t.Errorf("%v", err)
	}
}

func deciderAt(d *desk) *decide {
	return &decide{
		session: &session{now: func() time.Time { return noon }}, kind: decisionCalled(v1alpha1.DecisionCancel),
		dryRun: "none", reason: "because", wait: true, cluster: &cluster{api: d},
	}
}
