package oracle

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// BenchmarkRound takes what measuring costs us for a database whose views have 5,000 rows of
// statements and 200 of sessions: a minute's six looks at the sessions and three at the
// statements, of which 50 are new each time. The server's part is none: it answers from
// memory. (goal: under 1 % of a core)
func BenchmarkRound(b *testing.B) {
	s := newScene(b)
	defer s.server.Close(context.Background())
	var sessions [][]string
	for i := range 200 {
		sessions = append(sessions, []string{fmt.Sprint(3 + i%2), "idle", "Idle", "1"})
	}
	s.on(sessionsQuery, sessions...)
	rows := make([][]string, 5000)
	for i := range rows {
		rows[i] = entry(3+i%2, sqlID(uint64(1_000_003*(i+1))), 1000+i/2, 7, 10, 10)
	}
	n := 0
	minute := func() {
		for range 6 {
			n++
			for i := range 50 { // others than before
				at := (n*50 + i) % len(rows)
				rows[at] = entry(3+at%2, sqlID(uint64(1_000_003*(n*5000+at))), 1000+at/2, 7, 10+n, 10+n)
			}
			s.statements(rows...)
			s.pass(10 * time.Second)
		}
	}
	minute()
	b.ResetTimer()
	for b.Loop() {
		minute()
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/float64(b.N)/60, "%-of-a-core")
}
