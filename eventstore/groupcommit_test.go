package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/pgtest"
)

// gates is a store whose appends stop amid their statement where an event has the type
// "gate.<n>", until that gate opens.
type gates struct {
	*testing.T
	db     *sqlx.DB
	store  *eventstore.Store
	holder *sqlx.Conn
}

const waitAtGates = `
CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(substr(NEW.type, 6)::bigint);
    RETURN NULL;
END $$;
CREATE TRIGGER gate AFTER INSERT ON events FOR EACH ROW WHEN (NEW.type LIKE 'gate.%') EXECUTE FUNCTION wait_at_gate();
SELECT pg_advisory_lock(1), pg_advisory_lock(2)`

// closedGates has an append that waits at gate 1, so that all others wait for it.
func closedGates(t *testing.T, given ...eventstore.Append) (*gates, <-chan appended) {
	g := &gates{T: t, db: pgtest.DB(t)}
	g.store = eventstore.New(g.db)
	mustAppend(t, g.store, eventstore.Reports, given...)
	holder, err := g.db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g.holder = holder
	t.Cleanup(func() { _ = holder.Close() })
	if _, err := holder.ExecContext(t.Context(), waitAtGates); err != nil {
		t.Fatal(err)
	}
	first := g.append(t.Context(), gated(1))
	g.until("an append is at gate 1", func() bool { return g.standAt(1) == 1 })
	return g, first
}

// gated is an append of one event that waits at a gate.
func gated(gate int) eventstore.Append {
	a := batch(ours, uuid.New(), eventstore.NoStream, 1)
	a.Events[0].Type = fmt.Sprint("gate.", gate)
	return a
}

type appended struct {
	position int64
	err      error
}

// append appends in the background.
func (g *gates) append(ctx context.Context, a eventstore.Append) <-chan appended {
	done := make(chan appended, 1)
	go func() {
		position, err := g.store.Append(ctx, eventstore.Reports, a)
		done <- appended{position, err}
	}()
	return done
}

// together appends all in one group, if nothing keeps them apart: they wait until gate 1
// opens.
func (g *gates) together(first <-chan appended, all ...eventstore.Append) []appended {
	g.Helper()
	var running []<-chan appended
	for i, a := range all {
		running = append(running, g.append(g.Context(), a))
		g.until("it waits", func() bool { return g.store.Waiting(eventstore.Reports) == i+1 })
	}
	g.open(1)
	var done []appended
	for _, r := range append([]<-chan appended{first}, running...) {
		done = append(done, <-r)
	}
	if err := done[0].err; err != nil {
		g.Fatal(err)
	}
	return done[1:]
}

func (g *gates) open(gate int) {
	g.Helper()
	if _, err := g.holder.ExecContext(g.Context(), `SELECT pg_advisory_unlock($1)`, gate); err != nil {
		g.Fatal(err)
	}
}

// standAt is how many statements wait at a gate.
func (g *gates) standAt(gate int) (n int) {
	g.Helper()
	err := g.db.Get(&n, `SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
		WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.objid = $1 AND NOT l.granted`, gate)
	if err != nil {
		g.Fatal(err)
	}
	return n
}

func (g *gates) until(what string, holds func() bool) {
	g.Helper()
	for !holds() {
		if g.Context().Err() != nil {
			g.Fatalf("never: %s", what)
		}
		runtime.Gosched()
	}
}

// commits is how many transactions wrote the streams' events, and how many events there are.
func (g *gates) commits(all ...eventstore.Append) (transactions, events int) {
	g.Helper()
	var streams []uuid.UUID
	for _, a := range all {
		streams = append(streams, a.Stream)
	}
	row := g.db.QueryRow(`SELECT count(DISTINCT xmin::text), count(*) FROM events WHERE stream_id = ANY($1)`, streams)
	if err := row.Scan(&transactions, &events); err != nil {
		g.Fatal(err)
	}
	return transactions, events
}

