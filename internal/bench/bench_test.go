package bench_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"muster/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// quantile is in milliseconds, as all metrics here are.
func quantile(of []time.Duration, q float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return float64(sorted[int(q*float64(len(sorted)-1))].Microseconds()) / 1000
}
