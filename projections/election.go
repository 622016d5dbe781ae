package projections

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/eventstore/topic"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
)

// lockKey is the advisory lock's number for a purpose and a name.
func lockKey(purpose, name string) int64 {
	sum := sha256.Sum256([]byte("muster projections\x00" + purpose + "\x00" + name))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// stand holds one connection with the election's session locks and leads for as long as it
// holds some. There is a lock for each projection and version. While two versions of the
// program run, each fills the projections that only it can fill, and the earlier holder fills
// the shared ones. The groups of handlers, which have no version, work in the same way.
func (r *Runner) stand(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, r.url)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	term := &term{}
	defer term.end()
	for {
		held, err := r.elect(ctx, conn)
		if err != nil {
			return fmt.Errorf("election: %w", err)
		}
		if held.size() != term.size {
			term.end()
			term.begin(ctx, r, held)
		}
		if err := pause.Unless(ctx, lookEach, term.done); err != nil {
			return err
		}
		if err := term.failed(); err != nil {
			return err
		}
	}
}

// office is what a process is elected for.
type office struct {
	projections []Projection
	handlers    []topic.Group
}

func (o office) size() int { return len(o.projections) + len(o.handlers) }

// connections is how many its groups and the looks after them take.
func (o office) connections() int {
	groups := len(o.handlers)
	for _, p := range o.projections {
		groups += len(p.Logs)
	}
	return groups + 2
}

// elect takes every lock that is free and returns the office whose locks the connection
// holds. The locks are counted in the server each time: a session that was replaced under us
// holds none.
func (r *Runner) elect(ctx context.Context, conn *pgx.Conn) (office, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	keys := make([]int64, 0, len(r.projections)+len(r.handlers))
	for _, p := range r.projections {
		keys = append(keys, lockKey("run", p.Name+"@"+strconv.Itoa(p.Version)))
	}
	for _, g := range r.handlers {
		keys = append(keys, lockKey("handle", g.Name+"/"+string(g.Log)))
	}
	held, err := collectBools(ctx, conn, heldLocks, keys)
	if err != nil {
		return office{}, err
	}
	if slices.Contains(held, false) {
		if held, err = takeLocks(ctx, conn, keys, held); err != nil {
			return office{}, err
		}
	}
	var o office
	for i, p := range r.projections {
		if held[i] {
			o.projections = append(o.projections, p)
		}
	}
	for i, g := range r.handlers {
		if held[len(r.projections)+i] {
			o.handlers = append(o.handlers, g)
		}
	}
	return o, nil
}

// takeLocks tries to take the locks that are not held yet, behind a turnstile, so that two
// processes that start together do not divide them. No process waits at the turnstile: a
// process that is frozen in it must not end another's term.
func takeLocks(ctx context.Context, conn *pgx.Conn, keys []int64, held []bool) ([]bool, error) {
	turnstile := []int64{lockKey("turnstile", "")}
	free, err := collectBools(ctx, conn, tryLocks, turnstile)
	if err != nil || !free[0] {
		return held, err
	}
	var missing []int64
	for i, key := range keys {
		if !held[i] {
			missing = append(missing, key)
		}
	}
	taken, err := collectBools(ctx, conn, tryLocks, missing)
	if err != nil {
		return nil, err
	}
	for i := range held {
		if !held[i] {
			held[i], taken = taken[0], taken[1:]
		}
	}
	_, err = conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, turnstile[0])
	return held, err
}

func collectBools(ctx context.Context, conn *pgx.Conn, query string, keys []int64) ([]bool, error) {
	rows, err := conn.Query(ctx, query, keys)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[bool])
}

const tryLocks = `SELECT pg_try_advisory_lock(k.key)
FROM unnest($1::bigint[]) WITH ORDINALITY AS k (key, n) ORDER BY n`

// term is one time of leading.
type term struct {
	size int
	stop context.CancelFunc
	done chan struct{}
	err  error // there when done is closed
}

func (t *term) begin(ctx context.Context, r *Runner, held office) {
	if held.size() == 0 {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	t.size, t.stop, t.done = held.size(), stop, make(chan struct{})
	go func() {
		defer close(t.done)
		r.leading.Store(true)
		defer r.leading.Store(false)
		t.err = supervise.Call(func() error { return r.lead(ctx, held) })
	}()
}

// failed returns why the term ended, if it ended by itself.
func (t *term) failed() error {
	select {
	case <-t.done:
		return t.err
	default:
		return nil
	}
}

// end stops the groups and waits until none applies anything any more.
func (t *term) end() {
	if t.size == 0 {
		return
	}
	t.stop()
	<-t.done
	*t = term{}
}
