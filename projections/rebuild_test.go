package projections_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore/topic"
	"muster/projections"
)

// writing appends to some streams until stopped and returns what it wrote.
func (s *scene) writing(streams ...uuid.UUID) (stop func() (traces map[uuid.UUID]string, position int64)) {
	ctx, cancel := context.WithCancel(s.t.Context())
	traces, position := map[uuid.UUID]string{}, int64(0)
	var done sync.WaitGroup
	done.Go(func() {
		for n := 1; ctx.Err() == nil; n++ {
			stream := streams[n%len(streams)]
			position = s.appendNumbers(stream, "plain", n)
			traces[stream] += fmt.Sprint(n) + " "
		}
	})
	return func() (map[uuid.UUID]string, int64) { cancel(); done.Wait(); return traces, position }
}

func TestRebuildUnderWrites(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	r := s.runner(p.projection())
	s.run(r)
	stop := s.writing(uuid.New(), uuid.New(), uuid.New())

	// A reader meanwhile: every statement sees both tables of one generation,
	// and nothing that was there is ever missing again.
	reading, endReading := context.WithCancel(t.Context())
	var reader sync.WaitGroup
	reader.Go(func() {
		seen := int64(0)
		for reading.Err() == nil {
			var streams, total int64
			err := s.db.QueryRowContext(t.Context(), `SELECT (SELECT coalesce(sum(total), 0) FROM sums_v1.streams),
(SELECT coalesce(sum(total), 0) FROM sums_v1.totals)`).Scan(&streams, &total)
			if err != nil || streams != total || total < seen {
				t.Errorf("a reader sees %d in streams and %d in total after %d: %v", streams, total, seen, err)
				return
			}
			seen = total
		}
	})
	for range 2 {
		difference, err := r.Rebuild(t.Context(), "sums", projections.RebuildOptions{StopOnDifference: true}, nil)
		if err != nil || !difference.Empty() || len(difference.Tables) != 2 {
			t.Errorf("rebuild gives %+v, %v", difference, err)
		}
	}
	endReading()
	reader.Wait()
	traces, position := stop()
	s.settle(r, position)
	s.want(traces)
	if live := s.live(); live != "sums_v1_g3" {
		t.Errorf("live is %s, want sums_v1_g3", live)
	}
}

// TestASwitchGivesWayToReaders: a reader that holds one view and waits for the
// other, while the switch has the other and waits for the one. The reader is left
// alone and the switch comes later.
func TestASwitchGivesWayToReaders(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	r := s.runner(p.projection())
	s.run(r)
	s.settle(r, s.appendNumbers(uuid.New(), "plain", 1))
	read := func(tx *sqlx.Tx, table string) error {
		var n int
		return tx.GetContext(t.Context(), &n, `SELECT count(*) FROM sums_v1.`+table)
	}
	// The order in which the switch takes the views is streams, totals. It waits for
	// the first reader, and the second for it.
	first, second := s.begin(), s.begin()
	if err := errors.Join(read(first, "streams"), read(second, "totals")); err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	both.Go(func() {
		if _, err := r.Rebuild(t.Context(), "sums", projections.RebuildOptions{}, nil); err != nil {
			t.Error(err)
		}
	})
	s.waiting("AccessExclusiveLock")
	both.Go(func() {
		err := read(second, "streams")
		if err := errors.Join(err, second.Commit()); err != nil {
			t.Errorf("the reader was ended: %v", err)
		}
	})
	s.waiting("AccessShareLock")
	if err := first.Commit(); err != nil {
		t.Fatal(err)
	}
	both.Wait()
	if live := s.live(); live != "sums_v1_g2" {
		t.Errorf("live is %s", live)
	}
}

