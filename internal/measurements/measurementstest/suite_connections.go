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
	databases []uuid.UUID
	want      measurements.OpenConnections
}

func (c connectionCase) story() story {
	return story{c.name, func(t *testing.T, h Harness) {
		organization := uuid.New()
		for _, b := range c.given {
			b.Organization = organization
			h.write(t, b)
		}
		// It waits for no roller.
		got := h.connections(t, organization, cmp.Or(c.of, pg), c.databases, at("18T12:00"))
		if got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}}
}

// open is a sample with so many active sessions, taken every interval.
func open(database uuid.UUID, when string, every time.Duration, active int64) measurements.SessionSample {
	s := waiting(database, when, nil)
	s.Interval, s.Active = every, active
	return s
}

// connectionCases: §4.2 and reading 23.
func connectionCases() []connectionCase {
	all := []uuid.UUID{shop, stock, contacts, invoices, books, posts, clicks}
	const often, seldom = 10 * time.Second, 5 * time.Minute
	active := func(when string, n int64) measurements.OpenConnections {
		return measurements.OpenConnections{SampledAt: at(when), Active: n}
	}
	split := func(database uuid.UUID, when string, n int64) measurements.SessionSample {
		s := open(database, when, often, n)
		s.Idle, s.Waiting, s.IdleInTransaction, s.Other = 2*n, 3*n, 4*n, 5*n
		return s
	}
	everyEngine := together(open(shop, "18T11:59:50", often, 1), open(invoices, "18T11:59:51", often, 2), open(books, "18T11:59:52", often, 4),
		open(posts, "18T11:59:53", often, 8), open(clicks, "18T11:59:54", often, 16))
	return []connectionCase{
		{name: "nothing was ever sampled", databases: all},
		{
			name: "the splits of databases are added, the oldest sample is named", databases: all,
			given: together(split(shop, "18T11:59:58", 1), split(contacts, "18T11:59:50", 10)),
			want:  measurements.OpenConnections{SampledAt: at("18T11:59:50"), Active: 11, Idle: 22, Waiting: 33, IdleInTransaction: 44, Other: 55},
		},
		{
			name: "the latest sample of a database counts", databases: all,
			given: together(open(shop, "18T11:59:30", often, 1), open(shop, "18T11:59:50", often, 2), open(shop, "18T11:59:40", often, 4)),
			want:  active("18T11:59:50", 2),
		},
		{
			name: "whenever it came", databases: all,
			given: oneByOne(open(shop, "18T11:59:50", often, 2), open(shop, "18T11:59:40", often, 4)),
			want:  active("18T11:59:50", 2),
		},
		{
			name: "of one time, the first content stays", databases: all,
			given: oneByOne(open(shop, "18T11:59:50", often, 2), open(shop, "18T11:59:50", often, 4)),
			want:  active("18T11:59:50", 2),
		},
		{
			name: "in one message, too", databases: all,
			given: together(open(shop, "18T11:59:50", often, 2), open(shop, "18T11:59:50", often, 4)),
			want:  active("18T11:59:50", 2),
		},
		{name: "a sample counts for a minute", databases: all, given: together(open(shop, "18T11:59", often, 2)), want: active("18T11:59", 2)},
		{name: "and not longer", databases: all, given: together(open(shop, "18T11:58:59.999999", often, 2))},
		{name: "or for three of its intervals", databases: all, given: together(open(shop, "18T11:45", seldom, 2)), want: active("18T11:45", 2)},
		{name: "and not for more", databases: all, given: together(open(shop, "18T11:44:59.999999", seldom, 2))},
		{
			name: "the latest decides, though an earlier one would count for longer", databases: all,
			given: together(open(shop, "18T11:58", often, 2), open(shop, "18T11:50", seldom, 4)),
		},
		{
			name: "what is stale is left out", databases: all,
			given: together(open(shop, "18T11:00", often, 2), open(stock, "18T11:59:50", often, 1)),
			want:  active("18T11:59:50", 1),
		},
		{
			name: "a sender's clock may be ahead", databases: all,
			given: together(open(shop, "18T12:00:05", often, 2)), want: active("18T12:00:05", 2),
		},
		{
			name: "zero sessions are a sample", databases: all,
			given: together(open(shop, "18T11:59:50", often, 0)), want: active("18T11:59:50", 0),
		},
		{
			name: "databases that are not asked for do not count: they are removed, or not in scope", databases: []uuid.UUID{stock, contacts},
			given: together(open(shop, "18T11:59:50", often, 1), open(stock, "18T11:59:51", often, 2)), want: active("18T11:59:51", 2),
		},
		{
			name: "no database at all", databases: nil,
			given: together(open(shop, "18T11:59:50", often, 1)),
		},
		{
			name: "a database that is named twice counts once", databases: []uuid.UUID{shop, shop},
			given: together(open(shop, "18T11:59:50", often, 1)), want: active("18T11:59:50", 1),
		},
		{name: "PostgreSQL's part", databases: all, given: everyEngine, want: active("18T11:59:50", 1)},
		{name: "SQL Server's part", of: sqlServer, databases: all, given: everyEngine, want: active("18T11:59:51", 2)},
		{name: "Oracle's part", of: oracle, databases: all, given: everyEngine, want: active("18T11:59:52", 4)},
	}
}
