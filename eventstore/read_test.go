package eventstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/eventstore"
	"muster/internal/testing/pgtest"
)

func TestReadFilters(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store := eventstore.New(pgtest.DB(t))
	a, b, foreign := uuid.New(), uuid.New(), uuid.New()
	instance := batch(ours, b, 0, 2)
	instance.StreamType, instance.Events[1].Type = "instance", "instance.removed"
	mustAppend(t, store, eventstore.Reports, batch(ours, a, 0, 2))                               // 1, 2
	mustAppend(t, store, eventstore.Reports, instance, batch(theirs, foreign, 0, 1))             // 3, 4, 5
	mustAppend(t, store, eventstore.Reports, batch(ours, a, 2, 1), batch(theirs, foreign, 1, 1)) // 6, 7
	mustAppend(t, store, eventstore.Fleet, batch(ours, uuid.New(), 0, 4))
	recorded := make(map[int64]time.Time)
	for _, e := range collect(t, store.Read(ctx, eventstore.Reports, eventstore.Filter{})) {
		recorded[e.Position] = e.RecordedAt
	}
	const tick = time.Microsecond
	for _, tc := range []struct {
		name   string
		filter eventstore.Filter
		want   []int64
	}{
		{"everything", eventstore.Filter{}, []int64{1, 2, 3, 4, 5, 6, 7}},
		{"organization", eventstore.Filter{Organization: ours}, []int64{1, 2, 3, 4, 6}},
		{"unknown organization", eventstore.Filter{Organization: uuid.New()}, []int64{}},
		{"stream", eventstore.Filter{Stream: a}, []int64{1, 2, 6}},
		{"stream, after and up to", eventstore.Filter{Stream: a, After: 1, UpTo: 5}, []int64{2}},
		{"foreign stream", eventstore.Filter{Organization: ours, Stream: foreign}, []int64{}},
		{"stream type", eventstore.Filter{StreamType: "instance"}, []int64{3, 4}},
		{"types", eventstore.Filter{Types: []string{"instance.removed", "other"}}, []int64{4}},
		{"after and up to", eventstore.Filter{After: 2, UpTo: 5}, []int64{3, 4, 5}},
		{"behind the end", eventstore.Filter{After: 7}, []int64{}},
		{"as of the first append", eventstore.Filter{RecordedTo: recorded[1]}, []int64{}},
		{"as of just behind it", eventstore.Filter{RecordedTo: recorded[1].Add(tick)}, []int64{1, 2}},
		{"as of the last append", eventstore.Filter{RecordedTo: recorded[6]}, []int64{1, 2, 3, 4, 5}},
		{"as of tomorrow", eventstore.Filter{RecordedTo: recorded[7].Add(24 * time.Hour)}, []int64{1, 2, 3, 4, 5, 6, 7}},
		{"from the second append", eventstore.Filter{RecordedFrom: recorded[3]}, []int64{3, 4, 5, 6, 7}},
		{"from and to", eventstore.Filter{RecordedFrom: recorded[3], RecordedTo: recorded[6]}, []int64{3, 4, 5}},
		{"stream from and to", eventstore.Filter{Stream: a, RecordedFrom: recorded[3]}, []int64{6}},
		{"all at once", eventstore.Filter{Organization: ours, Stream: a, StreamType: "report", Types: []string{"report.step"},
			After: 1, UpTo: 6, RecordedFrom: recorded[1], RecordedTo: recorded[6]}, []int64{2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			wantEqual(t, "positions", positions(collect(t, store.Read(ctx, eventstore.Reports, tc.filter))), tc.want)
		})
	}
}

func TestAsOfPassesOverDeletedEvents(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.DB(t)
	store := eventstore.New(db)
	stream := uuid.New()
	for v := range int64(12) {
		mustAppend(t, store, eventstore.Reports, batch(ours, stream, v, 1))
	}
	events := collect(t, store.Read(ctx, eventstore.Reports, eventstore.Filter{}))
	pgtest.Unguard(t, db)
	db.MustExec(`DELETE FROM events WHERE position BETWEEN 4 AND 8 OR position = 12`)
	for _, tc := range []struct{ before, want int64 }{{2, 1}, {5, 3}, {8, 3}, {10, 9}, {12, 11}} {
		got := collect(t, store.Read(ctx, eventstore.Reports, eventstore.Filter{RecordedTo: events[tc.before-1].RecordedAt}))
		wantEqual(t, "last position", got[len(got)-1].Position, tc.want)
	}
}

func TestReadGoesPageByPage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.DB(t)
	store := eventstore.New(db)
	stream := uuid.New()
	const n = 2345
	mustAppend(t, store, eventstore.Reports, batch(ours, stream, 0, n))
	next := int64(1)
	for e, err := range store.Read(ctx, eventstore.Reports, eventstore.Filter{}) {
		if err != nil || e.Position != next {
			t.Fatalf("position %d, %v; want %d", e.Position, err, next)
		}
		next++
	}
	wantEqual(t, "events", next-1, n)
	// In a transaction the connection is free between two events.
	tx := db.MustBeginTx(ctx, nil)
	defer func() { _ = tx.Rollback() }()
	next = 1
	for e, err := range store.Load(ctx, tx, ours, stream) {
		if err != nil || e.Version != next {
			t.Fatalf("version %d, %v; want %d", e.Version, err, next)
		}
		if next%1000 == 0 {
			if _, err := tx.ExecContext(ctx, `SELECT 1`); err != nil {
				t.Fatal(err)
			}
		}
		next++
		if next == n-10 {
			break
		}
	}
	wantEqual(t, "foreign", len(collect(t, store.Load(ctx, tx, theirs, stream))), 0)
}

func TestReadEndsWithTheContext(t *testing.T) {
	t.Parallel()
	store := eventstore.New(pgtest.DB(t))
	mustAppend(t, store, eventstore.Reports, batch(ours, uuid.New(), 0, 2500))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	var last error
	for _, err := range store.Read(ctx, eventstore.Reports, eventstore.Filter{}) {
		if last = err; err == nil {
			seen++
		}
		cancel()
	}
	if last == nil || seen > 1000 {
		t.Fatalf("read %d events and ended with %v", seen, last)
	}
}