// TestWhoComesMeanwhileSharesACommit: one statement writes all that came while another
// was under way, and each is told where its own last event is.
func TestWhoComesMeanwhileSharesACommit(t *testing.T) {
	t.Parallel()
	g, first := closedGates(t)
	var all []eventstore.Append
	for n := range 8 {
		all = append(all, batch(ours, uuid.New(), eventstore.NoStream, 1+n%3))
	}
	for i, a := range g.together(first, all...) {
		if a.err != nil {
			t.Fatal(a.err)
		}
		events := collect(t, g.store.Load(t.Context(), nil, ours, all[i].Stream))
		wantEqual(t, "events", len(events), len(all[i].Events))
		wantEqual(t, "position", a.position, events[len(events)-1].Position)
		wantEqual(t, "recorded", events[0].RecordedAt, collect(t, g.store.Load(t.Context(), nil, ours, all[0].Stream))[0].RecordedAt)
	}
	if transactions, events := g.commits(all...); transactions != 1 || events != 15 {
		t.Errorf("%d events came in %d transactions", events, transactions)
	}
	mustAppend(t, g.store, eventstore.Reports, batch(ours, uuid.New(), 0, 1))
	wantEqual(t, "events", wantWhole(t, g.store, eventstore.Reports).Events, 17)
}

// TestNobodyFailsForAnother: whoever does not fit is told what it would be told alone,
// and those that fit share a commit nevertheless.
func TestNobodyFailsForAnother(t *testing.T) {
	t.Parallel()
	known, conflicting, foreign, other, missing := uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New()
	g, first := closedGates(t, batch(ours, known, 0, 2), batch(ours, conflicting, 0, 2), batch(theirs, foreign, 0, 2), batch(ours, other, 0, 2))
	ofAnotherType := batch(ours, other, 2, 1)
	ofAnotherType.StreamType = "other"
	fit := []eventstore.Append{batch(ours, uuid.New(), 0, 2), batch(ours, known, 2, 1), batch(ours, uuid.New(), eventstore.AnyVersion, 1)}
	all := []eventstore.Append{fit[0], batch(ours, conflicting, 1, 2), fit[1], batch(ours, foreign, 2, 1), ofAnotherType, batch(ours, missing, 3, 1), fit[2]}
	done := g.together(first, all...)
	for _, i := range []int{0, 2, 6} {
		if done[i].err != nil {
			t.Errorf("append %d: %v", i, done[i].err)
		}
	}
	wantEqual(t, "conflict", wantError[*eventstore.ConflictError](t, done[1].err), &eventstore.ConflictError{Stream: conflicting, Expected: 1, Actual: 2})
	wantEqual(t, "conflict", wantError[*eventstore.ConflictError](t, done[5].err), &eventstore.ConflictError{Stream: missing, Expected: 3, Actual: 0})
	wantEqual(t, "foreign", wantError[*eventstore.ForeignStreamError](t, done[3].err).Stream, foreign)
	wantEqual(t, "foreign", wantError[*eventstore.ForeignStreamError](t, done[4].err).Stream, other)
	if transactions, _ := g.commits(fit[0], fit[2]); transactions != 1 {
		t.Errorf("those that fit took %d transactions", transactions)
	}
	wantEqual(t, "events", wantWhole(t, g.store, eventstore.Reports).Events, 1+8+4)
}

// TestWhatCannotBeRecordedFailsAlone: the database refuses the whole statement.
func TestWhatCannotBeRecordedFailsAlone(t *testing.T) {
	t.Parallel()
	g, first := closedGates(t)
	spoiled := batch(ours, uuid.New(), 0, 1)
	spoiled.Events[0].Type = "report\x00"
	done := g.together(first, batch(ours, uuid.New(), 0, 1), spoiled, batch(ours, uuid.New(), 0, 1))
	wantEqual(t, "state", wantError[*pgconn.PgError](t, done[1].err).Code, "22021")
	if done[0].err != nil || done[2].err != nil {
		t.Error(done[0].err, done[2].err)
	}
	wantEqual(t, "events", wantWhole(t, g.store, eventstore.Reports).Events, 3)
}

// TestAStreamIsInAGroupOnce, and so each is judged by the version before it.
func TestAStreamIsInAGroupOnce(t *testing.T) {
	t.Parallel()
	g, first := closedGates(t)
	stream := uuid.New()
	same := batch(ours, stream, eventstore.AnyVersion, 1)
	done := g.together(first, same, same, batch(ours, stream, 2, 2), batch(ours, stream, 2, 1))
	for i, a := range done[:3] {
		if a.err != nil {
			t.Errorf("append %d: %v", i, a.err)
		}
	}
	wantEqual(t, "conflict", wantError[*eventstore.ConflictError](t, done[3].err), &eventstore.ConflictError{Stream: stream, Expected: 2, Actual: 4})
	if transactions, events := g.commits(same); transactions != 3 || events != 4 {
		t.Errorf("%d events came in %d transactions", events, transactions)
	}
	wantWhole(t, g.store, eventstore.Reports)
}

