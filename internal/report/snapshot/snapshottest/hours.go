package snapshottest

import "math"

// Hours makes a line of figures; NaN is a gap.
func Hours(figures ...float64) []*float64 {
	out := make([]*float64, len(figures))
	for i := range figures {
		if !math.IsNaN(figures[i]) {
			out[i] = &figures[i]
		}
	}
	return out
}

// Line makes hours that begin at a level and gain something every day.
func Line(level, perDay float64, n int) []*float64 {
	out := make([]*float64, n)
	for i := range out {
		v := level + perDay*float64(i)/24
		out[i] = &v
	}
	return out
}
