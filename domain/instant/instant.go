package instant

import "time"

// Cut returns t as PostgreSQL keeps it. The zero time stays zero.
func Cut(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Later returns the later of two times; of equal ones the first.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Earlier returns the earlier of two times; of equal ones the first.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
