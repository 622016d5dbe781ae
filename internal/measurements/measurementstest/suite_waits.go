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

// waitCase is samples of sessions, and what WaitEvents makes of them.
type waitCase struct {
	name  string
	given []measurements.Batch // message by message
	of    fleet.Engine         // empty: PostgreSQL
	scope fleet.Scope
	in    timegrid.Window
	want  [measurements.Categories]line
	none  bool // the engine has no sample in the window
}

func (c waitCase) story() story {
	return story{c.name, func(t *testing.T, h Harness) {
		for _, organization := range h.arrive(t, c.given) {
			h.waits(t, organization, cmp.Or(c.of, pg), c.scope, c.in).is(t, answer{byName(c.want), !c.none}, "wait events")
		}
	}}
}

// waiting is a sample of sessions by what they wait for, of the databases of the suite.
func waiting(database uuid.UUID, when string, waits map[string]int64) measurements.SessionSample {
	instance, engine := home(database)
	return measurements.SessionSample{Instance: instance, Engine: engine, Database: database, At: at(when), Interval: 10 * time.Second, Waits: waits}
}

// home is the instance that a database of the suite is of.
func home(database uuid.UUID) (uuid.UUID, fleet.Engine) {
	switch database {
	case contacts:
		return crm, pg
	case invoices:
		return billing, sqlServer
	case books:
		return ledger, oracle
	case posts:
		return blog, fleet.MySQL
	case clicks:
		return events, fleet.MongoDB
	}
	return orders, pg
}

type waits = map[string]int64

// locks are lines of which only that of locks is not zero where there is a value.
func locks(values ...float64) (lines [measurements.Categories]line) {
	lines[measurements.Locks] = values
	for c := 1; c < measurements.Categories; c++ {
		for _, x := range values {
			lines[c] = append(lines[c], x*0)
		}
	}
	return lines
}

