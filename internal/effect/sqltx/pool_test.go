package sqltx

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/taskonce/taskonce/internal/effect/effecttest"
	"github.com/taskonce/taskonce/test/dbserver"
)

func TestDSNsThatDoNotWork(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		port := w.proxy.Port
		for reason, c := range map[string]struct{ dsn, word string }{
			"a wrong password": {w.server.DSNFor(dbserver.User, "mistaken-identity", w.name, port), "correct the DSN in the Secret"},
			"no such user":     {w.server.DSNFor("nobody", "mistaken-identity", w.name, port), "correct the DSN in the Secret"},
			"no such database": {w.server.DSNFor(dbserver.User, dbserver.Password, "nowhere", port), "nowhere"},
			"no DSN":           {"mistaken-identity", "is not the DSN of a"},
			"an address":       {"https://mistaken-identity/", "is not the DSN of a"},
			"nothing":          {"", "is not the DSN of a"},
		} {
			w.dsn = c.dsn
			_, err := w.compile().Execute(t.Context(), effecttest.NewAttempt(1))
			missingWith(t, err, c.word)
			if _, err := w.compile().Verify(t.Context(), effecttest.NewAttempt(1)); err == nil {
				t.Errorf("%s: it could be asked", reason)
			}
			if err != nil && (strings.Contains(err.Error(), "mistaken-identity") || strings.Contains(err.Error(), dbserver.Password)) {
				t.Errorf("%s: it tells a secret: %v", reason, err)
			}
		}
	})
}

func TestPoolsAreBoundedAndClosedWhenIdle(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.databases.options.MaxConnections = 1
		one := w.compile()
		execute := func(key string) {
			attempt := effecttest.NewAttempt(1)
			attempt.DownstreamKey, attempt.BusinessKey = key, ""
			is(t, w.executed(one, attempt), applied, false, "")
		}
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() { execute(fmt.Sprint("shop/award-", i)) })
		}
		all.Wait()
		if most := w.proxy.Connections(); most != 1 {
			t.Errorf("there were %d connections at once", most)
		}
		w.databases.options.IdleAfter = 50 * time.Millisecond // not before: the last one may come later than that
		execute("shop/the-last")
		eventually(t, "the pool is closed", func() bool {
			w.databases.mu.Lock()
			defer w.databases.mu.Unlock()
			return len(w.databases.pools) == 0
		})
		eventually(t, "the connections are closed", func() bool { return w.proxy.Open() == 0 })
	})
}
