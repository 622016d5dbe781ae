package measurementstest

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// queryCase is samples of statements, and what QueryPerformance makes of them.
type queryCase struct {
	name  string
	given []measurements.Batch // message by message
	of    fleet.Engine         // empty: PostgreSQL
	scope fleet.Scope
	in    timegrid.Window
	now   time.Time // zero: later
	total line      // Σ ms; nil: is not looked at
	calls line
	max   line
	none  bool // the engine has no sample in the window
}

func (c queryCase) story() story {
	return story{c.name, func(t *testing.T, h Harness) {
		want := answer{map[string]line{"time": c.total, "calls": c.calls, "maximum": c.max}, !c.none}
		for _, organization := range h.arrive(t, c.given) {
			h.queries(t, organization, cmp.Or(c.of, pg), c.scope, c.in, cmp.Or(c.now, later)).is(t, want, "query performance")
		}
	}}
}

// ran is a sample of the statements of a database of the suite.
func ran(database uuid.UUID, when string, statements ...measurements.Statement) measurements.StatementSample {
	instance, engine := home(database)
	return measurements.StatementSample{Instance: instance, Engine: engine, Database: database, At: at(when), Interval: time.Minute, Statements: statements}
}

// q is what a query did; most is what its engine has as maximum.
func q(key string, calls int64, totalMs float64) measurements.Statement {
	return measurements.Statement{Key: key, Calls: calls, TotalMs: totalMs}
}

func most(maxMs float64, s measurements.Statement) measurements.Statement {
	s.MaxMs = &maxMs
	return s
}

// queryMeans: §4.5 and readings 14 and 18.
func queryMeans() []queryCase {
	minute := minutes("10:00", 1)
	return []queryCase{
		{
			name: "time and executions are added over everything",
			given: together(ran(shop, "10:00:10", q("a", 10, 100), q("b", 5, 1)), ran(stock, "10:00:20", q("a", 1, 50)),
				ran(contacts, "10:00:30", q("c", 4, 9))),
			in: minute, total: line{160}, calls: line{20}, max: line{50},
		},
		{
			name:  "without executions there is no maximum, and not zero",
			given: together(ran(shop, "10:00", q("a", 1, 2)), ran(shop, "10:01")),
			in:    minutes("10:00", 3), total: line{2, 0, 0}, calls: line{1, 0, 0}, max: line{2, gap, gap},
		},
		{name: "sampled, and nothing ran", given: together(ran(shop, "10:00")), in: minute, total: line{0}, calls: line{0}, max: line{gap}},
		{name: "nobody sampled", in: minute, total: line{0}, calls: line{0}, max: line{gap}, none: true},
		{
			name: "sampled outside of the window", given: together(ran(shop, "09:59:59", q("a", 1, 1)), ran(shop, "10:01", q("a", 1, 1))),
			in: minute, total: line{0}, calls: line{0}, max: line{gap}, none: true,
		},
		{name: "executions that take no time are real", given: together(ran(shop, "10:00", q("a", 3, 0))), in: minute, total: line{0}, calls: line{3}, max: line{0}},
		{
			name: "time without executions is dropped", given: together(ran(shop, "10:00", q("a", 0, 500), q("b", 2, 4))),
			in: minute, total: line{4}, calls: line{2}, max: line{2},
		},
		{
			name: "also where it would be the only one", given: together(ran(shop, "10:00", q("a", 0, 500))),
			in: minute, total: line{0}, calls: line{0}, max: line{gap},
		},
		{
			name: "neither executions nor time is nothing", given: together(ran(shop, "10:00", q("a", 0, 0)), ran(shop, "10:00:30", q("a", 2, 6))),
			in: minute, total: line{6}, calls: line{2}, max: line{3},
		},
	}
}

