package objective

import "time"

// Verdict is whether an objective is kept.
type Verdict string

// The verdicts.
const (
	Kept   Verdict = "kept"
	Missed Verdict = "missed"
	Untold Verdict = "cannot_be_told"
)

// LeastCoverage is the part of the hours that needs executions, so that a mean latency is judged.
const LeastCoverage = 0.5

// Uptime is how long a server was up and down in a period, for how long nobody knows, and for how long
// it was in maintenance windows, which is in none of the others.
type Uptime struct{ Up, Down, Unknown, Maintenance time.Duration }

// Judged is the time that counts.
func (u Uptime) Judged() time.Duration { return u.Up + u.Down + u.Unknown }

// Range is the availability in percent: Low if the server was down whenever nobody knows, High if it
// was up. ok is false if no time counts.
func (u Uptime) Range() (low, high float64, ok bool) {
	all := u.Judged()
	if all <= 0 {
		return 0, 0, false
	}
	percent := func(part time.Duration) float64 { return 100 * float64(part) / float64(all) }
	return percent(u.Up), percent(all - u.Down), true
}

// slack is what a percentage may lack by the arithmetic of floating point alone: it is a microsecond of a month.
const slack = 1e-9

// Available judges availability against an objective in percent.
func Available(u Uptime, percent float64) Verdict {
	low, high, ok := u.Range()
	switch {
	case !ok:
		return Untold
	case low >= percent-slack:
		return Kept
	case high < percent-slack:
		return Missed
	}
	return Untold
}

// Budget is for how long a server may be down in a period of which so much counts.
func Budget(counts time.Duration, percent float64) time.Duration {
	return time.Duration(float64(counts) * (1 - percent/100)).Round(time.Microsecond)
}

// Latency is the mean over the executions of a period, and the part of its hours that have some. MeanMs
// is nil if nothing was executed, or nobody measured it.
type Latency struct {
	MeanMs   *float64
	Coverage float64 // 0 to 1
}

// Fast judges a latency against the highest mean that an objective allows.
func Fast(l Latency, most float64) Verdict {
	switch {
	case l.MeanMs == nil || l.Coverage < LeastCoverage:
		return Untold
	case *l.MeanMs <= most:
		return Kept
	}
	return Missed
}
