package measurementstest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// asPart is a partial sample of sessions.
func asPart(part measurements.SessionPart, s measurements.SessionSample) measurements.SessionSample {
	s.Part, s.Partial = part, true
	return s
}

// partialIn is whether statements, waits and connections are said to be of a part.
func (h Harness) partialIn(t *testing.T, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window, databases []uuid.UUID, now time.Time) (statements, waits, open bool) {
	t.Helper()
	q, err := h.Store.QueryPerformance(t.Context(), organization, engine, scope, w, later)
	if err != nil {
		t.Fatal(err)
	}
	e, err := h.Store.WaitEvents(t.Context(), organization, engine, scope, w)
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Store.Connections(t.Context(), organization, engine, databases, now)
	if err != nil {
		t.Fatal(err)
	}
	return q.Partial, e.Partial, c.Partial
}

// partCases: partial samples count, and the result is marked as partial.
func partCases() []story {
	return []story{
		{"counts without waits, and waits without counts", func(t *testing.T, h Harness) {
			organization := uuid.New()
			counted := locked(shop, "10:00", 7)
			counted.Idle = 3
			waiting := locked(shop, "10:00:30", 2)
			waiting.Idle = 99
			stock := locked(stock, "10:00", 5)
			h.write(t, measurements.Batch{Organization: organization, Sessions: []measurements.SessionSample{
				asPart(measurements.OnlyCounts, counted), asPart(measurements.OnlyWaits, waiting), asPart(measurements.OnlyCounts, stock),
			}})
			h.roll(t)
			waits := h.waits(t, organization, pg, everything, minutes("10:00", 2))
			waits.is(t, answer{map[string]line{"locks": {2, gap}}, true}, "waits")
			open := h.connections(t, organization, pg, []uuid.UUID{shop}, at("10:00:40"))
			if open.Idle != 3 || !open.SampledAt.Equal(at("10:00")) || !open.Partial {
				t.Errorf("open are %+v", open)
			}
			if open := h.connections(t, organization, pg, []uuid.UUID{stock.Database}, at("10:00:40")); !open.Partial {
				t.Errorf("of a database that is only counted, open are %+v", open)
			}
		}},
		{"what is counted alone is no sample of waits", func(t *testing.T, h Harness) {
			organization := uuid.New()
			h.write(t, measurements.Batch{Organization: organization, Sessions: []measurements.SessionSample{asPart(measurements.OnlyCounts, locked(shop, "10:00", 7))}})
			h.roll(t)
			h.waits(t, organization, pg, everything, minutes("10:00", 1)).is(t, answer{map[string]line{"locks": {gap}}, false}, "waits")
		}},
		{"a part is said from its first sample to its last, of its engine and in scope", func(t *testing.T, h Harness) {
			organization := uuid.New()
			part := func(when string) measurements.StatementSample {
				s := ran(invoices, when, q("a", 1, 1))
				s.Partial = true
				return s
			}
			h.write(t, measurements.Batch{
				Organization: organization,
				Statements:   []measurements.StatementSample{part("10:30"), part("10:10"), ran(invoices, "10:20", q("a", 1, 1)), ran(shop, "10:20", q("a", 1, 1))},
				Sessions:     []measurements.SessionSample{asPart(measurements.OnlyWaits, locked(books, "10:10", 1)), locked(books, "10:20", 1)},
			})
			h.roll(t)
			all := []uuid.UUID{shop, invoices, books}
			for _, c := range []struct {
				name                string
				engine              fleet.Engine
				scope               fleet.Scope
				from                string
				n                   int
				statements, byWaits bool
			}{
				{"the hour", sqlServer, everything, "10:00", 60, true, false},
				{"between", sqlServer, everything, "10:20", 5, true, false},
				{"its first minute", sqlServer, only(billing), "10:10", 1, true, false},
				{"the minute before", sqlServer, everything, "10:09", 1, false, false},
				{"its last minute", sqlServer, everything, "10:30", 1, true, false},
				{"the minute after", sqlServer, everything, "10:31", 1, false, false},
				{"another engine", pg, everything, "10:00", 60, false, false},
				{"another instance", sqlServer, only(orders), "10:00", 60, false, false},
				{"waits", oracle, everything, "10:00", 60, false, true},
				{"after the waits", oracle, everything, "10:11", 49, false, false},
			} {
				w := minutes(c.from, c.n)
				statements, waits, open := h.partialIn(t, organization, c.engine, c.scope, w, all, at("10:20:10"))
				if statements != c.statements || waits != c.byWaits || open {
					t.Errorf("%s: statements %t, waits %t, connections %t", c.name, statements, waits, open)
				}
				span := measurements.Span{From: w.Start(), To: w.End(), Size: timegrid.Minute}
				_, listed, err := h.Store.Statements(t.Context(), organization, c.engine, measurements.StatementScope{Scope: c.scope}, span, later, func(measurements.StatementSums) {})
				if err != nil || listed != c.statements {
					t.Errorf("%s: of the list %t, %v", c.name, listed, err)
				}
			}
		}},
	}
}
