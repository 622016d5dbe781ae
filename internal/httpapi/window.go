package httpapi

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
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

// seriesWindow is the window of a series as it is answered: To is not after Now.
type seriesWindow struct {
	timegrid.Window
	Now time.Time
}

// windowAt is the window that a caller asks for at a moment, or the rules that it
// breaks. What lies in the future has not happened: To is now at the latest.
// Times are those of PostgreSQL, which has microseconds.
func windowAt(now, from, to time.Time, size api.BucketSize) (seriesWindow, []api.FieldError) {
	now = instant.Cut(now)
	w := seriesWindow{Now: now, Window: timegrid.Window{From: instant.Cut(from), To: instant.Cut(to), Size: timegrid.Size(size)}}
	broken := emptyWindow(&w.From, &w.To)
	if w.From.After(now) {
		broken = append(broken, brokenRule("from", "window_in_future", "must not be in the future", nil))
	}
	if len(broken) > 0 {
		return w, broken
	}
	if w.To.After(now) {
		w.To = now
	}
	if broken = emptyWindow(&w.From, &w.To); len(broken) > 0 { // from now on
		return w, broken
	}
	if n := w.Len(); n > maxBuckets {
		detail := fmt.Sprintf("and from make more than %d buckets", maxBuckets)
		return w, []api.FieldError{brokenRule("to", "too_many_buckets", detail, map[string]any{"max": maxBuckets, "buckets": n})}
	}
	return w, nil
}

// lastIsPartial says that the last bucket is still filling.
func (w seriesWindow) lastIsPartial() bool { return w.End().After(w.Now) }

// bound is a time that a list may be cut at; zero: it is not. Nothing happened in
// the first instant of the calendar, which would read the same.
func bound(t *time.Time) time.Time {
	if t == nil || !t.IsZero() {
		return instant.Cut(value(t))
	}
	return t.UTC().Add(time.Microsecond)
}

// emptyWindow is the rule that a window breaks which ends before it has begun;
// nil: it has no such end.
func emptyWindow(from, to *time.Time) []api.FieldError {
	if from == nil || to == nil || from.Before(*to) {
		return nil
	}
	return []api.FieldError{brokenRule("from", "invalid_window", "must lie before to", nil)}
}

// overlong is the rule that a filter breaks which has too many entries.
func overlong(name string, entries int) []api.FieldError {
	if entries <= maxFilter {
		return nil
	}
	detail := fmt.Sprintf("must have at most %d entries", maxFilter)
	return []api.FieldError{brokenRule(name, "too_many_instances", detail, map[string]any{"max": maxFilter})}
}

func brokenRule(parameter, code, detail string, params map[string]any) api.FieldError {
	f := api.FieldError{In: api.Query, Parameter: &parameter, Code: code, Detail: detail}
	if params != nil {
		f.Params = &params
	}
	return f
}

// brokenRules makes one problem of the rules that parameters break, or nil. Its
// code is the first one's.
func brokenRules(fields ...[]api.FieldError) *problem {
	all := slices.Concat(fields...)
	if len(all) == 0 {
		return nil
	}
	detail := place(all[0]) + " " + all[0].Detail + "."
	if len(all) > 1 {
		detail = fmt.Sprintf("%d rules are broken; errors names them.", len(all))
	}
	return &problem{Code: all[0].Code, Detail: detail, Fields: all}
}

// scope is what a filter leaves of the caller's organization.
func (s *server) scope(ctx context.Context, ids *[]uuid.UUID, names *[]string) (fleet.Scope, error) {
	return s.Fleet.Scope(ctx, caller(ctx).Organization.ID, list(ids), list(names))
}