// TestAGroupIsBounded: large appends take turns, and one that is too large for any group
// waits for none.
func TestAGroupIsBounded(t *testing.T) {
	t.Parallel()
	g, first := closedGates(t)
	of := func(bytes int) eventstore.Append {
		a := batch(ours, uuid.New(), 0, 1)
		a.Events[0].Data = []byte(strings.Repeat("x", bytes))
		return a
	}
	all := []eventstore.Append{of(100 << 10), of(100 << 10), of(100 << 10), of(100 << 10), of(10)}
	for _, a := range g.together(first, all...) {
		if a.err != nil {
			t.Error(a.err)
		}
	}
	if transactions, _ := g.commits(all...); transactions != 2 {
		t.Errorf("400 KiB came in %d transactions", transactions)
	}
	wantWhole(t, g.store, eventstore.Reports)
}

// TestWhoGivesUp takes nothing from the others: whoever waited is not written, and whoever
// is being written is, or is not if nobody is left.
func TestWhoGivesUp(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]bool{"some do": false, "all do": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, first := closedGates(t)
			waits, giveUpWaiting := context.WithCancel(t.Context())
			written, giveUpWritten := context.WithCancel(t.Context())
			patient, loseLast := context.WithCancel(t.Context())
			defer loseLast()
			stays := gated(2)
			early, others := batch(ours, uuid.New(), 0, 1), []eventstore.Append{stays, batch(ours, uuid.New(), 0, 2)}
			running := []<-chan appended{g.append(waits, early), g.append(patient, others[0]), g.append(written, others[1])}
			g.until("all wait", func() bool { return g.store.Waiting(eventstore.Reports) == 3 })

			giveUpWaiting()
			wantCanceled(t, <-running[0])
			g.open(1)
			if a := <-first; a.err != nil {
				t.Fatal(a.err)
			}
			g.until("the others are being written", func() bool { return g.standAt(2) == 1 })
			giveUpWritten()
			wantCanceled(t, <-running[2])
			want := 3
			if last {
				want = 0
				loseLast()
				g.until("their statement ended", func() bool { return g.standAt(2) == 0 })
			}
			g.open(2)
			if a := <-running[1]; last {
				wantCanceled(t, a)
			} else if a.err != nil {
				t.Error(a.err)
			}
			if _, events := g.commits(others...); events != want {
				t.Errorf("%d of their events are there, want %d", events, want)
			}
			if _, events := g.commits(early); events != 0 {
				t.Error("what was given up before it was written is there")
			}
			position := mustAppend(t, g.store, eventstore.Reports, batch(ours, uuid.New(), 0, 1))
			wantEqual(t, "position", position, int64(2+want))
			wantWhole(t, g.store, eventstore.Reports)
		})
	}
}

func wantCanceled(t *testing.T, a appended) {
	t.Helper()
	if !errors.Is(a.err, context.Canceled) {
		t.Errorf("whoever gave up got %d, %v", a.position, a.err)
	}
}

// TestAGroupWhoseConnectionDies is not there, none of it, and all of them are told.
func TestAGroupWhoseConnectionDies(t *testing.T) {
	t.Parallel()
	g, first := closedGates(t)
	all := []eventstore.Append{gated(2), batch(ours, uuid.New(), 0, 2), batch(ours, uuid.New(), 0, 1)}
	var running []<-chan appended
	for _, a := range all {
		running = append(running, g.append(t.Context(), a))
	}
	g.until("all wait", func() bool { return g.store.Waiting(eventstore.Reports) == len(all) })
	g.open(1)
	<-first
	g.until("they are being written", func() bool { return g.standAt(2) == 1 })
	g.db.MustExec(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND NOT granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	for i, r := range running {
		if a := <-r; a.err == nil {
			t.Errorf("append %d was told that it is at %d", i, a.position)
		}
	}
	if _, events := g.commits(all...); events != 0 {
		t.Errorf("%d of their events are there", events)
	}
	wantEqual(t, "position", mustAppend(t, g.store, eventstore.Reports, batch(ours, uuid.New(), 0, 1)), int64(2))
	wantWhole(t, g.store, eventstore.Reports)
}
