package projections_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/projections"
)

// killed ends the server's side of the connection that applies the page.
func killed(ctx context.Context, tx *sqlx.Tx) error {
	_, err := tx.ExecContext(ctx, `SELECT pg_terminate_backend(pg_backend_pid())`)
	return err
}

// once makes a fault that strikes the first time only.
func once(fault func(ctx context.Context, tx *sqlx.Tx) error) (func(ctx context.Context, tx *sqlx.Tx) error, *atomic.Bool) {
	struck := &atomic.Bool{}
	return func(ctx context.Context, tx *sqlx.Tx) error {
		if struck.CompareAndSwap(false, true) {
			return fault(ctx, tx)
		}
		return nil
	}, struck
}

func TestNothingIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	// Raised at the commit, after the checkpoint has moved: watermill-sql logs it
	// and goes on as if nothing had happened.
	const failCommit = `
CREATE SEQUENCE strikes;
CREATE FUNCTION strike() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('strikes') = 1 THEN RAISE EXCEPTION 'planted'; END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER strike AFTER UPDATE ON checkpoints DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.position > OLD.position) EXECUTE FUNCTION strike();`

	tests := map[string]func() (p *sums, plant string, struck *atomic.Bool){
		"the connection dies before the page's writes": func() (*sums, string, *atomic.Bool) {
			kill, struck := once(killed)
			return &sums{before: func(ctx context.Context, tx *sqlx.Tx, _ []projections.Event) error { return kill(ctx, tx) }}, "", struck
		},
		"the connection dies between two writes": func() (*sums, string, *atomic.Bool) {
			kill, struck := once(killed)
			return &sums{during: kill}, "", struck
		},
		"the connection dies after the writes, before the checkpoint": func() (*sums, string, *atomic.Bool) {
			kill, struck := once(killed)
			return &sums{after: kill}, "", struck
		},
		"the commit fails": func() (*sums, string, *atomic.Bool) { return &sums{}, failCommit, nil },
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			p, plant, struck := test()
			if plant != "" {
				s.exec(plant)
			}
			stream := uuid.New()
			s.appendNumbers(stream, "plain", 1, 2)
			r := s.runner(p.projection())
			s.run(r)
			s.settle(r, s.appendNumbers(stream, "plain", 3))
			s.want(map[uuid.UUID]string{stream: "1 2 3 "})
			if struck != nil && !struck.Load() {
				t.Error("the planted fault did not strike")
			}
			if letters := s.letters(r); len(letters) != 0 {
				t.Errorf("a fault that is no event's parked %+v", letters)
			}
			if st := s.status(r); st.LastError != "" {
				t.Errorf("the healed projection still says %q", st.LastError)
			}
		})
	}
}

func TestShutdownInsideAPage(t *testing.T) {
	t.Parallel()
	for name, hook := range map[string]func(*sums, func(context.Context, *sqlx.Tx) error){
		"between two writes": func(p *sums, h func(context.Context, *sqlx.Tx) error) { p.during = h },
		"after the writes":   func(p *sums, h func(context.Context, *sqlx.Tx) error) { p.after = h },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := newScene(t), &sums{}
			ctx, cancel := context.WithCancel(t.Context())
			// The page itself pulls the plug and says that all went well.
			end, _ := once(func(context.Context, *sqlx.Tx) error { cancel(); return nil })
			hook(p, end)
			stream := uuid.New()
			position := s.appendNumbers(stream, "plain", 1, 2, 3)
			_ = s.runner(p.projection()).Run(ctx)

			r := s.runner(p.projection())
			s.run(r)
			s.settle(r, position)
			s.want(map[uuid.UUID]string{stream: "1 2 3 "})
		})
	}
}

