package eventstore_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
)

// slowCommits makes every flush of the write-ahead log take 4 ms, as a disk
// without a write cache does: fsync on, and the flushing backend sleeps first,
// holding the lock that a flush holds.
var slowCommits = map[string]string{"commit_delay": "4000", "commit_siblings": "0"}

const (
	writers        = 16
	writesOfEach   = 25
	sharedStreams  = 5
	rollbacksOneIn = 4
)

// TestManyWritersOneReader is the promise on which everything downstream stands: a reader that
// repeats "position > x" skips nothing.
func TestManyWritersOneReader(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := migrated(t, pgtest.Cluster(t, pgtest.Options{Fsync: true, Settings: slowCommits}))
	store := eventstore.New(db)

	// Given 16 writers, whose commits are slow and of whom one in four thinks
	// better of it, on streams of their own and on streams that they share.
	streams := make([]uuid.UUID, sharedStreams)
	for i := range streams {
		streams[i] = uuid.New()
	}
	written := make(chan int, writers)
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() { written <- writeOften(ctx, t, db, store, uint64(w), streams) })
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(written); close(done) }()

	// When a reader follows the log while they write,
	seen := follow(ctx, t, store, done)

	// then it saw every committed event once, in order.
	total := 0
	for n := range written {
		total += n
	}
	wantEqual(t, "events", len(seen), total)
	versions := make(map[uuid.UUID]int64)
	var previous eventstore.Event
	for i, e := range seen {
		if e.Position != int64(i+1) {
			t.Fatalf("position %d came as number %d", e.Position, i+1)
		}
		if versions[e.Stream]++; e.Version != versions[e.Stream] {
			t.Fatalf("version %d of %s came as number %d", e.Version, e.Stream, versions[e.Stream])
		}
		if e.RecordedAt.Before(previous.RecordedAt) {
			t.Fatalf("%d was recorded at %s, before %d at %s", e.Position, e.RecordedAt, previous.Position, previous.RecordedAt)
		}
		previous = e
	}
	wantEqual(t, "events verified", wantWhole(t, store, eventstore.Reports).Events, int64(total))
}

// writeOften appends, sometimes alone, sometimes within a transaction that is
// then rolled back, and returns how many events it committed.
func writeOften(ctx context.Context, t *testing.T, db *sqlx.DB, store *eventstore.Store, seed uint64, streams []uuid.UUID) int {
	random := rand.New(rand.NewPCG(1, seed))
	written := 0
	for range writesOfEach {
		n := 1 + random.IntN(4)
		batches := []eventstore.Append{
			batch(ours, uuid.New(), eventstore.NoStream, n),
			batch(ours, streams[random.IntN(len(streams))], eventstore.AnyVersion, 1),
		}
		if random.IntN(2) == 0 { // of one stream, which may share a commit
			batches, n = batches[1:], 0
		}
		if random.IntN(2) == 0 {
			if _, err := store.Append(ctx, eventstore.Reports, batches...); err != nil {
				t.Error(err)
				return written
			}
			written += n + 1
			continue
		}
		tx, err := db.BeginTxx(ctx, nil)
		if err == nil {
			_, err = store.AppendTx(ctx, tx, eventstore.Reports, batches...)
		}
		if err != nil {
			t.Error(err)
			return written
		}
		if random.IntN(rollbacksOneIn) == 0 {
			err = tx.Rollback()
		} else {
			err = tx.Commit()
			written += n + 1
		}
		if err != nil {
			t.Error(err)
			return written
		}
	}
	return written
}

// follow reads behind its last position until the writers are done, and then
// once more.
func follow(ctx context.Context, t *testing.T, store *eventstore.Store, done <-chan struct{}) []eventstore.Event {
	var seen []eventstore.Event
	for last := false; ; {
		select {
		case <-done:
			last = true
		default:
		}
		after := int64(0)
		if len(seen) > 0 {
			after = seen[len(seen)-1].Position
		}
		seen = append(seen, collect(t, store.Read(ctx, eventstore.Reports, eventstore.Filter{After: after}))...)
		if last {
			return seen
		}
	}
}

func TestOneOfManyWinsAVersion(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	store := eventstore.New(pgtest.DB(t))
	for _, n := range []int{1, 2} { // the lone append and the one through arrays
		stream := uuid.New()
		for version := int64(0); version < int64(5*n); version += int64(n) {
			outcomes := make(chan error, writers)
			for range writers {
				go func() {
					_, err := store.Append(ctx, eventstore.Reports, batch(ours, stream, version, n))
					outcomes <- err
				}()
			}
			won := 0
			for range writers {
				err := <-outcomes
				var conflict *eventstore.ConflictError
				switch {
				case err == nil:
					won++
				case !errors.As(err, &conflict) || conflict.Expected != version || conflict.Actual != version+int64(n):
					t.Errorf("a loser got %v", err)
				}
			}
			wantEqual(t, "winners", won, 1)
		}
	}
	wantWhole(t, store, eventstore.Reports)
}

func TestADeadWriterBlocksNoOther(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.DB(t)
	store := eventstore.New(db)
	// Given a writer that holds the head row,
	tx := db.MustBeginTx(ctx, nil)
	defer func() { _ = tx.Rollback() }()
	var pid int
	if err := tx.Get(&pid, `SELECT pg_backend_pid()`); err != nil {
		t.Fatal(err)
	}
	if _, err := store.AppendTx(ctx, tx, eventstore.Reports, batch(ours, uuid.New(), 0, 1)); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := store.Append(ctx, eventstore.Reports, batch(ours, uuid.New(), 0, 1))
		waiting <- err
	}()
	// another log goes on,
	mustAppend(t, store, eventstore.Fleet, batch(ours, uuid.New(), 0, 1))
	// and when the writer's process dies, so does this one.
	db.MustExec(`SELECT pg_terminate_backend($1)`, pid)
	if err := <-waiting; err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "events", wantWhole(t, store, eventstore.Reports).Events, 1)
}

// migrated is a database with our tables on a server of the test's own.
func migrated(t testing.TB, server *pgtest.Server) *sqlx.DB {
	t.Helper()
	pgtest.Connect(t, server.Superuser()).MustExec("CREATE DATABASE muster")
	db := pgtest.Connect(t, server.URL(pgtest.Superuser, "muster"))
	if err := postgres.Migrate(context.Background(), db, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return db
}
