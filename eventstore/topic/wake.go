package topic

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/eventstore"
)

// channel is where processes tell each other that a log has grown.
const channel = "muster_wake"

// Wake tells goroutines of this process that something they wait for may have
// changed. It never says what: who is woken looks for themselves, so that a
// wake-up too many does no harm and the safety poll covers one too few.
type Wake struct {
	mu      sync.Mutex
	waiting map[string]chan struct{}
}

// NewWake returns a Wake that nobody waits for yet.
func NewWake() *Wake { return &Wake{waiting: map[string]chan struct{}{}} }

// Raise wakes everyone who waits for the subject.
func (w *Wake) Raise(subject string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ch, ok := w.waiting[subject]; ok {
		close(ch)
		delete(w.waiting, subject)
	}
}

// Changed returns a channel that closes at the next Raise. Taken before one
// looks at the database, it cannot miss a change between the look and the wait.
func (w *Wake) Changed(subject string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch, ok := w.waiting[subject]
	if !ok {
		ch = make(chan struct{})
		w.waiting[subject] = ch
	}
	return ch
}

// Announce wakes the subject's waiters in the other processes. It runs outside
// the appending transaction on purpose: NOTIFY inside it would take a
// database-wide lock up to the end of the commit and queue the three logs'
// commits behind one another.
func Announce(ctx context.Context, db Tx, subject string) error {
	if _, err := db.ExecContext(ctx, `SELECT pg_notify($1, $2)`, channel, subject); err != nil {
		return fmt.Errorf("announce %s: %w", subject, err)
	}
	return nil
}

// Listen raises wake for every announcement of another process until ctx ends.
// It holds one connection of its own and opens it again when it breaks; what is
// announced meanwhile is found by the safety poll.
func Listen(ctx context.Context, url string, wake *Wake, log *slog.Logger) {
	for ctx.Err() == nil {
		err := listen(ctx, url, wake)
		if ctx.Err() != nil {
			return
		}
		log.WarnContext(ctx, "listening for other processes' appends is interrupted", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(SafetyPoll):
		}
	}
}

func listen(ctx context.Context, url string, wake *Wake) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for _, log := range eventstore.Logs {
		wake.Raise(string(log)) // announcements before LISTEN were not for us
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		wake.Raise(n.Payload)
	}
}
