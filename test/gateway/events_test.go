package gateway_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// event is one server-sent event.
type event struct{ id, kind, data string }

// listen reads events as they come. Its channel is closed with the connection.
func (w *world) listen(gateway, token, path, lastID string) <-chan event {
	w.Helper()
	a := reads(path, with("Accept", "text/event-stream"))
	if lastID != "" {
		a.header["Last-Event-ID"] = lastID
	}
	response := w.open(gateway, token, a)
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		w.Fatalf("%s: %v", response.Status, response.Header)
	}
	events := make(chan event, 100)
	w.Cleanup(func() { response.Body.Close() })
	go func() {
		defer close(events)
		var e event
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			field, value, _ := strings.Cut(lines.Text(), ": ")
			switch field {
			case "id":
				e.id = value
			case "event":
				e.kind = value
			case "data":
				e.data = value
				events <- e
				e = event{}
			}
		}
	}()
	return events
}

// TestEvents: every end sees the same states, a connection is taken up where it was cut, and one whose end was seen is not.
func TestEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("approved", "/plain/points", func(s *v1alpha1.TaskTemplateSpec) { s.Approval = &v1alpha1.Approval{Required: true} })
	for key, gateway := range map[string]struct{ url, token string }{"passed": {installation.passing, w.token}, "verified": {installation.verifying, installation.issuer.of(t, "stu-7")}} {
		w.expect(202, "", gateway.url, gateway.token, submits(key, "approved", with("Prefer", "wait=0")))
		student, parent := w.listen(gateway.url, gateway.token, "/"+key+"/events", ""), w.listen(gateway.url, gateway.token, "/"+key+"/events", "")
		var last event
		for last = range student {
			if strings.Contains(last.data, "AwaitingApproval") {
				break
			}
		}
		teacher := w.listen(gateway.url, gateway.token, "/"+key+"/events", last.id) // she has seen it so far
		w.approve(key)
		for name, events := range map[string]<-chan event{"student": student, "parent": parent, "teacher": teacher} {
			var all []event
			for e := range events {
				all = append(all, e)
			}
			if end := all[len(all)-1]; end.kind != "submission" || !strings.Contains(end.data, `"phase":"Success"`) || end.id != w.submission(key).ResourceVersion {
				t.Errorf("the %s's last event is %+v", name, end)
			}
			if name == "teacher" && strings.Contains(all[0].data, "AwaitingApproval") {
				t.Errorf("the teacher is told again: %+v", all)
			}
		}
		seen := w.send(gateway.url, gateway.token, reads("/"+key+"/events", with("Last-Event-ID", w.submission(key).ResourceVersion)))
		if seen.status != http.StatusNoContent {
			t.Errorf("after the end: %d", seen.status)
		}
	}
}

// TestEventsForOneCaller are bounded, and for others there is room.
func TestEventsForOneCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("approved", "/plain/points", func(s *v1alpha1.TaskTemplateSpec) {
		s.Approval, s.Access = &v1alpha1.Approval{Required: true}, "true"
	})
	greedy, other := installation.issuer.of(t, w.namespace+"-greedy"), installation.issuer.of(t, w.namespace+"-other")
	w.expect(202, "", installation.verifying, greedy, submits("task", "approved", with("Prefer", "wait=0")))
	for range 21 { // of which none is held
		if got := w.send(installation.verifying, greedy, asked{method: http.MethodHead, path: "/task/events"}); got.status != 200 || got.header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("HEAD: %d %v", got.status, got.header)
		}
	}
	for range 20 {
		w.listen(installation.verifying, greedy, "/task/events", "")
	}
	w.expect(429, "too-many-requests", installation.verifying, greedy, reads("/task/events"))
	w.listen(installation.verifying, other, "/task/events", "")
}

// TestEventsOfWhatIsDeleted end with a word for it.
func TestEventsOfWhatIsDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.template("approved", "/plain/points", func(s *v1alpha1.TaskTemplateSpec) { s.Approval = &v1alpha1.Approval{Required: true} })
	w.expect(202, "", installation.passing, w.token, submits("task", "approved", with("Prefer", "wait=0")))
	events := w.listen(installation.passing, w.token, "/task/events", "")
	<-events
	deleted("task")(w)
	var last event
	for last = range events {
	}
	if last.kind != "gone" {
		t.Errorf("the last event is %+v", last)
	}
	w.expect(404, "not-found", installation.passing, w.token, reads("/task/events"))
}

// approve has an administrator approve what awaits it.
func (w *world) approve(name string) {
	w.Helper()
	s := w.submission(name)
	template := &v1alpha1.TaskTemplate{}
	if err := w.admin.Get(w.Context(), key(w.namespace, s.Spec.TemplateRef.Name), template); err != nil {
		w.Fatal(err)
	}
	decision := &v1alpha1.TaskDecision{}
	decision.Name = name
	decision.Spec = v1alpha1.TaskDecisionSpec{Submission: name, UID: s.UID, Action: v1alpha1.DecisionApprove, Reason: "it is right", TemplateDigest: template.Status.EffectDigest}
	w.create(decision)
}
