package window

import (
	"strconv"

	"muster/internal/measurements/forecast"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/day"
)

// FullSoon says in a clause whether a volume is full within FullWithin days: by the fullest one in the window, or by what
// is full first of all volumes and tablespaces. known is false if nothing tells.
func FullSoon(doc snapshot.Document) (soon, known bool, words string) {
	s, measured := Utilization(doc)
	if measured = measured && !s.Full.Until.IsZero(); measured {
		soon, known, words = s.Full.soon()
	} else {
		words = "no volume was measured"
	}
	if doc.Server == nil || doc.Server.Room == nil || soon {
		return soon, known, words
	}
	first := doc.Server.Room
	of := first.Name + " is at " + decimal(first.Percent) + "%"
	switch {
	case first.Days == nil && !measured:
		return false, false, of + ", and there is no date when it is full"
	case first.Days == nil: // for a reason of its own
	case *first.Days <= FullWithin:
		return true, true, of + ", full in " + day.Days(*first.Days)
	case !known:
		return false, true, of
	}
	return soon, known, words
}

// soon says whether the volume is full soon.
func (f Forecast) soon() (soon, known bool, words string) {
	words = "a volume is at " + decimal(f.Level) + "%"
	switch f.Reason {
	case forecast.TooShort, forecast.Stale, forecast.NotMeasured, forecast.NoLimit:
		return false, false, words + ", too few days for a forecast"
	case forecast.SawTooth, forecast.Step:
		return false, false, words + ", and jumps: no forecast"
	case forecast.NotGrowing, forecast.Noise, forecast.Far:
		return false, true, words
	}
	switch {
	case f.Full():
		return true, true, "a volume is full"
	case f.Soon():
		return true, true, words + ", gaining " + decimal(f.PerDay) + " points a day"
	}
	return false, true, words
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