func (s *scene) begin() *sqlx.Tx {
	s.t.Helper()
	tx, err := s.db.BeginTxx(s.t.Context(), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

// waiting returns once a session waits for a lock on the view that the switch takes first, or
// has just given up.
func (s *scene) waiting(mode string) {
	s.t.Helper()
	for tries := 0; ; tries++ {
		var waits bool
		err := s.db.GetContext(s.t.Context(), &waits, `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND mode = $1
			AND relation = 'sums_v1.streams'::regclass) FROM pg_sleep(0.002)`, mode)
		if err != nil {
			s.t.Fatal(err)
		}
		if waits || tries == 1000 {
			return
		}
	}
}

func (s *scene) live() (group string) {
	s.t.Helper()
	if err := s.db.Get(&group, `SELECT consumer_group FROM projection_generations WHERE state = 'live'`); err != nil {
		s.t.Fatal(err)
	}
	return group
}

func TestPlantedDifferenceIsFound(t *testing.T) {
	t.Parallel()
	for _, stops := range []bool{false, true} {
		t.Run(fmt.Sprint("stop ", stops), func(t *testing.T) {
			t.Parallel()
			s, p := newScene(t), &sums{}
			r := s.runner(p.projection())
			s.run(r)
			changed, missing, extra := uuid.New(), uuid.New(), uuid.New()
			s.appendNumbers(changed, "plain", 1)
			s.settle(r, s.appendNumbers(missing, "plain", 2))
			s.exec(`UPDATE sums_v1_g1.streams SET trace = 'tampered' WHERE stream_id = $1`, changed)
			s.exec(`DELETE FROM sums_v1_g1.streams WHERE stream_id = $1`, missing)
			s.exec(`INSERT INTO sums_v1_g1.streams VALUES ($1, 'planted', 0)`, extra)

			difference, err := r.Rebuild(t.Context(), "sums", projections.RebuildOptions{StopOnDifference: stops}, nil)
			var stopped *projections.StoppedError
			if errors.As(err, &stopped) != stops || (err != nil && !stops) {
				t.Fatalf("rebuild: %v", err)
			}
			var found projections.TableDifference
			for _, d := range difference.Tables {
				if d.Table == "streams" {
					found = d
				}
			}
			if found.OnlyOld != 1 || found.OnlyNew != 1 || found.Different != 1 || len(found.Samples) != 3 {
				t.Errorf("difference is %+v", found)
			}
			samples := fmt.Sprintf("%s", found.Samples)
			for _, id := range []uuid.UUID{changed, missing, extra} {
				if !strings.Contains(samples, id.String()) {
					t.Errorf("%s is not among the samples %s", id, samples)
				}
			}
			stored, ok, err := r.Diff(t.Context(), "sums")
			if err != nil || !ok || fmt.Sprint(stored.Tables) != fmt.Sprint(difference.Tables) {
				t.Errorf("the stored difference is %+v, %v, %v", stored, ok, err)
			}
			if stops {
				if live := s.live(); live != "sums_v1_g1" {
					t.Errorf("live is %s although the rebuild stopped", live)
				}
				return
			}
			s.want(map[uuid.UUID]string{changed: "1 ", missing: "2 "})
		})
	}
}

func TestRebuildIsResumedAfterACrash(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	// Given seven thousand events: two pages of a rebuild.
	numbers, trace := make([]int, 1000), strings.Builder{}
	for i := range numbers {
		numbers[i] = i
		fmt.Fprintf(&trace, "%d ", i)
	}
	traces, position := map[uuid.UUID]string{}, int64(0)
	for range 7 {
		stream := uuid.New()
		traces[stream], position = trace.String(), s.appendNumbers(stream, "plain", numbers...)
	}
	settled := s.runner((&sums{}).projection())
	stop := s.run(settled)
	s.settle(settled, position)
	stop()

	// The second page of the new generation takes the process with it.
	ctx, cancel := context.WithCancel(t.Context())
	dying := &sums{}
	dying.before = func(_ context.Context, _ *sqlx.Tx, _ []projections.Event) error {
		if dying.pages.Load() == 2 {
			cancel()
		}
		return nil
	}
	first := s.runner(dying.projection())
	if err := first.RequestRebuild(t.Context(), "sums", projections.RebuildOptions{}); err != nil {
		t.Fatal(err)
	}
	_ = first.Run(ctx)
	var inProgress *projections.RebuildInProgressError
	if err := first.RequestRebuild(t.Context(), "sums", projections.RebuildOptions{}); !errors.As(err, &inProgress) {
		t.Errorf("a second request gives %v, want a *RebuildInProgressError", err)
	}
	if st := s.status(first); st.Status != projections.Rebuilding {
		t.Errorf("status is %s, want rebuilding", st.Status)
	}

	// Nobody is elected: the caller that requests the rebuild joins the election and does it.
	second := &sums{before: func(_ context.Context, _ *sqlx.Tx, events []projections.Event) error {
		if events[0].Position <= 5*topic.PageSize {
			t.Errorf("event %d was applied again although its page was committed", events[0].Position)
		}
		return nil
	}}
	var steps []projections.RebuildProgress
	difference, err := s.runner(second.projection()).Rebuild(t.Context(), "sums", projections.RebuildOptions{},
		func(p projections.RebuildProgress) { steps = append(steps, p) })
	if err != nil || !difference.Empty() || len(steps) == 0 {
		t.Fatalf("rebuild: %+v, %v, %d steps told", difference, err, len(steps))
	}
	s.want(traces)
	if live := s.live(); live != "sums_v1_g2" {
		t.Errorf("live is %s, want sums_v1_g2", live)
	}
}

func TestUnknownProjection(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.runner((&sums{}).projection())
	var unknown *projections.UnknownProjectionError
	if err := r.RequestRebuild(t.Context(), "nothing", projections.RebuildOptions{}); !errors.As(err, &unknown) {
		t.Errorf("request: %v", err)
	}
	if _, _, err := r.Diff(t.Context(), "nothing"); !errors.As(err, &unknown) {
		t.Errorf("diff: %v", err)
	}
	if _, ok, err := r.Diff(t.Context(), "sums"); ok || err != nil {
		t.Errorf("diff of what was never rebuilt: %v, %v", ok, err)
	}
}

func TestEndedGenerationsAreDropped(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	position := s.appendNumbers(uuid.New(), "plain", 1)
	older := p.projection()
	older.Version = 7
	s.runner(older)
	r := s.runner(p.projection())
	if _, err := r.Rebuild(t.Context(), "sums", projections.RebuildOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := s.schemas(); got != "sums_v1 sums_v1_g1 sums_v1_g2 sums_v7 sums_v7_g1" {
		t.Fatalf("schemas are %s", got)
	}
	s.exec(`UPDATE projection_generations SET ended_at = now() - interval '61 minutes' WHERE state = 'retired'`)
	s.exec(`UPDATE projection_versions SET used_at = now() - interval '25 hours' WHERE version = 7`)
	s.run(r)
	s.until("the old ones are dropped", func() bool { return s.schemas() == "sums_v1 sums_v1_g2" })
	s.settle(r, position)
}

func TestVersionThatIsUsedAgainIsNotDropped(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	older := p.projection()
	older.Version = 7
	s.runner(older)
	s.exec(`UPDATE projection_versions SET used_at = now() - interval '25 hours' WHERE version = 7`)
	// A program of version 7 comes back: it has said so and has not committed yet.
	returning, err := s.db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = returning.Rollback() }()
	returning.MustExec(`UPDATE projection_versions SET used_at = now() WHERE version = 7`)
	s.run(s.runner(p.projection()))
	sweeping := func() (waits bool) {
		err := s.db.Get(&waits, `SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE a.datname = current_database() AND a.query LIKE 'DELETE FROM projection_versions%' AND NOT l.granted)`)
		if err != nil {
			t.Fatal(err)
		}
		return waits
	}
	s.until("the sweep waits for it", sweeping)
	if err := returning.Commit(); err != nil {
		t.Fatal(err)
	}
	s.until("the sweep is over", func() bool {
		var over bool
		err := s.db.Get(&over, `SELECT NOT EXISTS (SELECT FROM pg_stat_activity
WHERE datname = current_database() AND state <> 'idle' AND query LIKE 'D%')`)
		return err == nil && over
	})
	if got := s.schemas(); got != "sums_v1 sums_v1_g1 sums_v7 sums_v7_g1" {
		t.Errorf("schemas are %s, want those of version 7 among them", got)
	}
}

func (s *scene) schemas() (names string) {
	s.t.Helper()
	err := s.db.Get(&names, `SELECT string_agg(nspname, ' ' ORDER BY nspname) FROM pg_namespace WHERE nspname LIKE 'sums%'`)
	if err != nil {
		s.t.Fatal(err)
	}
	return names
}
