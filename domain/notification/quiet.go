package notification

import (
	"fmt"
	"time"
)

// Quiet are the hours in which a rule tells nothing, each day, by a time zone's clocks.
type Quiet struct {
	From           string `json:"from"` // "22:00"
	To             string `json:"to"`   // earlier than From: on the next day
	TimeZone       string `json:"timeZone"`
	ExceptCritical bool   `json:"exceptCritical"`
}

// minutes is a time of day, "HH:MM", in minutes after midnight.
func minutes(clock string) (int, error) {
	at, err := time.Parse("15:04", clock)
	if err != nil || len(clock) != len("15:04") {
		return 0, fmt.Errorf("%q is no time of day", clock)
	}
	return at.Hour()*60 + at.Minute(), nil
}

// Until is when the quiet hours end that there are now; ok is false where there are
// none now. zone is that of TimeZone. Errors: a time of day that does not exist, which
// Broken finds.
func (q Quiet) Until(now time.Time, zone *time.Location) (end time.Time, ok bool, err error) {
	from, err := minutes(q.From)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("quiet hours: %w", err)
	}
	to, err := minutes(q.To)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("quiet hours: %w", err)
	}
	local := now.In(zone)
	clock, day := local.Hour()*60+local.Minute(), local.Day()
	switch {
	case from < to && (clock < from || clock >= to), from >= to && clock < from && clock >= to:
		return time.Time{}, false, nil
	case from >= to && clock >= from:
		day++
	}
	end = first(time.Date(local.Year(), local.Month(), day, to/60, to%60, 0, 0, zone))
	// Where the clocks were put back over the end it has passed once already.
	return end, end.After(now), nil
}

// first is the first of two instants at which the clocks show the same as at t.
func first(t time.Time) time.Time {
	since, _ := t.ZoneBounds()
	if since.IsZero() {
		return t
	}
	_, offset := t.Zone()
	_, before := since.Add(-1).Zone()
	if earlier := t.Add(-time.Duration(before-offset) * time.Second); before > offset && earlier.Before(since) {
		return earlier
	}
	return t
}
