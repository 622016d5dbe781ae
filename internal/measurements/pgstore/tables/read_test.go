package tables

import (
	"strings"
	"testing"

	"muster/internal/measurements/blocks"
	"muster/internal/testing/pgtest"
)

// TestReadsUseTheKeyUnderAnyPlan: also under one that the server made without knowing how many series are asked
// for, and kept.
func TestReadsUseTheKeyUnderAnyPlan(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	if _, err := db.ExecContext(t.Context(), `
		INSERT INTO block_minutes SELECT n, '2026-11-16 00:00Z'::timestamptz + h * interval '1 hour', repeat('x', 200)::bytea FROM generate_series(1, 300) n, generate_series(0, 23) h;
		CREATE TABLE block_raw_20261116 PARTITION OF block_raw FOR VALUES FROM ('2026-11-16 00:00Z') TO ('2026-11-17 00:00Z');
		CREATE TABLE block_raw_20261117 PARTITION OF block_raw FOR VALUES FROM ('2026-11-17 00:00Z') TO ('2026-11-18 00:00Z');
		INSERT INTO block_raw SELECT series_id, start + d * interval '1 day', body FROM block_minutes, generate_series(0, 1) d;
		INSERT INTO block_hours SELECT * FROM block_minutes; INSERT INTO head_days SELECT * FROM block_minutes; INSERT INTO raw_samples SELECT *, -1 FROM block_minutes;
		ANALYZE block_raw, block_minutes, block_hours, head_days, raw_samples`); err != nil {
		t.Fatal(err)
	}
	if err := RawSamplesIn(db).EmptyParts(t.Context()); err != nil { // what was analyzed in parts while they were empty
		t.Fatal(err)
	}
	conn, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for table, statement := range map[string]string{
		"block_minutes": in(eachBlock, blocks.Minutes), "block_hours": in(eachBlock, blocks.Hours), "head_days": ofHead(blocks.Days), "raw_samples_7": ofHead(blocks.Raw),
		"block_raw_20261116": in(eachBlock, blocks.Raw),
	} {
		for _, mode := range []string{"force_generic_plan", "force_custom_plan"} {
			var plan []string
			for _, step := range []string{
				`SET plan_cache_mode = ` + mode,
				`PREPARE read (bigint[], timestamptz[], timestamptz[], boolean[]) AS ` + statement,
			} {
				if _, err := conn.ExecContext(t.Context(), step); err != nil {
					t.Fatal(err)
				}
			}
			if err := conn.SelectContext(t.Context(), &plan, `EXPLAIN (ANALYZE, COSTS false, TIMING false) EXECUTE read ('{1,2,3,4}', array_fill('2026-11-16 00:00Z'::timestamptz, '{4}'), array_fill('2026-11-17 00:00Z'::timestamptz, '{4}'), array_fill(false, '{4}'))`); err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(plan, "\n"); !strings.Contains(text, table+"_pkey") || strings.Contains(text, "Seq Scan") || strings.Contains(text, "Filter") {
				t.Errorf("%s, %s:\n%s", table, mode, text)
			} else if table == "block_raw_20261116" && strings.Count(text, "never executed") != 1 {
				t.Errorf("%s: a day that nobody asked for is read:\n%s", mode, text)
			}
			if _, err := conn.ExecContext(t.Context(), `DEALLOCATE read`); err != nil {
				t.Fatal(err)
			}
		}
	}
}
