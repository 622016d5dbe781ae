package truth

import (
	"fmt"
	"time"
)

const minute = time.Minute

// derivative is compute_derivative_rows: "the difference of the previous check run's
// values and the current check run's". A row that has no predecessor is skipped, and so is
// one with a negative difference ("truncation or a stats reset"). The rows of this run
// replace those of the last, whole.
type derivative struct{ previous map[string]counter }

func (d *derivative) of(rows map[string]counter, take func(key string, diff counter)) {
	for key, row := range rows {
		previous, ok := d.previous[key]
		diff := row.minus(previous)
		if !ok || diff.fell() || diff == (counter{}) {
			continue
		}
		take(key, diff)
	}
	d.previous = rows
}

// notPublished is why there is no figure of a hosted service for what its door does.
const notPublished = "the behavior of its intake is not published"

// datadogPeer polls rows, and has nothing to show where payloads are late or come twice.
func datadogPeer(w *world, every time.Duration, rows func() map[string]counter) *peer {
	p := &peer{name: datadog, every: every, counts: make(tally)}
	var d derivative
	door := false
	p.poll = func() {
		door = door || w.isCut() || w.twice
		read := rows()
		if len(read) == 0 {
			return // nothing is compared, and the last rows stay
		}
		d.of(read, func(key string, diff counter) {
			if w.counting() {
				p.counts.add(key, diff.calls, diff.ms, 0)
			}
		})
	}
	p.result = func() (Figures, string) {
		if door {
			return Figures{}, notPublished
		}
		return p.counts.figures(), ""
	}
	return p
}

// datadogPostgreSQL reads pg_stat_statements where its query "!= '<insufficient
// privilege>'": without the grant only its own statements are left, and replace the rest.
func datadogPostgreSQL(w *world, s *PostgreSQL) *peer {
	return datadogPeer(w, 10*time.Second, func() map[string]counter {
		rows := map[string]counter{"its own": {1, 1}}
		if s.denied {
			return rows
		}
		for k, e := range s.entries {
			key := k.database + " " + k.query // query_signature, datname, rolname
			rows[key] = rows[key].plus(counter{float64(e.calls), e.ms})
		}
		return rows
	})
}

// datadogSQLServer adds first and takes those of which the latest end is within the
// time since the last run: "DATEADD(ms, last_elapsed_time / 1000, last_execution_time) >
// dateadd(second, -?, getdate())", of the maxima of a group.
func datadogSQLServer(w *world, s *SQLServer) *peer {
	last := w.clock.Now().Add(-minute)
	return datadogPeer(w, minute, func() map[string]counter {
		since := w.clock.Now().Sub(last)
		last = w.clock.Now()
		if s.denied {
			return nil
		}
		rows := make(map[string]counter)
		starts, elapsed := make(map[string]int64), make(map[string]int64)
		for _, c := range s.cached() {
			key := fmt.Sprintf("%s %s/%d", c.database, c.query, c.plan)
			rows[key] = rows[key].plus(counter{float64(c.calls), float64(c.elapsed) / 1000})
			starts[key], elapsed[key] = max(starts[key], c.lastStart), max(elapsed[key], c.lastElapsed)
		}
		for key := range rows {
			if starts[key]+elapsed[key] <= s.local()-since.Microseconds() {
				delete(rows, key)
			}
		}
		return rows
	})
}

// datadogOracle adds V$SQLSTATS, which has one row a SQL_ID with its latest plan, by
// container, signature and plan, of signatures with a SQL_ID that was active within
// "lookback = 2 * CollectionInterval".
func datadogOracle(w *world, o *Oracle) *peer {
	return datadogPeer(w, minute, func() map[string]counter {
		if o.denied {
			return nil
		}
		type statement struct{ database, query string }
		sums, active := make(map[statement]counter), make(map[string]int64)
		for k, r := range o.stats {
			of := statement{k.database, k.query}
			sums[of] = sums[of].plus(counter{float64(r.calls), float64(r.elapsed) / 1000})
			active[k.query] = max(active[k.query], r.lastActive)
		}
		rows := make(map[string]counter)
		for of, sum := range sums {
			if active[of.query] > o.local()-(2*minute).Microseconds() {
				rows[fmt.Sprintf("%s %s/%d", of.database, of.query, o.latest[oracleKey{of.database, of.query, 0}])] = sum
			}
		}
		return rows
	})
}
