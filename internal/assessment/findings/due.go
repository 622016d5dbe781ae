package findings

import (
	"time"

	"muster/domain/organization"
)

const day = 24 * time.Hour

// Due says when findings are due: so many days after they were first seen, by severity. It follows
// from the organization's settings of the moment, so that a change of them holds at once.
type Due struct {
	Days organization.DueDays
	Now  time.Time
}

// within is how long findings may stay open, by rank.
func (d Due) within() [4]time.Duration {
	return [...]time.Duration{
		time.Duration(d.Days.Critical) * day, time.Duration(d.Days.High) * day, time.Duration(d.Days.Medium) * day, time.Duration(d.Days.Low) * day,
	}
}

// At is when a finding is due; nil for a check that could not be run, which nobody can close.
func (d Due) At(f Finding) *time.Time {
	if !f.Assessed {
		return nil
	}
	at := f.FirstSeen.Add(d.within()[f.Rank])
	return &at
}

// Overdue is how many days have begun since a finding was due; 0 before that, and of one that is
// gone. Whether an exception accepts it is for the caller to ask.
func (d Due) Overdue(f Finding) int {
	at := d.At(f)
	if at == nil || f.Gone != nil || !d.Now.After(*at) {
		return 0
	}
	return int((d.Now.Sub(*at) + day - 1) / day)
}

// latest is an expression for the time before which a finding was first seen that is overdue. At and
// Overdue do the same; a test holds them together.
func (d Due) latest(bind func(any) string) string {
	latest := make([]time.Time, 0, 4)
	for _, w := range d.within() {
		latest = append(latest, d.Now.Add(-w))
	}
	return "(" + bind(latest) + "::timestamptz[])[f.severity + 1]"
}