// queryMaxima: reading 15.
func queryMaxima() []queryCase {
	one := ran(shop, "10:01", q("a", 1, 1000))
	hundred := ran(shop, "10:02", q("a", 100, 100))
	both := []measurements.StatementSample{one, hundred}
	on := func(when string, s measurements.StatementSample) measurements.StatementSample {
		s.At = at(when)
		return s
	}
	return []queryCase{
		{name: "the minute's is the minute's mean", given: together(both...), in: minutes("10:00", 3), max: line{gap, 1000, 1}},
		{
			name: "the hour's is not the greatest of its minutes': 1,000 ms and a hundred times 1 ms are 10.9", given: together(both...),
			in: hours("10:00", 1), total: line{1100}, calls: line{101}, max: line{10.891089108910892},
		},
		{name: "nor the day's of its hours'", given: together(one, on("11:00", hundred)), in: days("00:00", 1), max: line{10.891089108910892}},
		{name: "nor the week's of its days'", given: together(one, on("22T23:59:59", hundred)), in: weeks("16T00:00", 1), max: line{10.891089108910892}},
		{name: "over a week's edge they are two", given: together(one, on("23T00:00", hundred)), in: weeks("16T00:00", 2), max: line{1000, 1}},
		{
			name: "it is one query's, not the mean of all", given: together(ran(shop, "10:00", q("a", 1, 30), q("b", 1000, 10))),
			in: minutes("10:00", 1), max: line{30},
		},
		{
			name: "of queries that change places", given: together(ran(shop, "10:00", q("a", 1, 30), q("b", 1, 20)), ran(shop, "10:01", q("a", 9, 0), q("b", 1, 10))),
			in: hours("10:00", 1), max: line{15},
		},
		{
			name: "the same key in another database is another query", given: together(one, on("10:02", ran(stock, "10:02", q("a", 100, 100)))),
			in: hours("10:00", 1), total: line{1100}, calls: line{101}, max: line{1000},
		},
		{name: "also on another instance", given: together(one, ran(contacts, "10:01", q("a", 100, 100))), in: hours("10:00", 1), max: line{1000}},
		{
			name: "keys are compared letter by letter", given: together(ran(shop, "10:00", q("a", 1, 9), q("A", 1, 1), q("a ", 1, 1), q("", 1, 1), q("ä", 1, 1))),
			in: minutes("10:00", 1), total: line{13}, calls: line{5}, max: line{9},
		},
	}
}

// querySamples: readings 16 and 19.
func querySamples() []queryCase {
	minute := minutes("10:00", 1)
	mixed := together(ran(shop, "10:00", q("a", 1, 1)), ran(invoices, "10:00", q("a", 1, 2)), ran(posts, "10:00", q("a", 1, 4)), ran(clicks, "10:00", q("a", 1, 8)))
	return []queryCase{
		{
			name: "SQL Server's own maximum, where it has one", of: sqlServer,
			given: together(ran(invoices, "10:00", most(40.1, q("a", 10, 123)), q("b", 1, 20))), in: minute, max: line{40.1},
		},
		{
			name: "the mean where it has none", of: sqlServer,
			given: together(ran(invoices, "10:00", most(40.1, q("a", 10, 123)), q("b", 1, 50))), in: minute, max: line{50},
		},
		{
			name: "the greatest of the bucket, whatever the mean", of: sqlServer,
			given: together(ran(invoices, "10:00", most(40, q("a", 1, 40))), ran(invoices, "10:01", q("a", 1, 900)), ran(invoices, "10:02", most(30, q("a", 99, 99)))),
			in:    hours("10:00", 1), total: line{1039}, calls: line{101}, max: line{40},
		},
		{
			name: "and of the minutes of which it has one", of: sqlServer,
			given: together(ran(invoices, "10:00", most(40, q("a", 1, 40))), ran(invoices, "10:01", q("a", 2, 900)), ran(invoices, "10:02", most(30, q("a", 99, 99)))),
			in:    minutes("10:00", 3), max: line{40, 450, 30},
		},
		{
			name: "over days, too", of: sqlServer,
			given: together(ran(invoices, "17T10:00", most(40, q("a", 1, 40))), ran(invoices, "10:01", q("a", 1, 900))),
			in:    weeks("16T00:00", 1), max: line{40},
		},
		{name: "a maximum of zero is one", of: sqlServer, given: together(ran(invoices, "10:00", most(0, q("a", 1, 3)))), in: minute, max: line{0}},
		{name: "other engines' maxima are not used", given: together(ran(shop, "10:00", most(4000, q("a", 2, 10)))), in: minute, max: line{5}},
		{
			name: "an interval lies in the bucket that holds its end", of: sqlServer,
			given: together(ran(invoices, "10:00", most(9, q("a", 1, 9))), ran(invoices, "10:00:59.999999", most(8, q("a", 1, 8)))),
			in:    minutes("09:59", 3), total: line{0, 17, 0}, max: line{gap, 9, gap},
		},
		{name: "each engine has its own part: PostgreSQL", given: mixed, in: minute, total: line{1}, calls: line{1}, max: line{1}},
		{name: "each engine has its own part: SQL Server", given: mixed, of: sqlServer, in: minute, total: line{2}, calls: line{1}, max: line{2}},
		{name: "each engine has its own part: Oracle", given: mixed, of: oracle, in: minute, total: line{0}, calls: line{0}, max: line{gap}, none: true},
	}
}