// waitMeans: §4.6 and readings 20 and 21.
func waitMeans() []waitCase {
	minute := from("18T10:00", 1, timegrid.Minute)
	return []waitCase{
		{
			name: "the average is of samples in which somebody waits, for whatever",
			given: together(waiting(shop, "18T10:00:00", waits{"Lock": 2}), waiting(shop, "18T10:00:10", nil),
				waiting(shop, "18T10:00:20", waits{"IO": 1}), waiting(shop, "18T10:00:30", waits{})),
			in: minute, want: [5]line{{1}, {0}, {0.5}, {0}, {0}},
		},
		{
			name: "databases are averaged, then added",
			given: together(waiting(shop, "18T10:00:00", waits{"Lock": 2}), waiting(shop, "18T10:00:10", waits{"Lock": 4}),
				waiting(stock, "18T10:00:00", waits{"Lock": 1, "LWLock": 6}), waiting(contacts, "18T10:00:05", waits{"Lock": 10})),
			in: minute, want: [5]line{{14}, {6}, {0}, {0}, {0}},
		},
		{
			name: "a sample without a waiter in one database is one with them in another",
			given: together(waiting(shop, "18T10:00:00", waits{"Lock": 2}), waiting(shop, "18T10:00:10", nil),
				waiting(stock, "18T10:00:00", nil), waiting(stock, "18T10:00:10", waits{"Lock": 3})),
			in: minute, want: locks(5),
		},
		{
			name: "an hour is of samples, not of minutes",
			given: together(waiting(shop, "18T10:00:00", waits{"Lock": 1}), waiting(shop, "18T10:00:10", waits{"Lock": 1}), waiting(shop, "18T10:00:20", waits{"Lock": 1}),
				waiting(shop, "18T10:01:00", waits{"Lock": 9}), waiting(shop, "18T10:02:00", nil)),
			in: from("18T10:00", 1, timegrid.Hour), want: locks(3),
		},
		{
			name:  "a day is of samples, not of hours",
			given: together(waiting(shop, "18T10:00", waits{"Lock": 1}), waiting(shop, "18T10:30", waits{"Lock": 2}), waiting(shop, "18T11:00", waits{"Lock": 9})),
			in:    from("18T00:00", 1, timegrid.Day), want: locks(4),
		},
		{
			name:  "a week is of samples, not of days",
			given: together(waiting(shop, "17T10:00", waits{"Lock": 1}), waiting(shop, "17T10:30", waits{"Lock": 2}), waiting(shop, "18T11:00", waits{"Lock": 9})),
			in:    from("16T00:00", 1, timegrid.Week), want: locks(4),
		},
		{
			name: "databases are not added before the hour is over",
			given: together(waiting(shop, "18T10:00", waits{"Lock": 6}), waiting(shop, "18T10:01", waits{"Lock": 2}),
				waiting(stock, "18T10:01", waits{"Lock": 1})),
			in: from("18T10:00", 1, timegrid.Hour), want: locks(5),
		},
		{
			name:  "where somebody sampled and nobody waited, it is zero in all five; where nobody sampled, it is none",
			given: together(waiting(shop, "18T10:00", waits{}), waiting(shop, "18T10:02", waits{"Lock": 1})),
			in:    from("18T10:00", 4, timegrid.Minute), want: locks(0, gap, 1, gap),
		},
		{name: "nobody sampled", in: minute, want: locks(gap), none: true},
		{
			name:  "sampled outside of the window",
			given: together(waiting(shop, "18T09:59:59", waits{"Lock": 1}), waiting(shop, "18T10:01", waits{"Lock": 1})),
			in:    minute, want: locks(gap), none: true,
		},
		{
			name:  "who is on CPU does not wait",
			given: together(waiting(shop, "18T10:00", waits{"": 7}), waiting(shop, "18T10:00:10", waits{"": 7, "Lock": 4})),
			in:    minute, want: locks(4),
		},
		{
			name:  "nobody waits for something",
			given: together(waiting(shop, "18T10:00", waits{"Lock": 0}), waiting(shop, "18T10:00:10", waits{"IO": 0, "Lock": 4})),
			in:    minute, want: locks(4),
		},
		{
			name: "the sessions that are counted do not matter",
			given: together(measurements.SessionSample{Instance: orders, Engine: pg, Database: shop, At: at("18T10:00"), Active: 5, Waiting: 5, Waits: waits{}},
				measurements.SessionSample{Instance: orders, Engine: pg, Database: shop, At: at("18T10:01"), Waits: waits{"Lock": 2}}),
			in: from("18T10:00", 1, timegrid.Hour), want: locks(2),
		},
	}
}

// waitClasses: the classes of an engine end in its categories; TestClassify has all.
func waitClasses() []waitCase {
	minute := from("18T10:00", 1, timegrid.Minute)
	mixed := together(waiting(shop, "18T10:00", waits{"Lock": 1}), waiting(invoices, "18T10:00", waits{"LCK_M_X": 2}),
		waiting(books, "18T10:00", waits{"Application": 3}), waiting(posts, "18T10:00", waits{"Lock": 4}), waiting(clicks, "18T10:00", waits{"Lock": 5}))
	return []waitCase{
		{
			name:  "PostgreSQL",
			given: together(waiting(shop, "18T10:00", waits{"Lock": 1, "BufferPin": 2, "LWLock": 4, "IO": 8, "Client": 16, "IPC": 32, "Activity": 64, "Extension": 128})),
			in:    minute, want: [5]line{{3}, {4}, {8}, {48}, {192}},
		},
		{
			name: "SQL Server", of: sqlServer,
			given: together(waiting(invoices, "18T10:00", waits{"lck_m_s": 1, "LATCH_EX": 2, "PAGELATCH_EX": 4, "PAGEIOLATCH_SH": 8, "WRITELOG": 16, "ASYNC_NETWORK_IO": 32, "CXPACKET": 64})),
			in:    minute, want: [5]line{{1}, {2}, {28}, {32}, {64}},
		},
		{
			name: "Oracle", of: oracle,
			given: together(waiting(books, "18T10:00", waits{"Concurrency": 1, "Application": 2, "Configuration": 4, "User I/O": 8, "System I/O": 16, "Network": 32, "Idle": 64, "Commit": 128, "ON CPU": 256})),
			in:    minute, want: [5]line{{3}, {4}, {24}, {32}, {192}},
		},
		{name: "each engine has its own part: PostgreSQL", given: mixed, in: minute, want: locks(1)},
		{name: "each engine has its own part: SQL Server", of: sqlServer, given: mixed, in: minute, want: locks(2)},
		{name: "each engine has its own part: Oracle", of: oracle, given: mixed, in: minute, want: locks(3)},
		{
			name: "Oracle's waits are not forgotten after seven days", of: oracle, given: together(waiting(books, "02T10:00", waits{"Network": 3})),
			in: from("02T00:00", 1, timegrid.Week), want: [5]line{{0}, {0}, {0}, {3}, {0}},
		},
	}
}

