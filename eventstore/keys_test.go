package eventstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/testing/pgtest"
)

// record is what every intake of a batch does: lock the keys, append for those
// whose state is new.
func record(ctx context.Context, db *sqlx.DB, store *eventstore.Store, keys []string, state string) (written int, err error) {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	known, err := store.LockKeys(ctx, tx, ours, "report", keys)
	if err != nil {
		return 0, err
	}
	var batches []eventstore.Append
	for _, k := range keys {
		was, ok := known[k]
		switch {
		case !ok:
			batches = append(batches, keyed(batch(ours, uuid.New(), eventstore.NoStream, 1), k, []byte(state)))
		case string(was.StateDigest) != state:
			batches = append(batches, keyed(batch(ours, was.Stream, was.Version, 1), k, []byte(state)))
		}
	}
	if _, err := store.AppendTx(ctx, tx, eventstore.Fleet, batches...); err != nil {
		return 0, err
	}
	return len(batches), tx.Commit()
}

func TestBatchSentTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.DB(t)
	store := eventstore.New(db)
	keys := make([]string, 10_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("instance-%05d", i)
	}
	for _, step := range []struct {
		state   string
		written int
	}{{"first", 10_000}, {"first", 0}, {"second", 10_000}, {"second", 0}} {
		written, err := record(ctx, db, store, keys, step.state)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "written for "+step.state, written, step.written)
	}
	wantEqual(t, "events", wantWhole(t, store, eventstore.Fleet).Events, 20_000)
}

// TestKeysAreLookedUpByTheirIndex, also by a connection that planned when there
// were none, and before anybody has counted the rows.
func TestKeysAreLookedUpByTheirIndex(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	store := eventstore.New(db)
	db.MustExec(`ALTER TABLE stream_keys SET (autovacuum_enabled = off)`)
	db.SetMaxOpenConns(1)
	type reading struct {
		Whole int64 `db:"seq_tup_read"`
		Index int64 `db:"idx_tup_fetch"`
	}
	type lookUp func(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, streamType string, keys []string) (map[string]eventstore.StreamKey, error)
	look := func(by lookUp, keys ...string) (read reading) {
		t.Helper()
		tx := db.MustBeginTx(t.Context(), nil)
		defer func() { _ = tx.Rollback() }()
		rows := func() (r reading) { // of this session, from its last report of them
			if err := tx.Get(&r, `SELECT seq_tup_read, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'stream_keys'`); err != nil {
				t.Fatal(err)
			}
			return r
		}
		before := rows()
		if _, err := by(t.Context(), tx, ours, "report", keys); err != nil {
			t.Fatal(err)
		}
		after := rows()
		return reading{Whole: after.Whole - before.Whole, Index: after.Index - before.Index}
	}
	ways := map[string]lookUp{
		"lock": store.LockKeys,
		"find": func(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, streamType string, keys []string) (map[string]eventstore.StreamKey, error) {
			return store.FindKeys(ctx, tx, organization, streamType, keys)
		},
	}
	for _, by := range ways {
		look(by, "none")
	}
	db.MustExec(`INSERT INTO stream_keys SELECT $1, 'report', 'key-' || n, gen_random_uuid(), 1, '' FROM generate_series(1, 20000) n`, ours)
	for name, by := range ways {
		for range 10 {
			read := look(by, "key-1", "key-77", "key-20000", "none")
			if read.Whole > 0 {
				t.Fatalf("%s: %d rows are read from end to end", name, read.Whole)
			}
			if read.Index > 100 { // a key to be locked is looked up a few times
				t.Fatalf("%s: %d rows are read by the index for 4 keys", name, read.Index)
			}
		}
	}
}

func TestWritersWithOverlappingKeysDoNotDeadlock(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.DB(t)
	store := eventstore.New(db)
	keys := make([]string, 60)
	for i := range keys {
		keys[i] = fmt.Sprintf("key-%02d", i)
	}
	// Given 8 writers who all meet the same keys for the first time, each in an
	// order of its own, half of them, and again with something new to say.
	var group sync.WaitGroup
	failures := make(chan error, 8)
	for w := range 8 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			for round := range 6 {
				mine := slices.Clone(keys)
				random.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
				// Then there are no deadlocks and no conflicts.
				if _, err := record(ctx, db, store, mine[:40], fmt.Sprintf("%d-%d", w, round)); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)
	for err := range failures {
		t.Fatal(err)
	}
	// And each key is one stream, whose version is that of its events.
	report := wantWhole(t, store, eventstore.Fleet)
	wantEqual(t, "events", report.Events, 8*6*40)
	wantEqual(t, "streams", report.Streams, len(keys))
	tx := db.MustBeginTx(ctx, nil)
	defer func() { _ = tx.Rollback() }()
	known, err := store.LockKeys(ctx, tx, ours, "report", keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		events := collect(t, store.Load(ctx, tx, ours, known[k].Stream))
		wantEqual(t, "version of "+k, known[k].Version, int64(len(events)))
	}
}

func TestLockKeysSeesOnlyItsOwnKeys(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.DB(t)
	store := eventstore.New(db)
	mine, foreign, twin := batch(ours, uuid.New(), 0, 3), batch(theirs, uuid.New(), 0, 1), batch(ours, uuid.New(), 0, 1)
	twin.StreamType = "other"
	mustAppend(t, store, eventstore.Fleet, keyed(mine, "same key", []byte("state")), keyed(foreign, "same key", nil), keyed(twin, "same key", nil))
	for _, tc := range []struct {
		name         string
		organization uuid.UUID
		streamType   string
		keys         []string
		want         map[string]eventstore.StreamKey
	}{
		{"ours", ours, "report", []string{"same key", "unknown", "same key"}, map[string]eventstore.StreamKey{
			"same key": {Key: "same key", Stream: mine.Stream, Version: 3, StateDigest: []byte("state")}}},
		{"of another type", ours, "other", []string{"same key"}, map[string]eventstore.StreamKey{
			"same key": {Key: "same key", Stream: twin.Stream, Version: 1}}},
		{"another organization's", theirs, "report", []string{"same key"}, map[string]eventstore.StreamKey{
			"same key": {Key: "same key", Stream: foreign.Stream, Version: 1}}},
		{"reserved before", ours, "report", []string{"unknown"}, map[string]eventstore.StreamKey{}},
		{"none", ours, "report", nil, map[string]eventstore.StreamKey{}},
	} {
		tx := db.MustBeginTx(ctx, nil)
		got, err := store.LockKeys(ctx, tx, tc.organization, tc.streamType, tc.keys)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, tc.name, got, tc.want)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKeyMovesToANewStream(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.DB(t)
	store := eventstore.New(db)
	removed, again := uuid.New(), uuid.New()
	mustAppend(t, store, eventstore.Fleet, keyed(batch(ours, removed, 0, 2), "pg-orders-01", []byte("gone")))
	mustAppend(t, store, eventstore.Fleet, keyed(batch(ours, again, 0, 1), "pg-orders-01", []byte("back")))
	tx := db.MustBeginTx(ctx, nil)
	defer func() { _ = tx.Rollback() }()
	known, err := store.LockKeys(ctx, tx, ours, "report", []string{"pg-orders-01"})
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "key", known["pg-orders-01"], eventstore.StreamKey{Key: "pg-orders-01", Stream: again, Version: 1, StateDigest: []byte("back")})
}
