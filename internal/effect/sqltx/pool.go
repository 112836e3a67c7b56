package sqltx

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/taskonce/taskonce/internal/effect"
)

// Databases are the pools of connections, one for each DSN, whichever templates name it. It is safe for concurrent use.
type Databases struct {
	options Options
	now     func() time.Time

	mu    sync.Mutex
	pools map[poolKey]*pool
}

// poolKey tells pools apart without keeping the DSN.
type poolKey [sha256.Size]byte

// pool is one database and how many use it now.
type pool struct {
	database database
	secrets  effect.Secrets
	users    int
	idle     *time.Timer
}

// open returns a session of the database that the DSN names, which must be released, and what of the DSN must be in no
// outcome.
func (d *Databases) open(ctx context.Context, dialect *dialect, dsn string) (session, effect.Secrets, error) {
	key := poolKey(sha256.Sum256([]byte(dialect.name + "\x00" + dsn)))
	used, err := d.use(key, dialect, dsn)
	if err != nil {
		return nil, nil, err
	}
	opened, err := used.database.open(ctx)
	if err != nil {
		d.leave(key, used)
		return nil, used.secrets, err
	}
	return &borrowed{session: opened, leave: func() { d.leave(key, used) }}, used.secrets, nil
}

// borrowed is a session that says when its pool is not used any more.
type borrowed struct {
	session
	leave func()
}

func (b *borrowed) release() { b.session.release(); b.leave() }

func (d *Databases) use(key poolKey, dialect *dialect, dsn string) (*pool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	used := d.pools[key]
	if used == nil {
		database, password, err := dialect.connect(dsn, d.options)
		if err != nil {
			return nil, &dsnError{}
		}
		used = &pool{database: database, secrets: secretsOf(dsn, password)}
		used.idle = time.AfterFunc(d.options.IdleAfter, func() { d.closeIdle(key, used) })
		d.pools[key] = used
	}
	used.idle.Stop()
	used.users++
	return used, nil
}

func (d *Databases) leave(key poolKey, used *pool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if used.users--; used.users == 0 && d.pools[key] == used {
		used.idle.Reset(d.options.IdleAfter)
	}
}

// closeIdle closes a pool that nobody used for a while, or whose DSN no Secret holds any more.
func (d *Databases) closeIdle(key poolKey, used *pool) {
	d.mu.Lock()
	over := used.users == 0 && d.pools[key] == used
	if over {
		delete(d.pools, key)
	}
	d.mu.Unlock()
	if over {
		used.database.close()
	}
}

// Close closes every pool that is not in use.
func (d *Databases) Close() {
	d.mu.Lock()
	pools := d.pools
	d.pools = map[poolKey]*pool{}
	d.mu.Unlock()
	for _, used := range pools {
		used.idle.Stop()
		used.database.close()
	}
}
