package window

import (
	"slices"
	"strconv"

	"muster/internal/measurements/forecast"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/day"
)

// Told is whether something is known to be full soon, or not to be.
func Told(f day.Fill) bool {
	return f.Days != nil || slices.Contains([]forecast.Reason{forecast.NotGrowing, forecast.Noise, forecast.Far}, forecast.Reason(f.Why))
}

// FullSoon says in a clause whether a volume or a tablespace of a server is full within FullWithin days. known is false if
// nothing tells, or if something is nearly full and nobody knows when it is full.
func FullSoon(s *snapshot.Server) (soon, known bool, words string) {
	if s == nil || s.Room == nil {
		return false, false, "no volume was measured"
	}
	of := func(f *day.Fill) string { return f.Name + " is at " + strconv.FormatFloat(f.Percent, 'f', 1, 64) + "%" }
	first, beside := s.Room, s.Undated
	switch {
	case first.Days != nil && *first.Days < 0.05:
		return true, true, first.Name + " is full"
	case first.Days != nil && *first.Days <= FullWithin:
		return true, true, of(first) + ", full in " + day.Days(*first.Days)
	case beside == nil:
		beside = first
	}
	switch {
	case !Told(*beside):
		return false, false, of(beside) + ", and there is no date when it is full"
	case beside.Days == nil:
		return false, true, of(beside) + ", and does not fill steadily"
	}
	return false, true, of(beside)
}
