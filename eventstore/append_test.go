package eventstore_test

import (
	"context"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/eventstore"
	"muster/internal/testing/pgtest"
)

func TestAppendKeepsExactBytes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	data := [][]byte{
		[]byte(`{"b":1.0,"a":1e2, "a":"\u0000"}`),
		{0x00, 0xff, 0xfe, '\n'},
		{},
		nil,
	}
	for name, together := range map[string]bool{"one by one": false, "together": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := eventstore.New(pgtest.DB(t))
			stream := uuid.New()
			a := eventstore.Append{Organization: ours, StreamType: "report", Stream: stream}
			for _, d := range data {
				a.Events = append(a.Events, eventstore.NewEvent{Type: "report.step", OccurredAt: noon, Data: d})
			}
			if together {
				mustAppend(t, store, eventstore.Reports, a)
			} else {
				for i, e := range a.Events {
					one := a
					one.Expected, one.Events = int64(i), []eventstore.NewEvent{e}
					mustAppend(t, store, eventstore.Reports, one)
				}
			}
			previous := make([]byte, sha256.Size)
			events := collect(t, store.Load(ctx, nil, ours, stream))
			if len(events) != len(data) {
				t.Fatalf("loaded %d events, want %d", len(events), len(data))
			}
			for i, e := range events {
				if string(e.Data) != string(data[i]) || string(e.Metadata) != "{}" {
					t.Errorf("event %d holds %q and %q", i, e.Data, e.Metadata)
				}
				if digest := eventstore.Digest(e); string(digest[:]) != string(e.Digest) {
					t.Errorf("event %d has digest %x, want %x", i, e.Digest, digest)
				}
				if link := eventstore.Link(previous, e.Digest, e.RecordedAt); string(link[:]) != string(e.Hash) {
					t.Errorf("event %d has hash %x, want %x", i, e.Hash, link)
				}
				previous = e.Hash
			}
			wantWhole(t, store, eventstore.Reports)
		})
	}
}

