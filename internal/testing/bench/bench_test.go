package bench_test

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// quantile is in milliseconds, as all metrics here are.
func quantile(of []time.Duration, q float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return float64(sorted[int(q*float64(len(sorted)-1))].Microseconds()) / 1000
}

// tell prints a Markdown table: to the file that MUSTER_BENCH_TABLES names, where
// scripts/bench.sh looks, else with the benchmark's figures, where go test cuts it after
// ten lines.
func tell(b *testing.B, title, table string) {
	b.Helper()
	name := os.Getenv("MUSTER_BENCH_TABLES")
	if name == "" {
		b.Logf("%s\n%s", title, table)
		return
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	if _, err := fmt.Fprintf(file, "%s:\n\n%s\n", title, table); err != nil {
		b.Fatal(err)
	}
}
