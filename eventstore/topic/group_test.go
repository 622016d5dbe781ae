package topic_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var errSick = errors.New("sick")

// scene is a log with a group that fails on events of type sick until it is cured.
type scene struct {
	t     *testing.T
	db    *sqlx.DB
	group topic.Group
	cured bool
	dead  *topic.DeadLetters
}

func newScene(t *testing.T) *scene {
	t.Helper()
	return newSceneOn(t, pgtest.DB(t))
}

func newSceneOn(t *testing.T, db *sqlx.DB) *scene {
	t.Helper()
	s := &scene{t: t, db: db}
	s.group = topic.Group{Name: "readers", Handler: "reading", Log: eventstore.Reports, PageSize: topic.PageSize, Apply: s.apply}
	s.dead = topic.NewDeadLetters(s.db, func(string, eventstore.Log) (topic.Group, bool) { return s.group, true })
	if err := topic.AddGroup(t.Context(), s.db, s.group.Name, s.group.Handler, s.group.Log); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) apply(ctx context.Context, tx *sqlx.Tx, events []topic.Event) error {
	if _, err := tx.ExecContext(ctx, `SET LOCAL synchronous_commit = off`); err != nil {
		return err
	}
	for _, e := range events {
		if e.Type == "sick" && !s.cured {
			return errSick
		}
	}
	return nil
}

// appendTypes appends one event of each type to a new stream and returns the last position.
func (s *scene) appendTypes(types ...string) int64 {
	s.t.Helper()
	a := eventstore.Append{Organization: uuid.New(), StreamType: "toy", Stream: uuid.New()}
	for _, name := range types {
		a.Events = append(a.Events, eventstore.NewEvent{Type: name, Data: []byte("{}")})
	}
	position, err := eventstore.New(s.db).Append(s.t.Context(), s.group.Log, a)
	if err != nil {
		s.t.Fatal(err)
	}
	return position
}

// park lets the group meet a sick event and returns its letter.
func (s *scene) park() topic.Letter {
	s.t.Helper()
	position := s.appendTypes("sick", "healthy")
	tx := s.begin(nil)
	if err := s.group.Advance(s.t.Context(), tx, position); err != nil {
		s.t.Fatal(err)
	}
	s.commit(tx)
	letters, err := s.dead.List(s.t.Context(), uuid.Nil, uuid.Nil, 10)
	if err != nil || len(letters) != 1 || letters[0].Waiting != 1 {
		s.t.Fatalf("letters are %+v, %v; want one with one waiting", letters, err)
	}
	return letters[0]
}

func (s *scene) begin(options *sql.TxOptions) *sqlx.Tx {
	s.t.Helper()
	tx, err := s.db.BeginTxx(s.t.Context(), options)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

func (s *scene) commit(tx *sqlx.Tx) {
	s.t.Helper()
	if err := tx.Commit(); err != nil {
		s.t.Fatal(err)
	}
}

// untilSomebodyWaits returns once a session waits for a lock.
func (s *scene) untilSomebodyWaits() {
	s.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for waits := false; !waits; <-tick.C {
		err := s.db.Get(&waits, `SELECT EXISTS (SELECT FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock')`)
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

func TestAnIdlePollWritesNothing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		events int
		follow string
		writes bool
	}{
		"empty log":                         {},
		"something to read":                 {events: 1, writes: true},
		"the followed group is not further": {events: 1, follow: "leaders"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			if err := topic.AddGroup(t.Context(), s.db, "leaders", s.group.Handler, s.group.Log); err != nil {
				t.Fatal(err)
			}
			for range test.events {
				s.appendTypes("healthy")
			}
			tx := s.begin(nil)
			var pages []struct {
				Last   int64  `db:"max"`
				Events []byte `db:"string_agg"`
			}
			if err := tx.Select(&pages, topic.PageQuery(), s.group.Name, s.group.Log, test.follow, 10); err != nil {
				t.Fatal(err)
			}
			found, writes := len(pages) > 0, false
			if err := tx.Get(&writes, `SELECT pg_current_xact_id_if_assigned() IS NOT NULL`); err != nil {
				t.Fatal(err)
			}
			if found != test.writes || writes != test.writes {
				t.Errorf("a page is found: %t, and its transaction writes: %t; want %t", found, writes, test.writes)
			}
		})
	}
}

