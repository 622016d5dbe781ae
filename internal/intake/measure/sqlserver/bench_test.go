package sqlserver

import (
	"fmt"
	"testing"
)

// BenchmarkRound takes what a minute of measuring costs us on a server with 5,000
// statements and 200 sessions, with the driver and what it costs the stub to send the
// rows: from the plan cache, and from the query stores of ten databases.
func BenchmarkRound(b *testing.B) {
	const statements = 5000
	for name, stores := range map[string]int{"plan cache": 0, "query stores": 10} {
		b.Run(name, func(b *testing.B) {
			f := newFake(b)
			f.databases = []row{{1, "master", 0, 1, false}, {5, "app", 0, 1, false}}
			for i := range 200 {
				f.sessions = append(f.sessions, row{5, "waiting", fmt.Sprintf("LCK_M_%d", i%20), 1})
			}
			m := f.measure(b)
			minute := func(calls int) {
				f.plans, f.counters = nil, map[string][]row{}
				for i := range statements {
					hash := fmt.Sprintf("%x", i+1)
					if stores == 0 {
						f.plans = append(f.plans, f.inCache(5, hash, hash, calls, float64(10*calls), -600))
						continue
					}
					name := fmt.Sprintf("store %d", i%stores)
					f.counters[name] = append(f.counters[name], inStore(i, 9, hash, calls, float64(10*calls), 20, -1800, -600))
				}
			}
			for i := range stores {
				name := fmt.Sprintf("store %d", i)
				f.databases, f.stores[name] = append(f.databases, row{20 + i, name, 0, 1, true}), row{2, 1}
			}
			minute(1)
			m.well()
			calls := 2
			for b.Loop() {
				b.StopTimer()
				minute(calls)
				m.Batches = m.Batches[:0]
				calls++
				b.StartTimer()
				m.well()
			}
			if got := len(m.Batches[0].Statements); got != 2+stores {
				b.Errorf("%d samples", got)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/round")
		})
	}
}
