package eventstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/pgtest"
)

// crowd is many that append to one log through two stores, as two processes do.
type crowd struct {
	db     []*sqlx.DB
	stores []*eventstore.Store
	shared []uuid.UUID

	mu   sync.Mutex
	told []answer
}

// answer is what an append came to. Its events carry its mark as their data.
type answer struct {
	mark, kind string
	events     int
	position   int64
	after      int64 // of what the same writer had appended before
	rolledBack bool
	err        error
}

const (
	crowdWriters = 24
	crowdAppends = 16
)

// TestACrowd: whatever is appended at the same time, by whom, and however it ends, what
// was told is what is there.
func TestACrowd(t *testing.T) {
	t.Parallel()
	c := &crowd{shared: []uuid.UUID{uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New()}}
	for range 2 {
		db := pgtest.DB(t)
		c.db, c.stores = append(c.db, db), append(c.stores, eventstore.New(db))
	}
	var group sync.WaitGroup
	for w := range crowdWriters {
		group.Go(func() { c.writer(t, rand.New(rand.NewPCG(18, uint64(w))), w%2) })
	}
	group.Wait()

	wantWhole(t, c.stores[0], eventstore.Reports)
	there := make(map[string][]eventstore.Event)
	for _, e := range collect(t, c.stores[0].Read(t.Context(), eventstore.Reports, eventstore.Filter{})) {
		there[string(e.Data)] = append(there[string(e.Data)], e)
	}
	ended := map[string]int{}
	for _, a := range c.told {
		ended[c.holds(t, a, there[a.mark])]++
		delete(there, a.mark)
	}
	if len(there) > 0 {
		t.Errorf("%d appends are there of which nobody was told", len(there))
	}
	for _, end := range []string{"written", "conflict", "foreign", "spoiled", "gave up", "rolled back"} {
		if ended[end] < 10 {
			t.Errorf("%d ended as %q: %v", ended[end], end, ended)
		}
	}
	var misfits int
	if err := c.db[0].Get(&misfits, besideTheEvents); err != nil || misfits > 0 {
		t.Errorf("%d streams and keys do not fit the events: %v", misfits, err)
	}
	var shared bool
	if err := c.db[0].Get(&shared, `SELECT count(DISTINCT data) > count(DISTINCT xmin::text) FROM events`); err != nil || !shared {
		t.Errorf("no two appends shared a commit: %v", err)
	}
}

// besideTheEvents counts streams that do not begin where their first event is, and keys
// that are not those of the stream that was appended to last under them.
const besideTheEvents = `SELECT
	(SELECT count(*) FROM events e FULL JOIN streams s ON s.stream_id = e.stream_id AND s.log = e.log AND s.first_position = e.position
	 WHERE e.version IS DISTINCT FROM 1 AND s.stream_id IS NOT NULL OR e.version = 1 AND s.stream_id IS NULL) +
	(SELECT count(*) FROM stream_keys k WHERE k.stream_id IS DISTINCT FROM (
		SELECT e.stream_id FROM events e WHERE encode(e.data, 'escape') LIKE k.key || ' %' ORDER BY e.position DESC LIMIT 1))`

// holds compares an answer with what is there, and says how it ended.
func (c *crowd) holds(t *testing.T, a answer, there []eventstore.Event) string {
	t.Helper()
	var conflict *eventstore.ConflictError
	var foreign *eventstore.ForeignStreamError
	var server *pgconn.PgError
	end, want := "", 0
	switch {
	case a.rolledBack && a.err == nil:
		end = "rolled back"
	case a.err == nil:
		end, want = "written", a.events
	case errors.As(a.err, &conflict) && conflict.Expected != conflict.Actual:
		end = "conflict"
	case errors.As(a.err, &foreign):
		end = "foreign"
	case errors.As(a.err, &server) && server.Code == "22021" && a.kind == "spoiled":
		end = "spoiled"
	case a.kind == "gives up" && errors.Is(a.err, context.Canceled):
		end, want = "gave up", len(there) // all of it or nothing
		if want != 0 && want != a.events {
			t.Errorf("%d of %d events are there of an append that was given up", want, a.events)
		}
	default:
		t.Errorf("%s: %v", a.kind, a.err)
	}
	if len(there) != want {
		t.Errorf("%s: %d of its events are there, want %d (%v)", a.kind, len(there), want, a.err)
		return end
	}
	for i, e := range there {
		if e.Position != there[0].Position+int64(i) || !e.RecordedAt.Equal(there[0].RecordedAt) {
			t.Errorf("%s: event %d is at %d, recorded at %s; the first at %d, %s", a.kind, i, e.Position, e.RecordedAt, there[0].Position, there[0].RecordedAt)
		}
	}
	if end == "written" && (there[want-1].Position != a.position || there[0].Position <= a.after) {
		t.Errorf("%s: its last event is at %d; it was told %d, after %d", a.kind, there[want-1].Position, a.position, a.after)
	}
	return end
}

func (c *crowd) writer(t *testing.T, random *rand.Rand, store int) {
	kinds := []string{"new", "new", "new", "anywhere", "guesses", "foreign", "spoiled", "gives up", "gives up", "many streams", "keyed", "in a transaction"}
	after := int64(0)
	for range crowdAppends {
		a := c.append(t, random, store, kinds[random.IntN(len(kinds))])
		a.after = after
		if a.err == nil && !a.rolledBack {
			after = a.position
		}
		c.mu.Lock()
		c.told = append(c.told, a)
		c.mu.Unlock()
	}
}

