package oracle

import (
	"fmt"
	"testing"
	"time"

	"muster/internal/servers/tnstest"
)

// BenchmarkRound measures the cost of a minute of measuring on a database that knows 5,000
// statements and has 200 sessions, with the driver and the cost of the stub's rows: six looks
// at the sessions and three at the statements, 50 of which are new each time. "% of a core" is
// the share of a minute of one core (goal: 1).
func BenchmarkRound(b *testing.B) {
	l := tnstest.Start(b, tnstest.Options{})
	server, home, clock := overTheDriver(b, l, time.Minute)
	var sessions, statements [][]string
	for i := range 200 {
		sessions = append(sessions, []string{"3", "idle", fmt.Sprintf("Class %d", i), "1", "event", "ERP", "erp.exe", "app01", ""})
	}
	for i := range 5000 {
		statements = append(statements, []string{"0", "3", sqlID(uint64(1_000_003 * (i + 1))), fmt.Sprint(1000 + i), "7", "10", "100000"})
	}
	n := 0
	minute := func() {
		b.StopTimer()
		home.Batches = home.Batches[:0]
		for i := range statements {
			statements[i][5] = fmt.Sprint(10 + n)
		}
		b.StartTimer()
		for range 6 {
			b.StopTimer()
			n++
			for i := range 50 { // others than before
				at := (n*50 + i) % len(statements)
				statements[at][2] = sqlID(uint64(1_000_003 * (n*5000 + at)))
			}
			answer(l, clock.Now(), n)
			l.Answer(sent(sessionsQuery), tnstest.Answer{Columns: 9, Numbers: []int{0, 3}, Rows: sessions})
			l.Answer(sent(statementsQuery), tnstest.Answer{Columns: 7, Numbers: []int{0, 1, 3, 4, 5, 6}, Rows: statements})
			b.StartTimer()
			if err := server.Round(b.Context()); err != nil {
				b.Fatal(err)
			}
			clock.Advance(10 * time.Second)
		}
	}
	minute()
	for b.Loop() {
		minute()
	}
	if got := len(home.Batches); got != 6 || len(home.Batches[5].Statements)+len(home.Batches[4].Statements) != 1 {
		b.Errorf("%d batches", got)
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/float64(b.N)/60, "%-of-a-core")
}
