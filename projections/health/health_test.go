package health_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/testing/pgtest"
	"muster/projections"
	"muster/projections/health"
	"muster/projections/projectionstest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

type scene struct {
	t        *testing.T
	db       *sqlx.DB
	registry *eventstore.Registry
	stage    *projectionstest.Stage
	reader   *health.Reader
}

func newScene(t *testing.T) *scene {
	t.Helper()
	url := pgtest.URL(t)
	s := &scene{t: t, db: pgtest.Connect(t, url), registry: eventstore.NewRegistry()}
	for _, e := range domain.Events() {
		s.registry.Register(domain.Name(e), 1, e)
	}
	s.reader = health.NewReader(s.db)
	s.stage = projectionstest.Run(t, s.db, url, health.Projection(s.registry.Decode))
	return s
}

func (s *scene) happens(organization uuid.UUID, streamType string, stream uuid.UUID, fact domain.Event) {
	s.t.Helper()
	e, err := s.registry.Encode(fact)
	if err != nil {
		s.t.Fatal(err)
	}
	s.stage.Append(eventstore.Fleet, eventstore.Append{
		Organization: organization, StreamType: streamType, Stream: stream, Expected: eventstore.AnyVersion, Events: []eventstore.NewEvent{e},
	})
}

// assessed says that an instance was; score is -1 where no check had an answer.
func (s *scene) assessed(organization, instance uuid.UUID, at time.Time, score int, changes ...domain.Change) (id uuid.UUID) {
	s.t.Helper()
	e := domain.InstanceAssessed{InstanceID: instance, AssessmentID: uuid.New(), At: at, Domains: []domain.DomainScore{{Name: "Security", Failed: 2}, {Name: "Schema", Failed: 1}}, Changes: changes}
	if score >= 0 {
		e.Score, e.Grade = &score, "B"
	}
	s.happens(organization, domain.AssessmentStream, domain.AssessmentsOf(instance), e)
	return e.AssessmentID
}

// sameHistory holds the scores of forty days against the days of an instance.
func (s *scene) sameHistory(organization, instance uuid.UUID, days []health.Score) {
	s.t.Helper()
	first := time.Date(2026, 10, 20, 0, 0, 0, 0, time.UTC)
	history, err := s.reader.History(s.t.Context(), organization, []uuid.UUID{instance, uuid.New()}, first, 40)
	want := make([]*int, 40)
	scored := false
	for _, day := range days {
		if at := int(day.Day.Sub(first) / (24 * time.Hour)); at >= 0 && at < len(want) {
			want[at], scored = day.Score, scored || day.Score != nil
		}
	}
	if !scored {
		want = nil
	}
	if diff := cmp.Diff(want, history[instance]); err != nil || diff != "" || len(history) > 1 {
		s.t.Errorf("the history, %v, of %d instances (-days +history):\n%s", err, len(history), diff)
	}
}

