package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/domain/team"
	"muster/eventstore"
	"muster/handlers"
	"muster/internal/testing/pgtest"
)

// noon is when the stories of schedules begin: a Friday.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// eight is eight o'clock so many days after noon's.
func eight(days int) time.Time { return time.Date(2026, 11, 20+days, 8, 0, 0, 0, time.UTC) }

// newTimedScene is a scene on a database whose clock stands still until the test moves it, and
// whose fleet has every server that is asked for. If the clock ran on, a run that was put off
// for 5 s would come again while others are still to be looked at on a slow machine.
func newTimedScene(t *testing.T) *scene {
	t.Helper()
	url := pgtest.URL(t)
	pgtest.Connect(t, url).MustExec(`CREATE SCHEMA off;
		CREATE TABLE off.clock (shows timestamptz NOT NULL); INSERT INTO off.clock VALUES (pg_catalog.now());
		CREATE FUNCTION off.now() RETURNS timestamptz STABLE LANGUAGE sql AS $$ SELECT shows FROM off.clock $$;
		CREATE FUNCTION off.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT shows FROM off.clock $$`)
	s := newSceneOn(t, pgtest.Connect(t, url+"&search_path=off,public,pg_catalog"), filepath.Join(t.TempDir(), "blobs"))
	s.commands.Instances = everyServer{}
	s.at(noon)
	return s
}

// everyServer is a fleet of all servers but those that were removed.
type everyServer map[uuid.UUID]bool

func (f everyServer) InstanceNames(_ context.Context, _ uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	names := map[uuid.UUID]string{}
	for _, id := range ids {
		if !f[id] {
			names[id] = id.String()
		}
	}
	return names, nil
}

func (everyServer) TagsOf(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]fleet.Tags, error) {
	return nil, nil
}

func (f everyServer) SelectedNames(ctx context.Context, organization uuid.UUID, selector team.Selector) (map[uuid.UUID]string, error) {
	return f.InstanceNames(ctx, organization, selector.InstanceIDs)
}

func (everyServer) World(context.Context, uuid.UUID, []team.Selector, []team.Selector) (team.World, error) {
	return nil, errors.New("nobody here has the role team")
}

func (everyServer) DatabaseOn(context.Context, uuid.UUID, uuid.UUID, uuid.UUID) (string, bool, error) {
	return "", false, nil
}

// at sets the database's clock, and that of the processes, which use it.
func (s *scene) at(now time.Time) {
	s.t.Helper()
	if _, err := s.db.ExecContext(s.t.Context(), `UPDATE off.clock SET shows = $1`, now); err != nil {
		s.t.Fatal(err)
	}
	s.clock.Advance(now.Sub(s.clock.Now()))
}

func (s *scene) scheduler() *handlers.Scheduler {
	p := s.parts()
	p.Gatherer = s.gatherer
	return &handlers.Scheduler{Parts: p}
}

// schedule makes one of ana's: of Security, daily at eight in UTC, unless change says otherwise.
func (s *scene) schedule(change ...func(*schedule.Terms)) uuid.UUID {
	s.t.Helper()
	terms := schedule.Terms{Name: "Security", Kind: report.Security, Recurrence: schedule.Recurrence{Every: schedule.Day, At: "08:00", TimeZone: "UTC"}, Enabled: true}
	for _, c := range change {
		c(&terms)
	}
	id, _, err := s.commands.CreateSchedule(s.t.Context(), usecase.Actor{OrganizationID: s.organization, MemberID: s.ana}, terms)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// runs are what became of a schedule's due times, in the order in which it was recorded.
func (s *scene) runs(id uuid.UUID) []schedule.Run {
	s.t.Helper()
	var runs []schedule.Run
	_, err := eventstore.Fold(usecase.Registry(), s.events.Load(s.t.Context(), s.db, s.organization, id), func(e schedule.Event, _ eventstore.Event) {
		if run, ok := schedule.RunOf(e); ok {
			runs = append(runs, run)
		}
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return runs
}

// told is what became of a schedule's due times in words: "21 requested, 22 missed away".
func (s *scene) told(id uuid.UUID) string {
	s.t.Helper()
	var words []string
	for _, run := range s.runs(id) {
		words = append(words, strings.TrimSpace(fmt.Sprintf("%d %s %s", run.DueAt.Day(), run.Status, run.Reason)))
	}
	return strings.Join(words, ", ")
}

// idle waits until nothing of schedules is due, or being worked on.
func (s *scene) idle() {
	s.t.Helper()
	s.until("no schedule is to be looked at", func() bool {
		var busy int
		if err := s.db.GetContext(s.t.Context(), &busy, `SELECT count(*) FROM jobs WHERE kind = 'run' AND (due_at <= now() OR worker_id <> '')`); err != nil {
			s.t.Fatal(err)
		}
		return busy == 0
	})
}

// built makes room, as if so many of the reports that are being built were Ready.
func (s *scene) built(n int) {
	s.t.Helper()
	if _, err := s.db.ExecContext(s.t.Context(), `DELETE FROM report_claims WHERE report_id IN (SELECT report_id FROM report_claims ORDER BY created_at, report_id LIMIT $1)`, n); err != nil {
		s.t.Fatal(err)
	}
}

// requested are the reports that runs asked for.
func requested(runs []schedule.Run) (ids []uuid.UUID) {
	for _, run := range runs {
		if run.Status == schedule.StatusRequested {
			ids = append(ids, run.ReportID)
		}
	}
	return slices.Compact(ids)
}
