package bench_test

import (
	"testing"
	"time"
)

// scores writes how each server was scored on each of thirty days.
const scores = `
INSERT INTO health_v1.scores (organization_id, instance_id, day, at, score, grade, failed, domains)
SELECT $1, n.id, (now() AT TIME ZONE 'UTC')::date - d, now() - d * interval '1 day', 50 + (n.place + d) % 50, 'B', 7, '[]'
FROM unnest($2::uuid[]) WITH ORDINALITY AS n (id, place), generate_series(0, 29) AS d`

// BenchmarkInstances reads pages of the list of 1,000 servers with how they fare, over
// HTTP: twenty minutes of everything are measured, and thirty days scored. Goal: 100 ms
// p95, by name and by trouble.
func BenchmarkInstances(b *testing.B) {
	m := newMeasured(start(b), tilesInstances())
	now := time.Now().UTC().Truncate(time.Minute)
	m.load(now.Add(-20*time.Minute), now, time.Minute)
	m.roll()
	var ids []string
	for _, s := range m.servers {
		ids = append(ids, s.id.String())
	}
	m.db.MustExec(scores, m.organization, ids)
	m.db.MustExec(`VACUUM ANALYZE`)
	reader := m.p.agent(m.p.token)
	for _, c := range []struct{ name, query string }{
		{"first", ""}, {"page-of-200", "pageSize=200"}, {"by-alerts", "sort=-alerts"}, {"by-cpu", "sort=-cpu"}, {"by-disk", "sort=-disk"}, {"search", "q=db-07"},
	} {
		b.Run(c.name, func(b *testing.B) {
			m.report(b, reader, func(int) string { return "/api/v1/instances?" + c.query })
		})
	}
}
