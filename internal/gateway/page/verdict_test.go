package page

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// TestWhoIsLookedAtNext: each in its turn, those first that were never looked at; and what does not ask is not.
func TestWhoIsLookedAtNext(t *testing.T) {
	s := newSubmissions(atNoon)
	put := func(name string, reason v1alpha1.Reason) {
		r := row(name, v1alpha1.PhaseProcessing, reason, time.Minute)
		s.living[r.NamespacedName] = r
	}
	for i := range 3 * lookAt {
		put(fmt.Sprint(i), v1alpha1.ReasonRetrying)
	}
	put("runs", v1alpha1.ReasonExecuting)
	p := &Page{submissions: []*submissions{s}, verdicts: map[types.NamespacedName]verdict{{Name: "gone"}: {}}}
	looked := map[string]int{}
	for i := range 6 {
		next := p.candidates()
		if len(next) != lookAt {
			t.Fatalf("%d are looked at", len(next))
		}
		for _, r := range next {
			looked[r.Name]++
			p.verdicts[r.NamespacedName] = verdict{reason: r.Reason, at: noon.Add(time.Duration(i) * time.Second)}
		}
	}
	for i := range 3 * lookAt {
		if n := looked[fmt.Sprint(i)]; n != 2 {
			t.Errorf("%d was looked at %d times in two rounds", i, n)
		}
	}
	if _, kept := p.verdicts[types.NamespacedName{Name: "gone"}]; kept || looked["runs"] > 0 {
		t.Error("a verdict about nothing is kept, or what does not ask was looked at")
	}
}

// reluctant is an API server that does not tell one namespace, and tells others that nothing is there.
type reluctant struct{ client.WithWatch }

func (reluctant) Get(ctx context.Context, name types.NamespacedName, _ client.Object, _ ...client.GetOption) error {
	if _, bounded := ctx.Deadline(); name.Namespace == "closed" || !bounded {
		return errors.New("not told")
	}
	return apierrors.NewNotFound(schema.GroupResource{}, name.Name)
}

// TestOneThatCannotBeReadHasItsTurn: it is not looked at again before the others, and what was known about it stays.
func TestOneThatCannotBeReadHasItsTurn(t *testing.T) {
	s := newSubmissions(atNoon)
	for i := range lookAt + 1 {
		r := row(fmt.Sprint(i), v1alpha1.PhaseProcessing, v1alpha1.ReasonRetrying, time.Hour)
		if r.Namespace = "closed"; i == lookAt {
			r.Namespace, r.Created = "shop", noon
		}
		s.living[r.NamespacedName] = r
	}
	known := types.NamespacedName{Namespace: "closed", Name: "0"}
	p := &Page{api: reluctant{}, now: atNoon, submissions: []*submissions{s}, verdicts: map[types.NamespacedName]verdict{
		known: {reason: v1alpha1.ReasonRetrying, what: "an approval"},
	}}
	p.look(t.Context())
	if got := p.verdicts[known]; len(p.verdicts) != lookAt || got.what != "an approval" || !got.at.Equal(noon) {
		t.Errorf("%d have had their turn, and the first one's verdict is %+v", len(p.verdicts), got)
	}
	p.look(t.Context())
	if got := p.verdicts[types.NamespacedName{Namespace: "shop", Name: fmt.Sprint(lookAt)}]; got.reason != v1alpha1.ReasonRetrying {
		t.Error("the last one has not had its turn")
	}
}