func (s *scene) days(organization, instance uuid.UUID) string {
	s.t.Helper()
	rows, err := s.reader.Days(s.t.Context(), organization, []uuid.UUID{instance}, noon.AddDate(-3, 0, 0))
	if err != nil {
		s.t.Fatal(err)
	}
	s.sameHistory(organization, instance, rows)
	var words []string
	for _, row := range rows {
		word := row.Day.Format("01-02") + " -"
		if row.Score != nil {
			word = row.Day.Format("01-02") + fmt.Sprintf(" %d%s/%d", *row.Score, row.Grade, row.Failed)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestHealth(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme, other := uuid.New(), uuid.New()
	orders, billing, theirs := uuid.New(), uuid.New(), uuid.New()
	memory := domain.Change{Kind: domain.ChangedSetting, Key: "work_mem", Before: "a", After: "b"}
	s.assessed(acme, orders, noon, 70)
	s.assessed(acme, orders, noon.Add(11*time.Hour+59*time.Minute), 80, memory) // the last of the day
	s.assessed(acme, orders, noon.Add(time.Hour), 60)                           // told late
	s.assessed(acme, orders, noon.AddDate(0, 0, 2), -1)
	changed := s.assessed(acme, orders, noon.AddDate(0, 0, 3), 90, memory,
		domain.Change{Kind: domain.ChangedRole, Key: "9f", After: "c"}, domain.Change{Kind: domain.ChangedRole, Key: "9e", Before: "d"})
	s.assessed(acme, billing, noon, 10, memory)
	s.assessed(other, theirs, noon, 20)
	s.stage.Settle()
	if got, want := s.days(acme, orders), "11-20 80B/3, 11-22 -, 11-23 90B/3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := s.days(other, orders); got != "" {
		t.Errorf("another organization reads %s", got)
	}
	last, err := s.reader.Last(t.Context(), acme, []uuid.UUID{orders, billing, theirs, uuid.New()}, noon.AddDate(0, 0, 3).Add(-time.Second))
	if err != nil || len(last) != 2 || last[orders].Score != nil || !last[orders].Day.Equal(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)) || *last[billing].Score != 10 {
		t.Errorf("%+v, %v", last, err)
	}
	changes, err := s.reader.Changes(t.Context(), acme, orders, 3)
	if err != nil || len(changes) != 3 || changes[0].Assessment != changed || changes[0].Key != "work_mem" || !changes[1].Added || changes[1].Removed || !changes[2].Removed || changes[2].Nth != 2 {
		t.Errorf("%+v, %v", changes, err)
	}
	if foreign, err := s.reader.Changes(t.Context(), other, orders, 9); err != nil || len(foreign) > 0 {
		t.Errorf("another organization reads %v, %v", foreign, err)
	}
	when, err := s.reader.SettingsChanged(t.Context(), acme, orders)
	if err != nil || len(when) != 1 || !when["work_mem"].Equal(noon.AddDate(0, 0, 3)) {
		t.Errorf("%v, %v", when, err)
	}
	if domains, err := s.reader.Domains(t.Context(), acme, orders, noon.Truncate(24*time.Hour)); err != nil || len(domains) != 2 || domains[0].Failed != 2 {
		t.Errorf("%v, %v", domains, err)
	}

	difference, err := s.stage.Rebuild(t.Context(), health.Name, projections.RebuildOptions{}, nil)
	if err != nil || !difference.Empty() {
		t.Errorf("rebuilt it differs: %+v, %v", difference, err)
	}
	s.happens(acme, domain.InstanceStream, orders, domain.InstanceRemoved{})
	s.stage.Settle()
	if got := s.days(acme, orders); got != "" {
		t.Errorf("removed: %s", got)
	}
	if changes, err := s.reader.Changes(t.Context(), acme, orders, 9); err != nil || len(changes) > 0 {
		t.Errorf("removed: %v, %v", changes, err)
	}
	if got := s.days(acme, billing); got != "11-20 10B/3" {
		t.Errorf("the removal of another: %s", got)
	}
}

// TestDaysEnd: 400 days before the last assessment.
func TestDaysEnd(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme, orders, billing := uuid.New(), uuid.New(), uuid.New()
	for _, days := range []int{-400, -399, -1} {
		s.assessed(acme, orders, noon.AddDate(0, 0, days), -days/10, domain.Change{Kind: domain.ChangedRole, Key: "x"})
		s.assessed(acme, billing, noon.AddDate(0, 0, days), -days/10)
	}
	s.assessed(acme, orders, noon, 50)
	s.stage.Settle()
	if got, want := s.days(acme, orders), "10-17 39B/3, 11-19 0B/3, 11-20 50B/3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := s.days(acme, billing), "10-16 40B/3, 10-17 39B/3, 11-19 0B/3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if changes, err := s.reader.Changes(t.Context(), acme, orders, 9); err != nil || len(changes) != 2 {
		t.Errorf("%v, %v", changes, err)
	}
}

// TestAsOf: at every moment the log gives the score that was known, as the read model
// had it then; beside it the truth is a map.
func TestAsOf(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := rand.New(rand.NewPCG(7, 7))
	acme, other := uuid.New(), uuid.New()
	instances := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	now, truth := map[uuid.UUID]int{}, []map[uuid.UUID]int{{}}
	const steps = 30
	for i := range steps {
		instance := instances[r.IntN(3)]
		switch r.IntN(6) {
		case 0:
			s.happens(acme, domain.InstanceStream, instance, domain.InstanceRemoved{})
			delete(now, instance)
		case 1:
			s.assessed(other, uuid.New(), noon, 1)
		default:
			now[instance] = i
			s.assessed(acme, instance, noon.Add(time.Duration(i)*time.Hour), i)
		}
		copied := map[uuid.UUID]int{}
		for id, score := range now {
			copied[id] = score
		}
		truth = append(truth, copied)
	}
	pgtest.Unguard(t, s.db)
	s.db.MustExec(`UPDATE events SET recorded_at = $1::timestamptz + position * interval '1 day' WHERE log = 'fleet'`, noon)
	for i, want := range truth {
		found, err := health.AsOf(t.Context(), eventstore.New(s.db), s.registry.Decode, acme, noon.AddDate(0, 0, i).Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		got := map[uuid.UUID]int{}
		for id, e := range found {
			got[id] = *e.Score
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after %d events:\n%s", i, diff)
		}
	}
	s.stage.Settle()
	last, err := s.reader.Last(t.Context(), acme, instances, noon.AddDate(1, 0, 0))
	if err != nil || len(last) != len(now) {
		t.Fatalf("%v, %v", last, err)
	}
	for id, score := range now {
		if *last[id].Score != score {
			t.Errorf("the read model says %d, the log %d", *last[id].Score, score)
		}
	}
}
