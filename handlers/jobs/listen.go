package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
)

// listener wakes the claim loops of a process when a transaction that inserted
// a job commits, wherever that happened. It is a convenience: without it the
// loops find their work at the next poll.
type listener struct {
	db    *sqlx.DB
	pause time.Duration
	log   *slog.Logger

	mu      sync.Mutex
	wakes   map[Kind][]chan struct{}
	started bool
	cancel  context.CancelFunc
	done    chan struct{}
}

func newListener(db *sqlx.DB, pause time.Duration, log *slog.Logger) *listener {
	return &listener{db: db, pause: pause, log: log, wakes: map[Kind][]chan struct{}{}, done: make(chan struct{})}
}

func (l *listener) subscribe(kind Kind) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	wake := make(chan struct{}, 1) // remembers one signal that comes while the loop is busy
	l.wakes[kind] = append(l.wakes[kind], wake)
	if !l.started {
		l.started = true
		ctx, cancel := context.WithCancel(context.Background())
		l.cancel = cancel
		go l.run(ctx)
	}
	return wake
}

func (l *listener) unsubscribe(kind Kind, wake <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wakes[kind] = slices.DeleteFunc(l.wakes[kind], func(c chan struct{}) bool { return c == wake })
}

func (l *listener) close() {
	l.mu.Lock()
	started := l.started
	l.started = true // too late to start
	l.mu.Unlock()
	if started && l.cancel != nil {
		l.cancel()
		<-l.done
	}
}

func (l *listener) run(ctx context.Context) {
	defer close(l.done)
	for ctx.Err() == nil {
		if err := l.listen(ctx); err != nil && ctx.Err() == nil {
			l.log.Warn("not listening for new jobs, polling meanwhile", "error", err)
		}
		timer := time.NewTimer(l.pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// listen holds one connection until ctx ends or the connection breaks.
func (l *listener) listen(ctx context.Context) error {
	conn, err := l.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("get a connection: %w", err)
	}
	defer func() { _ = conn.Close() }()
	return conn.Raw(func(driverConn any) error {
		c, ok := driverConn.(*stdlib.Conn)
		if !ok {
			return errors.New("the database is not a pgx one")
		}
		if _, err := c.Conn().Exec(ctx, "LISTEN "+Channel); err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		l.wake("") // what was inserted before the LISTEN
		for {
			n, err := c.Conn().WaitForNotification(ctx)
			if err != nil {
				return fmt.Errorf("wait: %w", err)
			}
			l.wake(Kind(n.Payload))
		}
	})
}

// wake signals the loops of one kind, or all.
func (l *listener) wake(kind Kind) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, loops := range l.wakes {
		if kind != "" && k != kind {
			continue
		}
		for _, c := range loops {
			select {
			case c <- struct{}{}:
			default: // it has one waiting
			}
		}
	}
}
