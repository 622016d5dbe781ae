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

// rollSlots makes those minutes of an hour anew that are set in dirty: add adds a sample to the slot of
// its minute, which may be the zero value.
func rollSlots[S any](slots []S, hour time.Time, dirty uint64, samples []Sample, add func(slot *S, body []byte) error) error {
	for i := range MinutesOfHour {
		if dirty>>i&1 != 0 {
			slots[i] = *new(S)
		}
	}
	for _, s := range samples {
		if minute, ok := minuteOf(hour, s.At); ok && dirty>>minute&1 != 0 {
			if err := add(&slots[minute], s.Body); err != nil {
				return err
			}
		}
	}
	return nil
}

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
