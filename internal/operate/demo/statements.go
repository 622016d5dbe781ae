package demo

import (
	"math"
	"time"

	"muster/internal/engine"
	"muster/internal/measurements"
)

// counted is what a statement did: sums that are kept until they are a sample.
type counted struct {
	calls   int64
	totalMs float64
	maxMs   float64
}

func (c *counted) addCounted(other counted) {
	c.calls += other.calls
	c.totalMs += other.totalMs
	if other.calls > 0 {
		c.maxMs = max(c.maxMs, other.maxMs)
	}
}

// part is the share of one of n equal parts of a minute.
func (c counted) part(i, n int64) counted {
	calls := c.calls*(i+1)/n - c.calls*i/n
	if calls == 0 {
		return counted{}
	}
	return counted{calls, c.totalMs * float64(calls) / float64(c.calls), c.maxMs}
}

// statements is what the statements of a database did in the minutes from first to
// last, with what PostgreSQL says beside of how long it executed, which is a little more:
// one sample, or as many as the rule of the engine wants. The first of several has
// what the minutes before the last one did, too.
func (a *agent) statements(d *database, first, last time.Time) []measurements.StatementSample {
	parts, rules := 1, engine.StatementsOf(a.Engine)
	if rules.Least > 1 {
		parts = agentTicks
	}
	tick := agentInterval / time.Duration(parts)
	out := make([]measurements.StatementSample, parts)
	for i := range out {
		out[i] = measurements.StatementSample{
			Instance: a.instance, Engine: a.Engine, Database: d.id, At: last.Add(time.Duration(i) * tick), Interval: tick,
		}
	}
	out[0].Interval += last.Sub(first)
	for k := range d.queries {
		var before counted
		for at := first; at.Before(last); at = at.Add(time.Minute) {
			before.addCounted(a.statement(d, k, at))
		}
		of := a.statement(d, k, last)
		for i := range out {
			sum := of.part(int64(i), int64(parts))
			if i == 0 {
				sum.addCounted(before)
			}
			if sum.calls > 0 {
				out[i].Statements = append(out[i].Statements, a.sample(&d.queries[k], sum))
			}
		}
	}
	if a.tellsBusy() {
		executing := 0.0
		for _, one := range out[0].Statements {
			executing += one.TotalMs
		}
		executing *= 1.02 + 0.12*d.busy.drift(minuteOf(last), 45)
		out[0].BusyMs = &executing
	}
	return out
}

// sample is the sums as the engine's agent tells them, with maxima where the engine has some.
func (a *agent) sample(q *seededQuery, sum counted) measurements.Statement {
	s := measurements.Statement{Key: q.key, Calls: sum.calls, TotalMs: sum.totalMs, Text: q.text}
	if engine.StatementsOf(a.Engine).OwnMaxima {
		s.MaxMs = &sum.maxMs
	}
	return s
}

// statement is what one of the statements of a database did in a minute.
func (a *agent) statement(d *database, k int, at time.Time) counted {
	minute, load, q := minuteOf(at), a.load(at), &d.queries[k]
	if at.Before(q.since) {
		return counted{}
	}
	calls := a.Calls * d.size * q.share * load * (0.8 + 0.4*q.calls.drift(minute, 20))
	mean := q.ms * (0.85 + 0.5*load) * (0.8 + 0.4*q.length.draw(minute))
	if at.Before(q.mended) {
		mean *= q.slower
	}
	for _, held := range d.strains {
		mean *= held.strain.slower(q.key, held.between, at)
		if held.strain.Left > 0 {
			calls *= 1 - (1-held.strain.Left)*held.strength(at)
		}
		calls *= held.folded(at)
	}
	n := q.calls.whole(minute, calls)
	return counted{n, float64(n) * mean, mean * (1.5 + 4*math.Pow(q.longest.draw(minute), 4))}
}
