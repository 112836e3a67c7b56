package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/test/harness"
)

const (
	callers = 200
	tasks   = 25
)

// load is the callers, the gateways that they ask, and what they were told.
type load struct {
	*world
	history
	gateways  []*front
	processes []*harness.Process
	http      *http.Client
	effects   sync.Map // by downstream key: how often
	lost      atomic.Int32
	kill      sync.Once
}

// front is one gateway, as its callers see it.
type front struct {
	url            string
	asking, served atomic.Int32
	dead           atomic.Bool
}

// TestLoad has 200 callers submit 25 actions, each retrying at random until it is told the outcome, through two gateways,
// one of which is killed while it is being asked.
//
// It is not parallel: it leaves the others no API server.
func TestLoad(t *testing.T) {
	l := newLoad(t)
	var work sync.WaitGroup
	for caller := range callers {
		work.Go(func() { l.call(caller) })
	}
	work.Wait()
	l.judge()
}

func newLoad(t *testing.T) *load {
	t.Helper()
	l := &load{world: newWorld(t), http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: callers}}}
	l.begun = time.Now()
	receiver := httptest.NewServer(http.HandlerFunc(l.apply))
	t.Cleanup(receiver.Close)
	l.template("award", "", func(s *v1alpha1.TaskTemplateSpec) { s.Effect.HTTP.URL = receiver.URL })
	for range 2 {
		process, url, err := installation.gateway(t.Context(), "--rate=0", "--max-wait=5s", "--default-wait=1s")
		if process != nil {
			t.Cleanup(process.Kill)
		}
		if err != nil {
			t.Fatal(err)
		}
		l.gateways, l.processes = append(l.gateways, &front{url: url}), append(l.processes, process)
	}
	return l
}

// apply is the receiver: every call is an effect, with a result of its own.
func (l *load) apply(writer http.ResponseWriter, request *http.Request) {
	count, _ := l.effects.LoadOrStore(strings.Trim(request.Header.Get("Idempotency-Key"), `"`), new(atomic.Int32))
	n := count.(*atomic.Int32).Add(1)
	writer.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(writer, `{"receipt": %d, "time": %d}`, rand.Int32(), n)
}

// strike kills the first gateway when it has served somebody, and is being asked by many. It is called whenever somebody
// comes or goes: who has been served soon may never come back.
func (l *load) strike(gateway *front) {
	if gateway == l.gateways[0] && gateway.served.Load() >= callers/20 && gateway.asking.Load() >= callers/20 {
		l.kill.Do(func() {
			l.processes[0].Kill()
			gateway.dead.Store(true)
		})
	}
}

// call asks for one action until it is told what became of it. One caller in eight has another payload in mind.
func (l *load) call(caller int) {
	key, payload := fmt.Sprintf("task:%d", caller%tasks), `{"order":"7"}`
	if caller/tasks == 3 {
		payload = `{"order":"8"}`
	}
	for l.Context().Err() == nil {
		gateway := l.gateways[rand.IntN(len(l.gateways))]
		call := time.Since(l.begun)
		gateway.asking.Add(1)
		l.strike(gateway)
		status, body, header, err := l.ask(gateway.url, key, payload)
		gateway.asking.Add(-1)
		steps, final := l.told(key, payload, status, body, header, err)
		l.add(caller, call, steps...)
		if err == nil {
			gateway.served.Add(1)
		}
		l.strike(gateway)
		if final {
			return
		}
		time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
	}
}

func (l *load) ask(url, key, payload string) (status int, body []byte, header http.Header, err error) {
	ctx, cancel := context.WithTimeout(l.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/namespaces/"+l.namespace+"/submissions", bytes.NewReader([]byte(`{"template":"award","parameters":`+payload+`}`)))
	if err != nil {
		return 0, nil, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+l.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", `"`+key+`"`)
	if rand.IntN(2) == 0 {
		request.Header.Set("Prefer", fmt.Sprintf("wait=%d", rand.IntN(3)))
	}
	response, err := l.http.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, response.Header, err
}

// told says what a request did, and whether its caller has its outcome.
func (l *load) told(key, payload string, status int, body []byte, header http.Header, err error) (steps []step, final bool) {
	of := func(kind stepKind, result string) step {
		return step{key: key, kind: kind, payload: payload, result: result}
	}
	if utilnet.IsConnectionRefused(err) {
		return nil, false // it never left
	}
	if err != nil || status >= http.StatusInternalServerError {
		l.lost.Add(1)
		return []step{of(maybe, "")}, false
	}
	var got said
	if err := json.Unmarshal(body, &got); err != nil {
		l.Errorf("%d: %v: %s", status, err, body)
		return nil, true
	}
	replayed := header.Get("Idempotency-Replayed") != ""
	switch {
	case status == http.StatusCreated && replayed:
		return []step{of(there, ""), of(ended, string(got.Result))}, true
	case status == http.StatusCreated:
		return []step{of(created, ""), of(ended, string(got.Result))}, true
	case status == http.StatusAccepted:
		return []step{of(created, ""), of(pending, "")}, false
	case status == http.StatusConflict:
		return []step{of(there, ""), of(pending, "")}, false
	case status == http.StatusUnprocessableEntity:
		return []step{of(forOther, "")}, true
	default:
		l.Errorf("%d: %s", status, body)
		return nil, true
	}
}

func (l *load) judge() {
	l.Helper()
	keys := 0
	l.effects.Range(func(key, count any) bool {
		if keys++; count.(*atomic.Int32).Load() != 1 {
			l.Errorf("%s: %d effects", key, count.(*atomic.Int32).Load())
		}
		return true
	})
	if keys != tasks {
		l.Errorf("%d keys had an effect, of %d", keys, tasks)
	}
	for _, wrong := range l.wrong() {
		l.Error(wrong)
	}
	one, other := l.gateways[0], l.gateways[1]
	if !one.dead.Load() || one.served.Load() == 0 || other.served.Load() == 0 || l.lost.Load() == 0 {
		l.Errorf("killed: %t; the gateways have served %d and %d, and %d answers were lost: nothing was shown", one.dead.Load(), one.served.Load(), other.served.Load(), l.lost.Load())
	}
	l.Logf("%d requests; the gateways have served %d and %d; %d answers were lost", one.served.Load()+other.served.Load()+l.lost.Load(), one.served.Load(), other.served.Load(), l.lost.Load())
	l.refusePlanted()
}

// refusePlanted adds to what really happened what must not, one after the other: each has to be found.
func (l *load) refusePlanted() {
	l.Helper()
	const key, payload = "task:0", `{"order":"7"}`
	first := payload
	for _, o := range l.operations { // whose payload was first is nobody's choice
		if s := o.Input.(step); s.key == key && s.kind == ended {
			first = s.payload
		}
	}
	for reason, planted := range map[string]step{
		"a second first one":            {key: key, kind: created, payload: first},
		"another result":                {key: key, kind: ended, payload: first, result: `{"receipt": 1}`},
		"in process after it had ended": {key: key, kind: pending, payload: first},
		"another one's key as its own":  {key: key, kind: there, payload: `{"order":"9"}`},
	} {
		with := &history{begun: l.begun, operations: slices.Clone(l.byKey()[key])}
		with.add(callers, time.Since(l.begun), planted)
		if len(with.wrong()) == 0 {
			l.Errorf("%s was not found", reason)
		}
	}
}
