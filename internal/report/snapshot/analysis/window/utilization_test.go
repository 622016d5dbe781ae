package window_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"muster/internal/measurements/forecast"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis/window"
	"muster/internal/report/snapshot/snapshottest"
)

// without takes the hours from one to another away.
func without(values []*float64, from, to int) []*float64 {
	values = slices.Clone(values)
	for i := from; i < to; i++ {
		values[i] = nil
	}
	return values
}

func TestUtilizationOfGaps(t *testing.T) {
	t.Parallel()
	gap := math.NaN()
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	s, ok := window.Utilization(snapshot.Document{Utilization: &snapshot.Utilization{
		Start: start, Hosts: 2, CPUPercent: snapshottest.Hours(gap, 80, 80.1, gap, 10), MemoryPercent: snapshottest.Hours(gap, gap, gap, gap, gap), DiskPercent: snapshottest.Hours(50, gap, gap, gap, gap),
	}})
	if !ok || s.Hosts != 2 || s.Hours != 5 || s.Start != start {
		t.Fatalf("%+v", s)
	}
	for i, want := range []window.Resource{
		window.CPU:    {Measured: 3, Min: 10, Mean: 170.1 / 3, P95: 80.1, Max: 80.1, Busy: 1},
		window.Memory: {},
		window.Disk:   {Measured: 1, Min: 50, Mean: 50, P95: 50, Max: 50},
	} {
		if diff := cmp.Diff(want, s.Of[i], cmpopts.IgnoreFields(window.Resource{}, "Values"), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("resource %d (-want +got):\n%s", i, diff)
		}
	}
	if s, ok := window.Utilization(snapshot.Document{}); ok {
		t.Errorf("of nothing: %+v", s)
	}
}

// The 95th percentile is a value that was measured: 95 of 100 do not exceed it.
func TestPercentile(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]float64{1: 1, 2: 2, 19: 19, 20: 19, 21: 20, 100: 95, 101: 96} {
		var values []float64
		for i := n; i > 0; i-- {
			values = append(values, float64(i))
		}
		s, _ := window.Utilization(snapshot.Document{Utilization: &snapshot.Utilization{CPUPercent: snapshottest.Hours(values...)}})
		if got := s.Of[window.CPU].P95; got != want {
			t.Errorf("of %d: %v, want %v", n, got, want)
		}
	}
}

// TestForecast: the hours of the window are the history, and what is missing ends none.
func TestForecast(t *testing.T) {
	t.Parallel()
	const week = 7 * 24
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		disk   []*float64
		reason forecast.Reason
		perDay float64
		days   float64 // of a forecast with a date, to a day
		hours  int     // until when it was measured
	}{
		"nothing":               {nil, forecast.NotMeasured, 0, 0, 0},
		"an hour less":          {snapshottest.Line(50, 2, week-24), forecast.TooShort, 0, 0, week - 24},
		"a week":                {snapshottest.Line(50, 2, week), "", 2, 18, week},
		"a week with gaps":      {without(snapshottest.Line(50, 2, week+1), 10, 70), "", 2, 18, week + 1},
		"a week of gaps":        {without(snapshottest.Line(50, 2, week+1), 10, 120), forecast.TooShort, 0, 0, week + 1},
		"measured late":         {without(snapshottest.Line(50, 2, 2*week+1), 0, week+1), "", 2, 11, 2*week + 1},
		"an agent that is gone": {without(snapshottest.Line(50, 2, 2*week+1), week+1, 2*week+1), "", 2, 18, week + 1},
		"steady":                {snapshottest.Line(50, 0, week), forecast.NotGrowing, 0, 0, week},
		"emptying":              {snapshottest.Line(90, -3, week+1), forecast.NotGrowing, -3, 0, week + 1},
		"full":                  {snapshottest.Line(93, 1, week+1), "", 0, 0, week + 1},
	} {
		s, _ := window.Utilization(snapshot.Document{Utilization: &snapshot.Utilization{Start: start, DiskPercent: test.disk}})
		f := s.Full
		if f.Reason != test.reason || math.Abs(f.PerDay-test.perDay) > 0.01 || math.Abs(f.Days-test.days) > 1 ||
			f.Until.IsZero() != (test.hours == 0) || test.hours > 0 && !f.Until.Equal(start.Add(time.Duration(test.hours)*time.Hour)) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
