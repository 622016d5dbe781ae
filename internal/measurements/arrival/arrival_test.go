package arrival_test

import (
	"testing"
	"time"

	"muster/internal/measurements/arrival"
)

func TestALookCountsWithinItsBounds(t *testing.T) {
	t.Parallel()
	came := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for late, want := range map[time.Duration]bool{
		0: true, arrival.Latest: true, arrival.Latest + 1: false, -arrival.Ahead: true, -arrival.Ahead - 1: false,
	} {
		if got := arrival.InTime(came.Add(-late), came); got != want {
			t.Errorf("a look that is %s late counts: %t", late, got)
		}
	}
}
