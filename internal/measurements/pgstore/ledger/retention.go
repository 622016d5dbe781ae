package ledger

import (
	"time"

	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// Retention is how long rows are kept, at least: data from which something may still be made
// stays. Statements take it as a parameter, so that no SQL file repeats a number. The retention
// of details is measurements.KeptSince.
type Retention struct {
	Raw      time.Duration // raw samples, after the last one of their hour arrived; then the hour is sealed
	Minutes  time.Duration // blocks of minutes, and rows of them of wholes
	Hours    time.Duration // blocks of hours, and rows of them of wholes
	Activity Buckets       // of what sessions do, whose rows go sooner
}

// Buckets is how long the buckets of a kind are kept that goes by a retention of its own, which is
// no longer than that of all kinds. Weeks are kept as long as their days.
type Buckets struct{ Minutes, Hours, Days time.Duration }

// Of is how long buckets of a size are kept.
func (b Buckets) Of(size timegrid.Size) time.Duration {
	switch size {
	case timegrid.Minute:
		return b.Minutes
	case timegrid.Hour:
		return b.Hours
	}
	return b.Days
}

// Standard is the retention of every store, but in tests.
var Standard = Retention{
	Raw: measurements.RawKept, Minutes: 30 * 24 * time.Hour, Hours: 400 * 24 * time.Hour,
	Activity: Buckets{measurements.RawKept, measurements.HourDetailsKept, measurements.DayDetailsKept},
}

// Unsealed is how young an hour is that cannot be sealed yet, with a day to spare for
// clocks that differ.
func (r Retention) Unsealed() time.Duration { return r.Raw - 24*time.Hour }
