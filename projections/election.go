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

	"muster/internal/pause"
	"muster/internal/supervise"
)

// lockKey is the advisory lock's number for a purpose and a name.
func lockKey(purpose, name string) int64 {
	sum := sha256.Sum256([]byte("muster projections\x00" + purpose + "\x00" + name))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// stand holds one connection with the election's session locks and leads for
// as long as it holds some. There is a lock for each projection and version:
// while two versions of the program run, each fills what only it can fill, and
// what they share is filled by the one that was there first.
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
		if len(held) != term.size {
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

// elect takes every lock that is free and returns the projections whose locks
// the connection holds. The locks are counted in the server each time: a
// session that was replaced under us holds none.
func (r *Runner) elect(ctx context.Context, conn *pgx.Conn) ([]Projection, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	keys := make([]int64, len(r.projections))
	for i, p := range r.projections {
		keys[i] = lockKey("run", p.Name+"@"+strconv.Itoa(p.Version))
	}
	held, err := collectBools(ctx, conn, heldLocks, keys)
	if err != nil {
		return nil, err
	}
	if slices.Contains(held, false) {
		if held, err = takeLocks(ctx, conn, keys, held); err != nil {
			return nil, err
		}
	}
	var projections []Projection
	for i, p := range r.projections {
		if held[i] {
			projections = append(projections, p)
		}
	}
	return projections, nil
}

// takeLocks tries for the locks not held yet, behind a turnstile, so that two
// processes that start together do not share them out. Nobody waits at the
// turnstile: a process that is frozen in it must not end another's term.
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

func (t *term) begin(ctx context.Context, r *Runner, held []Projection) {
	if len(held) == 0 {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	t.size, t.stop, t.done = len(held), stop, make(chan struct{})
	go func() {
		defer close(t.done)
		r.leading.Store(true)
		defer r.leading.Store(false)
		t.err = supervise.Call(func() error { return r.lead(ctx, held) })
	}()
}

// failed returns why the term is over, where it is over by itself.
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
