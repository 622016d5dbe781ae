package projections_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/testing/pgtest"
	"muster/projections"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// patience is how long a test waits for something that must come.
const patience = time.Minute

// scene is a database with a log and a projection that adds numbers up: any
// event lost, doubled or out of order shows in its rows.
type scene struct {
	t            *testing.T
	url          string
	db           *sqlx.DB
	store        *eventstore.Store
	organization uuid.UUID
}

func newScene(t *testing.T) *scene {
	t.Helper()
	url := pgtest.URL(t)
	db := pgtest.Connect(t, url)
	return &scene{t: t, url: url, db: db, store: eventstore.New(db), organization: uuid.New()}
}

// sums is the projection. apply, where given, runs before each page and decides
// what comes of it.
type sums struct {
	before func(ctx context.Context, tx *sqlx.Tx, events []projections.Event) error
	during func(ctx context.Context, tx *sqlx.Tx) error // between the page's two writes
	after  func(ctx context.Context, tx *sqlx.Tx) error
	cured  atomic.Bool // poison no longer harms
	pages  atomic.Int64
}

const sumsSchema = `
CREATE TABLE streams (
    stream_id uuid   NOT NULL PRIMARY KEY,
    trace     text   NOT NULL, -- the numbers in the order in which they were applied
    total     bigint NOT NULL
);
CREATE TABLE totals (only_row int NOT NULL PRIMARY KEY, total bigint NOT NULL)`

var errPoison = errors.New("poison")

func (s *sums) projection() projections.Projection {
	return projections.Projection{
		Name: "sums", Version: 1, Logs: []eventstore.Log{eventstore.Reports}, Schema: sumsSchema, Apply: s.apply,
	}
}

func (s *sums) apply(ctx context.Context, tx *sqlx.Tx, events []projections.Event) error {
	s.pages.Add(1)
	if s.before != nil {
		if err := s.before(ctx, tx, events); err != nil {
			return err
		}
	}
	total := 0
	for _, e := range events {
		var fact struct{ N, Panic int }
		if err := json.Unmarshal(e.Data, &fact); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO streams VALUES ($1, $2 || ' ', $3) ON CONFLICT (stream_id)
DO UPDATE SET trace = streams.trace || excluded.trace, total = streams.total + excluded.total`,
			e.Stream, fmt.Sprint(fact.N), fact.N)
		if err != nil {
			return err
		}
		if e.Type == "poison" && !s.cured.Load() {
			return errPoison
		}
		if e.Type == "panic" && !s.cured.Load() {
			panic("poison")
		}
		total += fact.N
	}
	if s.during != nil {
		if err := s.during(ctx, tx); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO totals VALUES (1, $1) ON CONFLICT (only_row)
DO UPDATE SET total = totals.total + excluded.total`, total)
	if err == nil && s.after != nil {
		err = s.after(ctx, tx)
	}
	return err
}

// runner returns a runner of the projection; it runs until stop or the test's end.
func (s *scene) runner(p ...projections.Projection) *projections.Runner {
	s.t.Helper()
	r := projections.NewRunner(s.db, s.url, slog.New(slog.DiscardHandler), p...)
	if err := r.Prepare(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *scene) run(r *projections.Runner) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	done := make(chan struct{})
	go func() { defer close(done); _ = r.Run(ctx) }()
	stop = func() { cancel(); <-done }
	s.t.Cleanup(stop)
	return stop
}

// appendNumbers appends one event a number to a stream.
func (s *scene) appendNumbers(stream uuid.UUID, typ string, numbers ...int) (position int64) {
	s.t.Helper()
	a := eventstore.Append{
		Organization: s.organization, StreamType: "toy", Stream: stream, Expected: eventstore.AnyVersion,
	}
	for _, n := range numbers {
		a.Events = append(a.Events, eventstore.NewEvent{Type: typ, Data: fmt.Appendf(nil, `{"N":%d}`, n)})
	}
	position, err := s.store.Append(s.t.Context(), eventstore.Reports, a)
	if err != nil {
		s.t.Fatal(err)
	}
	return position
}

// until waits for something that must come.
func (s *scene) until(what string, holds func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			s.t.Fatalf("waited in vain until %s", what)
		case <-tick.C:
		}
	}
}

// settle waits until the runner has applied everything up to the position.
func (s *scene) settle(r *projections.Runner, position int64) {
	s.t.Helper()
	s.until(fmt.Sprintf("position %d is applied", position), func() bool {
		return r.Wait(s.t.Context(), eventstore.Reports, position)
	})
}

// want compares the live generation with traces by stream.
func (s *scene) want(traces map[uuid.UUID]string) {
	s.t.Helper()
	var rows []struct {
		Stream uuid.UUID `db:"stream_id"`
		Trace  string    `db:"trace"`
		Total  int64     `db:"total"`
	}
	if err := s.db.Select(&rows, `SELECT * FROM sums_v1.streams`); err != nil {
		s.t.Fatal(err)
	}
	got, sum := map[uuid.UUID]string{}, int64(0)
	for _, r := range rows {
		got[r.Stream] = r.Trace
		sum += r.Total
	}
	if fmt.Sprint(got) != fmt.Sprint(traces) {
		s.t.Errorf("streams are %v, want %v", got, traces)
	}
	var total int64
	if err := s.db.Get(&total, `SELECT coalesce(sum(total), 0) FROM sums_v1.totals`); err != nil {
		s.t.Fatal(err)
	}
	if total != sum {
		s.t.Errorf("the total is %d, the streams add up to %d", total, sum)
	}
}

func (s *scene) exec(query string, args ...any) {
	s.t.Helper()
	if _, err := s.db.Exec(query, args...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) status(r *projections.Runner) projections.Status {
	s.t.Helper()
	all, err := r.Statuses(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return all[0]
}
