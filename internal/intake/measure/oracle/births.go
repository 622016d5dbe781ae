package oracle

import (
	"context"
	_ "embed" // the queries
	"errors"
	"strconv"
	"time"

	"muster/internal/intake/measure"
)

//go:embed sql/births.sql
var birthsQuery string

//go:embed sql/cluster_births.sql
var clusterBirthsQuery string

const (
	// older is since when an entry is there that may be older than the last list: no time,
	// and before any.
	older = 1
	// birthsAtOnce bounds how many entries that are new are looked up; of the others
	// nothing is certain.
	birthsAtOnce = 10 * idsAtOnce
)

// judge marks the entries of a list that are not certain to have begun since the last one. On
// the first list all are a basis anyway. A marked entry stays marked as long as it is listed.
func (r *reader) judge(ctx context.Context, l *measure.Line, now *measure.List, certain *zone) error {
	if r.last == nil {
		return nil
	}
	fresh := make(map[measure.Key]*measure.Entry)
	earlier := r.last.Entries
	for i := range now.Entries {
		e := &now.Entries[i]
		for len(earlier) > 0 && earlier[0].Compare(e.Key) < 0 {
			earlier = earlier[1:]
		}
		if len(earlier) > 0 && earlier[0].Key == e.Key {
			e.Since = earlier[0].Since
			continue
		}
		e.Since = older // until it is proven
		fresh[e.Key] = e
	}
	if certain == nil || len(fresh) == 0 {
		return nil
	}
	return r.prove(ctx, l, now, fresh, certain)
}

// Resume goes on from a list that another process had read.
func (r *reader) Resume(last *measure.List) { r.last = last }

// prove looks up when the cursors of entries that are new were loaded. Those that were all
// loaded since the last look were begun since.
func (r *reader) prove(ctx context.Context, l *measure.Line, now *measure.List, fresh map[measure.Key]*measure.Entry, z *zone) error {
	var ids []string
	for key := range fresh {
		ids = append(ids, sqlID(key.Entry[0]))
	}
	for _, statement := range naming(5, r.in(birthsQuery, clusterBirthsQuery), ids[:min(len(ids), birthsAtOnce)]) {
		err := l.Each(ctx, statement, func(row [][]byte) error {
			instance, err1 := strconv.Atoi(string(row[0]))
			container, err2 := strconv.ParseUint(string(row[1]), 10, 32)
			id, err3 := sqlNumber(string(row[2]))
			plan, err4 := unsigned(row[3])
			if row[4] == nil {
				return nil
			}
			local, err5 := strconv.ParseInt(string(row[4]), 10, 64)
			if errors.Join(err1, err2, err3, err4, err5) != nil {
				return measure.ErrNonsense
			}
			if e := fresh[r.key(instance, uint32(container), id, plan)]; e != nil && z.since(local, r.last.Before.Now, now.Before.Now) {
				e.Since = 0 // like the others: an entry missing from the last list is new
			}
			return nil
		})
		if !r.may("new statements", r.view("V$SQL"), &err) {
			return err
		}
	}
	return nil
}

// zone is what turns local times into the server's.
type zone struct{ ahead int64 } // minutes

// since says whether a local time, in seconds, is certain to lie after a look and before
// this one. It has no fractions: the second that the look was in counts as after it, for
// what was loaded in it before would have been on its list.
func (z *zone) since(local, look, now int64) bool {
	const second = 1_000_000
	from := (local - z.ahead*60) * second
	return from+second > look && from <= now+second
}

// offset remembers how far the server's local time is ahead.
type offset struct {
	known   bool
	ahead   int64 // minutes
	changed int64 // when it was seen to change, by the server's clock
}

// shift is how long after a change of the zone local times may mean two moments.
const shift = int64(2 * time.Hour / time.Microsecond)

// certain is the zone that local times are in now; nil: it changed not long ago.
func (o *offset) certain(now, ahead int64) *zone {
	if o.known && o.ahead != ahead {
		o.changed = now
	}
	o.known, o.ahead = true, ahead
	if o.changed != 0 && now-o.changed < shift {
		return nil
	}
	return &zone{ahead}
}
