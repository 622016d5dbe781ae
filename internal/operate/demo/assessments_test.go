package demo_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
)

// TestTheServersOnPaperAreAssessed by what agents send: all that are active, with a
// history, the exemplary one best and the neglected one worst. When the first report over
// that is ready, the next assessments come, and a report that tells the difference.
func TestTheServersOnPaperAreAssessed(t *testing.T) {
	t.Parallel()
	s := newScene(t, nil)
	s.Past = 60 * day
	o := s.filled(s.Demo)
	var ids []uuid.UUID
	must(t, s.db.Select(&ids, `SELECT DISTINCT stream_id FROM events WHERE type = 'instance.registered'`))
	names, err := s.Commands.Instances.InstanceNames(t.Context(), o.ID, ids)
	must(t, err)
	states, err := s.Facts.States(t.Context(), o.ID, ids)
	must(t, err)
	score := map[string]int{}
	for id, name := range names {
		if fed := states[id].Fed && states[id].LastClassifiedAt != nil; fed == (name == "demo-pg-retired-01") {
			t.Errorf("%s: %+v", name, states[id])
		}
		a, _, err := s.Facts.Latest(t.Context(), o.ID, id)
		must(t, err)
		if a != nil && slices.ContainsFunc(a.Results, func(r snapshot.CheckResult) bool { return r.ReasonCode == snapshot.ReasonNotSent }) {
			t.Errorf("of %s a check is not told of", name)
		}
		var points []int
		must(t, s.db.Select(&points, `SELECT (d ->> 'score')::int FROM (SELECT convert_from(data, 'UTF8')::jsonb AS d FROM events WHERE type = 'instance.assessed') e
			WHERE d ->> 'instanceId' = $1 AND d ->> 'score' IS NOT NULL ORDER BY d ->> 'at'`, id.String()))
		if len(points) > 0 {
			score[name] = points[len(points)-1]
		}
	}
	for name, points := range score {
		if name != "demo-pg-identity-01" && points >= score["demo-pg-identity-01"] || name != "demo-mssql-erp-02" && points <= score["demo-mssql-erp-02"] {
			t.Errorf("scores: %v", score)
			break
		}
	}
	if score["demo-pg-identity-01"] != 100 {
		t.Errorf("the exemplary one has %d", score["demo-pg-identity-01"])
	}

	looks := s.count(`assessments`)
	must(t, s.AssessAnew(t.Context(), o))
	if n := s.count(`assessments`); n != looks || s.state().Reports["Security"] != 1 {
		t.Errorf("before the first report is ready there are %d assessments, and were %d", n, looks)
	}
	var first uuid.UUID
	must(t, s.db.Get(&first, `SELECT stream_id FROM events WHERE type = 'report.queued' AND convert_from(data, 'UTF8')::jsonb ->> 'kind' = 'Security'`))
	s.ready(o.ID, first, day)
	for range 2 {
		must(t, s.AssessAnew(t.Context(), o))
		if n := s.count(`assessments`); n != looks+12 || s.state().Reports["Security"] != 2 {
			t.Errorf("%d assessments more, and %v", n-looks, s.state().Reports)
		}
	}
	gone := s.count(`findings f WHERE assessed AND gone_at = (SELECT max(recorded_at) FROM assessments a WHERE a.instance_id = f.instance_id)`)
	come := s.count(`findings f WHERE assessed AND gone_at IS NULL AND first_seen_at = (SELECT max(recorded_at) FROM assessments a WHERE a.instance_id = f.instance_id)`)
	stay := s.count(`findings f WHERE assessed AND gone_at IS NULL AND first_seen_at < (SELECT max(recorded_at) FROM assessments a WHERE a.instance_id = f.instance_id)`)
	if gone < 4 || come < 4 || stay < 60 {
		t.Errorf("%d have gone, %d are new, %d are as they were", gone, come, stay)
	}
	// Then each day, all days that nobody was there for included.
	s.clock.Advance(s.clock.Now().UTC().Truncate(day).Add(84 * time.Hour).Sub(s.clock.Now()))
	must(t, s.AssessAnew(t.Context(), o))
	if n := s.count(`assessments`); n != looks+4*12 {
		t.Errorf("after three days there are %d assessments more", n-looks)
	}
}
