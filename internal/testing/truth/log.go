package truth

import (
	"hash/fnv"
	"math"
	"slices"
	"time"
)

// Execution is one that really happened.
type Execution struct {
	At       time.Time // when it ended
	Database string
	Query    string
	Plan     int  // by which plan; of PostgreSQL, of which incarnation of its tables
	Nested   bool // a function called it
	Ms       float64
}

// Log is the oracle: everything that happened, in order. Nothing in it was ever a counter.
type Log []Execution

// Figures are what a window comes to.
type Figures struct{ Calls, TotalMs, MaxMs float64 }

// AvgMs is the average latency; NaN where nothing was executed.
func (f Figures) AvgMs() float64 { return f.TotalMs / f.Calls }

// tally adds up what each statement did.
type tally map[string]*Figures

func (t tally) add(key string, calls, ms, maxMs float64) {
	if t[key] == nil {
		t[key] = &Figures{}
	}
	f := t[key]
	f.Calls, f.TotalMs, f.MaxMs = f.Calls+calls, f.TotalMs+ms, max(f.MaxMs, maxMs)
}

// figures are those of all. A statement's part of the maximum is its longest execution
// where that is told, else its mean (specification, §4.5; readings, 15 and 16).
func (t tally) figures() Figures {
	all := Figures{MaxMs: math.NaN()}
	for _, f := range t {
		all.Calls, all.TotalMs = all.Calls+f.Calls, all.TotalMs+f.TotalMs
		slowest := f.MaxMs
		if slowest == 0 {
			slowest = f.AvgMs()
		}
		if f.Calls > 0 && !(slowest <= all.MaxMs) {
			all.MaxMs = slowest
		}
	}
	return all
}

// between are the executions after one moment and until another.
func (l Log) between(from, to time.Time) Log {
	return slices.DeleteFunc(slices.Clone(l), func(e Execution) bool { return !e.At.After(from) || e.At.After(to) })
}

// of are those of one database.
func (l Log) of(database string) Log {
	return slices.DeleteFunc(slices.Clone(l), func(e Execution) bool { return e.Database != database })
}

// tally sums them, statement by statement, as the server's engine tells statements apart.
func (l Log) tally(s server) tally {
	t := make(tally)
	for _, e := range l {
		longest := 0.0
		if s.tellsMaximum(e) {
			longest = e.Ms
		}
		t.add(e.Database+" "+s.key(e), 1, e.Ms, longest)
	}
	return t
}

// number is what a name is hashed to by the simulated servers.
func number(parts ...string) uint64 {
	h := fnv.New64a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part + "\x00")) // never fails
	}
	return h.Sum64() >> 1
}
