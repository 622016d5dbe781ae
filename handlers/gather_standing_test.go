package handlers_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/handlers/gather/standing"
	"muster/internal/assessment"
	"muster/internal/measurements"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// The history has the score that a scorecard of that moment prints: the end of support, an open critical alert and a
// volume that is about to fill cap both. An assessment of long ago is capped by the end of support alone.
func TestTheHistoryCapsScoresAsAScorecardDoes(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	in := e.inputs()
	e.facts.Standing = standing.Source{
		Feed: in.Feed, Fleet: in.Fleet, Alerts: in.Alerts, Measurements: in.Measurements, Now: e.clock.Now,
	}.Of
	ids := e.fleet("ended", "alerted", "filling", "well")
	now := e.clock.Now().UTC().Truncate(time.Microsecond)
	e.alerted("alerted", e.item("away", alert.Critical, time.Hour, 0))
	var hosts []measurements.HostSample
	for h := range 7 * 24 {
		at := now.Truncate(time.Hour).Add(-time.Duration(h) * time.Hour)
		used := 94 - float64(h)/4
		hosts = append(hosts, measurements.HostSample{Host: "disk", Instances: []uuid.UUID{ids["filling"].ID}, At: at, Volumes: []measurements.Volume{{Mount: "/", UsedPercent: &used}}})
	}
	e.measured(hosts...)
	if _, err := in.Gather(t.Context(), e.scorecard(ids["alerted"].ID, nil, 7*day)); err != nil { // waits for the alerts
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		version       string
		now, longAgo  int
		grade, before string
	}{
		"ended":   {"12.22", 69, 69, "D", "D"},
		"alerted": {"18.4", 69, 100, "D", "A"},
		"filling": {"18.4", 69, 100, "D", "A"},
		"well":    {"18.4", 100, 100, "A", "A"},
	} {
		recorded := func(at time.Time) domain.InstanceAssessed {
			t.Helper()
			sent := assessment.Sent{Instance: ids[name].ID, Engine: domain.PostgreSQL, At: at, Assessment: snapshot.Assessment{
				Sent: true, Outcome: snapshot.OutcomeComplete, StartedAt: at, FinishedAt: at, VersionText: test.version,
				Results: []snapshot.CheckResult{{CheckID: "PG-S07", Status: snapshot.StatusPass}},
			}}
			var event domain.InstanceAssessed
			if err := e.facts.RecordSent(t.Context(), e.organization, []assessment.Sent{sent}, func(tx *sqlx.Tx, told []domain.Assessed) error {
				event, _ = told[0].(domain.InstanceAssessed)
				return e.tellAll(tx, told)
			}); err != nil {
				t.Fatal(err)
			}
			return event
		}
		if past := recorded(now.AddDate(0, 0, -3)); past.Score == nil || *past.Score != test.longAgo || past.Grade != test.before {
			t.Errorf("%s, three days ago: %+v", name, past)
		}
		event := recorded(now)
		if event.Score == nil || *event.Score != test.now || event.Grade != test.grade {
			t.Errorf("%s: %+v, want %d %s", name, event, test.now, test.grade)
			continue
		}
		doc, err := in.Gather(t.Context(), e.scorecard(ids[name].ID, nil, 7*day))
		if err != nil {
			t.Fatal(err)
		}
		if s := analysis.HealthScore(doc, &doc.Instances[0]); s.Overall != *event.Score || s.Grade != event.Grade {
			t.Errorf("%s: %d %s in the scorecard (%+v), %d %s in the history", name, s.Overall, s.Grade, s.Caps, *event.Score, event.Grade)
		}
	}
}
