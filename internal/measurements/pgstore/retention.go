package pgstore

import (
	"time"

	"muster/internal/measurements"
)

// retention is how long rows are kept, at least: data from which something may still be made
// stays. Statements take it as a parameter, so that no SQL file repeats a number. The retention
// of details is measurements.KeptSince.
type retention struct {
	raw     time.Duration // raw samples, after the last one of their hour arrived; then the hour is sealed
	minutes time.Duration // blocks of minutes, and rows of them of wholes
	hours   time.Duration // blocks of hours, and rows of them of wholes
}

var standard = retention{raw: measurements.RawKept, minutes: 30 * 24 * time.Hour, hours: 400 * 24 * time.Hour}

// unsealed is how young an hour is that cannot be sealed yet, with a day to spare for
// clocks that differ.
func (r retention) unsealed() time.Duration { return r.raw - 24*time.Hour }

// statementsKept is how long the dictionary keeps a statement after it was seen last. One day more
// than its details is longer than its last sighting may be out of date (rememberedFor).
const statementsKept = measurements.DayDetailsKept + 24*time.Hour
