package measure

import (
	"slices"
)

// delta is what a statement did between two looks.
type delta struct {
	Ref
	calls   int64
	totalMs float64
	maxMs   float64 // the longest execution, where it is certain to have been in between; else 0
}

// deltasBetween compares two looks at a server (readings, 18); ok is false if the second one
// can only be a basis for the next. Statements whose executions are not certain are left out.
// The deltas are sorted, and none occurs twice.
func deltasBetween(last, now *List) (deltas []delta, ok bool) {
	if last == nil || !now.At.After(last.At) || now.At.Sub(last.At) > longestGap {
		return nil, false
	}
	since := intervalBetween(last, now)
	earlier := last.Entries
	for _, e := range now.Entries {
		for len(earlier) > 0 && earlier[0].Compare(e.Key) < 0 {
			earlier = earlier[1:]
		}
		var before *Entry
		if len(earlier) > 0 && earlier[0].Key == e.Key {
			before = &earlier[0]
		}
		if d, ok := e.comparedWith(before, since, now.comparable(last, e.Database)); ok && d.calls > 0 {
			deltas = append(deltas, d)
		}
	}
	return added(deltas), true
}

// executed are the statements that had been executed at a look, by whichever entry.
func (l *List) executed() map[Ref]bool {
	ran := make(map[Ref]bool)
	for _, e := range l.Entries {
		if e.Calls > 0 {
			ran[e.ref()] = true
		}
	}
	return ran
}

// added adds those of one statement, which come of its plans.
func added(deltas []delta) []delta {
	slices.SortStableFunc(deltas, func(a, b delta) int { return a.compare(b.Ref) })
	sums := deltas[:0]
	for _, d := range deltas {
		if last := len(sums) - 1; last >= 0 && sums[last].Ref == d.Ref {
			sums[last].calls += d.calls
			sums[last].totalMs += d.totalMs
			sums[last].maxMs = max(sums[last].maxMs, d.maxMs)
			continue
		}
		sums = append(sums, d)
	}
	return sums
}

// interval is what is known of the time between two looks.
type interval struct {
	lastLook  int64 // when the earlier one began, by the server's clock
	restarted bool  // or it is another server
	reset     bool  // entries may have been made anew
	allNew    bool  // every entry has been
}

func intervalBetween(last, now *List) interval {
	i := interval{lastLook: last.Before.Now, restarted: now.After.Started != last.Before.Started}
	i.reset = i.restarted || now.After.Reset != last.Before.Reset || emptied(last, now)
	i.allNew = !i.restarted && last.After.Reset != 0 && now.Before.Reset != last.After.Reset
	return i
}

// emptied says whether the server has dropped its entries without reporting it: most executed
// entries without a creation time count less, or the list is less than half as long. This
// happens if an Oracle's shared pool is flushed, or pg_stat_statements before 1.9 is reset. A
// statement that has run more often since than in all the time before counts more than it did,
// and the difference is not what happened. Missing entries alone prove nothing: if texts have
// literals, most entries disappear at once.
func emptied(last, now *List) bool {
	var listed, left, fell, rose int
	later := now.Entries
	for _, e := range last.Entries {
		if e.Since != 0 || !now.comparable(last, e.Database) {
			continue
		}
		listed++
		for len(later) > 0 && later[0].Compare(e.Key) < 0 {
			later = later[1:]
		}
		switch {
		case len(later) == 0 || later[0].Key != e.Key:
		case later[0].Calls < e.Calls || later[0].TotalMs < e.TotalMs:
			fell++
		case later[0].Calls > e.Calls:
			rose++
		}
	}
	for _, e := range now.Entries {
		if now.comparable(last, e.Database) {
			left++
		}
	}
	return fell > rose || 2*left < listed
}

// comparedWith is what an entry did since the last look, where before is the entry as it
// was then; ok is false where that cannot be known. It is nil where the entry was not
// listed: the list had all of its database, if that was read from the same, so the entry
// was made since, on the same server at least.
func (e Entry) comparedWith(before *Entry, i interval, comparable bool) (d delta, ok bool) {
	whole := delta{e.ref(), e.Calls, e.TotalMs, e.MaxMs}
	tells := e.Since != 0
	isNew := tells && e.Since > i.lastLook || !tells && i.allNew
	if before == nil {
		return whole, isNew || !tells && !i.restarted && comparable
	}
	if e.Since != before.Since || !tells && isNew {
		return whole, isNew
	}
	if i.reset || e.Calls < before.Calls || e.TotalMs < before.TotalMs {
		return delta{}, false
	}
	d = delta{e.ref(), e.Calls - before.Calls, e.TotalMs - before.TotalMs, 0}
	if e.MaxMs > before.MaxMs { // else the longest may have been before
		d.maxMs = e.MaxMs
	}
	return d, true
}