// append appends once, in a way that has a name.
func (c *crowd) append(t *testing.T, random *rand.Rand, store int, kind string) answer {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := answer{mark: uuid.NewString(), kind: kind}
	all := []eventstore.Append{batch(ours, uuid.New(), eventstore.NoStream, 1+random.IntN(3))}
	first, s := &all[0], c.stores[store]
	shared := c.shared[random.IntN(len(c.shared))]
	switch kind {
	case "anywhere":
		first.Stream, first.Expected = shared, eventstore.AnyVersion
	case "guesses":
		first.Stream, first.Expected = shared, int64(random.IntN(4))
	case "foreign":
		mustAppend(t, s, eventstore.Fleet, *first)
	case "spoiled":
		first.Events[0].Type = "report\x00"
	case "gives up":
		after := 1 << random.IntN(12)
		go func() {
			for range after {
				runtime.Gosched()
			}
			cancel()
		}()
	case "many streams":
		all = append(all, batch(ours, shared, eventstore.AnyVersion, 2), batch(ours, uuid.New(), eventstore.NoStream, 1))
	case "keyed":
		key := fmt.Sprint("key-", random.IntN(3))
		a.mark = key + " " + a.mark
		*first = keyed(*first, key, nil)
	}
	for _, b := range all {
		for i := range b.Events {
			b.Events[i].Data = []byte(a.mark)
		}
		a.events += len(b.Events)
	}
	if kind != "in a transaction" {
		a.position, a.err = s.Append(ctx, eventstore.Reports, all...)
		return a
	}
	tx, err := c.db[store].BeginTxx(ctx, nil)
	if err != nil {
		return answer{err: err}
	}
	a.position, a.err = s.AppendTx(ctx, tx, eventstore.Reports, all...)
	if a.rolledBack = random.IntN(2) == 0; a.rolledBack {
		a.err = errors.Join(a.err, tx.Rollback())
	} else {
		a.err = errors.Join(a.err, tx.Commit())
	}
	return a
}

// asVictim makes this binary one that is killed while many append; its value is the
// database.
const asVictim = "TEST_EVENTSTORE_VICTIM"

// eventsOfVictim is how many events each of its appends has.
const eventsOfVictim = 3

// TestVictim runs only in the process that TestKilledWhileManyAppend kills.
func TestVictim(t *testing.T) {
	url := os.Getenv(asVictim)
	if url == "" {
		t.Skip("nobody is going to kill this process")
	}
	store := eventstore.New(pgtest.Connect(t, url))
	var group sync.WaitGroup
	for range 16 {
		stream := uuid.New()
		group.Go(func() {
			for version := int64(0); ; version += eventsOfVictim {
				position, err := store.Append(t.Context(), eventstore.Reports, batch(ours, stream, version, eventsOfVictim))
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = fmt.Fprintf(os.Stdout, "%s %d %d\n", stream, version+eventsOfVictim, position)
			}
		})
	}
	group.Wait()
}

// TestKilledWhileManyAppend: what a process had been told is there when it is killed,
// what it had not been told is there whole or not at all, and the log goes on.
func TestKilledWhileManyAppend(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := pgtest.Connect(t, url)
	store := eventstore.New(db)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestVictim$")
	cmd.Env = append(os.Environ(), asVictim+"="+url)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	told := map[int64]eventstore.Event{}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		var stream string
		var e eventstore.Event
		if _, err := fmt.Sscan(lines.Text(), &stream, &e.Version, &e.Position); err != nil {
			t.Fatalf("it says %q: %v", lines.Text(), err)
		}
		e.Stream = uuid.MustParse(stream)
		if told[e.Position] = e; len(told) == 300 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	// Its statements may go on until PostgreSQL sees its connections closed.
	for running := true; running; {
		if err := db.Get(&running, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
			AND backend_type = 'client backend' AND pid <> pg_backend_pid())`); err != nil {
			t.Fatal(err)
		}
	}
	mustAppend(t, store, eventstore.Reports, batch(ours, uuid.New(), 0, eventsOfVictim))
	wantWhole(t, store, eventstore.Reports)
	versions := map[uuid.UUID]int64{}
	for _, e := range collect(t, store.Read(t.Context(), eventstore.Reports, eventstore.Filter{})) {
		versions[e.Stream] = e.Version
		if was, ok := told[e.Position]; ok && was.Stream == e.Stream && was.Version == e.Version {
			delete(told, e.Position)
		}
	}
	if len(told) > 0 {
		t.Errorf("%d appends are not where their writers were told that they are", len(told))
	}
	for stream, version := range versions {
		if version%eventsOfVictim != 0 {
			t.Errorf("stream %s has %d events", stream, version)
		}
	}
	var shared bool
	if err := db.Get(&shared, `SELECT count(*) > $1 * count(DISTINCT xmin::text) FROM events`, eventsOfVictim); err != nil || !shared {
		t.Errorf("no two appends shared a commit: %v", err)
	}
}
