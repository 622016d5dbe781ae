package measurementstest

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// Run holds a store to the readings of its definitions: each case is samples in the
// order of their arrival, and numbers that one can work out by hand.
func Run(t *testing.T, open Open) {
	t.Run("utilization", func(t *testing.T) {
		t.Parallel()
		h := open(t)
		for _, cases := range [][]hostCase{hostMeans(), hostCounters(), hostMemory(), hostDisks(), hostArrivals(), hostBuckets(), hostScopes()} {
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) { c.run(t, h) })
			}
		}
	})
	t.Run("wait events", func(t *testing.T) {
		t.Parallel()
		h := open(t)
		for _, c := range slices.Concat(waitMeans(), waitClasses(), waitArrivals(), waitScopes()) {
			t.Run(c.name, func(t *testing.T) { c.run(t, h) })
		}
	})
	t.Run("query performance", func(t *testing.T) {
		t.Parallel()
		h := open(t)
		for _, c := range slices.Concat(queryMeans(), queryMaxima(), querySamples(), oracleQueries(), queryArrivals(), queryScopes()) {
			t.Run(c.name, func(t *testing.T) { c.run(t, h) })
		}
	})
	t.Run("connections", func(t *testing.T) {
		t.Parallel()
		h := open(t)
		for _, c := range connectionCases() {
			t.Run(c.name, func(t *testing.T) { c.run(t, h) })
		}
	})
	t.Run("writing", func(t *testing.T) {
		t.Parallel()
		h := open(t)
		for _, c := range writeCases() {
			t.Run(c.name, func(t *testing.T) { c.run(t, h) })
		}
	})
	t.Run("lateness", func(t *testing.T) {
		t.Parallel()
		h := open(t) // what ages is of its own
		for _, c := range lateCases() {
			t.Run(c.name, func(t *testing.T) { c.run(t, h) })
		}
	})
}

// The fleet of the suite. Organizations differ from case to case, ids need not.
var (
	orders  = uuid.UUID{1} // PostgreSQL, with the databases shop and stock
	crm     = uuid.UUID{2} // PostgreSQL, with contacts
	billing = uuid.UUID{3} // SQL Server, with invoices
	ledger  = uuid.UUID{4} // Oracle, with books
	blog    = uuid.UUID{5} // MySQL, with posts
	events  = uuid.UUID{6} // MongoDB, with clicks

	shop, stock, contacts, invoices, books, posts, clicks = uuid.UUID{11}, uuid.UUID{12}, uuid.UUID{13}, uuid.UUID{14}, uuid.UUID{15}, uuid.UUID{16}, uuid.UUID{17}
)

var (
	pg, sqlServer, oracle = fleet.PostgreSQL, fleet.SQLServer, fleet.Oracle
	gap                   = math.NaN()
)

// everything is no filter, nothing one that nothing matches.
var (
	everything fleet.Scope
	nothing    = fleet.Scope{Filtered: true}
)

func only(instances ...uuid.UUID) fleet.Scope {
	return fleet.Scope{Filtered: true, Instances: instances}
}

// at is a time in November 2026, of which the 16th and the 23rd are Mondays:
// "18T10:00", and seconds where they matter.
func at(text string) time.Time {
	if strings.Count(text, ":") == 1 {
		text += ":00"
	}
	t, err := time.Parse(time.RFC3339Nano, "2026-11-"+text+"Z")
	if err != nil {
		panic(err) // a case is misspelled
	}
	return t
}

// later is when the oldest of what the suite measures is not a day old.
var later = at("18T23:00")

// from is the window of n buckets from a time.
func from(text string, n int, size timegrid.Size) timegrid.Window {
	start := at(text)
	return timegrid.Window{From: start, To: start.Add(time.Duration(n) * size.Width()), Size: size}
}

// p is a number that is there.
func p(x float64) *float64 { return &x }

// line is a line of a tile.
type line = measurements.Values

// equals compares lines, to nine digits. A gap equals a gap and nothing else.
func equals(t tester, name string, want, got line) {
	t.Helper()
	if !near(want, got) {
		t.Errorf("%s is %v, want %v", name, got, want)
	}
}

func near(want, got line) bool {
	return slices.EqualFunc(want, got, func(a, b float64) bool {
		if math.IsNaN(a) || math.IsNaN(b) {
			return math.IsNaN(a) == math.IsNaN(b)
		}
		return a == b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
	})
}

// together are samples in one message.
func together[S any](samples ...S) [][]S { return [][]S{samples} }

// oneByOne are samples in a message each.
func oneByOne[S any](samples ...S) (messages [][]S) {
	for _, s := range samples {
		messages = append(messages, []S{s})
	}
	return messages
}

// write writes a batch, none of which may be too late.
func (h Harness) write(t tester, b measurements.Batch) {
	t.Helper()
	receipt, err := h.Store.Write(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	want := measurements.SampleCounts{Hosts: len(b.Hosts), Sessions: len(b.Sessions), Statements: len(b.Statements)}
	if receipt.Accepted != want || receipt.TooLate != (measurements.SampleCounts{}) {
		t.Errorf("%+v, want %+v accepted", receipt, want)
	}
}

func (h Harness) roll(t tester) {
	t.Helper()
	if err := h.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// arrive writes batches and rolls them up: once at the end and, for another
// organization, after each batch. An answer must not tell.
func (h Harness) arrive(t tester, batches []measurements.Batch) (organizations []uuid.UUID) {
	t.Helper()
	deliver := func(eachRolled bool) {
		organization := uuid.New()
		organizations = append(organizations, organization)
		for _, b := range batches {
			b.Organization = organization
			h.write(t, b)
			if eachRolled {
				h.roll(t)
			}
		}
	}
	deliver(false)
	if len(batches) > 1 {
		deliver(true)
	}
	h.roll(t)
	return organizations
}