func TestDropOfALetterThatARetryApplied(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	letter := s.park()
	// A retry that succeeds: it holds the checkpoint and takes the letter away.
	retry := s.begin(nil)
	if _, err := s.group.Lock(t.Context(), retry); err != nil {
		t.Fatal(err)
	}
	dropped := make(chan error)
	go func() {
		_, err := s.dead.Drop(t.Context(), uuid.Nil, letter.ID)
		dropped <- err
	}()
	s.untilSomebodyWaits()
	retry.MustExec(`DELETE FROM dead_letters`)
	s.commit(retry)

	if err := <-dropped; !errors.Is(err, topic.ErrNoLetter) {
		t.Errorf("the drop ends with %v, want ErrNoLetter", err)
	}
	var remembered int
	if err := s.db.Get(&remembered, `SELECT count(*) FROM dropped_events`); err != nil || remembered != 0 {
		t.Errorf("%d events are left out of later generations, %v; want none: it was applied", remembered, err)
	}
}

func TestAnOldSnapshotDoesNotParkBehindRemovedLetters(t *testing.T) {
	t.Parallel()
	replays := map[string]func(s *scene, id uuid.UUID) error{
		"retry": func(s *scene, id uuid.UUID) error {
			s.cured = true
			_, err := s.dead.Retry(s.t.Context(), uuid.Nil, id)
			return err
		},
		"drop": func(s *scene, id uuid.UUID) error {
			_, err := s.dead.Drop(s.t.Context(), uuid.Nil, id)
			return err
		},
	}
	for name, replay := range replays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			letter := s.park()
			position := s.appendTypes("healthy")
			old := s.begin(&sql.TxOptions{Isolation: sql.LevelRepeatableRead})
			old.MustExec(`SELECT 1 FROM dead_letters`) // the snapshot
			if err := replay(s, letter.ID); err != nil {
				t.Fatal(err)
			}
			err := s.group.Advance(t.Context(), old, position)
			var refused *pgconn.PgError
			if !errors.As(err, &refused) || refused.Code != "40001" {
				t.Errorf("the older snapshot goes on with %v, want 40001", err)
			}
		})
	}
}

func TestALetterOfADeletedEvent(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	letter := s.park()
	pgtest.Unguard(t, s.db)
	s.db.MustExec(`DELETE FROM events WHERE position = $1`, letter.Position)
	_, _, err := s.dead.Show(t.Context(), uuid.Nil, letter.ID)
	var missing *topic.MissingEventError
	if !errors.As(err, &missing) || missing.Log != letter.Log || missing.Position != letter.Position {
		t.Errorf("show ends with %v, want a MissingEventError", err)
	}
}

func TestDecisionsOfAnOperatorAreDurable(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	// The tests' server does not wait for its disk.
	pgtest.Connect(t, url).MustExec(`DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET synchronous_commit = on', current_database());
END $$`)
	s := newSceneOn(t, pgtest.Connect(t, url))
	letter := s.park()
	// Read at the commit itself.
	s.db.MustExec(`CREATE TABLE seen (synchronous_commit text);
CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO seen VALUES (current_setting('synchronous_commit'));
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER look AFTER INSERT ON dropped_events DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION look()`)
	if _, err := s.dead.Drop(t.Context(), uuid.Nil, letter.ID); err != nil {
		t.Fatal(err)
	}
	var seen []string
	if err := s.db.Select(&seen, `SELECT * FROM seen`); err != nil || !slices.Equal(seen, []string{"on"}) {
		t.Errorf("committed with synchronous_commit %v, %v; want one commit with on", seen, err)
	}
}

func TestADatabaseErrorParksNothing(t *testing.T) {
	t.Parallel()
	faults := map[string]string{
		"a plan that no longer fits":        "0A000",
		"a prepared statement that is gone": "26000",
		"a schema that is gone":             "3F000",
		"a serialization failure":           "40001",
		"a table that is gone":              "42P01",
		"a full disk":                       "53100",
		"a timeout":                         "57014",
	}
	for name, code := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.group.Apply = func(ctx context.Context, tx *sqlx.Tx, _ []topic.Event) error {
				_, err := tx.ExecContext(ctx, `DO $$ BEGIN RAISE EXCEPTION 'planted' USING ERRCODE = '`+code+`'; END $$`)
				return err
			}
			tx := s.begin(nil)
			err := s.group.Advance(t.Context(), tx, s.appendTypes("healthy"))
			var planted *pgconn.PgError
			if !errors.As(err, &planted) || planted.Code != code {
				t.Errorf("the page ends with %v, want %s", err, code)
			}
		})
	}
}
