package alerts_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/alert"
	"muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/testing/pgtest"
	"muster/projections/alerts"
	"muster/projections/projectionstest"
)

func registry(t testing.TB) *eventstore.Registry {
	t.Helper()
	r := eventstore.NewRegistry()
	for _, e := range domain.Events() {
		r.Register(domain.Name(e), 1, e)
	}
	for _, e := range fleet.Events() {
		r.Register(fleet.Name(e), 1, e)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return r
}

// scene is a log of a fleet whose alerts are read.
type scene struct {
	t        *testing.T
	db       *sqlx.DB
	registry *eventstore.Registry
	stage    *projectionstest.Stage
	reader   *alerts.Reader
}

func newScene(t *testing.T) *scene {
	t.Helper()
	url := pgtest.URL(t)
	s := &scene{t: t, db: pgtest.Connect(t, url), registry: registry(t)}
	s.reader = alerts.NewReader(s.db, eventstore.New(s.db), s.registry.Decode)
	s.stage = projectionstest.Run(t, s.db, url, alerts.Projection(s.registry.Decode))
	return s
}

// noon is when the stories begin.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

// batch is some facts about one alert, instance or database.
func (s *scene) batch(organization, stream uuid.UUID, streamType string, facts ...any) eventstore.Append {
	s.t.Helper()
	a := eventstore.Append{Organization: organization, StreamType: streamType, Stream: stream, Expected: eventstore.AnyVersion}
	for _, fact := range facts {
		e, err := s.registry.Encode(fact)
		if err != nil {
			s.t.Fatal(err)
		}
		a.Events = append(a.Events, e)
	}
	return a
}

// happens records facts about one alert, instance or database.
func (s *scene) happens(organization, stream uuid.UUID, streamType string, facts ...any) {
	s.t.Helper()
	s.stage.Append(eventstore.Fleet, s.batch(organization, stream, streamType, facts...))
}

// seen writes down beside the log until when an alert was seen firing.
func (s *scene) seen(organization, alert uuid.UUID, last time.Time) {
	s.t.Helper()
	s.db.MustExec(`INSERT INTO alert_last_seen (alert_id, organization_id, last_triggered_at) VALUES ($1, $2, $3)`,
		alert, organization, last)
}
