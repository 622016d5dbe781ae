package topic

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill-sql/v3/pkg/sql"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/postgres/listen"
)

// SafetyPoll is how long a group waits at most for a wake-up that got lost.
const SafetyPoll = time.Second

// never is the ack deadline. Its expiry would commit what a handler has written
// so far, so it must not come; a handler that hangs shows as lag instead.
const never = 10 * 365 * 24 * time.Hour

// Failure pauses between attempts of a page that cannot be applied.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Subscription runs a group on a Watermill router. It is the subscriber's
// schema adapter, offsets adapter and backoff manager at once, because the
// three share what happened to the page in hand.
type Subscription struct {
	group     Group
	db        *sqlx.DB
	wake      *listen.Wake
	log       *slog.Logger
	committed func()
	ended     context.Context // Subscribe's: Watermill's backoff has none

	mu      sync.Mutex
	changed <-chan struct{} // taken before the running query
	failure error           // of the page in hand
	next    *ahead          // the page behind the one in hand; nil: that was not a full one
	pause   time.Duration   // zero: the last look went well
	marked  bool            // the checkpoint may carry an error, of a process before this one too
}

// Subscribe adds the group to a running router and starts it. It ends with ctx
// or stop, which waits for it: a page in hand is rolled back and comes again
// later. Never close the router to stop it: that commits what a handler has
// written so far. committed is called each time a page may have been committed.
func Subscribe(ctx context.Context, router *Router, db *sqlx.DB, g Group, wake *listen.Wake, log *slog.Logger, committed func()) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &Subscription{
		group: g, db: db, wake: wake, committed: committed, ended: ctx, marked: true,
		log: log.With("group", g.Name, "log", string(g.Log)),
	}
	deadline := never
	subscriber, err := sql.NewSubscriber(db.DB, sql.SubscriberConfig{
		ConsumerGroup:  g.Name,
		AckDeadline:    &deadline,
		BackoffManager: s,
		SchemaAdapter:  s,
		OffsetsAdapter: s,
	}, router.Logger())
	if err != nil {
		cancel()
		return nil, fmt.Errorf("subscribe %s to %s: %w", g.Name, g.Log, err)
	}
	handler := router.AddConsumerHandler(g.Name+"/"+string(g.Log), string(g.Log), subscriber, s.handle)
	if err := router.RunHandlers(ctx); err != nil {
		cancel()
		return nil, err
	}
	// The router forgets a handler only after it has stopped, and refuses a
	// second one of its name until then.
	return func() { cancel(); <-handler.Stopped(); s.takeNext().drop() }, nil
}

// handle applies one page. It always acknowledges: a nack would neither roll
// back nor let go of the transaction. Where the page failed it ends the
// transaction instead, so that the subscriber cannot move the checkpoint and
// reads the page again.
func (s *Subscription) handle(msg *message.Message) error {
	ctx := msg.Context()
	tx, ok := sql.TxFromContext(ctx)
	if !ok {
		return errors.New("message carries no transaction")
	}
	events, err := supervise.Value(func() ([]Event, error) { return s.page(msg.Payload) })
	if err == nil {
		err = s.group.deliver(ctx, &sqlx.Tx{Tx: tx, Mapper: s.db.Mapper}, events)
	}
	s.mu.Lock()
	s.failure = err
	s.mu.Unlock()
	if err != nil {
		_ = tx.Rollback()
	}
	return nil
}

// page is the current page: the one that was read ahead, if the message is empty. While a full
// one is applied, the next page is read.
func (s *Subscription) page(payload []byte) (events []Event, err error) {
	if len(payload) == 0 {
		events = s.takeNext().events
	} else {
		recorded, err := eventstore.DecodeRecords(s.group.Log, payload)
		if err != nil {
			return nil, err
		}
		events = s.group.decode(recorded)
	}
	if len(events) == s.group.PageSize {
		s.setNext(s.group.readAhead(s.ended, s.db, events[len(events)-1].Position))
	}
	return events, nil
}

func (s *Subscription) takeNext() *ahead {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.next
	s.next = nil
	return next
}

func (s *Subscription) setNext(next *ahead) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = next
}

// HandleError decides how long the subscriber waits after a query. It blocks
// for the next wake-up where there was nothing to read.
func (s *Subscription) HandleError(_ watermill.LoggerAdapter, noMsg bool, err error) time.Duration {
	wait, panicked := supervise.Value(func() (time.Duration, error) { return s.afterQuery(noMsg, err), nil })
	if panicked != nil { // in a goroutine of the subscriber's
		s.log.Error("a subscription goes on after a panic", "error", panicked)
		return lastPause
	}
	return wait
}

