package alerts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/projections/alerts"
)

// TestPlansOfCounts: counts and history, which are planned with their arguments, go
// by indexes.
func TestPlansOfCounts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme := uuid.New()
	s.db.MustExec(plantAlerts, acme, noon)
	s.db.MustExec(`VACUUM ANALYZE alerts_v5_g1.alerts`)
	var instances []uuid.UUID
	if err := s.db.Select(&instances, `SELECT DISTINCT instance_id FROM alerts_v5.alerts LIMIT 3`); err != nil {
		t.Fatal(err)
	}
	yesterday := noon.Add(-24 * time.Hour)
	some := fleet.Scope{Filtered: true, Instances: instances}
	for name, test := range map[string]struct {
		query   string
		scope   fleet.Scope
		args    []any
		indexes []string
	}{
		"counts of an organization":  {alerts.CountsQuery, fleet.Scope{}, []any{acme, yesterday}, []string{"alerts_open", "alerts_resolved"}},
		"history of an organization": {alerts.HistoryQuery, fleet.Scope{}, []any{acme, yesterday, noon, time.Hour}, []string{"alerts_latest", "alerts_resolved"}},
		"history of some instances":  {alerts.HistoryQuery, some, []any{acme, yesterday, noon, time.Hour}, []string{"alerts_of_instance"}},
		"counts of some instances":   {alerts.CountsQuery, some, []any{acme, yesterday}, []string{"alerts_open_of_instance"}},
	} {
		query, args := alerts.Scoped(test.query, test.scope, nil, test.args...)
		plan := s.plan("force_custom_plan", query, args[1:]) // without how it is to be planned
		for _, index := range test.indexes {
			if !strings.Contains(plan, index) {
				t.Errorf("%s: no %s in the plan\n%s", name, index, plan)
			}
		}
		if strings.Contains(plan, "Seq Scan on alerts") {
			t.Errorf("%s: all alerts are read\n%s", name, plan)
		}
	}
}