func TestAppendChecksExpectedVersions(t *testing.T) {
	t.Parallel()
	a, b := uuid.MustParse("0199f0d2-0000-7000-8000-00000000000a"), uuid.MustParse("0199f0d2-0000-7000-8000-00000000000b")
	other := func(e eventstore.Append) eventstore.Append { e.StreamType = "other"; return e }
	ctx, store := context.Background(), eventstore.New(pgtest.DB(t))
	type refusal struct {
		conflict *eventstore.ConflictError
		foreign  bool
	}
	for name, tc := range map[string]struct {
		given []eventstore.Append // stream a at some version
		log   eventstore.Log      // where the new batches go; reports where empty
		when  []eventstore.Append
		want  []int64 // versions of a, then of b
		refusal
	}{
		"a new stream":               {when: []eventstore.Append{batch(ours, a, 0, 2)}, want: []int64{2, 0}},
		"behind its version":         {given: []eventstore.Append{batch(ours, a, 0, 2)}, when: []eventstore.Append{batch(ours, a, 2, 1)}, want: []int64{3, 0}},
		"anywhere, new":              {when: []eventstore.Append{batch(ours, a, eventstore.AnyVersion, 1)}, want: []int64{1, 0}},
		"anywhere, known":            {given: []eventstore.Append{batch(ours, a, 0, 2)}, when: []eventstore.Append{batch(ours, a, eventstore.AnyVersion, 1)}, want: []int64{3, 0}},
		"two streams":                {when: []eventstore.Append{batch(ours, a, 0, 2), batch(ours, b, 0, 1)}, want: []int64{2, 1}},
		"one stream twice":           {when: []eventstore.Append{batch(ours, a, 0, 2), batch(ours, b, 0, 1), batch(ours, a, 2, 1)}, want: []int64{3, 1}},
		"one stream twice, anywhere": {when: []eventstore.Append{batch(ours, a, eventstore.AnyVersion, 2), batch(ours, a, 2, 1)}, want: []int64{3, 0}},
		"without events":             {given: []eventstore.Append{batch(ours, a, 0, 1)}, when: []eventstore.Append{batch(ours, a, 7, 0)}, want: []int64{1, 0}},

		"exists already": {given: []eventstore.Append{batch(ours, a, 0, 2)}, when: []eventstore.Append{batch(ours, a, 0, 1)},
			refusal: refusal{conflict: &eventstore.ConflictError{Stream: a, Expected: 0, Actual: 2}}},
		"behind": {given: []eventstore.Append{batch(ours, a, 0, 2)}, when: []eventstore.Append{batch(ours, a, 1, 1)},
			refusal: refusal{conflict: &eventstore.ConflictError{Stream: a, Expected: 1, Actual: 2}}},
		"ahead": {given: []eventstore.Append{batch(ours, a, 0, 2)}, when: []eventstore.Append{batch(ours, a, 3, 1)},
			refusal: refusal{conflict: &eventstore.ConflictError{Stream: a, Expected: 3, Actual: 2}}},
		"no such stream": {when: []eventstore.Append{batch(ours, a, 3, 1)},
			refusal: refusal{conflict: &eventstore.ConflictError{Stream: a, Expected: 3, Actual: 0}}},
		"several, one behind": {given: []eventstore.Append{batch(ours, a, 0, 2)}, when: []eventstore.Append{batch(ours, b, 0, 3), batch(ours, a, 1, 3)},
			refusal: refusal{conflict: &eventstore.ConflictError{Stream: a, Expected: 1, Actual: 2}}},
		"several, exists already": {given: []eventstore.Append{batch(ours, a, 0, 2)}, when: []eventstore.Append{batch(ours, a, 0, 3)},
			refusal: refusal{conflict: &eventstore.ConflictError{Stream: a, Expected: 0, Actual: 2}}},
		"at odds with itself": {when: []eventstore.Append{batch(ours, a, 0, 2), batch(ours, a, 1, 1)},
			refusal: refusal{conflict: &eventstore.ConflictError{Stream: a, Expected: 1, Actual: 2}}},
		"another organization's": {given: []eventstore.Append{batch(theirs, a, 0, 2)}, when: []eventstore.Append{batch(ours, a, 2, 1)}, refusal: refusal{foreign: true}},
		"another's, new":         {given: []eventstore.Append{batch(theirs, a, 0, 2)}, when: []eventstore.Append{batch(ours, a, 0, 1)}, refusal: refusal{foreign: true}},
		"another's, several":     {given: []eventstore.Append{batch(theirs, a, 0, 2)}, when: []eventstore.Append{batch(ours, a, 2, 2)}, refusal: refusal{foreign: true}},
		"of another type":        {given: []eventstore.Append{batch(ours, a, 0, 2)}, when: []eventstore.Append{other(batch(ours, a, 2, 1))}, refusal: refusal{foreign: true}},
		"of another log":         {given: []eventstore.Append{batch(ours, a, 0, 2)}, log: eventstore.Fleet, when: []eventstore.Append{batch(ours, a, 2, 1)}, refusal: refusal{foreign: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The cases share a log, so each has streams of its own in place of a and b.
			ids := map[uuid.UUID]uuid.UUID{a: uuid.New(), b: uuid.New()}
			for _, batches := range [][]eventstore.Append{tc.given, tc.when} {
				for i := range batches {
					batches[i].Stream = ids[batches[i].Stream]
				}
			}
			mustAppend(t, store, eventstore.Reports, tc.given...)
			log := tc.log
			if log == "" {
				log = eventstore.Reports
			}
			versions := func() []int64 {
				return []int64{
					int64(len(collect(t, store.Load(ctx, nil, ours, ids[a])))),
					int64(len(collect(t, store.Load(ctx, nil, ours, ids[b])))),
				}
			}
			before := versions()
			_, err := store.Append(ctx, log, tc.when...)
			want := before
			switch {
			case tc.conflict != nil:
				tc.conflict.Stream = ids[a]
				wantEqual(t, "conflict", wantError[*eventstore.ConflictError](t, err), tc.conflict)
			case tc.foreign:
				wantEqual(t, "stream", wantError[*eventstore.ForeignStreamError](t, err).Stream, ids[a])
			case err != nil:
				t.Fatal(err)
			default:
				want = tc.want
			}
			wantEqual(t, "versions", versions(), want)
		})
	}
	t.Cleanup(func() {
		wantWhole(t, store, eventstore.Reports)
		wantWhole(t, store, eventstore.Fleet)
	})
}

