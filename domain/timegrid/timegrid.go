package timegrid

import "time"

// Size is the width of a bucket, as it is spelled on the wire.
type Size string

// The sizes. Nothing here takes another one.
const (
	Minute Size = "1m"
	Hour   Size = "1h"
	Day    Size = "1d"
	Week   Size = "1w"
)

// Sizes returns every size, the smallest first.
func Sizes() []Size { return []Size{Minute, Hour, Day, Week} }

// origin is when a bucket of every size starts: Monday, 5 January 1970, 00:00 UTC,
// in seconds since the epoch, which was a Thursday.
const origin = 4 * 24 * 60 * 60

// Width returns how long a bucket of the size is; 0 for an unknown size.
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
func (s Size) Floor(t time.Time) time.Time { return s.start(s.number(t)) }

// number counts the buckets from the origin to the one that contains t. It counts in seconds: a
// Duration ends after 292 years, and years go to 9999.
func (s Size) number(t time.Time) int64 {
	since, width := t.Unix()-origin, int64(s.Width()/time.Second)
	n := since / width
	if since%width < 0 { // before the origin, division rounds up
		n--
	}
	return n
}

func (s Size) start(number int64) time.Time {
	return time.Unix(origin+number*int64(s.Width()/time.Second), 0).UTC()
}

// Window is the time that a series covers: from From, inclusive, to To,
// exclusive, in buckets of Size. From is before To.
type Window struct {
	From, To time.Time
	Size     Size
}

// Start is where the first bucket starts: at From or before it.
func (w Window) Start() time.Time { return w.Size.Floor(w.From) }

// End is where the last bucket ends: at To or after it.
func (w Window) End() time.Time { return w.Size.start(w.Size.number(w.last()) + 1) }

func (w Window) last() time.Time { return w.To.Add(-1) }

// Len is how many buckets there are.
func (w Window) Len() int { return w.Index(w.last()) + 1 }

// Starts are where the buckets start.
func (w Window) Starts() []time.Time {
	starts := make([]time.Time, w.Len())
	for i, first := 0, w.Size.number(w.From); i < len(starts); i++ {
		starts[i] = w.Size.start(first + int64(i))
	}
	return starts
}

// Index is the bucket that t is in, counted from 0: a time before the first bucket
// has a negative one, a time after the last bucket Len or more.
func (w Window) Index(t time.Time) int { return int(w.Size.number(t) - w.Size.number(w.From)) }