// oracleQueries: §4.5 and reading 17.
func oracleQueries() []queryCase {
	// Once in each of two minutes, twice in the hour.
	apart := together(ran(books, "10:00", q("a", 1, 10)), ran(books, "10:01", q("a", 3, 50)))
	thrice := together(ran(books, "10:00", q("a", 1, 10)), ran(books, "10:00:20", q("a", 1, 20)), ran(books, "10:01", q("a", 1, 90)))
	over := func(times ...string) []measurements.Batch {
		var samples []measurements.StatementSample
		for _, when := range times {
			samples = append(samples, ran(books, when, q("a", 1, 10)))
		}
		return together(samples...)
	}
	ago := over("11T10:59", "11T10:59:30", "11T11:00", "11T11:00:30")
	week := 7 * 24 * time.Hour
	return []queryCase{
		{name: "a single sample contributes nothing", given: apart, of: oracle, in: minutes("10:00", 2), total: line{0, 0}, calls: line{0, 0}, max: line{gap, gap}},
		{name: "an hour is not the sum of its minutes", given: apart, of: oracle, in: hours("10:00", 1), total: line{60}, calls: line{4}, max: line{15}},
		{
			name: "two in a minute count there, and a third in another minute in the hour", of: oracle, given: thrice,
			in: minutes("10:00", 2), total: line{30, 0}, calls: line{2, 0}, max: line{15, gap},
		},
		{name: "the hour has all three", of: oracle, given: thrice, in: hours("10:00", 1), total: line{120}, calls: line{3}, max: line{40}},
		{name: "in hours once each", given: over("10:59", "11:00"), of: oracle, in: hours("10:00", 2), total: line{0, 0}, max: line{gap, gap}},
		{name: "in the day twice", given: over("10:59", "11:00"), of: oracle, in: days("00:00", 1), total: line{20}, calls: line{2}, max: line{10}},
		{name: "in days once each", given: over("17T23:59", "00:00"), of: oracle, in: days("17T00:00", 2), total: line{0, 0}, max: line{gap, gap}},
		{name: "in the week twice", given: over("17T23:59", "00:00"), of: oracle, in: weeks("16T00:00", 1), total: line{20}, calls: line{2}, max: line{10}},
		{
			name: "each query for itself", of: oracle,
			given: together(ran(books, "10:00", q("a", 1, 10), q("b", 1, 1000)), ran(books, "10:00:20", q("a", 1, 30), q("c", 1, 1000))),
			in:    minutes("10:00", 1), total: line{40}, calls: line{2}, max: line{20},
		},
		{
			name: "seen without an execution is seen", of: oracle,
			given: together(ran(books, "10:00", q("a", 2, 10)), ran(books, "10:00:20", q("a", 0, 0))),
			in:    minutes("10:00", 1), total: line{10}, calls: line{2}, max: line{5},
		},
		{
			name: "but not with time that nothing took", of: oracle,
			given: together(ran(books, "10:00", q("a", 2, 10)), ran(books, "10:00:20", q("a", 0, 5))),
			in:    minutes("10:00", 1), total: line{0}, calls: line{0}, max: line{gap},
		},
		{
			name: "the same sample twice is a single one", of: oracle,
			given: oneByOne(ran(books, "10:00", q("a", 1, 10)), ran(books, "10:00", q("a", 1, 10))),
			in:    weeks("16T00:00", 1), total: line{0}, calls: line{0}, max: line{gap},
		},
		{
			name: "buckets that start before seven days ago have no part of it", of: oracle, given: ago, now: at("11T11:00").Add(week),
			in: hours("11T10:00", 2), total: line{0, 20}, calls: line{0, 2}, max: line{gap, 10},
		},
		{
			name: "a microsecond later, neither of these has", of: oracle, given: ago, now: at("11T11:00:00.000001").Add(week),
			in: hours("11T10:00", 2), total: line{0, 0}, calls: line{0, 0}, max: line{gap, gap}, none: true,
		},
		{
			name: "nor has a week that began earlier, though it goes on", of: oracle,
			given: over("17T10:00", "10:00"), now: at("24T00:00"),
			in: weeks("16T00:00", 1), total: line{0}, calls: line{0}, max: line{gap}, none: true,
		},
		{
			name: "other engines have no such limit", now: at("00:00").Add(9 * week),
			given: together(ran(shop, "11T10:00", q("a", 1, 10))),
			in:    weeks("09T00:00", 1), total: line{10}, calls: line{1}, max: line{10},
		},
	}
}

