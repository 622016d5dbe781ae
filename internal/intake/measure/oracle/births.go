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

// judge marks the entries of a look of which it is not certain that they were begun since
// the last one. On the first look all are a basis anyway. An entry that was marked stays so
// for as long as it is listed.
func (r *reader) judge(ctx context.Context, l *measure.Line, now *look, certain *zone) error {
	if r.last == nil {
		return nil
	}
	fresh := make(map[measure.Key]bool)
	var ids []string
	for key, p := range now.plans {
		if before, listed := r.last.plans[key]; listed {
			p.unproven = before.unproven
		} else {
			p.unproven = true // until it is proven
			fresh[key] = true
			ids = append(ids, p.id)
		}
		now.plans[key] = p
	}
	var err error
	if certain != nil && len(ids) > 0 {
		err = r.prove(ctx, l, now, fresh, ids, certain)
	}
	for i, e := range now.entries {
		if now.plans[e.Key].unproven {
			now.entries[i].Since = older
		}
	}
	return err
}

// Resume goes on from a list that another process had read.
func (r *reader) Resume(last *measure.List) {
	r.last = &look{at: last.Before.Now, plans: make(map[measure.Key]plan, len(last.Entries))}
	for _, e := range last.Entries {
		r.last.plans[e.Key] = plan{unproven: e.Since == older}
	}
}

// prove looks up when the cursors of entries that are new were loaded. Those that were all
// loaded since the last look were begun since.
func (r *reader) prove(ctx context.Context, l *measure.Line, now *look, fresh map[measure.Key]bool, ids []string, z *zone) error {
	for _, query := range naming(r.in(birthsQuery, clusterBirthsQuery), ids[:min(len(ids), birthsAtOnce)]) {
		err := l.Each(ctx, 5, query, func(row [][]byte) error {
			instance, err1 := strconv.Atoi(string(row[0]))
			container, err2 := strconv.ParseUint(string(row[1]), 10, 32)
			id, err3 := sqlNumber(string(row[2]))
			hash, err4 := unsigned(row[3])
			if row[4] == nil {
				return nil
			}
			local, err5 := strconv.ParseInt(string(row[4]), 10, 64)
			if errors.Join(err1, err2, err3, err4, err5) != nil {
				return measure.ErrNonsense
			}
			key := measure.Key{Database: uint32(container), Entry: [2]uint64{id, r.apart(instance, hash)}}
			if p, listed := now.plans[key]; listed && fresh[key] && z.since(local, r.last.at, now.at) {
				p.unproven = false
				now.plans[key] = p
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
