package uptime

import (
	"time"

	"muster/domain/instant"
	"muster/domain/maintenance"
	"muster/domain/objective"
	"muster/internal/watch/status"
)

const (
	// grows is how often a span that goes on is made longer.
	grows = time.Minute
	// slack is how far behind the last judgment a span may be that goes on: it grows once a minute, and
	// is judged every ten seconds.
	slack = grows + 3*10*time.Second
)

// Span is a time in which a server was up or down.
type Span struct {
	Since, Until time.Time
	Up           bool
	Open         bool // it was so when the server was last judged
}

// next is what a judgment makes of the open span of a server, if there is one: the same span as it is from
// then on, and the spans that follow it. Nothing changes if changed is false.
func next(was *Span, s status.Status, now time.Time) (is Span, more []Span, changed bool) {
	known := s.State == status.Up || s.State == status.Down
	began := now
	if s.Since != nil && s.Since.Before(now) {
		began = instant.Cut(*s.Since)
	}
	if was == nil {
		if !known {
			return Span{}, nil, false
		}
		return Span{}, []Span{{began, now, s.State == status.Up, true}}, true
	}
	is = *was
	up := s.State == status.Up
	if known && up == was.Up && !began.After(was.Until) && !restarted(*was, s, began) {
		is.Until = now
		return is, nil, now.Sub(was.Until) >= grows
	}
	is.Open = false
	if began.Before(was.Until) || began.Sub(was.Until) <= slack {
		is.Until = instant.Later(began, was.Since)
	}
	if !known {
		return is, nil, true
	}
	if up && was.Up { // it went down and came back between two judgments, or nobody looked
		if fell, ok := fellWithin(*was, s, began); ok {
			is.Until = was.Until
			if fell.Sub(was.Until) <= slack {
				is.Until = fell
			}
			more = append(more, Span{fell, began, false, false})
		} else if began.Sub(was.Until) > 0 {
			is.Until = was.Until
		}
	}
	return is, append(more, Span{instant.Later(began, is.Until), now, up, true}), true
}

// restarted says whether a server that is up was down since a span began, and is up again since a time.
func restarted(was Span, s status.Status, began time.Time) bool {
	_, fell := fellWithin(was, s, began)
	return was.Up && fell
}

// fellWithin is when a server went down last between the beginning of a span and the time since which it
// is up.
func fellWithin(was Span, s status.Status, began time.Time) (fell time.Time, ok bool) {
	for _, f := range s.Fell {
		if f = instant.Cut(f); f.After(was.Since) && f.Before(began) && f.After(fell) {
			fell, ok = f, true
		}
	}
	return fell, ok
}

// Sum is how long a server was up and down in a period. windows are the times in which it was in
// maintenance windows.
func Sum(spans []Span, windows []maintenance.Span, in maintenance.Span) objective.Uptime {
	if !in.To.After(in.From) {
		return objective.Uptime{}
	}
	covered, down := within(windows, in), Downs(spans, windows, in)
	up := minus(minus(within(times(spans, true), in), covered), down)
	u := objective.Uptime{Up: maintenance.Lasting(up), Down: maintenance.Lasting(down), Maintenance: maintenance.Lasting(covered)}
	u.Unknown = in.To.Sub(in.From) - u.Maintenance - u.Up - u.Down
	return u
}

// Downs are the times in a period in which a server was down, without those in maintenance windows.
func Downs(spans []Span, windows []maintenance.Span, in maintenance.Span) []maintenance.Span {
	return minus(within(times(spans, false), in), within(windows, in))
}

// Gaps are the times in a period in which nobody knows how a server was, without those in maintenance windows.
func Gaps(spans []Span, windows []maintenance.Span, in maintenance.Span) []maintenance.Span {
	whole := within([]maintenance.Span{in}, in)
	return minus(minus(minus(whole, within(windows, in)), within(times(spans, true), in)), within(times(spans, false), in))
}

// times are those of the spans in which a server was up, or of those in which it was down.
func times(spans []Span, up bool) (all []maintenance.Span) {
	for _, s := range spans {
		if s.Up == up {
			all = append(all, maintenance.Span{From: s.Since, To: s.Until})
		}
	}
	return all
}

// within are times cut to a period, in order, each moment once.
func within(spans []maintenance.Span, in maintenance.Span) []maintenance.Span {
	var cut []maintenance.Span
	for _, s := range spans {
		if s = s.Cut(in); s.To.After(s.From) {
			cut = append(cut, s)
		}
	}
	return maintenance.Merged(cut)
}

// minus are times without others. Both are in order, each moment once.
func minus(spans, without []maintenance.Span) (rest []maintenance.Span) {
	first := 0
	for _, s := range spans {
		for first < len(without) && !without[first].To.After(s.From) {
			first++
		}
		from := s.From
		for _, w := range without[first:] {
			if !w.From.Before(s.To) {
				break
			}
			if w.From.After(from) {
				rest = append(rest, maintenance.Span{From: from, To: w.From})
			}
			from = instant.Later(from, w.To)
		}
		if from.Before(s.To) {
			rest = append(rest, maintenance.Span{From: from, To: s.To})
		}
	}
	return rest
}
