package measure

import (
	"cmp"
	"slices"
	"time"
)

// Statement identifies a statement to users, in its database. The two numbers are defined by
// its engine; Reader.Name makes a name of them.
type Statement [2]uint64

// Ref is a statement of a database.
type Ref struct {
	Database  uint32
	Statement Statement
}

func (r Ref) compare(other Ref) int {
	return cmp.Or(cmp.Compare(r.Database, other.Database), slices.Compare(r.Statement[:], other.Statement[:]))
}

// Key tells the entries of a list apart: several may be of one statement, one a plan.
type Key struct {
	Database uint32
	Entry    [2]uint64
}

// Compare is the order of a list.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Database, other.Database), slices.Compare(k.Entry[:], other.Entry[:]))
}

// Entry are the counters of a statement, since they were begun. A list of 5,000 takes
// 400 kB.
type Entry struct {
	Key
	Statement Statement
	Calls     int64
	TotalMs   float64
	MaxMs     float64 // the longest execution; 0: the server does not tell
	Since     int64   // when it was begun, in microseconds by the server's clock; 0: it does not say
}

func (e Entry) ref() Ref { return Ref{e.Database, e.Statement} }

// Clocks is what tells whether counters of two looks can be compared. Times are
// microseconds by the server's clock.
type Clocks struct {
	Now     int64
	Started int64 // the server
	Reset   int64 // of all entries; 0: it does not say
}

// ActiveTime is how long the sessions of a database have executed, by the server.
type ActiveTime struct {
	Ms    float64
	Reset int64 // since when, by the server's clock; 0: since its statistics began
}

// List is one look at all entries, sorted by their keys, none twice. It is complete: the server
// had no entry that is missing from it.
type List struct {
	At, Until     time.Time // when the look began and ended, by our clock; the loop's to say
	Before, After Clocks    // as the list was read
	Entries       []Entry
	// Sources say what the entries of each database were read from, where that is not
	// one view for all; a database that is not named was not read. Nil: one view, and all.
	Sources   map[uint32]string
	Active    map[uint32]ActiveTime // by database; nil: the server does not count it
	Told      map[Ref]bool          // the statements whose texts were asked for
	ToldSince time.Time             // when the first one was; zero: none
}

// NewList sorts what was read between two looks at the clocks. Entries that have the same
// key are added: some servers list one in parts.
func NewList(before, after Clocks, entries []Entry) *List {
	slices.SortFunc(entries, func(a, b Entry) int { return a.Compare(b.Key) })
	kept := entries[:0]
	for _, e := range entries {
		if last := len(kept) - 1; last >= 0 && kept[last].Key == e.Key {
			kept[last].Calls += e.Calls
			kept[last].TotalMs += e.TotalMs
			kept[last].MaxMs = max(kept[last].MaxMs, e.MaxMs)
			kept[last].Since = min(kept[last].Since, e.Since)
			continue
		}
		kept = append(kept, e)
	}
	return &List{Before: before, After: after, Entries: kept}
}

// comparable says whether the entries of a database were read from the same in two looks.
func (l *List) comparable(last *List, database uint32) bool {
	if l.Sources == nil && last.Sources == nil {
		return true
	}
	source, read := l.Sources[database]
	before, was := last.Sources[database]
	return read && was && source == before
}

// busyBetween is how long the sessions of a database executed between two looks. It is
// nil where that is not known: the server does not count it, or has begun anew. A crash
// resets it and need not say so, and a restart may have been one.
func busyBetween(last, now *List, database uint32) *float64 {
	before, known := last.Active[database]
	after, still := now.Active[database]
	if !known || !still || after.Reset != before.Reset || after.Ms < before.Ms || now.After.Started != last.Before.Started {
		return nil
	}
	busy := after.Ms - before.Ms
	return &busy
}
