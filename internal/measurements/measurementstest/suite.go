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
	"muster/internal/measurements/waitclass"
)

// Run holds a store to the readings of its definitions: each case is samples in the
// order of their arrival, and numbers that one can work out by hand.
func Run(t *testing.T, open Open) { RunEach(t, open, 1) }

// RunEach is Run of one story in n of each kind: for stores whose stories are expensive.
func RunEach(t *testing.T, open Open, n int) {
	for what, stories := range map[string][]story{
		"utilization":       tell(hostCase.story, hostMeans(), hostCounters(), hostMemory(), hostDisks(), hostArrivals(), hostBuckets(), hostScopes()),
		"wait events":       tell(waitCase.story, waitMeans(), waitClasses(), waitArrivals(), waitScopes()),
		"query performance": tell(queryCase.story, queryMeans(), queryMaxima(), querySamples(), oracleQueries(), queryArrivals(), queryScopes()),
		"connections":       tell(connectionCase.story, connectionCases()),
		"contributors":      tell(contributorCase.story, contributorCases()),
		"writing":           writeCases(),
		"lateness":          lateCases(), // in a store of its own, all of which ages
		"senders":           senderCases(),
		"parts":             partCases(),
		"servers":           tell(figureCase.story, figureCases()),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := open(t)
			for i := 0; i < len(stories); i += n {
				t.Run(stories[i].name, func(t *testing.T) { stories[i].run(t, h) })
			}
		})
	}
}

// story is a case by what is done.
type story struct {
	name string
	run  func(t *testing.T, h Harness)
}

// tell makes stories of tables of cases.
func tell[C any](of func(C) story, tables ...[]C) (all []story) {
	for _, c := range slices.Concat(tables...) {
		all = append(all, of(c))
	}
	return all
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

// everything is no filter; nothing is a filter without matches.
var (
	everything fleet.Scope
	nothing    = fleet.Scope{Filtered: true}
)

func only(instances ...uuid.UUID) fleet.Scope {
	return fleet.Scope{Filtered: true, Instances: instances}
}

// at is a time in November 2026, whose 16th and 23rd are Mondays: "17T10:00", on the 18th if no
// day is named, with seconds if they matter.
func at(text string) time.Time {
	if !strings.Contains(text, "T") {
		text = "18T" + text
	}
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
var later = at("23:00")

// from is the window of n buckets from a time.
func from(text string, n int, size timegrid.Size) timegrid.Window {
	start := at(text)
	return timegrid.Window{From: start, To: start.Add(time.Duration(n) * size.Width()), Size: size}
}

func minutes(text string, n int) timegrid.Window { return from(text, n, timegrid.Minute) }
func hours(text string, n int) timegrid.Window   { return from(text, n, timegrid.Hour) }
func days(text string, n int) timegrid.Window    { return from(text, n, timegrid.Day) }
func weeks(text string, n int) timegrid.Window   { return from(text, n, timegrid.Week) }

// p is a number that is there.
func p(x float64) *float64 { return &x }

// line is a line of a tile.
type line = measurements.Values

// answer is what a store says of a tile: its lines by name, and what there is besides.
type answer struct {
	lines   map[string]line
	besides any // how many hosts, whether the engine has a sample, what is open
}

// is compares an answer with the expected one. A line that is nil in the expected one is
// ignored.
func (a answer) is(t tester, want answer, what string) {
	t.Helper()
	for name, line := range want.lines {
		if line != nil && !near(line, a.lines[name]) {
			t.Errorf("%s: %s is\n%v, want\n%v", what, name, a.lines[name], line)
		}
	}
	if a.besides != want.besides {
		t.Errorf("%s: %v, want %v", what, a.besides, want.besides)
	}
}

// read is an answer, whose lines have a value for each bucket of the window.
func read(t tester, w timegrid.Window, err error, lines map[string]line, besides any) answer {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for name, line := range lines {
		if len(line) != w.Len() {
			t.Errorf("%s has %d of %d buckets", name, len(line), w.Len())
		}
	}
	return answer{lines, besides}
}

func (h Harness) utilization(t tester, organization uuid.UUID, scope measurements.HostScope, w timegrid.Window) answer {
	t.Helper()
	u, err := h.Store.Utilization(t.Context(), organization, scope, w)
	return read(t, w, err, map[string]line{"CPU": u.CPUPercent, "memory": u.MemoryPercent, "disk": u.DiskPercent}, u.HostCount)
}

func (h Harness) queries(t tester, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window, now time.Time) answer {
	t.Helper()
	q, err := h.Store.QueryPerformance(t.Context(), organization, engine, scope, w, now)
	return read(t, w, err, map[string]line{"time": q.TotalMs, "calls": q.Calls, "maximum": q.MaxMs}, q.Sampled)
}

// waitNames are those of the categories.
var waitNames = [waitclass.Categories]string{"locks", "lightweight locks", "I/O", "client and network", "other"}

func (h Harness) waits(t tester, organization uuid.UUID, engine fleet.Engine, scope fleet.Scope, w timegrid.Window) answer {
	t.Helper()
	s, err := h.Store.WaitEvents(t.Context(), organization, engine, scope, w)
	return read(t, w, err, byName(s.Waiting), s.Sampled)
}

func byName(waiting [waitclass.Categories]line) map[string]line {
	lines := make(map[string]line)
	for c, name := range waitNames {
		lines[name] = waiting[c]
	}
	return lines
}

func (h Harness) connections(t tester, organization uuid.UUID, engine fleet.Engine, databases []uuid.UUID, now time.Time) measurements.OpenConnections {
	t.Helper()
	open, err := h.Store.Connections(t.Context(), organization, engine, databases, now)
	if err != nil {
		t.Fatal(err)
	}
	open.SampledAt = open.SampledAt.UTC()
	return open
}

// near compares lines, to nine digits. A gap equals a gap and nothing else.
func near(want, got line) bool {
	return slices.EqualFunc(want, got, func(a, b float64) bool {
		if math.IsNaN(a) || math.IsNaN(b) {
			return math.IsNaN(a) == math.IsNaN(b)
		}
		return a == b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
	})
}

// together are samples in one message.
func together[S any](samples ...S) []measurements.Batch {
	var b measurements.Batch
	switch all := any(samples).(type) {
	case []measurements.HostSample:
		b.Hosts = all
	case []measurements.SessionSample:
		b.Sessions = all
	case []measurements.StatementSample:
		b.Statements = all
	}
	return []measurements.Batch{b}
}

// oneByOne are samples in a message each.
func oneByOne[S any](samples ...S) (messages []measurements.Batch) {
	for _, s := range samples {
		messages = append(messages, together(s)...)
	}
	return messages
}

// write writes a batch that must not be too late.
func (h Harness) write(t tester, b measurements.Batch) {
	t.Helper()
	receipt, err := h.Store.Write(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	want := measurements.SampleCounts{Hosts: len(b.Hosts), Sessions: len(b.Sessions), Statements: len(b.Statements), Servers: len(b.Servers)}
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
