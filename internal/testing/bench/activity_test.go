package bench_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/internal/measurements"
)

// doing is what sessions of a database do: some on the CPU, and those that wait, of four applications.
// Which of their statements it is, and on whose client, is another at each look.
func (s measuredServer) doing(database int, at time.Time, active int64, waits map[string]int64) (all []measurements.Doing) {
	n := int(at.Unix()/60) + 31*database
	add := func(state measurements.State, wait string, sessions int64) {
		for i := range int(sessions) {
			n++
			app := (n + i) % 4
			all = append(all, measurements.Doing{
				State: state, Wait: wait, Event: wait, Statement: fmt.Sprint(n % 20), User: fmt.Sprint("user", app%3), Application: fmt.Sprint("app", app),
				Client: fmt.Sprintf("10.0.%d.%d", app, n%7), Sessions: 1,
			})
		}
	}
	add(measurements.OnCPU, "", active)
	for wait, sessions := range waits {
		add(measurements.Waits, wait, sessions)
	}
	return all
}

// BenchmarkActivity reads what the sessions of 1,000 servers did in 24 hours of minutes, by each
// dimension, of all servers and of one. Goals: p95 80 ms and 15 ms. Of all servers, the rows of the
// organization are read: rolling up has ended when they are made. Beside it, these are read without
// their sums, as those that a program from before wrote, and the sessions of a user that each
// server has, or none, are read from the rows of servers.
func BenchmarkActivity(b *testing.B) {
	m := newMeasured(start(b), tilesInstances())
	m.onlySessions = true
	day := m.end.Add(-24 * time.Hour)
	m.load(day, m.end, time.Minute)
	m.roll()
	b.ReportMetric(0, "ns/op")
	reader := m.p.agent(m.p.token)
	w := tileWindow{size: "1m", long: 24 * time.Hour, shift: time.Minute}
	read := func(of string, servers int, by measurements.Dimension, filter string) {
		b.Run(fmt.Sprintf("by-%s/%s", by, of), func(b *testing.B) {
			m.report(b, reader, func(i int) string {
				return strings.Replace(m.path("", w, i, servers), "/metrics/?", "/activity?by="+string(by)+filter+"&", 1)
			})
		})
	}
	for _, by := range measurements.Dimensions() {
		read("instances=0", 0, by, "")
		read("instances=1", 1, by, "")
	}
	read("user", 0, measurements.DimStatement, "&user=user1")
	read("no-user", 0, measurements.DimStatement, "&user=nobody")
	m.db.MustExec(`UPDATE whole_activity SET sums = NULL`)
	m.db.MustExec(`VACUUM ANALYZE whole_activity`)
	for _, by := range measurements.Dimensions() {
		// The window is another one, so that no answer is kept.
		read("without-sums", 0, by, "&limit=11")
	}
}
