package alerts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/projections/alerts"
)

// plantAlerts writes 20,000 alerts of 50 instances straight into the read model,
// one a minute until noon: one in twenty of them firing.
const plantAlerts = `INSERT INTO alerts_v5.alerts
SELECT ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, md5((n % 50)::text)::uuid, null, 'Rule ' || n % 300, '',
       (ARRAY['info', 'warning', 'critical'])[1 + n % 3], CASE WHEN n % 20 = 0 THEN 'Open' ELSE 'AutoResolved' END, n % 50 = 1, null,
       t, t, t, CASE WHEN n % 20 <> 0 THEN t END, 1, null, 'Rule ' || n % 300, t, ''
FROM generate_series(1, 20000) n, LATERAL (SELECT $2::timestamptz - n * interval '1 minute' AS t) x`

// TestPlans: the most frequent queries touch few rows, whether or not the planner sees the
// arguments. Of alert_last_seen, which has 20,000 rows of others, they touch the rows of open
// alerts.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme := uuid.New()
	s.db.MustExec(plantAlerts, acme, noon)
	s.db.MustExec(`INSERT INTO alert_last_seen SELECT id, organization_id, $1, null FROM alerts_v5.alerts WHERE resolved_at IS NULL`, noon)
	s.db.MustExec(`INSERT INTO alert_last_seen SELECT gen_random_uuid(), md5((n % 20)::text)::uuid, $1, null FROM generate_series(1, 20000) n`, noon)
	s.db.MustExec(`VACUUM ANALYZE alerts_v5_g1.alerts, alert_last_seen`)
	var instances []uuid.UUID
	if err := s.db.Select(&instances, `SELECT DISTINCT instance_id FROM alerts_v5.alerts LIMIT 3`); err != nil {
		t.Fatal(err)
	}
	no := false
	latest := alerts.Query{Organization: acme, Order: alerts.ByLastTriggered, Descending: true, Page: 1, Size: 10}
	with := func(change func(q *alerts.Query)) alerts.Query {
		q := latest
		change(&q)
		return q
	}
	for name, test := range map[string]struct {
		query alerts.Query
		page  []string // indexes
		total []string
	}{
		"digest": {with(func(q *alerts.Query) { q.From = noon.Add(-24 * time.Hour) }),
			[]string{"alerts_latest", "alert_last_seen_of_organization"}, []string{"totals_pkey", "alerts_latest", "alerts_open"}},
		"digest of instances": {with(func(q *alerts.Query) { q.From, q.Scope = noon.Add(-24*time.Hour), fleetScope(instances...) }),
			[]string{"alerts_of_instance", "alerts_open_of_instance"}, []string{"totals_of_instances_pkey"}},
		"all": {latest, []string{"alerts_latest", "alert_last_seen_of_organization"}, []string{"totals"}},
		"oldest first": {with(func(q *alerts.Query) { q.Descending = false }),
			[]string{"alerts_latest"}, nil},
		"the warnings that are not muted": {with(func(q *alerts.Query) { q.Muted, q.Severities = &no, []domain.Severity{domain.Warning} }),
			[]string{"alerts_latest"}, nil},
		"open": {with(func(q *alerts.Query) { q.Closed = &no }), []string{"alerts_open"}, nil},
	} {
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			for part, want := range map[string][]string{"page": test.page, "total": test.total} {
				query, args := alerts.Statement(part, test.query)
				plan := s.plan(mode, query, args)
				for _, index := range want {
					if !strings.Contains(plan, index) {
						t.Errorf("%s, %s, %s: no %s in the plan\n%s", name, part, mode, index, plan)
					}
				}
				if strings.Contains(plan, "Seq Scan on alert") {
					t.Errorf("%s, %s, %s: all alerts are read\n%s", name, part, mode, plan)
				}
			}
		}
	}
}

// plan explains a statement. A generic plan does not look at the arguments.
func (s *scene) plan(mode, query string, args []any) string {
	s.t.Helper()
	conn, err := s.db.Connx(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	explain := `EXPLAIN (COSTS OFF) ` + query
	if mode == "force_generic_plan" {
		nulls := strings.TrimSuffix(strings.Repeat("NULL, ", len(args)), ", ")
		for _, statement := range []string{`SET plan_cache_mode = ` + mode, `PREPARE asked AS ` + query} {
			if _, err := conn.ExecContext(s.t.Context(), statement); err != nil {
				s.t.Fatal(err)
			}
		}
		defer func() { _, _ = conn.ExecContext(s.t.Context(), `DEALLOCATE asked; RESET plan_cache_mode`) }()
		explain, args = `EXPLAIN (COSTS OFF) EXECUTE asked (`+nulls+`)`, nil
	}
	var plan []string
	if err := conn.SelectContext(s.t.Context(), &plan, explain, args...); err != nil {
		s.t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}
