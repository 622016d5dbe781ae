package codec

import (
	"time"

	"muster/domain/timegrid"
)

// MinutesOfHour is how many there are; AllMinutes has each of their bits.
const (
	MinutesOfHour = 60
	AllMinutes    = uint64(1)<<MinutesOfHour - 1
)

// Spans are the times whose samples the dirty minutes of an hour need: the minutes and
// what a kind looks back before each, joined where they touch.
func Spans(start time.Time, dirty uint64, reach time.Duration) []timegrid.Window {
	var found []timegrid.Window
	for i := range MinutesOfHour {
		if dirty>>i&1 == 0 {
			continue
		}
		from := start.Add(time.Duration(i) * time.Minute)
		w := timegrid.Window{From: from.Add(-reach), To: from.Add(time.Minute)}
		if n := len(found); n > 0 && !w.From.After(found[n-1].To) {
			found[n-1].To = w.To
			continue
		}
		found = append(found, w)
	}
	return found
}
