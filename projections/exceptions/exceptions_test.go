package exceptions_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/exception"
	"muster/eventstore"
	"muster/internal/testing/pgtest"
	"muster/projections"
	"muster/projections/exceptions"
	"muster/projections/projectionstest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var (
	noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	acme = uuid.New()
	ana  = uuid.New()
	eve  = uuid.New()
)

type scene struct {
	t        *testing.T
	db       *sqlx.DB
	registry *eventstore.Registry
	stage    *projectionstest.Stage
	reader   *exceptions.Reader
}

func newScene(t *testing.T) *scene {
	t.Helper()
	url := pgtest.URL(t)
	s := &scene{t: t, db: pgtest.Connect(t, url), registry: eventstore.NewRegistry()}
	for _, e := range exception.Events() {
		s.registry.Register(exception.Name(e), 1, e)
	}
	s.stage = projectionstest.Run(t, s.db, url, exceptions.Projection(s.registry.Decode))
	s.reader = exceptions.NewReader(s.db)
	return s
}

// happens appends a decision about an exception, so many minutes after noon.
func (s *scene) happens(organization, id, who uuid.UUID, minute int, facts ...exception.Event) {
	s.t.Helper()
	a := eventstore.Append{
		Organization: organization, StreamType: exception.StreamType, Stream: id, Expected: eventstore.AnyVersion,
		Metadata: eventstore.Metadata{ActorID: who.String()},
	}
	for _, fact := range facts {
		e, err := s.registry.Encode(fact)
		if err != nil {
			s.t.Fatal(err)
		}
		e.OccurredAt = noon.Add(time.Duration(minute) * time.Minute)
		a.Events = append(a.Events, e)
	}
	s.stage.Append(eventstore.Organization, a)
}

func asked(check string, instance *uuid.UUID, days int) exception.Requested {
	return exception.Requested{Subject: exception.Subject{CheckID: check, InstanceID: instance}, Reason: "because", Until: noon.AddDate(0, 0, days)}
}

// shown names exceptions by check and status.
func shown(all []exceptions.Exception) string {
	var words []string
	for _, x := range all {
		words = append(words, x.CheckID+":"+string(x.Status))
	}
	return strings.Join(words, " ")
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	orders, billing := uuid.New(), uuid.New()
	granted, refused, lapsing, back := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	whole := asked("A", &orders, 30)
	whole.DatabaseID, whole.ObjectRef = &billing, "public.t"
	s.happens(acme, granted, ana, 1, whole)
	s.stage.Append(eventstore.Organization, eventstore.Append{Organization: acme, StreamType: "organization", Stream: acme, Expected: eventstore.AnyVersion,
		Events: []eventstore.NewEvent{{Type: "member.invited", Data: []byte(`{}`)}}}) // not ours to read
	s.happens(acme, refused, ana, 2, asked("B", nil, 30))
	s.happens(acme, lapsing, ana, 3, asked("C", &billing, 1), exception.Granted{})
	s.happens(acme, uuid.New(), ana, 4, asked("A", nil, 30)) // not decided yet
	s.happens(uuid.New(), uuid.New(), eve, 5, asked("A", nil, 30), exception.Granted{})
	s.stage.Settle()
	s.happens(acme, granted, eve, 6, exception.Granted{})
	s.happens(acme, refused, eve, 7, exception.Revoked{})
	s.happens(acme, back, ana, 8, asked("D", nil, 30), exception.Granted{}, exception.Revoked{})
	s.stage.Settle()

	for name, c := range map[string]struct {
		query exceptions.Query
		days  int
		want  string
		total int64
	}{
		"newest first":     {exceptions.Query{}, 0, "D:revoked A:requested C:granted B:revoked A:granted", 5},
		"later":            {exceptions.Query{}, 1, "D:revoked A:requested C:lapsed B:revoked A:granted", 5},
		"much later":       {exceptions.Query{}, 30, "D:revoked A:requested C:lapsed B:revoked A:lapsed", 5},
		"a page":           {exceptions.Query{Page: 2, Size: 2}, 0, "C:granted B:revoked", 5},
		"past the end":     {exceptions.Query{Page: 9, Size: 2}, 0, "", 5},
		"one status":       {exceptions.Query{Statuses: []exception.Status{exception.StatusGranted}}, 1, "A:granted", 1},
		"lapsed":           {exceptions.Query{Statuses: []exception.Status{exception.StatusLapsed}}, 1, "C:lapsed", 1},
		"an instance":      {exceptions.Query{Instances: []uuid.UUID{orders, billing}}, 0, "C:granted A:granted", 2},
		"a check":          {exceptions.Query{Checks: []string{"A", "x"}}, 0, "A:requested A:granted", 2},
		"all filters":      {exceptions.Query{Checks: []string{"A"}, Instances: []uuid.UUID{orders}, Statuses: []exception.Status{exception.StatusRequested}}, 0, "", 0},
		"unknown instance": {exceptions.Query{Instances: []uuid.UUID{uuid.New()}}, 0, "", 0},
	} {
		q := c.query
		q.Organization = acme
		if q.Page == 0 {
			q.Page, q.Size = 1, 20
		}
		got, total, err := s.reader.Page(t.Context(), q, noon.AddDate(0, 0, c.days))
		if err != nil || shown(got) != c.want || total != c.total {
			t.Errorf("%s: %q of %d, %v, want %q of %d", name, shown(got), total, err, c.want, c.total)
		}
	}

	at := noon.Add(6 * time.Minute)
	want := exceptions.Exception{
		ID: granted, OrganizationID: acme, Status: exception.StatusGranted, CheckID: "A", InstanceID: &orders, DatabaseID: &billing,
		ObjectRef: "public.t", Reason: "because", Until: noon.AddDate(0, 0, 30), RequestedBy: ana, RequestedAt: noon.Add(time.Minute),
		DecidedBy: &eve, DecidedAt: &at,
	}
	if got, ok, err := s.reader.Exception(t.Context(), acme, nil, granted, noon); err != nil || !ok || !cmp.Equal(want, got) {
		t.Errorf("%v %v\n%s", ok, err, cmp.Diff(want, got))
	}
	if _, ok, err := s.reader.Exception(t.Context(), uuid.New(), nil, granted, noon); ok || err != nil {
		t.Errorf("a stranger sees it: %v %v", ok, err)
	}
	for days, want := range map[int]string{0: "C:granted A:granted", 1: "A:granted", 30: ""} {
		if got, err := s.reader.InForce(t.Context(), acme, noon.AddDate(0, 0, days)); err != nil || shown(got) != want {
			t.Errorf("in force after %d days: %q %v, want %q", days, shown(got), err, want)
		}
	}

	difference, err := s.stage.Rebuild(t.Context(), exceptions.Name, projections.RebuildOptions{}, nil)
	if err != nil || !difference.Empty() {
		t.Errorf("rebuild gives %+v, %v", difference, err)
	}
}

// TestADecisionWithoutItsRequest is set aside, and the others go on.
func TestADecisionWithoutItsRequest(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.happens(acme, uuid.New(), ana, 1, exception.Granted{})
	s.happens(acme, uuid.New(), ana, 2, asked("A", nil, 30))
	s.stage.Settle()
	got, _, err := s.reader.Page(t.Context(), exceptions.Query{Organization: acme, Page: 1, Size: 20}, noon)
	if err != nil || shown(got) != "A:requested" {
		t.Errorf("%q %v", shown(got), err)
	}
	statuses, err := s.stage.Statuses(t.Context())
	if err != nil || statuses[0].Parked != 1 {
		t.Errorf("%+v %v", statuses, err)
	}
}
