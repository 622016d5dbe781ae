package wire

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"muster/domain/instant"
	"muster/domain/timegrid"
	"muster/internal/httpapi/api"
)

const (
	// maxFilter is how many entries a filter has at most (contract, §1.6).
	maxFilter = 500
	// maxBuckets is how many buckets a series has at most: as many as Prometheus
	// answers points. A week of minutes is 10,080.
	maxBuckets = 11_000
)

// SeriesWindow is the window of a series as it is answered: To is not after Now.
type SeriesWindow struct {
	timegrid.Window
	Now time.Time
}

// WindowAt is the window that a caller asks for at a moment, or the rules that it
// breaks. What lies in the future has not happened: To is now at the latest.
// Times are those of PostgreSQL, which has microseconds.
func WindowAt(now, from, to time.Time, size api.BucketSize) (SeriesWindow, []api.FieldError) {
	w, broken := SpanAt(now, from, to)
	if w.Size = timegrid.Size(size); len(broken) > 0 {
		return w, broken
	}
	if n := w.Len(); n > maxBuckets {
		detail := fmt.Sprintf("and from make more than %d buckets", maxBuckets)
		return w, []api.FieldError{brokenRule("to", "too_many_buckets", detail, map[string]any{"max": maxBuckets, "buckets": n})}
	}
	return w, nil
}

// SpanAt is WindowAt of a window without buckets.
func SpanAt(now, from, to time.Time) (SeriesWindow, []api.FieldError) {
	now = instant.Cut(now)
	w := SeriesWindow{Now: now, Window: timegrid.Window{From: instant.Cut(from), To: instant.Cut(to)}}
	broken := EmptyWindow(&w.From, &w.To)
	if w.From.After(now) {
		broken = append(broken, brokenRule("from", "window_in_future", "must not be in the future", nil))
	}
	if len(broken) > 0 {
		return w, broken
	}
	if w.To.After(now) {
		w.To = now
	}
	return w, EmptyWindow(&w.From, &w.To) // from now on
}

// LastIsPartial says that the last bucket is still filling.
func (w SeriesWindow) LastIsPartial() bool { return w.End().After(w.Now) }

// Bound is a time that a list may be cut at; zero: it is not. Nothing happened in
// the first instant of the calendar, which would read the same.
func Bound(t *time.Time) time.Time {
	if t == nil || !t.IsZero() {
		return instant.Cut(Value(t))
	}
	return t.UTC().Add(time.Microsecond)
}

// EmptyWindow is the rule that a window breaks which ends before it has begun;
// nil: it has no such end.
func EmptyWindow(from, to *time.Time) []api.FieldError {
	if from == nil || to == nil || from.Before(*to) {
		return nil
	}
	return []api.FieldError{brokenRule("from", "invalid_window", "must lie before to", nil)}
}

// Overlong is the rule that a filter breaks which has too many entries.
func Overlong(name string, entries int) []api.FieldError {
	if entries <= maxFilter {
		return nil
	}
	detail := fmt.Sprintf("must have at most %d entries", maxFilter)
	return []api.FieldError{brokenRule(name, "too_many_instances", detail, map[string]any{"max": maxFilter})}
}

// BrokenParameter is a rule that a parameter breaks.
func BrokenParameter(name, code, detail string, params map[string]any) []api.FieldError {
	return []api.FieldError{brokenRule(name, code, detail, params)}
}

// NotAvailableBy is the rule that a key of contributors breaks that is none of those a
// figure has.
func NotAvailableBy[K ~string](keys []K) []api.FieldError {
	return BrokenParameter("by", "by_not_available", "is not what the figure of this series is kept by", map[string]any{"by": keys})
}

// ContributorLimit is how many contributors are asked for.
func ContributorLimit(limit *int32) int { return cmp.Or(int(Value(limit)), 10) }

func brokenRule(parameter, code, detail string, params map[string]any) api.FieldError {
	f := api.FieldError{In: api.Query, Parameter: &parameter, Code: code, Detail: detail}
	if params != nil {
		f.Params = &params
	}
	return f
}

// BrokenRules makes one problem of the rules that parameters break, or nil. Its
// code is the first one's.
func BrokenRules(fields ...[]api.FieldError) *Problem {
	all := slices.Concat(fields...)
	if len(all) == 0 {
		return nil
	}
	detail := FieldName(all[0]) + " " + all[0].Detail + "."
	if len(all) > 1 {
		detail = fmt.Sprintf("%d rules are broken; errors names them.", len(all))
	}
	return &Problem{Code: all[0].Code, Detail: detail, Fields: all}
}
