package bench_test

import (
	"testing"
	"time"
)

// idleFor is how long the server has nothing to do before it is measured.
const idleFor = 10 * time.Second

// BenchmarkIdleMemory is the resident set of serve, in all roles and without
// PostgreSQL, ten seconds after it is ready. Goal: ≤ 120 MiB.
func BenchmarkIdleMemory(b *testing.B) {
	p := start(b)
	for b.Loop() {
		time.Sleep(idleFor)
		b.ReportMetric(p.memory(), "idle-MiB")
	}
}
