package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/taskonce/taskonce/test/receiver/ledger"
)

func TestPlainAppliesEachCall(t *testing.T) {
	b := setUp(t, false)
	if status, body, _ := b.call("/plain/x", "ns/a"); status != http.StatusOK || !strings.Contains(body, `"amount":9007199254740993`) {
		t.Errorf("%d %s", status, body)
	}
	b.call("/plain/x", "ns/a")
	b.expect("ns/a", 2, 2)
}

func TestLogHoldsWhatWasSent(t *testing.T) {
	b := setUp(t, false)
	b.call("/plain/x", "ns/a")
	entries, err := ledger.Read(b.log)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v, %v", entries, err)
	}
	want := ledger.Entry{Kind: ledger.Effect, Path: "/plain/x", Key: "ns/a", BusinessKey: "task/42", Attempt: "1", Amount: "9007199254740993", Receipt: 1}
	if got := entries[1]; got.Time.IsZero() {
		t.Error("an entry has no time")
	} else if got.Time = want.Time; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestNothingWithoutKey(t *testing.T) {
	b := setUp(t, false)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/plain/x", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if status, body, _ := b.do(request); status != http.StatusBadRequest {
		t.Errorf("%d %s", status, body)
	}
	b.expect("", 0, 0)
}

func TestDropAppliesAndIsSilent(t *testing.T) {
	b := setUp(t, false)
	if status, _, _ := b.call("/drop/x", "ns/a"); status != 0 {
		t.Errorf("answered %d", status)
	}
	b.expect("ns/a", 1, 1)
	if status := b.check("ns/a"); status != http.StatusOK {
		t.Errorf("the check says %d", status)
	}
	if status := b.check("ns/b"); status != http.StatusNotFound {
		t.Errorf("the check of another key says %d", status)
	}
}

// This is the hazard that the operator's HTTP effect avoids: one Do, two effects.
func TestWarmConnectionDiesUnderTheSecondRequest(t *testing.T) {
	for _, tt := range []struct {
		reason  string
		reuse   bool
		effects int
	}{
		{"Go's transport sends the request again when a reused connection dies", true, 2},
		{"without reuse there is no warm connection to die", false, 1},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			b := setUp(t, tt.reuse)
			b.call("/warm/x", "ns/first")
			b.call("/warm/x", "ns/second")
			b.expect("ns/first", 1, 1)
			b.expect("ns/second", tt.effects, tt.effects)
		})
	}
}

func TestBusyAsksToComeBackOnce(t *testing.T) {
	b := setUp(t, false)
	if status, _, header := b.call("/busy/x", "ns/a"); status != http.StatusTooManyRequests || header.Get("Retry-After") != busyFor {
		t.Errorf("%d, Retry-After %q", status, header.Get("Retry-After"))
	}
	b.expect("ns/a", 1, 0)
	if status, _, _ := b.call("/busy/x", "ns/a"); status != http.StatusOK {
		t.Errorf("the second call: %d", status)
	}
	b.expect("ns/a", 2, 1)
}

func TestHoldWaitsForItsRelease(t *testing.T) {
	b := setUp(t, false)
	done := make(chan int)
	go func() {
		status, _, _ := b.call("/hold/x", "ns/a")
		done <- status
	}()
	if status := b.check("ns/a"); status != http.StatusNotFound {
		t.Errorf("the check says %d while it is held", status)
	}
	b.admin("release")
	if status := <-done; status != http.StatusOK {
		t.Errorf("answered %d", status)
	}
	b.expect("ns/a", 1, 1)
}

func TestIdempotentAppliesAKeyOnce(t *testing.T) {
	b := setUp(t, false)
	for i, want := range []int{0, http.StatusTooManyRequests, http.StatusOK, http.StatusOK} {
		if status, _, _ := b.call("/idempotent/x", "ns/a"); status != want {
			t.Errorf("call %d: %d, want %d", i+1, status, want)
		}
	}
	b.expect("ns/a", 4, 1)
}

func TestDrainWaitsForLateEffects(t *testing.T) {
	b := setUp(t, false)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		b.call("/late/x", "ns/a")
	}()
	for entries, err := ledger.Read(b.log); len(entries) == 0; entries, err = ledger.Read(b.log) {
		if err != nil {
			t.Fatal(err)
		}
	}
	b.admin("drain")
	b.expect("ns/a", 1, 1)
	<-answered
}

func TestListenOpensAnAddress(t *testing.T) {
	b := setUp(t, false)
	b.admin("listen?address=127.0.0.1:0")
}

func TestSlowAppliesAndRefuseDoesNot(t *testing.T) {
	b := setUp(t, false)
	if status, _, _ := b.call("/slow/x", "ns/a"); status != http.StatusOK {
		t.Errorf("slow answered %d", status)
	}
	if status, _, _ := b.call("/refuse/x", "ns/b"); status != http.StatusUnprocessableEntity {
		t.Errorf("refuse answered %d", status)
	}
	b.expect("ns/a", 1, 1)
	b.expect("ns/b", 1, 0)
}
