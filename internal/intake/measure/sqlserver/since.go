package sqlserver

import "muster/internal/intake/measure"

// zone is how far the server's local time has been ahead of UTC.
type zone struct {
	known   bool
	offset  int64 // minutes
	changed int64 // when it was last seen to have changed, in microseconds by the server's clock; 0: never
}

// doubt is for how long after a change of local time the views of the plan cache are not
// believed to say when something was: they say it in local time, and what was written down
// before the change would be an hour off.
const doubt = 2 * 60 * microsecondsPerMinute

// look takes in what the clocks say, and says whether local times can be told.
func (z *zone) look(before, after clocks) (told bool) {
	if z.known && before.offset != z.offset || after.offset != before.offset {
		z.changed = after.Now
	}
	z.known, z.offset = true, after.offset
	return z.changed == 0 || after.Now-z.changed > doubt
}

// longAgo is before any look: an entry that is new to us, and whose beginning is not known,
// is a basis.
const longAgo = 1

// remembered gives each entry of the plan cache the time that it was first seen with: it is
// computed from local time, or from an execution that was the only one then, and would be
// another one now. New ones in a time of doubt were begun long ago.
func (r *reader) remembered(entries []measure.Entry, before, after clocks) []measure.Entry {
	told := r.zone.look(before, after)
	since := make(map[measure.Key]int64)
	for i := range entries {
		e := &entries[i]
		if r.sources[e.Database] != fromPlanCache {
			continue
		}
		if known, ok := r.since[e.Key]; ok {
			e.Since = known
		} else if !told {
			e.Since = longAgo
		}
		since[e.Key] = e.Since
	}
	r.since = since
	return entries
}

// Resume goes on from a list that another process had read, so that entries keep the times
// that they were first seen with.
func (r *reader) Resume(last *measure.List) {
	r.since = make(map[measure.Key]int64)
	for _, e := range last.Entries {
		if last.Sources[e.Database] == fromPlanCache {
			r.since[e.Key] = e.Since
		}
	}
}
