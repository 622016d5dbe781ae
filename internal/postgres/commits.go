package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"

	"muster/internal/concurrency/supervise"
)

//go:embed sql/check_commit.sql
var checkCommitSQL string

const (
	// commitPatience is how long a commit of one small row may take.
	commitPatience = 2 * time.Second
	// commitEvery is how long what a check found holds for Stuck.
	commitEvery = 5 * time.Second
	// commitGivenUp ends a commit that has not returned: its server may have been stopped
	// while another took over.
	commitGivenUp = time.Minute
)

// Commits says whether the database commits. PostgreSQL answers queries also while no
// commit returns: each waits for a synchronous standby that is away, or for a disk that
// is full or frozen.
//
// A check writes one row, the process's own, and 200 kB of a temporary file, over the one connection that Commits has.
// While a commit has not returned no other is begun, and the commit is not canceled
// before a minute is over: canceled, it counts as committed although no standby has it.
// A session that hangs beyond that holds the row's lock, so that the next check fails at
// that lock and leaves no second session behind.
type Commits struct {
	url, process string
	db           *sqlx.DB // is asked what a commit waits for
	life         context.Context
	end          context.CancelFunc
	patience     time.Duration // commitPatience

	mu      sync.Mutex
	pool    *pgxpool.Pool // nil before the first check
	pending *commit       // nil: none is under way
	ended   time.Time     // when the last one did
	stuck   bool          // it returned too late, or was given up
}

// commit is one write. Its result is there when done is closed.
type commit struct {
	began time.Time
	pid   atomic.Uint32 // of its session; 0 until there is one
	done  chan struct{}
	took  time.Duration
	err   error
}

// NewCommits checks the database at url for the process of that name, which no other
// process has. It asks db what a commit waits for. Nothing is written before Check.
func NewCommits(url, process string, db *sqlx.DB) *Commits {
	c := &Commits{url: url, process: process, db: db, patience: commitPatience}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// Close gives up a commit that is under way, and closes the connection.
func (c *Commits) Close() {
	c.end()
	c.mu.Lock()
	pending := c.pending
	c.mu.Unlock()
	if pending != nil {
		<-pending.done
	}
	c.mu.Lock()
	pool := c.pool
	c.mu.Unlock()
	if pool != nil {
		pool.Close()
	}
}

// StuckError says that a commit has not returned in time.
type StuckError struct {
	For      time.Duration
	Returned bool   // it has, too late
	WaitsFor string // the wait event of its session; empty where that is not known
}

func (e *StuckError) Error() string {
	waited := e.For.Round(100 * time.Millisecond)
	if e.Returned {
		return fmt.Sprintf("commits are slow: one took %s", waited)
	}
	text := fmt.Sprintf("commits do not return: one has waited for %s", waited)
	switch e.WaitsFor {
	case "":
		return text
	case "SyncRep":
		return text + ", on SyncRep: no synchronous standby confirms it (synchronous_standby_names)"
	}
	return text + ", on " + e.WaitsFor
}

// Check returns an error where a small write is not committed within two seconds: a
// *StuckError, or why the database did not take the write.
func (c *Commits) Check(ctx context.Context) error {
	w := c.begin()
	// A little less than the patience, so that a caller with the same hears why.
	ctx, cancel := context.WithTimeout(ctx, c.patience*9/10)
	defer cancel()
	asked := time.NewTimer(c.patience / 2)
	defer asked.Stop()
	waitsFor := ""
	for {
		select {
		case <-w.done:
			return c.judge(w)
		case <-ctx.Done():
			return &StuckError{For: time.Since(w.began), WaitsFor: waitsFor}
		case <-asked.C:
			waitsFor = c.waitEvent(ctx, w)
		}
	}
}

// Stuck says at once whether commits do not return in time. It uses the check in progress or
// the last one; another one begins after some seconds.
func (c *Commits) Stuck() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == nil && time.Since(c.ended) >= commitEvery {
		c.start()
	}
	return c.stuck || c.pending != nil && time.Since(c.pending.began) > c.patience
}

// begin returns the commit that is under way, or a new one.
func (c *Commits) begin() *commit {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending != nil {
		return c.pending
	}
	return c.start()
}

// start begins a commit. The caller holds mu.
func (c *Commits) start() *commit {
	w := &commit{began: time.Now(), done: make(chan struct{})}
	c.pending = w
	go func() {
		ctx, cancel := context.WithTimeout(c.life, commitGivenUp)
		defer cancel()
		w.err = supervise.Call(func() error { return c.write(ctx, w) })
		w.took = time.Since(w.began)
		var stuck *StuckError
		c.mu.Lock()
		c.pending, c.ended = nil, time.Now()
		c.stuck = errors.As(c.judge(w), &stuck) || errors.Is(w.err, context.DeadlineExceeded)
		c.mu.Unlock()
		close(w.done)
	}()
	return w
}

// write is called by one goroutine at a time.
func (c *Commits) write(ctx context.Context, w *commit) error {
	if c.pool == nil {
		_, pool, err := Connect(ctx, c.url, PoolOptions{Name: "commits", Max: 1, Patience: c.patience})
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.pool = pool
		c.mu.Unlock()
	}
	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect to check whether commits return: %w", err)
	}
	defer conn.Release()
	w.pid.Store(conn.Conn().PgConn().PID())
	if _, err := conn.Exec(ctx, `SET work_mem = '64kB'`); err != nil {
		return fmt.Errorf("prepare to check whether commits return: %w", err)
	}
	if _, err := conn.Exec(ctx, checkCommitSQL, c.process); err != nil {
		return fmt.Errorf("check whether commits return: %w", err)
	}
	return nil
}

// lockNotAvailable is the SQLSTATE of a lock that was not got in time.
const lockNotAvailable = "55P03"

func (c *Commits) judge(w *commit) error {
	var server *pgconn.PgError
	switch {
	case errors.As(w.err, &server) && server.Code == lockNotAvailable: // by the session of a commit that was given up
		return &StuckError{For: w.took}
	case w.err != nil:
		return w.err
	case w.took > c.patience:
		return &StuckError{For: w.took, Returned: true}
	}
	return nil
}

// waitEvent is PostgreSQL's name for what the commit's session waits for; empty if it has none.
func (c *Commits) waitEvent(ctx context.Context, w *commit) (event string) {
	if pid := w.pid.Load(); pid != 0 {
		_ = c.db.GetContext(ctx, &event, `SELECT coalesce(wait_event, '') FROM pg_stat_activity WHERE pid = $1`, int64(pid)) // an aside
	}
	return event
}
