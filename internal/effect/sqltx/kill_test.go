package sqltx

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/internal/expr"
	"github.com/taskonce/taskonce/test/dbserver"
)

const (
	childDSN     = "TASKONCE_SQLTX_DSN"
	childDialect = "TASKONCE_SQLTX_DIALECT"
	// killsWanted is how often each is killed; make sql-kill asks for more than make test.
	killsWanted = "TASKONCE_SQLTX_KILLS"
)

func kills(t *testing.T, otherwise int) int {
	t.Helper()
	if text := os.Getenv(killsWanted); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return otherwise
}

// numbered is the attempt of one of many keys.
func numbered(key int, number int32) effect.Attempt {
	attempt := effecttest.NewAttempt(number)
	attempt.DownstreamKey, attempt.Name, attempt.BusinessKey = fmt.Sprintf("shop/key-%d", key), fmt.Sprintf("key-%d", key), ""
	return attempt
}

// child is an operator that is about to be killed: it executes the keys that it reads and says what they came to.
func child(dsn string) {
	databases := New(Options{Secret: func(context.Context, string, string) (map[string][]byte, error) {
		return map[string][]byte{"dsn": []byte(dsn)}, nil
	}})
	env, err := expr.NewEnv(nil)
	if err != nil {
		panic(err)
	}
	made, _, faults := databases.Compile("shop", spec(v1alpha1.SQLDialect(os.Getenv(childDialect))), env)
	if len(faults) > 0 {
		panic(faults.ToAggregate())
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		key, err := strconv.Atoi(lines.Text())
		if err != nil {
			panic(err)
		}
		outcome, err := made.Execute(context.Background(), numbered(key, 1))
		fmt.Println(key, outcome.Kind, err)
	}
}

// operatorProcess is a child.
type operatorProcess struct {
	cmd     *exec.Cmd
	keys    io.WriteCloser
	answers chan string
}

func (w *world) spawn() *operatorProcess {
	w.t.Helper()
	p := &operatorProcess{cmd: exec.CommandContext(w.t.Context(), os.Args[0]), answers: make(chan string)}
	p.cmd.Env = append(os.Environ(), childDSN+"="+w.server.DSN(w.name, w.server.Port), childDialect+"="+string(w.dialect))
	p.cmd.Stderr = os.Stderr
	keys, err := p.cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	answers, err := p.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	p.keys = keys
	go func() {
		defer close(p.answers)
		for lines := bufio.NewScanner(answers); lines.Scan(); {
			p.answers <- lines.Text()
		}
	}()
	return p
}

// ask has a key executed, and returns what it came to, or "" where the child is dead.
func (p *operatorProcess) ask(key int) string {
	_, _ = fmt.Fprintln(p.keys, key)
	return <-p.answers
}

// TestTheOperatorKilledAroundCommit kills the process that executes attempts, at a moment that is drawn: before BEGIN,
// at the statements, at COMMIT, after it. Then the next operator tries again, as the lifecycle would.
func TestTheOperatorKilledAroundCommit(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		for key := range kills(t, 20) {
			victim := w.spawn()
			if first := victim.ask(1_000_000 + key); !strings.Contains(first, "Applied") { // the connection is warm now
				t.Fatalf("got %q", first)
			}
			_, _ = fmt.Fprintln(victim.keys, key)
			<-time.After(time.Duration(rand.IntN(4000)) * time.Microsecond)
			_ = victim.cmd.Process.Kill()
			for range victim.answers { // its last words are of no interest
			}
			_ = victim.cmd.Wait()
			w.settle(key)
		}
		w.agree()
	})
}

// settle tries a key until it is applied.
func (w *world) settle(key int) {
	w.t.Helper()
	one := w.compile()
	eventually(w.t, fmt.Sprintf("key %d is applied", key), func() bool {
		outcome, err := one.Execute(w.t.Context(), numbered(key, 2))
		if err == nil && outcome.Permanent {
			w.t.Errorf("key %d: %+v", key, outcome)
		}
		return err == nil && outcome.Kind == applied
	})
}

// agree compares the business rows with the ledger: each key has one of both.
func (w *world) agree() {
	w.t.Helper()
	alone := w.number("SELECT count(*) FROM taskonce_ledger l WHERE NOT EXISTS (SELECT 1 FROM awards a WHERE l.idem_key = concat('shop/', a.student))")
	if doubled := w.number("SELECT count(*) - count(DISTINCT student) FROM awards"); alone != 0 || doubled != 0 || w.awards() != w.ledger() {
		w.t.Errorf("%d awards, %d of them twice; %d rows in the ledger, %d of them without an award", w.awards(), doubled, w.ledger(), alone)
	}
}

// bothAlone runs a test against a server of each dialect that no other test uses, so that it may be killed.
func bothAlone(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	for _, dialect := range []v1alpha1.SQLDialect{v1alpha1.PostgreSQL, v1alpha1.MySQL} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			server, err := dbserver.Start(t.Context(), dialect)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := server.Stop(); err != nil {
					t.Error(err)
				}
			})
			test(t, worldOn(t, server))
		})
	}
}

// TestTheServerKilledAroundCommit kills the server instead, while four keys are under way, and starts it again.
func TestTheServerKilledAroundCommit(t *testing.T) {
	bothAlone(t, func(t *testing.T, w *world) {
		for round := range kills(t, 4) {
			w.killDuring(round)
		}
		w.agree()
	})
}

func (w *world) killDuring(round int) {
	w.t.Helper()
	const keys = 4
	one, outcomes := w.compile(), make(chan effect.Outcome, keys)
	var warm sync.WaitGroup // so that the attempts find connections, and come to COMMIT
	for i := range keys {
		warm.Go(func() { is(w.t, w.executed(one, numbered(1_000_000+round*keys+i, 1)), applied, false, "") })
	}
	warm.Wait()
	for i := range keys {
		go func() {
			outcome, err := one.Execute(w.t.Context(), numbered(round*keys+i, 1))
			if err != nil {
				w.t.Errorf("key %d: %v", round*keys+i, err)
			}
			outcomes <- outcome
		}()
	}
	<-time.After(time.Duration(rand.IntN(8000)) * time.Microsecond)
	w.server.Kill()
	said := map[v1alpha1.Outcome]int{}
	for range keys {
		said[(<-outcomes).Kind]++
	}
	if err := w.server.Restart(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Logf("round %d: %v", round, said)
	for i := range keys {
		w.settle(round*keys + i)
	}
}

func TestAServerThatEndsInTheMiddleOfATransaction(t *testing.T) {
	bothAlone(t, func(t *testing.T, w *world) {
		w.rival("UPDATE orders SET status = 'B' WHERE id = 2")
		one := w.compile(changesBoth...)
		outcomes := w.begin(t.Context(), one)
		w.blocked("orders", 1)
		w.server.Kill()
		is(t, <-outcomes, notApplied, false, "")
		if err := w.server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		is(t, w.executed(one, effecttest.NewAttempt(2)), applied, false, "")
		if w.awards() != 1 || w.ledger() != 1 {
			t.Errorf("%d awards and %d rows in the ledger", w.awards(), w.ledger())
		}
	})
}
