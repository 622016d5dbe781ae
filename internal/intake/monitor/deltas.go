package monitor

import (
	"cmp"
	"slices"
	"time"
)

// statementKey tells the entries of pg_stat_statements apart.
type statementKey struct {
	database, user uint32
	topLevel       bool
	query          int64
}

func (k statementKey) compare(other statementKey) int {
	if k.topLevel != other.topLevel {
		if k.topLevel {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(k.database, other.database), cmp.Compare(k.user, other.user), cmp.Compare(k.query, other.query))
}

// counters are an entry's, since it was made. A list of 5,000 takes 280 kB.
type counters struct {
	statementKey
	calls   int64
	totalMs float64
	since   int64 // when it was made, in microseconds by the server's clock; 0: it does not say
	told    bool  // its text was asked for, and handed on where there was one
}

// clocks is what tells whether counters of two looks can be compared. Times are
// microseconds by the server's clock.
type clocks struct {
	now     int64
	started int64 // the server
	reset   int64 // of all entries; 0: it does not say
}

// statementList is one look at all entries, sorted by their keys, none twice.
type statementList struct {
	at            time.Time // by our clock
	before, after clocks    // as the list was read
	entries       []counters
	active        map[uint32]activeTime // by database; nil: the server does not count it
	toldSince     time.Time             // when the first text was asked for; zero: none was
}

// newStatementList sorts what was read. Before 1.9 an entry may come twice, for it
// is kept by the statement's level and listed without.
func newStatementList(at time.Time, before, after clocks, entries []counters) *statementList {
	slices.SortFunc(entries, func(a, b counters) int { return a.compare(b.statementKey) })
	kept := entries[:0]
	for _, e := range entries {
		if last := len(kept) - 1; last >= 0 && kept[last].statementKey == e.statementKey {
			kept[last].calls += e.calls
			kept[last].totalMs += e.totalMs
			continue
		}
		kept = append(kept, e)
	}
	return &statementList{at: at, before: before, after: after, entries: kept}
}

// delta is what a statement did between two looks.
type delta struct {
	statementKey
	calls   int64
	totalMs float64
}

// deltasBetween compares two looks at a server (readings, 18); ok is false where the
// second one can only be a basis for the next. A statement of which it is not certain
// what it did is left out.
func deltasBetween(last, now *statementList) (deltas []delta, ok bool) {
	if last == nil || !now.at.After(last.at) || now.at.Sub(last.at) > longestGap {
		return nil, false
	}
	since := interval{lastLook: last.before.now, restarted: now.after.started != last.before.started}
	since.reset = since.restarted || now.after.reset != last.before.reset
	since.allNew = !since.restarted && last.after.reset != 0 && now.before.reset != last.after.reset
	earlier := last.entries
	for _, e := range now.entries {
		for len(earlier) > 0 && earlier[0].compare(e.statementKey) < 0 {
			earlier = earlier[1:]
		}
		var before *counters
		if len(earlier) > 0 && earlier[0].statementKey == e.statementKey {
			before = &earlier[0]
		}
		if d, ok := e.comparedWith(before, since); ok && d.calls > 0 {
			deltas = append(deltas, d)
		}
	}
	return deltas, true
}

// interval is what is known of the time between two looks.
type interval struct {
	lastLook  int64 // when the earlier one began, by the server's clock
	restarted bool  // or it is another server
	reset     bool  // entries may have been made anew
	allNew    bool  // every entry has been
}

// comparedWith is what an entry did since the last look, where before is the entry as it
// was then; ok is false where that cannot be known. It is nil where the entry was not
// listed: the list had all, so the entry was made since, on the same server at least.
func (e counters) comparedWith(before *counters, i interval) (d delta, ok bool) {
	whole := delta{e.statementKey, e.calls, e.totalMs}
	tells := e.since != 0
	isNew := tells && e.since > i.lastLook || !tells && i.allNew
	if before == nil {
		return whole, isNew || !tells && !i.restarted
	}
	if e.since != before.since || !tells && isNew {
		return whole, isNew
	}
	if i.reset || e.calls < before.calls || e.totalMs < before.totalMs {
		return delta{}, false
	}
	return delta{e.statementKey, e.calls - before.calls, e.totalMs - before.totalMs}, true
}
