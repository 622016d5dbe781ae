package arrival

import "time"

const (
	// Latest is how late a look may come: an agent keeps looks while it reaches nobody.
	Latest = 72 * time.Hour
	// Ahead is how far a sender's clock may be ahead.
	Ahead = 5 * time.Minute
)

// InTime reports whether a look at a time, by its sender's clock, counts that came at received.
func InTime(at, received time.Time) bool {
	return !at.Before(received.Add(-Latest)) && !at.After(received.Add(Ahead))
}
