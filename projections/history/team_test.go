package history_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/domain/team"
	"muster/projections/history"
)

// TestAPageOfATeamAmongManyReports: of 2,000 reports, most of them of others, each page and the totals are
// those of a filter in Go over all of them.
func TestAPageOfATeamAmongManyReports(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	servers := make([]uuid.UUID, 12)
	for i := range servers {
		servers[i] = id(uint32(1000 + i))
	}
	world := team.World{servers[0]: true, servers[1]: false, servers[2]: true}
	var ids, scopes, kinds, statuses []string
	var want []int // the reports of the team, newest first
	for n := range 2000 {
		names := []uuid.UUID{servers[n%12], servers[(n/12)%12]}
		switch n % 5 {
		case 0:
			names = names[:1]
		case 1:
			names = []uuid.UUID{} // the whole organization
		}
		kind, status := report.Security, report.StatusFailed
		if n%7 == 0 {
			kind = report.DataInventory
		}
		if n%3 == 0 {
			status = report.StatusQueued
		}
		scope, err := json.Marshal(map[string]any{"instanceIds": names})
		if err != nil {
			t.Fatal(err)
		}
		ids, scopes = append(ids, id(uint32(n+1)).String()), append(scopes, string(scope))
		kinds, statuses = append(kinds, string(kind)), append(statuses, string(status))
		if world.Holds(names) && kind == report.Security && status == report.StatusFailed {
			want = append(want, n)
		}
	}
	s.db.MustExec(`INSERT INTO report_history_v2.reports
SELECT ids.id::uuid, CASE WHEN ids.n = 1 THEN $6::uuid ELSE $5::uuid END, kinds.kind, statuses.status, scopes.scope::jsonb, '', gen_random_uuid(), now() - ids.n * interval '1 minute',
       null, null, null, null, null, '', '', null, '', 1, 0
FROM unnest($1::text[]) WITH ORDINALITY ids (id, n) JOIN unnest($2::text[]) WITH ORDINALITY scopes (scope, n) USING (n)
JOIN unnest($3::text[]) WITH ORDINALITY kinds (kind, n) USING (n) JOIN unnest($4::text[]) WITH ORDINALITY statuses (status, n) USING (n)`,
		ids, scopes, kinds, statuses, acme, uuid.New())
	want = slices.DeleteFunc(want, func(n int) bool { return n == 0 }) // another organization's
	if len(want) < 25 {
		t.Fatalf("the team has only %d reports", len(want))
	}
	q := history.Query{Organization: acme, Kinds: []report.Kind{report.Security}, Statuses: []report.Status{report.StatusFailed}, Within: world, Size: 10}
	var got []string
	for q.Page = 1; ; q.Page++ {
		rows, total, err := s.reader.Page(t.Context(), q, time.Now())
		if err != nil || total != int64(len(want)) {
			t.Fatalf("page %d has %d in all, want %d, %v", q.Page, total, len(want), err)
		}
		if len(rows) == 0 {
			break
		}
		for _, row := range rows {
			got = append(got, row.ID.String())
		}
	}
	var wanted []string
	for _, n := range want {
		wanted = append(wanted, ids[n])
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("the pages have %d reports, want %d:\n%v\n%v", len(got), len(wanted), got, wanted)
	}
	q.Page, q.Instances = 1, []uuid.UUID{servers[1]}
	rows, total, err := s.reader.Page(t.Context(), q, time.Now())
	if err != nil || total == 0 || total >= int64(len(want)) || slices.ContainsFunc(rows, func(r history.ReportRow) bool { return !slices.Contains(r.Scope.InstanceIDs, servers[1]) }) {
		t.Errorf("of one server: %d of %d, %v", total, len(want), err)
	}
	q.Within, q.Instances = team.World{}, nil
	if rows, total, err := s.reader.Page(t.Context(), q, time.Now()); len(rows) != 0 || total != 0 || err != nil {
		t.Errorf("in no team: %d of %d, %v", len(rows), total, err)
	}

	// Only those that name one of the servers are read.
	s.db.MustExec(`INSERT INTO report_history_v2.reports
SELECT gen_random_uuid(), $1, 'Security', 'Failed', jsonb_build_object('instanceIds', jsonb_build_array(gen_random_uuid())), '', gen_random_uuid(), now(),
       null, null, null, null, null, '', '', null, '', 1, 0
FROM generate_series(1, 20000)`, acme)
	s.db.MustExec(`ANALYZE report_history_v2_g1.reports`)
	var plan []string
	err = s.db.SelectContext(t.Context(), &plan, `EXPLAIN (COSTS OFF) `+history.NamingQuery(), acme, []string{"Security"}, []string{}, time.Now(), []string{servers[0].String()}, nil)
	if text := strings.Join(plan, "\n"); err != nil || !strings.Contains(text, "reports_naming") || strings.Contains(text, "reports_listing") {
		t.Errorf("the plan is %v\n%s", err, fmt.Sprint(text))
	}
}
