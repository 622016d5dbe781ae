package truth

import (
	"fmt"
	"time"
)

// otelPeer sends events with differences through a collector's exporter. It tries again
// for five minutes and then drops (exporterhelper, retry_on_failure.max_elapsed_time 300 s); what
// it sends again after an acknowledgement that was lost "may result in duplicate data"
// (OTLP Specification 1.10.0, Duplicate Data), which nothing tells from more of the same.
func otelPeer(w *world, poll func(send func(key string, diff counter))) *peer {
	p := &peer{name: otel, every: time.Minute, counts: make(tally)}
	p.poll = func() {
		poll(func(key string, diff counter) {
			if !w.counting() || w.isCut() {
				return
			}
			p.counts.add(key, diff.calls, diff.ms, 0)
			if w.twice {
				p.counts.add(key, diff.calls, diff.ms, 0)
			}
		})
	}
	return p
}

// otelSQLServer filters entries before they are added ("WHERE … > DATEADD(SECOND,
// @lookbackTime, GETDATE()) GROUP BY query_hash, query_plan_hash"), twice its interval
// back. cacheAndDiff keeps each sum for good: "if val > cached, return true, val - cached",
// else zero, and an event without executions or time is not sent.
func otelSQLServer(w *world, s *SQLServer) *peer {
	cache := make(map[string]counter)
	return otelPeer(w, func(send func(string, counter)) {
		if s.denied {
			return
		}
		rows := make(map[string]counter)
		for _, c := range s.cached() {
			if c.lastStart+c.lastElapsed > s.local()-(2*time.Minute).Microseconds() {
				key := fmt.Sprintf("%s/%d", c.query, c.plan)
				rows[key] = rows[key].plus(counter{float64(c.calls), float64(c.elapsed) / 1000})
			}
		}
		for key, row := range rows {
			cached, ok := cache[key]
			cache[key] = row
			if diff := row.minus(cached); ok && diff.calls > 0 && diff.ms > 0 {
				send(key, diff)
			}
		}
	})
}

// otelOracle compares cursors of V$SQL by "sqlID:childNumber", which is one cursor also
// where containers share the parent. "If any of the deltas is less than zero, cursor was
// likely purged": it is left out. Those are read that were active since the last run, and
// ten seconds before it.
func otelOracle(w *world, o *Oracle) *peer {
	cache := make(map[string]counter)
	return otelPeer(w, func(send func(string, counter)) {
		if o.denied {
			return
		}
		for _, c := range o.loaded() {
			if c.active < o.local()-(time.Minute+10*time.Second).Microseconds() {
				continue
			}
			key, row := fmt.Sprintf("%s:%d", c.query, c.child), counter{float64(c.calls), float64(c.elapsed) / 1000}
			cached, ok := cache[key]
			cache[key] = row
			if diff := row.minus(cached); ok && !diff.fell() && diff.calls > 0 {
				send(c.database+" "+key, diff)
			}
		}
	})
}