func (s *Subscription) afterQuery(noMsg bool, err error) time.Duration {
	s.mu.Lock()
	failure, changed := s.failure, s.changed
	s.failure = nil
	s.mu.Unlock()
	if failure != nil {
		err = failure
	}
	next := s.takeNext()
	if noMsg || err != nil { // it is behind a page that was not applied, or that another process did
		next.drop()
	}
	switch {
	case s.ended.Err() != nil:
		return 0
	case err != nil && isConcurrentUpdate(err):
		return 0
	case err != nil:
		return s.failed(err)
	case noMsg && next != nil:
	case noMsg:
		s.recovered()
		_ = pause.Unless(s.ended, SafetyPoll, changed)
	default:
		s.pause, s.marked = 0, false // moveCheckpoint took the mark away
		s.committed()
		// Here, where no transaction waits: a caller that holds a connection and waits for one
		// without a connection may wait forever.
		s.setNext(next.wait())
	}
	return 0
}

// recovered takes the mark of a failure away where no page comes that would: a
// look that failed on an idle log would else be shown until its next event.
func (s *Subscription) recovered() {
	s.pause = 0
	if s.marked {
		s.marked = !s.mark(nil)
	}
}

// mark writes the failure, or its absence, on the checkpoint.
func (s *Subscription) mark(failure *string) (written bool) {
	ctx, cancel := context.WithTimeout(context.Background(), SafetyPoll)
	defer cancel()
	_, err := s.db.ExecContext(ctx, `UPDATE checkpoints SET last_error = $1
WHERE consumer_group = $2 AND log = $3 AND last_error IS DISTINCT FROM $1`, failure, s.group.Name, s.group.Log)
	if err != nil {
		s.log.Debug("failure cannot be recorded", "error", err)
	}
	return err == nil
}

// failed reports a failure once in the log and on the checkpoint, and paces the
// next attempt.
func (s *Subscription) failed(err error) time.Duration {
	if s.pause == 0 {
		s.log.Error("page cannot be applied, trying again", "error", err)
		s.pause = firstPause
	} else {
		s.pause = min(2*s.pause, lastPause)
	}
	text := err.Error()
	s.mark(&text)
	s.marked = true
	return s.pause
}

// isConcurrentUpdate recognizes the losers' errors of two subscribers on one
// checkpoint, which the stock backoff manager retries at once too.
func isConcurrentUpdate(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// SelectQuery reads the next page, unless that was read ahead, and locks the checkpoint.
func (s *Subscription) SelectQuery(string, string, sql.OffsetsAdapter) sql.Query {
	changed := s.wake.Changed(string(s.group.Log))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = changed
	if s.next != nil {
		return sql.Query{Query: selectCheckpoint, Args: []any{s.group.Name, s.group.Log, s.next.after, s.next.last()}}
	}
	return sql.Query{Query: selectPage, Args: []any{s.group.Name, s.group.Log, s.group.Follow, s.group.PageSize}}
}

// UnmarshalMessage makes one message of a page.
func (s *Subscription) UnmarshalMessage(row sql.Scanner) (sql.Row, error) {
	var last int64
	var payload []byte
	if err := row.Scan(&last, &payload); err != nil {
		return sql.Row{}, err
	}
	name := string(s.group.Log) + ":" + strconv.FormatInt(last, 10)
	return sql.Row{Offset: last, Msg: message.NewMessage(name, payload)}, nil
}

// SubscribeIsolationLevel is READ COMMITTED: under the default REPEATABLE READ
// a standby that waited for the checkpoint gets 40001.
func (s *Subscription) SubscribeIsolationLevel() stdsql.IsolationLevel {
	return stdsql.LevelReadCommitted
}

// AckMessageQuery moves the checkpoint in the page's own transaction.
func (s *Subscription) AckMessageQuery(_ string, row sql.Row, _ string) sql.Query {
	return sql.Query{Query: moveCheckpoint, Args: []any{row.Offset, s.group.Name, s.group.Log}}
}

// InsertQuery refuses: events enter a log through eventstore.Store only.
func (s *Subscription) InsertQuery(string, message.Messages) (sql.Query, error) {
	return sql.Query{}, errors.New("a log is appended to through the event store, not published to")
}

// NextOffsetQuery is part of SelectQuery.
func (s *Subscription) NextOffsetQuery(string, string) sql.Query { return sql.Query{} }

// ConsumedMessageQuery has nothing to do.
func (s *Subscription) ConsumedMessageQuery(string, sql.Row, string, []byte) sql.Query {
	return sql.Query{}
}

// SchemaInitializingQueries has nothing to do: migrations make the tables.
func (s *Subscription) SchemaInitializingQueries(string) []sql.Query { return nil }

// BeforeSubscribingQueries creates no checkpoint: a missing one belongs to a generation that
// has ended.
func (s *Subscription) BeforeSubscribingQueries(string, string) []sql.Query { return nil }
