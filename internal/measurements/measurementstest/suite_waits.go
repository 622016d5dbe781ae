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
	"muster/internal/measurements/waitclass"
)

// waitCase is samples of sessions, and what WaitEvents makes of them.
type waitCase struct {
	name  string
	given []measurements.Batch // message by message
	of    fleet.Engine         // empty: PostgreSQL
	scope fleet.Scope
	in    timegrid.Window
	want  [waitclass.Categories]line
	none  bool // the engine has no sample in the window
}

func (c waitCase) story() story {
	return story{c.name, func(t *testing.T, h Harness) {
		for _, organization := range h.arrive(t, c.given) {
			h.waits(t, organization, cmp.Or(c.of, pg), c.scope, c.in).is(t, answer{byName(c.want), !c.none}, "wait events")
		}
	}}
}

// waiting is a sample of sessions by their waits, for the databases of the suite.
func waiting(database uuid.UUID, when string, waits map[string]int64) measurements.SessionSample {
	instance, engine := home(database)
	return measurements.SessionSample{Instance: instance, Engine: engine, Database: database, At: at(when), Interval: 10 * time.Second, Waits: waits}
}

// locked is one of sessions that wait for locks.
func locked(database uuid.UUID, when string, sessions int64) measurements.SessionSample {
	return waiting(database, when, waits{"Lock": sessions})
}

// home is the instance of a database of the suite.
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

// locks are lines in which only that of locks is not zero at a value.
func locks(values ...float64) (lines [waitclass.Categories]line) {
	lines[waitclass.Locks] = values
	for c := 1; c < waitclass.Categories; c++ {
		for _, x := range values {
			lines[c] = append(lines[c], x*0)
		}
	}
	return lines
}

// waitMeans: §4.6 and readings 20 and 21.
func waitMeans() []waitCase {
	minute := minutes("10:00", 1)
	return []waitCase{
		{
			name: "the average is of samples in which somebody waits, for whatever",
			given: together(locked(shop, "10:00:00", 2), waiting(shop, "10:00:10", nil),
				waiting(shop, "10:00:20", waits{"IO": 1}), waiting(shop, "10:00:30", waits{})),
			in: minute, want: [5]line{{1}, {0}, {0.5}, {0}, {0}},
		},
		{
			name: "databases are averaged, then added",
			given: together(locked(shop, "10:00:00", 2), locked(shop, "10:00:10", 4),
				waiting(stock, "10:00:00", waits{"Lock": 1, "LWLock": 6}), locked(contacts, "10:00:05", 10)),
			in: minute, want: [5]line{{14}, {6}, {0}, {0}, {0}},
		},
		{
			name: "a sample without a waiter in one database is one with them in another",
			given: together(locked(shop, "10:00:00", 2), waiting(shop, "10:00:10", nil),
				waiting(stock, "10:00:00", nil), locked(stock, "10:00:10", 3)),
			in: minute, want: locks(5),
		},
		{
			name: "an hour is of samples, not of minutes",
			given: together(locked(shop, "10:00:00", 1), locked(shop, "10:00:10", 1), locked(shop, "10:00:20", 1),
				locked(shop, "10:01:00", 9), waiting(shop, "10:02:00", nil)),
			in: hours("10:00", 1), want: locks(3),
		},
		{
			name:  "a day is of samples, not of hours",
			given: together(locked(shop, "10:00", 1), locked(shop, "10:30", 2), locked(shop, "11:00", 9)),
			in:    days("00:00", 1), want: locks(4),
		},
		{
			name:  "a week is of samples, not of days",
			given: together(locked(shop, "17T10:00", 1), locked(shop, "17T10:30", 2), locked(shop, "11:00", 9)),
			in:    weeks("16T00:00", 1), want: locks(4),
		},
		{
			name: "databases are not added before the hour is over",
			given: together(locked(shop, "10:00", 6), locked(shop, "10:01", 2),
				locked(stock, "10:01", 1)),
			in: hours("10:00", 1), want: locks(5),
		},
		{
			name:  "where somebody sampled and nobody waited, it is zero in all five; where nobody sampled, it is none",
			given: together(waiting(shop, "10:00", waits{}), locked(shop, "10:02", 1)),
			in:    minutes("10:00", 4), want: locks(0, gap, 1, gap),
		},
		{name: "nobody sampled", in: minute, want: locks(gap), none: true},
		{name: "sampled outside of the window", given: together(locked(shop, "09:59:59", 1), locked(shop, "10:01", 1)), in: minute, want: locks(gap), none: true},
		{
			name:  "who is on CPU does not wait",
			given: together(waiting(shop, "10:00", waits{"": 7}), waiting(shop, "10:00:10", waits{"": 7, "Lock": 4})),
			in:    minute, want: locks(4),
		},
		{
			name:  "nobody waits for something",
			given: together(locked(shop, "10:00", 0), waiting(shop, "10:00:10", waits{"IO": 0, "Lock": 4})),
			in:    minute, want: locks(4),
		},
		{
			name: "the sessions that are counted do not matter",
			given: together(measurements.SessionSample{Instance: orders, Engine: pg, Database: shop, At: at("10:00"), Active: 5, Waiting: 5, Waits: waits{}},
				measurements.SessionSample{Instance: orders, Engine: pg, Database: shop, At: at("10:01"), Waits: waits{"Lock": 2}}),
			in: hours("10:00", 1), want: locks(2),
		},
	}
}

