package slasum

import (
	"cmp"
	"math"
	"slices"
	"time"

	"muster/domain/objective"
	"muster/internal/report/snapshot"
)

// Line is how one server kept its objective.
type Line struct {
	*snapshot.ServiceServer
	Low, High float64           // availability in percent, if Judged
	Judged    bool              // some time counts
	Verdict   objective.Verdict // empty: it has no objective of availability
	Budget    time.Duration     // of an objective of availability
	Latency   objective.Verdict // empty: it has no objective of latency
}

// Left is what is left of the budget; less than zero: it was exceeded.
func (l Line) Left() time.Duration { return l.Budget - l.Down }

// Heard says whether anybody knows how the server was at some time.
func (l Line) Heard() bool { return l.Up > 0 || l.Down > 0 }

// Counts are how many servers have each verdict.
type Counts struct{ Missed, Untold, Kept, Without int }

// Judged is how many have an objective.
func (c Counts) Judged() int { return c.Missed + c.Untold + c.Kept }

func (c *Counts) add(v objective.Verdict) {
	switch v {
	case objective.Missed:
		c.Missed++
	case objective.Untold:
		c.Untold++
	case objective.Kept:
		c.Kept++
	default:
		c.Without++
	}
}

// Times are how long something took: of N, Open of them at least as long as counted.
type Times struct {
	N, Open                   int
	Median, Ninetieth         time.Duration
	MedianLeast, NinetieLeast bool // it is at least that
}

// Summary has every figure.
type Summary struct {
	Lines                          []Line // those that missed most first
	Up, Down, Unknown, Maintenance time.Duration
	Off                            time.Duration
	Available, Fast                Counts
	Unheard                        int // servers of which nobody knows anything
	Outages                        int
	Unlisted                       int // outages that are not listed, and not in the times
	Unseen                         int // listed outages, which began in the window, without an alert
	Untaken                        int // listed outages, which began in the window, that nobody acknowledged
	Seen, Taken, Repaired          Times
	slowest                        map[[16]byte]*snapshot.ServiceServer
}

// Summarize computes the figures of a document; zero if it has no records.
func Summarize(doc snapshot.Document) (s Summary) {
	r := doc.ServiceRecords
	if r == nil || doc.Window == nil {
		return s
	}
	s.slowest = map[[16]byte]*snapshot.ServiceServer{}
	var seen, taken, repaired []took
	for i := range r.Servers {
		one := &r.Servers[i]
		s.slowest[one.ID] = one
		line := lineOf(one, r.BudgetTo, doc.Window.To)
		s.Lines = append(s.Lines, line)
		s.Up, s.Down, s.Unknown = s.Up+one.Up, s.Down+one.Down, s.Unknown+one.Unknown
		s.Maintenance, s.Off = s.Maintenance+one.Maintenance, s.Off+one.Off
		s.Available.add(line.Verdict)
		s.Fast.add(line.Latency)
		if line.Judged && !line.Heard() {
			s.Unheard++
		}
		s.Outages += one.OutageN
		s.Unlisted += one.OutageN - len(one.Outages)
		for _, o := range one.Outages {
			before := o.From.Equal(one.From)
			repaired = append(repaired, took{o.To.Sub(o.From), before || o.Ongoing})
			if before {
				continue
			}
			if o.SeenAt == nil {
				s.Unseen++
			} else {
				seen = append(seen, took{o.SeenAt.Sub(o.From), false})
			}
			if o.TakenAt == nil {
				s.Untaken++
			} else {
				taken = append(taken, took{o.TakenAt.Sub(o.From), false})
			}
		}
	}
	slices.SortStableFunc(s.Lines, compareLines)
	s.Seen, s.Taken, s.Repaired = timesOf(seen), timesOf(taken), timesOf(repaired)
	return s
}

// lineOf judges a server. Until the budget's end, the server counts as it does at the window's end.
func lineOf(one *snapshot.ServiceServer, budgetTo, windowTo time.Time) Line {
	l := Line{ServiceServer: one}
	u := objective.Uptime{Up: one.Up, Down: one.Down, Unknown: one.Unknown, Maintenance: one.Maintenance}
	l.Low, l.High, l.Judged = u.Range()
	if percent := one.ObjectivePercent; percent != nil {
		rest := budgetTo.Sub(windowTo)
		if one.Left != nil {
			rest = 0
		}
		l.Verdict, l.Budget = objective.Available(u, *percent), objective.Budget(u.Judged()+rest, *percent)
	}
	if most := one.ObjectiveMs; most != nil {
		l.Latency = objective.Fast(objective.Latency{MeanMs: one.MeanMs, Coverage: one.Coverage}, *most)
	}
	return l
}

// rank orders verdicts, the worst first.
var rank = map[objective.Verdict]int{objective.Missed: 0, objective.Untold: 1, objective.Kept: 2, "": 3}

// compareLines orders servers by their verdict, and of one verdict by what they lack.
func compareLines(a, b Line) int {
	return cmp.Or(
		cmp.Compare(rank[a.Verdict], rank[b.Verdict]), cmp.Compare(rank[a.Latency], rank[b.Latency]),
		cmp.Compare(b.Down, a.Down), cmp.Compare(b.Unknown, a.Unknown),
	)
}

// took is how long something took, or at least took.
type took struct {
	lasted time.Duration
	least  bool
}

func timesOf(all []took) (t Times) {
	if t.N = len(all); t.N == 0 {
		return t
	}
	slices.SortFunc(all, func(a, b took) int { return cmp.Compare(a.lasted, b.lasted) })
	quantile := func(q float64) (time.Duration, bool) {
		at := int(math.Ceil(q*float64(len(all)))) - 1
		return all[at].lasted, slices.ContainsFunc(all, func(x took) bool { return x.least && x.lasted <= all[at].lasted })
	}
	for _, one := range all {
		if one.least {
			t.Open++
		}
	}
	t.Median, t.MedianLeast = quantile(0.5)
	t.Ninetieth, t.NinetieLeast = quantile(0.9)
	return t
}

// Over is how much time a statement took beyond what its server's objective of latency allows for its executions. ok is
// false if its server has no such objective.
func (s Summary) Over(one snapshot.ServiceStatement) (ms float64, ok bool) {
	server := s.slowest[one.InstanceID]
	if server == nil || server.ObjectiveMs == nil {
		return 0, false
	}
	return max(0, one.TotalMs-one.Calls**server.ObjectiveMs), true
}
