package truth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// scraped is a sample of a series.
type scraped struct {
	at    time.Time
	value counter
}

// prometheusPostgreSQL is postgres_exporter scraped by Prometheus. The exporter takes
// entries whose total time is above "percentile_cont(0.1)" of all, the hundred dearest of
// them, and without the grant those that say their query id. Over the series goes
// increase(calls_total[10m]) and increase(seconds_total[10m]); a sample that comes again
// with its time and value changes nothing, and one that could not be scraped is not there.
func prometheusPostgreSQL(w *world, s *PostgreSQL) *peer {
	series := make(map[string][]scraped)
	p := &peer{name: prometheus, every: time.Minute}
	p.poll = func() {
		if w.isCut() {
			return
		}
		type row struct {
			key   string
			value counter
		}
		byKey := make(map[string]counter) // it has no label for the level: such rows are one series
		for k, e := range s.entries {
			if !s.denied {
				key := fmt.Sprintf("%s/%d", k.database, k.id())
				byKey[key] = byKey[key].plus(counter{float64(e.calls), e.ms})
			}
		}
		var rows []row
		for key, value := range byKey {
			rows = append(rows, row{key, value})
		}
		slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(b.value.ms, a.value.ms) })
		if len(rows) == 0 {
			return
		}
		place := 0.9 * float64(len(rows)-1) // from the dearest
		low, high := rows[int(math.Ceil(place))].value.ms, rows[int(place)].value.ms
		tenth := low + (high-low)*(math.Ceil(place)-place)
		for _, r := range rows[:min(len(rows), 100)] {
			if r.value.ms > tenth {
				series[r.key] = append(series[r.key], scraped{w.clock.Now(), r.value})
			}
		}
	}
	p.result = func() (Figures, string) {
		counts := make(tally)
		for key, samples := range series {
			if rise, ok := increase(samples, began, began.Add(window)); ok {
				counts.add(key, rise.calls, rise.ms, 0)
			}
		}
		return counts.figures(), ""
	}
	return p
}

// increase is PromQL's, of both counters of a series.
func increase(samples []scraped, from, to time.Time) (rise counter, ok bool) {
	samples = slices.DeleteFunc(slices.Clone(samples), func(s scraped) bool { return !s.at.After(from) || s.at.After(to) })
	if len(samples) < 2 {
		return counter{}, false
	}
	of := func(value func(counter) float64) float64 {
		first, last := samples[0], samples[len(samples)-1]
		result := value(last.value) - value(first.value)
		for i, s := range samples[1:] {
			if value(s.value) < value(samples[i].value) {
				result += value(samples[i].value)
			}
		}
		sampled := last.at.Sub(first.at).Seconds()
		between := sampled / float64(len(samples)-1)
		toStart, toEnd := first.at.Sub(from).Seconds(), to.Sub(last.at).Seconds()
		if toStart >= between*1.1 {
			toStart = between / 2
		}
		if result > 0 {
			toStart = min(toStart, sampled*value(first.value)/result)
		}
		if toEnd >= between*1.1 {
			toEnd = between / 2
		}
		return result * (sampled + toStart + toEnd) / sampled
	}
	return counter{of(func(c counter) float64 { return c.calls }), of(func(c counter) float64 { return c.ms })}, true
}

// dbaDashSQLServer reads the query stores when it is asked, with the asker's clock, and
// also days later: the store keeps thirty.
func dbaDashSQLServer(s *SQLServer) *peer {
	p := &peer{name: dbaDash, every: time.Minute, counts: make(tally), poll: func() {}}
	p.result = func() (Figures, string) {
		if !s.store {
			return Figures{}, "it reads only query stores, and there is none"
		}
		from, to := began.UnixMicro()/storeInterval, (began.Add(window).UnixMicro()-1)/storeInterval
		for _, r := range s.kept {
			if r.interval >= from && r.interval <= to {
				p.counts.add(r.database+" "+r.query, float64(r.calls), float64(r.elapsed)/1000, float64(r.longest)/1000)
			}
		}
		if s.storeOnlyIn != "" {
			return p.counts.figures(), "of " + s.storeOnlyIn + ", which has a query store"
		}
		return p.counts.figures(), ""
	}
	return p
}

func postgresqlPeers(w *world) []*peer {
	s := w.server.(*PostgreSQL)
	return []*peer{datadogPostgreSQL(w, s), prometheusPostgreSQL(w, s)}
}

func sqlServerPeers(w *world) []*peer {
	s := w.server.(*SQLServer)
	return []*peer{datadogSQLServer(w, s), otelSQLServer(w, s), dbaDashSQLServer(s)}
}

func oraclePeers(w *world) []*peer {
	s := w.server.(*Oracle)
	return []*peer{datadogOracle(w, s), otelOracle(w, s)}
}