func TestSchemaFaultParksNothing(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	r := s.runner(p.projection())
	s.exec(`ALTER TABLE sums_v1_g1.totals RENAME TO elsewhere`)
	s.run(r)
	stream := uuid.New()
	position := s.appendNumbers(stream, "plain", 1)
	s.until("the projection is failed", func() bool { return s.status(r).Status == projections.Broken })
	if st := s.status(r); st.LastError == "" || st.Parked != 0 {
		t.Errorf("status is %+v, want an error and nothing parked", st)
	}
	s.exec(`ALTER TABLE sums_v1_g1.elsewhere RENAME TO totals`)
	s.settle(r, position)
	s.want(map[uuid.UUID]string{stream: "1 "})
}

func TestPageFindsItsRowsByIndexes(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	plans := make(chan string, 1)
	p.before = func(ctx context.Context, tx *sqlx.Tx, _ []projections.Event) error {
		var plan string
		err := tx.QueryRowContext(ctx, `EXPLAIN (COSTS OFF) SELECT FROM streams
WHERE stream_id = ANY ('{0199f0d2-0000-7000-8000-000000000001}'::uuid[])`).Scan(&plan)
		select {
		case <-plans:
		default:
		}
		plans <- plan
		return err
	}
	r := s.runner(p.projection())
	s.run(r)
	s.settle(r, s.appendNumbers(uuid.New(), "plain", 1))
	// One row on one page, and the planner knows: reading it whole is cheapest.
	// The plan is kept while the table grows.
	s.exec(`ANALYZE sums_v1_g1.streams`)
	s.settle(r, s.appendNumbers(uuid.New(), "plain", 2))
	if plan := <-plans; !strings.Contains(plan, "streams_pkey") {
		t.Errorf("a page looks its rows up by %q, want the primary key", plan)
	}
}

func TestIdleProjectionRecovers(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	r := s.runner(p.projection())
	s.run(r)
	s.settle(r, s.appendNumbers(uuid.New(), "plain", 1))
	failed := func() (failed bool) {
		if err := s.db.Get(&failed, `SELECT last_error IS NOT NULL FROM checkpoints WHERE handler = 'sums'`); err != nil {
			t.Fatal(err)
		}
		return failed
	}
	for range 2 {
		s.exec(`ALTER TABLE events RENAME TO elsewhere`)
		s.until("a look has failed", failed)
		s.exec(`ALTER TABLE elsewhere RENAME TO events`)
		// Nothing is appended: the failure must not stay until something is.
		s.until("the projection runs again", func() bool { return s.status(r).Status == projections.Running })
	}
}

func TestOneRunnerAppliesAndAnotherTakesOver(t *testing.T) {
	t.Parallel()
	for name, depose := range map[string]func(s *scene, leader *projections.Runner, stop func()){
		"it stops": func(_ *scene, _ *projections.Runner, stop func()) { stop() },
		"its election connection is lost, and then it stops": func(s *scene, leader *projections.Runner, stop func()) {
			s.exec(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database =
(SELECT oid FROM pg_database WHERE datname = current_database())`)
			stop()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			programs := []*sums{{}, {}}
			var runners []*projections.Runner
			var stops []func()
			for _, p := range programs {
				r := s.runner(p.projection())
				runners, stops = append(runners, r), append(stops, s.run(r))
			}
			stream := uuid.New()
			s.settle(runners[0], s.appendNumbers(stream, "plain", 1))
			s.settle(runners[1], s.appendNumbers(stream, "plain", 2))
			first := 0
			if programs[1].pages.Load() > 0 {
				first = 1
			}
			second := 1 - first
			if programs[second].pages.Load() != 0 || runners[second].Leading() {
				t.Errorf("both apply pages: %d and %d", programs[first].pages.Load(), programs[second].pages.Load())
			}
			depose(s, runners[first], stops[first])
			s.settle(runners[second], s.appendNumbers(stream, "plain", 3))
			s.want(map[uuid.UUID]string{stream: "1 2 3 "})
			if programs[second].pages.Load() == 0 {
				t.Error("the standby did not apply what came after")
			}
		})
	}
}
