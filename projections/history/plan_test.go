package history_test

import (
	"strings"
	"testing"

	"muster/projections/history"
)

// TestRareStatusIsFoundByItsIndex plants a history in which the statistics know
// one status only: a page of another one must not walk all reports.
func TestRareStatusIsFoundByItsIndex(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.db.MustExec(`INSERT INTO report_history_v2.reports
SELECT gen_random_uuid(), $1, 'Security', 'Expired', '{}', '', gen_random_uuid(), now() - n * interval '1 minute',
       null, null, null, null, null, '', '', null, '', 1, 0
FROM generate_series(1, 20000) n`, acme)
	s.db.MustExec(`ANALYZE report_history_v2_g1.reports`)
	conn, err := s.db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for _, mode := range []string{"force_generic_plan", "force_custom_plan"} {
		t.Run(mode, func(t *testing.T) {
			prepare := `PREPARE ` + mode + ` (uuid, text[], timestamptz, text[], boolean, bigint, bigint) AS ` + history.PageByStatusQuery()
			for _, statement := range []string{`SET plan_cache_mode = ` + mode, prepare} {
				if _, err := conn.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			var plan []string
			err := conn.SelectContext(t.Context(), &plan, `EXPLAIN (COSTS OFF) EXECUTE `+mode+
				` ('`+acme.String()+`', '{Security}', now(), '{Failed,Expired}', true, 20, 0)`)
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(plan, "\n"); !strings.Contains(text, "reports_by_status") || strings.Contains(text, "reports_listing") {
				t.Errorf("the plan is\n%s", text)
			}
		})
	}
}
