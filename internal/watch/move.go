package watch

import (
	"context"
	"time"

	"muster/internal/statement"
)

// change is a sign before and after a decision.
type change struct{ was, is judged }

// move writes changes, and returns those that were made: where a sign is no longer
// as it was judged, the next judgement decides.
func (r *round) move(ctx context.Context, changes []change) ([]change, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	var of columns
	var wasSince, wasUntil, since, until []*time.Time
	var forgotten []bool
	bySubject := make(map[subject]change, len(changes))
	for _, c := range changes {
		of.addSubject(c.was.subject())
		of.at = append(of.at, c.was.At)
		wasSince, wasUntil = append(wasSince, c.was.Since), append(wasUntil, c.was.Until)
		since, until, forgotten = append(since, c.is.Since), append(until, c.is.Until), append(forgotten, c.is.forgotten)
		bySubject[c.was.subject()] = c
	}
	noted, err := statement.All[subject](ctx, r.DB, "note judgements", moveSigns, of.organizations, of.rules, of.instances, of.mounts, of.at,
		wasSince, wasUntil, since, until, forgotten)
	made := make([]change, len(noted))
	for i, s := range noted {
		made[i] = bySubject[s]
	}
	return made, err
}