// queryArrivals: the same samples whenever and however often they come.
func queryArrivals() []queryCase {
	hour := hours("10:00", 1)
	imported := oneByOne(ran(shop, "10:00", q("a", 1, 1000)), ran(shop, "16T22:00", q("a", 100, 100)))
	return []queryCase{
		{
			name: "a database's sample twice counts once, and the first content stays",
			given: slices.Concat(together(ran(shop, "10:00", q("a", 1, 10)), ran(shop, "10:00", q("b", 1, 90))),
				together(ran(shop, "10:00", q("a", 9, 9))), together(ran(shop, "10:01", q("a", 1, 20)))),
			in: hour, total: line{30}, calls: line{2}, max: line{15},
		},
		{
			name: "the databases of an instance may come one by one",
			given: oneByOne(ran(shop, "10:00", q("a", 1, 10)), ran(stock, "10:00", q("a", 1, 30)),
				ran(shop, "10:00", q("b", 1, 90))),
			in: hour, total: line{40}, calls: line{2}, max: line{30},
		},
		{
			name:  "the newest first",
			given: oneByOne(ran(shop, "10:50", q("a", 1, 1)), ran(shop, "10:10", q("a", 1, 2)), ran(shop, "10:30", q("a", 1, 6))),
			in:    hour, total: line{9}, calls: line{3}, max: line{3},
		},
		{name: "an import of 36 hours ago", given: imported, in: weeks("16T00:00", 1), total: line{1100}, calls: line{101}, max: line{10.891089108910892}},
		{
			name: "of which the days know their own", given: imported,
			in: days("16T00:00", 3), total: line{100, 0, 1000}, calls: line{100, 0, 1}, max: line{1, gap, 1000},
		},
		{
			name:  "an import of two weeks ago",
			given: oneByOne(ran(shop, "10:00", q("a", 1, 1000)), ran(shop, "04T22:00", q("a", 100, 100))),
			in:    weeks("02T00:00", 3), total: line{100, 0, 1000}, calls: line{100, 0, 1}, max: line{1, gap, 1000},
		},
		{
			name:  "weeks start on Monday",
			given: together(ran(shop, "22T23:59:59.999999", q("a", 1, 1)), ran(shop, "23T00:00", q("a", 1, 3))),
			in:    weeks("16T00:00", 2), total: line{1, 3}, calls: line{1, 1}, max: line{1, 3},
		},
		{
			name:  "the buckets of a window are whole",
			given: together(ran(shop, "10:00", q("a", 1, 1)), ran(shop, "11:59:59.999999", q("a", 1, 3))),
			in:    timegrid.Window{From: at("10:30"), To: at("11:00:00.000001"), Size: timegrid.Hour}, total: line{1, 3}, calls: line{1, 1}, max: line{1, 3},
		},
		{
			name:  "numbers that are as great as they get",
			given: together(ran(shop, "10:00", q("a", 1<<40, 1e15)), ran(shop, "10:01", q("a", 1<<40, 1e-3))),
			in:    hour, total: line{1e15}, calls: line{1 << 41}, max: line{1e15 / (1 << 41)},
		},
	}
}

// queryScopes: reading 1.
func queryScopes() []queryCase {
	minute := minutes("10:00", 1)
	given := together(ran(shop, "10:00", q("a", 1, 10)), ran(contacts, "10:00", q("a", 1, 30)))
	return []queryCase{
		{name: "no filter", given: given, in: minute, total: line{40}, calls: line{2}, max: line{30}},
		{name: "an instance", given: given, scope: only(orders), in: minute, total: line{10}, calls: line{1}, max: line{10}},
		{name: "instances", given: given, scope: only(crm, ledger, orders), in: minute, total: line{40}, calls: line{2}, max: line{30}},
		{name: "a filter that nothing matches is not the organization", given: given, scope: nothing, in: minute, total: line{0}, calls: line{0}, max: line{gap}, none: true},
		{name: "an instance without samples", given: given, scope: only(uuid.UUID{99}), in: minute, total: line{0}, calls: line{0}, max: line{gap}, none: true},
		{name: "an instance of another engine", given: given, of: oracle, scope: only(orders), in: minute, total: line{0}, calls: line{0}, max: line{gap}, none: true},
	}
}
