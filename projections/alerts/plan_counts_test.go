package alerts_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestPlansOfCounts: counts and history, which are planned with their arguments, go
// by indexes.
func TestPlansOfCounts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme := uuid.New()
	s.db.MustExec(plantAlerts, acme, noon)
	s.db.MustExec(`VACUUM ANALYZE alerts_v1_g1.alerts`)
	var instances []uuid.UUID
	if err := s.db.Select(&instances, `SELECT DISTINCT instance_id FROM alerts_v1.alerts LIMIT 3`); err != nil {
		t.Fatal(err)
	}
	yesterday := noon.Add(-24 * time.Hour)
	for file, test := range map[string]struct {
		args    []any
		indexes []string
	}{
		"counts_organization.sql":  {[]any{acme, yesterday}, []string{"alerts_open", "alerts_resolved"}},
		"history_organization.sql": {[]any{acme, yesterday, noon, time.Hour}, []string{"alerts_latest", "alerts_resolved"}},
		"history_scope.sql":        {[]any{acme, yesterday, noon, time.Hour, instances}, []string{"alerts_of_instance"}},
		"counts_scope.sql":         {[]any{acme, yesterday, instances}, []string{"alerts_open_of_instance"}},
	} {
		query, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plan := s.plan("force_custom_plan", string(query), test.args)
		for _, index := range test.indexes {
			if !strings.Contains(plan, index) {
				t.Errorf("%s: no %s in the plan\n%s", file, index, plan)
			}
		}
		if strings.Contains(plan, "Seq Scan on alerts") {
			t.Errorf("%s: all alerts are read\n%s", file, plan)
		}
	}
}
