package alerts_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/projections/alerts"
)

// manyAlerts is an organization with 20,000 alerts of 50 servers (plantAlerts). Half of the firing ones were
// seen later: those of the first server are among them. The server other has no alerts of its own, and half of the
// last server's concern it, too.
func (s *scene) manyAlerts() (acme, other uuid.UUID, instances []uuid.UUID) {
	s.t.Helper()
	acme, other = uuid.New(), uuid.New()
	s.db.MustExec(plantAlerts, acme, noon)
	s.db.MustExec(`UPDATE alerts_v5.alerts SET other_instance_ids = $1 WHERE right(title, 2) = '77'`, other.String())
	s.db.MustExec(`INSERT INTO alert_last_seen SELECT id, organization_id, $1::timestamptz - abs(hashtext(id::text)) % 100 * interval '1 minute', null
		FROM alerts_v5.alerts WHERE resolved_at IS NULL AND title LIKE '%0'`, noon)
	s.db.MustExec(`INSERT INTO alerts_v5.totals
		SELECT organization_id, date_trunc('hour', last_triggered_at, 'UTC'), severity, resolved_at IS NOT NULL, muted, count(*)
		FROM alerts_v5.alerts GROUP BY 1, 2, 3, 4, 5`)
	s.db.MustExec(`INSERT INTO alerts_v5.totals_of_instances
		SELECT organization_id, instance_id, date_trunc('month', last_triggered_at, 'UTC'), severity, resolved_at IS NOT NULL, muted, count(*)
		FROM alerts_v5.alerts WHERE instance_id IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6`)
	s.db.MustExec(`VACUUM ANALYZE alerts_v5_g1.alerts, alert_last_seen`)
	if err := s.db.Select(&instances, `SELECT instance_id FROM alerts_v5.alerts GROUP BY 1
		ORDER BY instance_id <> md5('20')::uuid, instance_id = md5('27')::uuid, 1`); err != nil {
		s.t.Fatal(err)
	}
	return acme, other, instances
}

// TestPagesOfSomeServers: pages of some servers' alerts are the list of all alerts without those of other servers,
// whether or not the first alerts of all servers suffice for them.
func TestPagesOfSomeServers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme, other, instances := s.manyAlerts()
	no := false
	for name, change := range map[string]func(q *alerts.Query){
		"newest first": func(q *alerts.Query) { q.Descending = true },
		"oldest first": func(*alerts.Query) {},
		"open":         func(q *alerts.Query) { q.Descending, q.Closed = true, &no },
		"warnings of a week": func(q *alerts.Query) {
			q.Descending, q.From, q.Severities = true, noon.AddDate(0, 0, -7), []domain.Severity{domain.Warning}
		},
		"of five minutes": func(q *alerts.Query) { q.Descending, q.From = true, noon.Add(-5*time.Minute) },
		"not seen later":  func(q *alerts.Query) { q.Descending, q.To = true, noon.Add(-5*time.Hour) },
		"worst first":     func(q *alerts.Query) { q.Order, q.Descending = alerts.BySeverity, true },
		"of one search":   func(q *alerts.Query) { q.Search, q.Descending = "Rule 17", true },
	} {
		whole := alerts.Query{Organization: acme, Order: alerts.ByLastTriggered, Page: 1, Size: 20_000}
		change(&whole)
		all, _, err := s.reader.Page(t.Context(), whole)
		if err != nil {
			t.Fatal(err)
		}
		for scope, of := range map[string][]uuid.UUID{
			"one": instances[:1], "three": instances[7:10], "half": instances[:25], "all": instances,
			"none with alerts": {uuid.New()}, "one of others' alerts": {other}, "one, and others' alerts": {instances[3], other},
			"half, and others' alerts": append(slices.Clone(instances[:25]), other),
		} {
			want := []uuid.UUID{}
			for _, a := range all {
				if _, ok := a.Within(func(id uuid.UUID) bool { return slices.Contains(of, id) }); ok {
					want = append(want, a.ID)
				}
			}
			for _, at := range [][2]int{{1, 10}, {2, 7}, {3, 200}} {
				q := whole
				q.Scope, q.Page, q.Size = fleetScope(of...), at[0], at[1]
				first := min((q.Page-1)*q.Size, len(want))
				page, total, err := s.reader.Page(t.Context(), q)
				got := []uuid.UUID{}
				for _, a := range page {
					got = append(got, a.ID)
				}
				if expected := want[first:min(first+q.Size, len(want))]; err != nil || total != int64(len(want)) || !slices.Equal(got, expected) {
					t.Errorf("%s, %s, page %v: %d alerts of %d, %v, want %d of %d", name, scope, at, len(got), total, err, len(expected), len(want))
				}
			}
		}
	}
}

// TestAPageOfManyServersReadsNoServerAlone: a page of half of the servers reads as many alerts of all as it needs, and
// looks at no server alone. A page of one server with few alerts reads those of that server, and no more of all than
// there may be read for one.
func TestAPageOfManyServersReadsNoServerAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	acme, _, instances := s.manyAlerts()
	for name, test := range map[string]struct {
		scope []uuid.UUID
		alone bool
	}{"half of them": {instances[:25], false}, "one of 50": {instances[:1], true}} {
		query, args := alerts.Statement("page", alerts.Query{
			Organization: acme, Scope: fleetScope(test.scope...), Order: alerts.ByLastTriggered, Descending: true, Page: 1, Size: 50, From: noon.Add(-9 * 24 * time.Hour),
		})
		var plan []string
		if err := s.db.Select(&plan, `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) `+query, args...); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(plan, "\n")
		alone := slices.ContainsFunc(plan, func(line string) bool {
			return strings.Contains(line, "using alerts_of_instance") && !strings.Contains(line, "never executed")
		})
		if alone != test.alone || !strings.Contains(text, "using alerts_latest") || strings.Contains(text, "Seq Scan on alerts") {
			t.Errorf("%s: servers alone: %v, want %v\n%s", name, alone, test.alone, text)
		}
	}
}
