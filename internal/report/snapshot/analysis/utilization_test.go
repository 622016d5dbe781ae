package analysis_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// hours makes a line of figures; NaN is a gap.
func hours(figures ...float64) []*float64 {
	out := make([]*float64, len(figures))
	for i := range figures {
		if !math.IsNaN(figures[i]) {
			out[i] = &figures[i]
		}
	}
	return out
}

// line makes hours that begin at a level and gain something every day.
func line(level, perDay float64, n int) []*float64 {
	out := make([]*float64, n)
	for i := range out {
		v := level + perDay*float64(i)/24
		out[i] = &v
	}
	return out
}

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
	s, ok := analysis.Utilization(snapshot.Document{Utilization: &snapshot.Utilization{
		Start: start, Hosts: 2, CPUPercent: hours(gap, 80, 80.1, gap, 10), MemoryPercent: hours(gap, gap, gap, gap, gap), DiskPercent: hours(50, gap, gap, gap, gap),
	}})
	if !ok || s.Hosts != 2 || s.Hours != 5 || s.Start != start {
		t.Fatalf("%+v", s)
	}
	for i, want := range []analysis.Resource{
		analysis.CPU:    {Measured: 3, Min: 10, Mean: 170.1 / 3, P95: 80.1, Max: 80.1, Busy: 1},
		analysis.Memory: {},
		analysis.Disk:   {Measured: 1, Min: 50, Mean: 50, P95: 50, Max: 50},
	} {
		if diff := cmp.Diff(want, s.Of[i], cmpopts.IgnoreFields(analysis.Resource{}, "Values"), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("resource %d (-want +got):\n%s", i, diff)
		}
	}
	if s, ok := analysis.Utilization(snapshot.Document{}); ok {
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
		s, _ := analysis.Utilization(snapshot.Document{Utilization: &snapshot.Utilization{CPUPercent: hours(values...)}})
		if got := s.Of[analysis.CPU].P95; got != want {
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
		want analysis.Forecast
	}{
		"nothing":               {nil, analysis.Forecast{}},
		"an hour less":          {line(50, 2, week-1), analysis.Forecast{Past: (week - 1) / 24.0, Until: until(week - 1), Level: 50 + 2*(week-2)/24.0}},
		"a week":                {line(50, 2, week+1), analysis.Forecast{Known: true, Past: (week + 1) / 24.0, Until: until(week + 1), PerDay: 2, Level: 64, R2: 1, Days: 18}},
		"a week with gaps":      {without(line(50, 2, week+1), 10, 90), analysis.Forecast{Known: true, Past: (week + 1) / 24.0, Until: until(week + 1), PerDay: 2, Level: 64, R2: 1, Days: 18}},
		"a week of gaps":        {without(line(50, 2, week+1), 10, 120), analysis.Forecast{Past: (week + 1) / 24.0, Until: until(week + 1), Level: 64}},
		"measured late":         {without(line(50, 2, 2*week+1), 0, week+1), analysis.Forecast{Known: true, Past: 7, Until: until(2*week + 1), PerDay: 2, Level: 78, R2: 1, Days: 11}},
		"an agent that is gone": {without(line(50, 2, 2*week+1), week+1, 2*week+1), analysis.Forecast{Known: true, Past: (week + 1) / 24.0, Until: until(week + 1), PerDay: 2, Level: 64, R2: 1, Days: 18}},
		"steady":                {line(50, 0, week), analysis.Forecast{Known: true, Past: 7, Until: until(week), Level: 50, R2: 1, Days: math.Inf(1)}},
		"emptying":              {line(90, -3, week+1), analysis.Forecast{Known: true, Past: (week + 1) / 24.0, Until: until(week + 1), PerDay: -3, Level: 69, R2: 1, Days: math.Inf(1)}},
		"full":                  {line(93, 1, week+1), analysis.Forecast{Known: true, Past: (week + 1) / 24.0, Until: until(week + 1), PerDay: 1, Level: 100, R2: 1}},
	} {
		s, _ := analysis.Utilization(snapshot.Document{Utilization: &snapshot.Utilization{Start: start, DiskPercent: test.disk}})
		if diff := cmp.Diff(test.want, s.Full, cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
