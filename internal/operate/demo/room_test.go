package demo

import (
	"testing"
	"time"

	"muster/internal/measurements/forecast"
)

// TestAVolumeFillsOnATuesday: whenever the demo is made, Capacity forecasts the day from the sizes that it keeps.
func TestAVolumeFillsOnATuesday(t *testing.T) {
	t.Parallel()
	for made := time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC); made.Day() != 30; made = made.AddDate(0, 0, 1) {
		var points []forecast.Point
		for days := roomPast; days > 0; days-- {
			at := made.Add(-time.Duration(days) * day)
			points = append(points, forecast.Point{At: at, Used: filling(made, at), Size: 100})
		}
		f := forecast.Of(points, made)
		full := made.Add(time.Duration(f.Days * float64(day)))
		if f.Reason != "" || full.Sub(tuesday(made)).Abs() > 12*time.Hour || full.Weekday() != time.Tuesday {
			t.Errorf("made on a %s: %+v, full on %s, want %s", made.Weekday(), f, full, tuesday(made))
		}
	}
}
