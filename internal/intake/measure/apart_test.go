package measure_test

import (
	"testing"
	"time"

	"muster/internal/intake/measure"
)

// TestListsTakeAtMostFiveSecondsAMinute: after one that took long, turns are left out.
func TestListsTakeAtMostFiveSecondsAMinute(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 30, 12, 0, 7, 0, time.UTC)
	const phase = 7 * time.Second
	for _, test := range []struct{ every, took, want time.Duration }{
		{20 * time.Second, 0, 20 * time.Second},
		{20 * time.Second, 1300 * time.Millisecond, 20 * time.Second}, // 200,000 cursors
		{20 * time.Second, 2 * time.Second, 40 * time.Second},
		{20 * time.Second, 5 * time.Second, time.Minute},
		{20 * time.Second, 20 * time.Second, 4 * time.Minute},
		{time.Minute, 5200 * time.Millisecond, time.Minute},
		{time.Minute, 10 * time.Second, 2 * time.Minute},
	} {
		now := began.Add(test.took)
		next := now.Add(measure.UntilRested(now, began, test.took, test.every, phase%test.every))
		if got := next.Sub(began); got != test.want {
			t.Errorf("a list of %s each %s: the next after %s, want %s", test.took, test.every, got, test.want)
		}
	}
}
