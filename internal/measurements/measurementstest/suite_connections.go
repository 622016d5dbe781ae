package measurementstest

import (
	"cmp"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
)

// connectionCase is samples of sessions, and what is open at noon on the 18th.
type connectionCase struct {
	name      string
	given     []measurements.Batch // message by message
	of        fleet.Engine         // empty: PostgreSQL
	databases []uuid.UUID          // nil: all
	want      measurements.OpenConnections
}

func (c connectionCase) story() story {
	return story{c.name, func(t *testing.T, h Harness) {
		organization := uuid.New()
		for _, b := range c.given {
			b.Organization = organization
			h.write(t, b)
		}
		databases := c.databases
		if databases == nil {
			databases = []uuid.UUID{shop, stock, contacts, invoices, books, posts, clicks}
		}
		// It waits for no roller.
		got := h.connections(t, organization, cmp.Or(c.of, pg), databases, at("12:00"))
		if got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}}
}

// open is a sample with so many active sessions, taken every ten seconds.
func open(database uuid.UUID, when string, active int64) measurements.SessionSample {
	s := waiting(database, when, nil)
	s.Active = active
	return s
}

// seldom is a sample that is taken every five minutes.
func seldom(s measurements.SessionSample) measurements.SessionSample {
	s.Interval = 5 * time.Minute
	return s
}

// connectionCases: §4.2 and reading 23.
func connectionCases() []connectionCase {
	active := func(when string, n int64) measurements.OpenConnections {
		return measurements.OpenConnections{SampledAt: at(when), Active: n}
	}
	split := func(database uuid.UUID, when string, n int64) measurements.SessionSample {
		s := open(database, when, n)
		s.Idle, s.Waiting, s.IdleInTransaction, s.Other = 2*n, 3*n, 4*n, 5*n
		return s
	}
	everyEngine := together(open(shop, "11:59:50", 1), open(invoices, "11:59:51", 2), open(books, "11:59:52", 4),
		open(posts, "11:59:53", 8), open(clicks, "11:59:54", 16))
	return []connectionCase{
		{name: "nothing was ever sampled"},
		{
			name:  "the splits of databases are added, the oldest sample is named",
			given: together(split(shop, "11:59:58", 1), split(contacts, "11:59:50", 10)),
			want:  measurements.OpenConnections{SampledAt: at("11:59:50"), Active: 11, Idle: 22, Waiting: 33, IdleInTransaction: 44, Other: 55},
		},
		{
			name:  "the latest sample of a database counts",
			given: together(open(shop, "11:59:30", 1), open(shop, "11:59:50", 2), open(shop, "11:59:40", 4)),
			want:  active("11:59:50", 2),
		},
		{name: "whenever it came", given: oneByOne(open(shop, "11:59:50", 2), open(shop, "11:59:40", 4)), want: active("11:59:50", 2)},
		{name: "of one time, the first content stays", given: oneByOne(open(shop, "11:59:50", 2), open(shop, "11:59:50", 4)), want: active("11:59:50", 2)},
		{name: "in one message, too", given: together(open(shop, "11:59:50", 2), open(shop, "11:59:50", 4)), want: active("11:59:50", 2)},
		{name: "a sample counts for a minute", given: together(open(shop, "11:59", 2)), want: active("11:59", 2)},
		{name: "and not longer", given: together(open(shop, "11:58:59.999999", 2))},
		{name: "or for three of its intervals", given: together(seldom(open(shop, "11:45", 2))), want: active("11:45", 2)},
		{name: "and not for more", given: together(seldom(open(shop, "11:44:59.999999", 2)))},
		{name: "the latest decides, though an earlier one would count for longer", given: together(open(shop, "11:58", 2), seldom(open(shop, "11:50", 4)))},
		{name: "what is stale is left out", given: together(open(shop, "11:00", 2), open(stock, "11:59:50", 1)), want: active("11:59:50", 1)},
		{name: "a sender's clock may be ahead", given: together(open(shop, "12:00:05", 2)), want: active("12:00:05", 2)},
		{name: "zero sessions are a sample", given: together(open(shop, "11:59:50", 0)), want: active("11:59:50", 0)},
		{
			name: "databases that are not asked for do not count: they are removed, or not in scope", databases: []uuid.UUID{stock, contacts},
			given: together(open(shop, "11:59:50", 1), open(stock, "11:59:51", 2)), want: active("11:59:51", 2),
		},
		{name: "no database at all", databases: []uuid.UUID{}, given: together(open(shop, "11:59:50", 1))},
		{
			name: "a database that is named twice counts once", databases: []uuid.UUID{shop, shop},
			given: together(open(shop, "11:59:50", 1)), want: active("11:59:50", 1),
		},
		{name: "PostgreSQL's part", given: everyEngine, want: active("11:59:50", 1)},
		{name: "SQL Server's part", of: sqlServer, given: everyEngine, want: active("11:59:51", 2)},
		{name: "Oracle's part", of: oracle, given: everyEngine, want: active("11:59:52", 4)},
	}
}
