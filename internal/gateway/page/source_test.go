package page

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// library is an API server whose list has three pages.
type library struct {
	client.WithWatch
	tears int // the page that it does not give
	asked []client.ListOptions
}

func (l *library) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	asked := client.ListOptions{}
	asked.ApplyOptions(options)
	l.asked = append(l.asked, asked)
	n := len(l.asked)
	if n == l.tears {
		return errors.New("torn")
	}
	list := into.(*v1alpha1.TaskSubmissionList)
	list.Items = []v1alpha1.TaskSubmission{*secretive(fmt.Sprint(n), v1alpha1.PhasePending, v1alpha1.ReasonAccepted)}
	list.ResourceVersion = fmt.Sprint(100 + n)
	if n < 3 {
		list.Continue = fmt.Sprint(n)
	}
	return nil
}

func (l *library) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	return watch.NewFake(), nil
}

func sourceOf(api client.WithWatch, store store) *source {
	return &source{api: api, list: func() client.ObjectList { return &v1alpha1.TaskSubmissionList{} }, namespace: "shop", store: store, contact: &contact{now: atNoon}, turn: &sync.Mutex{}}
}

// TestAListIsReadInPages: all of it, and the watch goes on from where its first page was.
func TestAListIsReadInPages(t *testing.T) {
	api, known := &library{}, newSubmissions(atNoon)
	s := sourceOf(api, known)
	list, err := s.read(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := list.(*v1alpha1.TaskSubmissionList); got.ResourceVersion != "101" || len(got.Items) != 0 || got.Continue != "" {
		t.Errorf("the reflector is told %+v", got.ListMeta)
	}
	for i, asked := range api.asked {
		if want := []string{"", "1", "2"}[i]; asked.Continue != want || asked.Limit != pageSize || asked.Namespace != "shop" {
			t.Errorf("request %d is %+v", i, asked)
		}
	}
	if err := known.Replace(nil, ""); err != nil || len(known.living) != 3 {
		t.Errorf("%v; %d are known", err, len(known.living))
	}
}

// TestAPageOfTheLargestIsSmall: raw, and decoded into about twice as much, it leaves most of the container's 256 MiB.
func TestAPageOfTheLargestIsSmall(t *testing.T) {
	const largest, container = 1 << 20, 256 << 20
	if held := 3 * pageSize * largest; held > container/3 {
		t.Errorf("a page may hold %d MiB", held>>20)
	}
}

// TestATornListChangesNothing: what was known stays, and is known to be old.
func TestATornListChangesNothing(t *testing.T) {
	known := newSubmissions(atNoon)
	if err := known.Add(secretive("old", v1alpha1.PhasePending, v1alpha1.ReasonAccepted)); err != nil {
		t.Fatal(err)
	}
	s := sourceOf(&library{tears: 2}, known)
	if _, err := s.read(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("it was not torn")
	}
	if _, ok := known.living[rowOf(secretive("old", "", "")).NamespacedName]; !ok || len(known.living) != 1 {
		t.Errorf("%d are known", len(known.living))
	}
	if _, wrong := s.contact.asOf(); wrong == nil {
		t.Error("nothing is said to be wrong")
	}
}

// TestAWatchThatEnds is noticed.
func TestAWatchThatEnds(t *testing.T) {
	s := sourceOf(&library{}, newSubmissions(atNoon))
	changes, err := s.watch(t.Context(), metav1.ListOptions{})
	if err != nil || !s.contact.there {
		t.Fatal("there is no contact", err)
	}
	changes.Stop()
	if s.contact.there {
		t.Error("it is taken to be there")
	}
}