// waitArrivals: the same samples whenever and however often they come, readings 5 and 6.
func waitArrivals() []waitCase {
	sunday := together(waiting(shop, "22T23:59:59.999999", waits{"Lock": 1}), waiting(shop, "23T00:00", waits{"Lock": 3}))
	return []waitCase{
		{
			name: "a database's sample twice counts once, and the first content stays",
			given: slices.Concat(together(waiting(shop, "18T10:00", waits{"Lock": 1}), waiting(shop, "18T10:00", waits{"IO": 9})),
				together(waiting(shop, "18T10:00", waits{"Lock": 7})), together(waiting(shop, "18T10:00:10", nil))),
			in: from("18T10:00", 1, timegrid.Minute), want: locks(1),
		},
		{
			name:  "that nobody waited is a content, too",
			given: oneByOne(waiting(shop, "18T10:00", nil), waiting(shop, "18T10:00", waits{"Lock": 7})),
			in:    from("18T10:00", 1, timegrid.Minute), want: locks(0),
		},
		{
			name: "the databases of an instance may come one by one",
			given: oneByOne(waiting(shop, "18T10:00", waits{"Lock": 1}), waiting(stock, "18T10:00", waits{"Lock": 2}),
				waiting(shop, "18T10:00", waits{"Lock": 9})),
			in: from("18T10:00", 1, timegrid.Minute), want: locks(3),
		},
		{
			name:  "the newest first, and an import of 36 hours ago",
			given: oneByOne(waiting(shop, "18T10:00", waits{"Lock": 3}), waiting(shop, "16T22:30", waits{"Lock": 5}), waiting(shop, "16T22:00", waits{"Lock": 1})),
			in:    from("16T00:00", 3, timegrid.Day), want: locks(3, gap, 3),
		},
		{
			name: "half-open", given: together(waiting(shop, "18T10:00:59.999999", waits{"Lock": 1}), waiting(shop, "18T10:01", waits{"Lock": 2})),
			in: from("18T10:00", 2, timegrid.Minute), want: locks(1, 2),
		},
		{name: "weeks start on Monday", given: sunday, in: from("16T00:00", 2, timegrid.Week), want: locks(1, 3)},
		{name: "days across the edge of a week", given: sunday, in: from("21T00:00", 4, timegrid.Day), want: locks(gap, 1, 3, gap)},
		{
			name: "the buckets of a window are whole", given: sunday,
			in: timegrid.Window{From: at("22T23:30"), To: at("23T00:00:00.000001"), Size: timegrid.Hour}, want: locks(1, 3),
		},
	}
}

// waitScopes: reading 1.
func waitScopes() []waitCase {
	minute := from("18T10:00", 1, timegrid.Minute)
	given := together(waiting(shop, "18T10:00", waits{"Lock": 1}), waiting(stock, "18T10:00", waits{"Lock": 2}), waiting(contacts, "18T10:00", waits{"Lock": 4}))
	return []waitCase{
		{name: "no filter", given: given, in: minute, want: locks(7)},
		{name: "an instance", given: given, scope: only(orders), in: minute, want: locks(3)},
		{name: "instances", given: given, scope: only(crm, ledger, orders), in: minute, want: locks(7)},
		{name: "a filter that nothing matches is not the organization", given: given, scope: nothing, in: minute, want: locks(gap), none: true},
		{name: "an instance without samples", given: given, scope: only(uuid.UUID{99}), in: minute, want: locks(gap), none: true},
		{name: "an instance of another engine", given: given, of: oracle, scope: only(orders), in: minute, want: locks(gap), none: true},
	}
}
