package sqlserver

import (
	"maps"
	"slices"
	"time"

	"muster/internal/intake/measure"
)

const (
	// recently is how old the last look at the plan cache may be, so that the next one reads only what was executed
	// since: sql/plan_cache.sql reads three minutes then, and an execution may end while it is listed.
	recently = int64(2 * time.Minute / time.Microsecond)
	// wholeEvery is how often the plan cache is read as a whole. What it dropped is forgotten then.
	wholeEvery = int64(10 * time.Minute / time.Microsecond)
)

// cache is what is known of the plan cache: its entries with the counters of their last execution. An entry that was not
// executed has the counters that it had. One that was never seen is a basis only (Entry.Since), so that a cache that is
// too large to be read as a whole still counts what is executed twice.
type cache struct {
	entries map[measure.Key]measure.Entry
	of      map[uint32]bool // the databases of the last look
	at      clocks          // when it was
	whole   int64           // when all entries were read, or that was tried
	why     error           // it took too long: there are too many
}

// goesOn says whether the entries that were executed since the last look are enough.
func (c *cache) goesOn(of map[uint32]bool, at clocks) bool {
	return c.entries != nil && maps.Equal(c.of, of) && at.Started == c.at.Started && at.offset == c.at.offset &&
		at.Now >= c.at.Now && at.Now-c.at.Now <= recently && at.Now-c.whole < wholeEvery
}

// take adds entries to what is known, or begins anew with them, and returns all.
func (c *cache) take(entries []measure.Entry, goesOn bool, of map[uint32]bool, at clocks) []measure.Entry {
	if !goesOn {
		*c = cache{entries: make(map[measure.Key]measure.Entry, len(entries)), whole: at.Now, why: c.why}
	}
	c.of, c.at = of, at
	for _, e := range entries {
		c.entries[e.Key] = e
	}
	return slices.Collect(maps.Values(c.entries))
}