func TestAppendRefusesInvalidEvents(t *testing.T) {
	t.Parallel()
	store := eventstore.New(pgtest.DB(t))
	for name, spoil := range map[string]func(*eventstore.Append){
		"no organization": func(a *eventstore.Append) { a.Organization = uuid.Nil },
		"no stream":       func(a *eventstore.Append) { a.Stream = uuid.Nil },
		"no stream type":  func(a *eventstore.Append) { a.StreamType = "" },
		"no type":         func(a *eventstore.Append) { a.Events[0].Type = "" },
		"year 10000":      func(a *eventstore.Append) { a.Events[0].OccurredAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"before year 1":   func(a *eventstore.Append) { a.Events[0].OccurredAt = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := batch(ours, uuid.New(), 0, 1)
			spoil(&a)
			_, err := store.Append(context.Background(), eventstore.Reports, a)
			wantError[*eventstore.InvalidEventError](t, err)
		})
	}
	t.Run("no such log", func(t *testing.T) {
		t.Parallel()
		if _, err := store.Append(context.Background(), "alerts", batch(ours, uuid.New(), 0, 1)); err == nil {
			t.Fatal("appended to a log that does not exist")
		}
		_, err := store.Head(context.Background(), nil, "alerts")
		wantError[*eventstore.UnknownLogError](t, err)
	})
}

// TestEventsAreNeverChanged: the database itself refuses it, for every account.
func TestEventsAreNeverChanged(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	fill(t, db)
	for _, statement := range []string{
		`UPDATE events SET data = data WHERE false`, `UPDATE events SET recorded_at = now()`, `DELETE FROM events WHERE position = 2`, `TRUNCATE events`,
		`INSERT INTO events SELECT * FROM events ON CONFLICT (log, position) DO UPDATE SET data = ''`,
	} {
		if _, err := db.Exec(statement); err == nil || !strings.Contains(err.Error(), "events is append-only") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

func TestAppendTxLeavesNothingAfterRollback(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.DB(t)
	store := eventstore.New(db)
	for _, n := range []int{1, 3} {
		tx := db.MustBeginTx(ctx, nil)
		if _, err := store.AppendTx(ctx, tx, eventstore.Reports, keyed(batch(ours, uuid.New(), 0, n), "k", nil)); err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	mustAppend(t, store, eventstore.Reports, batch(ours, uuid.New(), 0, 1))
	if head := wantWhole(t, store, eventstore.Reports).Head; head.Position != 1 {
		t.Fatalf("the head is at %d", head.Position)
	}
}

func TestRecordedTimeNeverFalls(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	store := eventstore.New(db)
	// Given a server whose clock was a year ahead when it last appended.
	ahead := time.Now().UTC().Add(365 * 24 * time.Hour).Truncate(time.Microsecond)
	db.MustExec(`UPDATE log_head SET recorded_at = $1 WHERE log = 'reports'`, ahead)
	stream := uuid.New()
	mustAppend(t, store, eventstore.Reports, batch(ours, stream, 0, 1))
	mustAppend(t, store, eventstore.Reports, batch(ours, stream, 1, 2))
	for _, e := range collect(t, store.Read(context.Background(), eventstore.Reports, eventstore.Filter{})) {
		if !e.RecordedAt.Equal(ahead) {
			t.Fatalf("%d was recorded at %s, want %s", e.Position, e.RecordedAt, ahead)
		}
	}
	wantWhole(t, store, eventstore.Reports)
}

func TestOccurredAtDefaultsToTheTimeOfTheAppend(t *testing.T) {
	t.Parallel()
	store := eventstore.New(pgtest.DB(t)).WithClock(func() time.Time { return noon.Add(789 * time.Nanosecond) })
	a := batch(ours, uuid.New(), 0, 2)
	a.Events[0].OccurredAt = time.Time{}
	a.Events[1].OccurredAt = noon.Add(-time.Hour).In(time.FixedZone("", 7200))
	mustAppend(t, store, eventstore.Reports, a)
	events := collect(t, store.Load(context.Background(), nil, ours, a.Stream))
	wantEqual(t, "first", events[0].OccurredAt, noon)
	wantEqual(t, "second", events[1].OccurredAt, noon.Add(-time.Hour))
}