// waitClasses: the classes of an engine end in its categories; TestClassify has all.
func waitClasses() []waitCase {
	minute := minutes("10:00", 1)
	mixed := together(locked(shop, "10:00", 1), waiting(invoices, "10:00", waits{"LCK_M_X": 2}),
		waiting(books, "10:00", waits{"Application": 3}), locked(posts, "10:00", 4), locked(clicks, "10:00", 5))
	return []waitCase{
		{
			name:  "PostgreSQL",
			given: together(waiting(shop, "10:00", waits{"Lock": 1, "BufferPin": 2, "LWLock": 4, "IO": 8, "Client": 16, "IPC": 32, "Activity": 64, "Extension": 128})),
			in:    minute, want: [5]line{{3}, {4}, {8}, {48}, {192}},
		},
		{
			name: "SQL Server", of: sqlServer,
			given: together(waiting(invoices, "10:00", waits{"lck_m_s": 1, "LATCH_EX": 2, "PAGELATCH_EX": 4, "PAGEIOLATCH_SH": 8, "WRITELOG": 16, "ASYNC_NETWORK_IO": 32, "CXPACKET": 64})),
			in:    minute, want: [5]line{{1}, {2}, {28}, {32}, {64}},
		},
		{
			name: "Oracle", of: oracle,
			given: together(waiting(books, "10:00", waits{"Concurrency": 1, "Application": 2, "Configuration": 4, "User I/O": 8, "System I/O": 16, "Network": 32, "Idle": 64, "Commit": 128, "ON CPU": 256})),
			in:    minute, want: [5]line{{3}, {4}, {24}, {32}, {192}},
		},
		{name: "each engine has its own part: PostgreSQL", given: mixed, in: minute, want: locks(1)},
		{name: "each engine has its own part: SQL Server", of: sqlServer, given: mixed, in: minute, want: locks(2)},
		{name: "each engine has its own part: Oracle", of: oracle, given: mixed, in: minute, want: locks(3)},
		{
			name: "Oracle's waits are not forgotten after seven days", of: oracle, given: together(waiting(books, "02T10:00", waits{"Network": 3})),
			in: weeks("02T00:00", 1), want: [5]line{{0}, {0}, {0}, {3}, {0}},
		},
	}
}

// waitArrivals: the same samples whenever and however often they come, readings 5 and 6.
func waitArrivals() []waitCase {
	sunday := together(locked(shop, "22T23:59:59.999999", 1), locked(shop, "23T00:00", 3))
	return []waitCase{
		{
			name: "a database's sample twice counts once, and the first content stays",
			given: slices.Concat(together(locked(shop, "10:00", 1), waiting(shop, "10:00", waits{"IO": 9})),
				together(locked(shop, "10:00", 7)), together(waiting(shop, "10:00:10", nil))),
			in: minutes("10:00", 1), want: locks(1),
		},
		{
			name:  "that nobody waited is a content, too",
			given: oneByOne(waiting(shop, "10:00", nil), locked(shop, "10:00", 7)),
			in:    minutes("10:00", 1), want: locks(0),
		},
		{
			name: "the databases of an instance may come one by one",
			given: oneByOne(locked(shop, "10:00", 1), locked(stock, "10:00", 2),
				locked(shop, "10:00", 9)),
			in: minutes("10:00", 1), want: locks(3),
		},
		{
			name:  "the newest first, and an import of 36 hours ago",
			given: oneByOne(locked(shop, "10:00", 3), locked(shop, "16T22:30", 5), locked(shop, "16T22:00", 1)),
			in:    days("16T00:00", 3), want: locks(3, gap, 3),
		},
		{name: "half-open", given: together(locked(shop, "10:00:59.999999", 1), locked(shop, "10:01", 2)), in: minutes("10:00", 2), want: locks(1, 2)},
		{name: "weeks start on Monday", given: sunday, in: weeks("16T00:00", 2), want: locks(1, 3)},
		{name: "days across the edge of a week", given: sunday, in: days("21T00:00", 4), want: locks(gap, 1, 3, gap)},
		{
			name: "the buckets of a window are whole", given: sunday,
			in: timegrid.Window{From: at("22T23:30"), To: at("23T00:00:00.000001"), Size: timegrid.Hour}, want: locks(1, 3),
		},
	}
}

// waitScopes: reading 1.
func waitScopes() []waitCase {
	minute := minutes("10:00", 1)
	given := together(locked(shop, "10:00", 1), locked(stock, "10:00", 2), locked(contacts, "10:00", 4))
	return []waitCase{
		{name: "no filter", given: given, in: minute, want: locks(7)},
		{name: "an instance", given: given, scope: only(orders), in: minute, want: locks(3)},
		{name: "instances", given: given, scope: only(crm, ledger, orders), in: minute, want: locks(7)},
		{name: "a filter that nothing matches is not the organization", given: given, scope: nothing, in: minute, want: locks(gap), none: true},
		{name: "an instance without samples", given: given, scope: only(uuid.UUID{99}), in: minute, want: locks(gap), none: true},
		{name: "an instance of another engine", given: given, of: oracle, scope: only(orders), in: minute, want: locks(gap), none: true},
	}
}
