package day

import (
	"slices"
	"time"
)

// Zone is a time zone as it was around a day.
type Zone struct {
	Name    string   `json:"name"`
	Offsets []Offset `json:"offsets"` // oldest first
}

// Offset is what clocks were ahead of UTC from a time on.
type Offset struct {
	From    time.Time `json:"from"`
	Seconds int       `json:"seconds"`
}

// ZoneOf keeps what a zone did for 400 days before a time, and for 30 days after it.
func ZoneOf(zone *time.Location, at time.Time) Zone {
	kept := Zone{Name: zone.String()}
	for t := at.AddDate(0, 0, -400); t.Before(at.AddDate(0, 0, 30)); {
		_, seconds := t.In(zone).Zone()
		kept.Offsets = append(kept.Offsets, Offset{t.UTC(), seconds})
		_, until := t.In(zone).ZoneBounds()
		if until.IsZero() {
			break
		}
		t = until
	}
	return kept
}

// In is a time as the zone's clocks show it.
func (z Zone) In(t time.Time) time.Time {
	seconds := 0
	if len(z.Offsets) > 0 {
		i, found := slices.BinarySearchFunc(z.Offsets, t, func(o Offset, t time.Time) int { return o.From.Compare(t) })
		if !found {
			i = max(i-1, 0)
		}
		seconds = z.Offsets[i].Seconds
	}
	return t.In(time.FixedZone(z.Name, seconds))
}

// dayLayout is the name of a day.
const dayLayout = "2 Jan"

// When is a time in the words of a digest: today 02:38, yesterday 23:10, 24 Nov.
func (d Digest) When(t time.Time) string {
	at, today := d.Zone.In(t), d.Zone.In(d.day())
	switch {
	case sameDay(at, today):
		return "today " + at.Format("15:04")
	case sameDay(at, today.AddDate(0, 0, -1)):
		return "yesterday " + at.Format("15:04")
	}
	return d.Date(t)
}

// Clock is a time of the day.
func (d Digest) Clock(t time.Time) string { return d.Zone.In(t).Format("15:04") }

// Date is a day, with its year if that is another one.
func (d Digest) Date(t time.Time) string {
	at := d.Zone.In(t)
	if at.Year() != d.Zone.In(d.To).Year() {
		return at.Format(dayLayout + " 2006")
	}
	return at.Format(dayLayout)
}

// day is an instant of the day that the digest is named after: that of its end. A day that ends at
// midnight is the one before.
func (d Digest) day() time.Time { return d.To.Add(-time.Nanosecond) }

func sameDay(a, b time.Time) bool {
	y, m, day := a.Date()
	y2, m2, day2 := b.Date()
	return y == y2 && m == m2 && day == day2
}
