package window_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

func TestForecast(t *testing.T) {
	t.Parallel()
	const week = 7 * 24
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	until := func(hours int) time.Time { return start.Add(time.Duration(hours) * time.Hour) }
	for name, test := range map[string]struct {
		disk []*float64
		want window.Forecast
	}{
		"nothing":               {nil, window.Forecast{}},
		"an hour less":          {snapshottest.Line(50, 2, week-1), window.Forecast{Past: (week - 1) / 24.0, Until: until(week - 1), Level: 50 + 2*(week-2)/24.0}},
		"a week":                {snapshottest.Line(50, 2, week+1), window.Forecast{Known: true, Past: (week + 1) / 24.0, Until: until(week + 1), PerDay: 2, Level: 64, R2: 1, Days: 18}},
		"a week with gaps":      {without(snapshottest.Line(50, 2, week+1), 10, 90), window.Forecast{Known: true, Past: (week + 1) / 24.0, Until: until(week + 1), PerDay: 2, Level: 64, R2: 1, Days: 18}},
		"a week of gaps":        {without(snapshottest.Line(50, 2, week+1), 10, 120), window.Forecast{Past: (week + 1) / 24.0, Until: until(week + 1), Level: 64}},
		"measured late":         {without(snapshottest.Line(50, 2, 2*week+1), 0, week+1), window.Forecast{Known: true, Past: 7, Until: until(2*week + 1), PerDay: 2, Level: 78, R2: 1, Days: 11}},
		"an agent that is gone": {without(snapshottest.Line(50, 2, 2*week+1), week+1, 2*week+1), window.Forecast{Known: true, Past: (week + 1) / 24.0, Until: until(week + 1), PerDay: 2, Level: 64, R2: 1, Days: 18}},
		"steady":                {snapshottest.Line(50, 0, week), window.Forecast{Known: true, Past: 7, Until: until(week), Level: 50, R2: 1, Days: math.Inf(1)}},
		"emptying":              {snapshottest.Line(90, -3, week+1), window.Forecast{Known: true, Past: (week + 1) / 24.0, Until: until(week + 1), PerDay: -3, Level: 69, R2: 1, Days: math.Inf(1)}},
		"full":                  {snapshottest.Line(93, 1, week+1), window.Forecast{Known: true, Past: (week + 1) / 24.0, Until: until(week + 1), PerDay: 1, Level: 100, R2: 1}},
	} {
		s, _ := window.Utilization(snapshot.Document{Utilization: &snapshot.Utilization{Start: start, DiskPercent: test.disk}})
		if diff := cmp.Diff(test.want, s.Full, cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
