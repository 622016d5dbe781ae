package timegrid

import "time"

// Size is the width of a bucket, as it is spelled on the wire.
type Size string

// The sizes.
const (
	Minute Size = "1m"
	Hour   Size = "1h"
	Day    Size = "1d"
	Week   Size = "1w"
)

// Origin is a bucket's start for every size: a Monday, 00:00 UTC.
var Origin = time.Date(1970, 1, 5, 0, 0, 0, 0, time.UTC)

// Width returns how long a bucket of the size is; 0 where there is no such size.
func (s Size) Width() time.Duration {
	switch s {
	case Minute:
		return time.Minute
	case Hour:
		return time.Hour
	case Day:
		return 24 * time.Hour
	case Week:
		return 7 * 24 * time.Hour
	}
	return 0
}

// Floor returns the start of the bucket that t is in.
func (s Size) Floor(t time.Time) time.Time {
	width := int64(s.Width() / time.Second)
	seconds := t.Unix() - Origin.Unix() // a Duration ends 292 years from 1970
	into := seconds % width
	if into < 0 {
		into += width
	}
	return time.Unix(t.Unix()-into, 0).UTC()
}

// Window is the time that a series covers: from From, inclusive, to To,
// exclusive, in buckets of Size. From is before To.
type Window struct {
	From, To time.Time
	Size     Size
}

// Start is where the first bucket starts: at From or before it.
func (w Window) Start() time.Time { return w.Size.Floor(w.From) }

// Len is how many buckets there are: the last one holds the instant before To.
func (w Window) Len() int {
	return int(w.Size.Floor(w.To.Add(-1)).Sub(w.Start())/w.Size.Width()) + 1
}

// Starts are where the buckets start.
func (w Window) Starts() []time.Time {
	starts := make([]time.Time, w.Len())
	for i, first := 0, w.Start(); i < len(starts); i++ {
		starts[i] = first.Add(time.Duration(i) * w.Size.Width())
	}
	return starts
}

// End is where the last bucket ends: at To or after it.
func (w Window) End() time.Time { return w.Start().Add(time.Duration(w.Len()) * w.Size.Width()) }

// Index is the bucket that t is in, counted from 0; t is in the window.
func (w Window) Index(t time.Time) int { return int(t.Sub(w.Start()) / w.Size.Width()) }
