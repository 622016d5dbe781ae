package schedule

import (
	"slices"
	"strings"
	"time"
)

// Every is how often a schedule is due, spelt as on the wire.
type Every string

// What a schedule may be due every.
const (
	Day   Every = "day"
	Week  Every = "week"
	Month Every = "month"
)

// LastDay is the day of the month that every month has.
const LastDay = -1

// Recurrence is when a schedule is due.
type Recurrence struct {
	Every      Every  `json:"every"`
	Weekday    string `json:"weekday,omitempty"`    // of every week: monday to sunday
	DayOfMonth int    `json:"dayOfMonth,omitempty"` // of every month: 1 to 31, or LastDay
	At         string `json:"at"`                   // HH:MM
	TimeZone   string `json:"timeZone"`             // of the IANA database
}

// Weekdays are the names of the days, as time.Weekday counts them.
func Weekdays() []string {
	return []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
}

// clockForm is the form of At.
const clockForm = "15:04"

// farthest is more days than lie between two due times: two months.
const farthest = 64

// Next is the first due time after an instant; zone is that of TimeZone. It is zero for a
// recurrence that breaks the rules of Validate.
func (r Recurrence) Next(zone *time.Location, after time.Time) time.Time {
	clock, err := time.Parse(clockForm, r.At)
	if err != nil {
		return time.Time{}
	}
	// Two days before, for a day that a zone leaves out is due on the next.
	year, month, day := after.In(zone).Date()
	for wall := time.Date(year, month, day-2, clock.Hour(), clock.Minute(), 0, 0, time.UTC); wall.Before(after.AddDate(0, 0, farthest)); wall = wall.AddDate(0, 0, 1) {
		if !r.on(wall) {
			continue
		}
		if due := firstAt(zone, wall); due.After(after) {
			return due
		}
	}
	return time.Time{}
}

// NextOf returns the next n due times after an instant, or fewer if there are no more.
func (r Recurrence) NextOf(zone *time.Location, after time.Time, n int) []time.Time {
	dues := make([]time.Time, 0, n)
	for range n {
		next := r.Next(zone, after)
		if next.IsZero() {
			break
		}
		dues, after = append(dues, next), next
	}
	return dues
}

// on says whether a day is one of the recurrence's.
func (r Recurrence) on(day time.Time) bool {
	switch r.Every {
	case Day:
		return true
	case Week:
		return Weekdays()[day.Weekday()] == r.Weekday
	case Month:
		last := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
		if r.DayOfMonth == LastDay {
			return day.Day() == last
		}
		return day.Day() == min(r.DayOfMonth, last)
	}
	return false
}

// firstAt is the first instant at which the zone's clocks show a time or a later one: the first
// of a time that occurs twice, and the end of the gap for one that does not exist. wall is that
// time, written as if it were UTC.
func firstAt(zone *time.Location, wall time.Time) time.Time {
	at := wall.Add(-48 * time.Hour) // no zone is so far from UTC: its clocks show less then
	for {
		_, offset := at.In(zone).Zone()
		_, until := at.In(zone).ZoneBounds()
		found := wall.Add(-time.Duration(offset) * time.Second)
		if found.Before(at) {
			found = at
		}
		if until.IsZero() || found.Before(until) {
			return found.UTC()
		}
		at = until
	}
}

// knownWeekday says whether a name is one of Weekdays.
func knownWeekday(name string) bool { return slices.Contains(Weekdays(), name) }

// ZoneName says whether a name may be one of the IANA database's zones. Others that a
// machine knows mean something else on the next one (Local), or count leap seconds.
func ZoneName(name string) bool {
	area, _, _ := strings.Cut(name, "/")
	return !slices.Contains([]string{"", "Local", "localtime", "posixrules", "Factory", "posix", "right"}, area)
}
