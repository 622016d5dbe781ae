package httpapi

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/inventory"
	domain "muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

const metricsPath = "/api/v1/metrics/"

// tileSeries are those with a window, and their series.
var tileSeries = map[string][]string{
	"utilization":       {"cpuPercent", "memoryPercent", "diskPercent"},
	"query-performance": {"avgLatencyMs", "maxLatencyMs"},
	"wait-events":       {"locks", "lightweightLocks", "io", "clientNetwork", "other"},
}

// measured keeps samples as a sender brings them, and rolls them up.
func (w *world) measured(in tenant, b measurements.Batch) {
	w.t.Helper()
	b.Organization = in.organization.ID
	_, err := w.samples.Write(w.t.Context(), b)
	must(w.t, err)
	for {
		hours, err := w.samples.Roll(w.t.Context())
		must(w.t, err)
		if hours == 0 {
			return
		}
	}
}

// measuredNow keeps a sample of each kind, of a host of the instance and of a
// PostgreSQL database on it.
func (w *world) measuredNow(in tenant, instance, database uuid.UUID) {
	w.t.Helper()
	w.measured(in, measurements.Batch{
		Hosts:      []measurements.HostSample{{Host: w.secret(in), Instances: []uuid.UUID{instance}, At: w.ago(time.Minute), CPUPercent: to(7.0), MemoryPercent: to(7.0)}},
		Sessions:   []measurements.SessionSample{{Instance: instance, Engine: domain.PostgreSQL, Database: database, At: w.ago(time.Second), Interval: 10 * time.Second, Active: 7, Waits: map[string]int64{"Lock": 7}}},
		Statements: []measurements.StatementSample{{Instance: instance, Engine: domain.PostgreSQL, Database: database, At: w.ago(time.Minute), Interval: time.Minute, Statements: []measurements.Statement{{Key: w.secret(in), Calls: 7, TotalMs: 49}}}},
	})
}

// secret is the name of what belongs to a tenant: that of others is hidden.
func (w *world) secret(of tenant) string {
	if of.organization.ID == w.theirs.organization.ID {
		return hidden
	}
	return "seen"
}

// fleetOfThree is one server of each engine with a database, by external id; of the
// last one no host is known.
func (w *world) fleetOfThree(in tenant) map[string]uuid.UUID {
	w.t.Helper()
	server := func(name string, engine domain.Engine, host string) inventory.Item {
		return inventory.Item{ExternalID: name, Engine: engine, Host: &host, CreatedAt: w.ago(30 * day), Databases: []inventory.Database{database("d", w.ago(30*day))}}
	}
	return w.fed(in, server("orders", domain.PostgreSQL, "db01"), server("billing", domain.SQLServer, "db02"), server("ledger", domain.Oracle, ""))
}

// line is a series of a tile, value by value; - is null.
func (a answer) line(name string) string {
	a.t.Helper()
	var words []string
	for _, v := range a.lines()[name] {
		if v == nil {
			words = append(words, "-")
		} else {
			words = append(words, strconv.FormatFloat(*v, 'f', -1, 64))
		}
	}
	return strings.Join(words, " ")
}

func (a answer) lines() map[string][]*float64 {
	a.t.Helper()
	var shown struct{ Series map[string][]*float64 }
	a.is(200).decode(&shown)
	return shown.Series
}

// hours is the query of that many hours from a time on.
func hours(from time.Time, n int) string {
	return windowed(from.Format(time.RFC3339), from.Add(time.Duration(n)*time.Hour).Format(time.RFC3339), "1h")
}

func ofInstances(ids ...uuid.UUID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = id.String()
	}
	return "&" + url.Values{"instanceId": words}.Encode()
}

// hourAgo is the beginning of the hour that lies so many hours before this one.
func (w *world) hourAgo(hours int) time.Time {
	return w.clock.Now().Truncate(time.Hour).Add(-time.Duration(hours) * time.Hour)
}

func TestUtilization(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids, theirs := w.fleetOfThree(w.ours), w.fleetOfThree(w.theirs)
	start := w.hourAgo(5)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	w.measured(w.ours, measurements.Batch{Hosts: []measurements.HostSample{
		{Host: "db01", Instances: []uuid.UUID{ids["orders"]}, At: at(0), CPUPercent: to(40.0), MemoryPercent: to(63.0), Volumes: []measurements.Volume{{Mount: "/data", UsedPercent: to(71.2)}, {Mount: "/boot", UsedPercent: to(99.0)}}},
		{Host: "db01", Instances: []uuid.UUID{ids["orders"]}, At: at(1), CPUPercent: to(60.0)},
		{Host: "db02", At: at(0), CPUPercent: to(0.0), MemoryPercent: to(10.1111), Volumes: []measurements.Volume{{Mount: "/", UsedPercent: to(91.7)}}},
		{Host: "nobody's", At: at(0), Volumes: []measurements.Volume{{Mount: "/", UsedPercent: to(95.0)}}},
		{Host: "db01", Instances: []uuid.UUID{ids["orders"]}, At: at(121), CPUPercent: to(0.0)},
	}})
	w.measured(w.theirs, measurements.Batch{Hosts: []measurements.HostSample{{Host: "db01", Instances: []uuid.UUID{theirs["orders"]}, At: at(0), CPUPercent: to(100.0)}}})
	for name, c := range map[string]struct {
		filter            string
		cpu, memory, disk string
		hosts             float64
	}{
		"the organization":         {"", "25 - 0", "36.556 - -", "95 - -", 3},
		"by what its samples name": {ofInstances(ids["orders"]), "50 - 0", "63 - -", "71.2 - -", 1},
		"by its registered host":   {ofInstances(ids["billing"]), "0 - -", "10.111 - -", "91.7 - -", 1},
		"two":                      {ofInstances(ids["billing"], ids["orders"]), "25 - 0", "36.556 - -", "91.7 - -", 2},
		"one without a host":       {ofInstances(ids["ledger"]), "- - -", "- - -", "- - -", 0},
		"nobody's id":              {ofInstances(uuid.New()), "- - -", "- - -", "- - -", 0},
		"another's":                {ofInstances(theirs["orders"]), "- - -", "- - -", "- - -", 0},
		"one of ours, and others":  {ofInstances(theirs["orders"], ids["billing"], uuid.New()), "0 - -", "10.111 - -", "91.7 - -", 1},
	} {
		a := w.get(w.ours.viewer, metricsPath+"utilization"+hours(start, 3)+c.filter)
		if cpu, memory, disk := a.line("cpuPercent"), a.line("memoryPercent"), a.line("diskPercent"); cpu != c.cpu || memory != c.memory || disk != c.disk {
			t.Errorf("%s: CPU %s, memory %s, disk %s, want %s, %s and %s", name, cpu, memory, disk, c.cpu, c.memory, c.disk)
		}
		if got := a.object()["hostCount"]; got != c.hosts {
			t.Errorf("%s: %v hosts, want %v", name, got, c.hosts)
		}
	}
	if got := w.get(w.ours.viewer, metricsPath+"utilization"+windowed(at(0).Format(time.RFC3339), at(3).Format(time.RFC3339), "1m")).line("cpuPercent"); got != "20 60 -" {
		t.Errorf("by the minute: %s", got)
	}
}

func TestQueryPerformance(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids, theirs := w.fleetOfThree(w.ours), w.fleetOfThree(w.theirs)
	start := w.hourAgo(5)
	sample := func(of map[string]uuid.UUID, name string, engine domain.Engine, minutes int, statements ...measurements.Statement) measurements.StatementSample {
		return measurements.StatementSample{Instance: of[name], Engine: engine, Database: of[name+"/d"], At: start.Add(time.Duration(minutes) * time.Minute), Interval: time.Minute, Statements: statements}
	}
	w.measured(w.ours, measurements.Batch{Statements: []measurements.StatementSample{
		sample(ids, "orders", domain.PostgreSQL, 1, measurements.Statement{Key: "a", Calls: 10, TotalMs: 100}, measurements.Statement{Key: "b", Calls: 1, TotalMs: 50}),
		sample(ids, "orders", domain.PostgreSQL, 2, measurements.Statement{Key: "b", Calls: 1, TotalMs: 0}),
		sample(ids, "billing", domain.SQLServer, 1, measurements.Statement{Key: "a", Calls: 2, TotalMs: 10, MaxMs: to(400.0)}),
		sample(ids, "ledger", domain.Oracle, 1, measurements.Statement{Key: "once", Calls: 1, TotalMs: 1e6}), // contributes nothing
		sample(ids, "orders", domain.PostgreSQL, 121), // sampled, and nothing was executed
	}})
	w.measured(w.theirs, measurements.Batch{Statements: []measurements.StatementSample{
		sample(theirs, "orders", domain.PostgreSQL, 1, measurements.Statement{Key: "a", Calls: 1, TotalMs: 1e6}),
	}})
	for name, c := range map[string]struct {
		filter, average, highest, engines string
	}{
		"the organization": {"", "11.429 - -", "400 - -", "[postgresql sqlserver oracle]"},
		"one":              {ofInstances(ids["orders"]), "12.5 - -", "25 - -", "[postgresql]"},
		"seen only once":   {ofInstances(ids["ledger"]), "- - -", "- - -", "[oracle]"},
		"two":              {ofInstances(ids["ledger"], ids["billing"]), "5 - -", "400 - -", "[sqlserver oracle]"},
		"nobody's id":      {ofInstances(uuid.New()), "- - -", "- - -", "[]"},
		"another's":        {ofInstances(theirs["orders"]), "- - -", "- - -", "[]"},
	} {
		a := w.get(w.ours.viewer, metricsPath+"query-performance"+hours(start, 3)+c.filter)
		if average, highest := a.line("avgLatencyMs"), a.line("maxLatencyMs"); average != c.average || highest != c.highest {
			t.Errorf("%s: average %s, highest %s, want %s and %s", name, average, highest, c.average, c.highest)
		}
		if got := fmt.Sprint(a.object()["engines"]); got != c.engines {
			t.Errorf("%s: engines %s, want %s", name, got, c.engines)
		}
	}
}

func TestWaitEvents(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids, theirs := w.fleetOfThree(w.ours), w.fleetOfThree(w.theirs)
	start := w.hourAgo(5)
	sample := func(of map[string]uuid.UUID, name string, engine domain.Engine, seconds int, waits map[string]int64) measurements.SessionSample {
		return measurements.SessionSample{Instance: of[name], Engine: engine, Database: of[name+"/d"], At: start.Add(time.Duration(seconds) * time.Second), Interval: 10 * time.Second, Waits: waits}
	}
	w.measured(w.ours, measurements.Batch{Sessions: []measurements.SessionSample{
		sample(ids, "orders", domain.PostgreSQL, 0, map[string]int64{"Lock": 2, "Client": 1}),
		sample(ids, "orders", domain.PostgreSQL, 10, nil), // nobody waits: not in the average
		sample(ids, "orders", domain.PostgreSQL, 20, map[string]int64{"Lock": 4}),
		sample(ids, "billing", domain.SQLServer, 0, map[string]int64{"PAGEIOLATCH_SH": 1, "LATCH_EX": 2}),
		sample(ids, "orders", domain.PostgreSQL, 7205, nil),
	}})
	w.measured(w.theirs, measurements.Batch{Sessions: []measurements.SessionSample{sample(theirs, "orders", domain.PostgreSQL, 0, map[string]int64{"Lock": 9})}})
	for name, c := range map[string]struct {
		filter  string
		want    []string // locks, lightweight locks, I/O, client and network, other
		engines string
	}{
		"the organization": {"", []string{"3 - 0", "2 - 0", "1 - 0", "0.5 - 0", "0 - 0"}, "[postgresql sqlserver]"},
		"one":              {ofInstances(ids["orders"]), []string{"3 - 0", "0 - 0", "0 - 0", "0.5 - 0", "0 - 0"}, "[postgresql]"},
		"never sampled":    {ofInstances(ids["ledger"]), []string{"- - -", "- - -", "- - -", "- - -", "- - -"}, "[]"},
		"another's":        {ofInstances(theirs["orders"]), []string{"- - -", "- - -", "- - -", "- - -", "- - -"}, "[]"},
	} {
		a := w.get(w.ours.viewer, metricsPath+"wait-events"+hours(start, 3)+c.filter)
		var got []string
		for _, series := range tileSeries["wait-events"] {
			got = append(got, a.line(series))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if shown := a.object(); fmt.Sprint(shown["engines"]) != c.engines || shown["unit"] != "averageWaitingSessions" {
			t.Errorf("%s: engines %s of %s, want %s", name, shown["engines"], shown["unit"], c.engines)
		}
	}
}

// snapshot is the card as total=active+idle+waiting+idleInTransaction+other since
// when, and the same of each engine.
func (a answer) snapshot() string {
	a.t.Helper()
	type counts struct {
		Engine                                                 string
		SampledAt                                              *time.Time
		Total, Active, Idle, Waiting, IdleInTransaction, Other int64
	}
	var shown struct {
		counts
		Engines []counts
	}
	a.is(200).decode(&shown)
	show := func(c counts) string {
		if sum := c.Active + c.Idle + c.Waiting + c.IdleInTransaction + c.Other; sum != c.Total {
			a.t.Errorf("%d in all are %d", c.Total, sum)
		}
		since := "never"
		if c.SampledAt != nil {
			since = c.SampledAt.Format("05")
		}
		return fmt.Sprintf("%s%d=%d+%d+%d+%d+%d at %s", c.Engine, c.Total, c.Active, c.Idle, c.Waiting, c.IdleInTransaction, c.Other, since)
	}
	words := []string{show(shown.counts)}
	for _, e := range shown.Engines {
		words = append(words, show(e))
	}
	return strings.Join(words, ", ")
}

const noConnections = "0=0+0+0+0+0 at never"

func TestConnections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.clock.Advance(w.clock.Now().Truncate(time.Minute).Sub(w.clock.Now())) // to :00
	ids, theirs := w.fleetOfThree(w.ours), w.fleetOfThree(w.theirs)
	sample := func(of map[string]uuid.UUID, name string, engine domain.Engine, ago, interval time.Duration, active, idle, waiting, inTransaction, other int64) measurements.SessionSample {
		return measurements.SessionSample{
			Instance: of[name], Engine: engine, Database: of[name+"/d"], At: w.ago(ago), Interval: interval,
			Active: active, Idle: idle, Waiting: waiting, IdleInTransaction: inTransaction, Other: other,
		}
	}
	w.measured(w.ours, measurements.Batch{Sessions: []measurements.SessionSample{
		sample(ids, "orders", domain.PostgreSQL, 15*time.Second, 10*time.Second, 100, 100, 100, 100, 100), // not the latest
		sample(ids, "orders", domain.PostgreSQL, 5*time.Second, 10*time.Second, 4, 20, 3, 1, 0),
		sample(ids, "billing", domain.SQLServer, 20*time.Second, 30*time.Second, 1, 2, 3, 4, 5),
		sample(ids, "ledger", domain.Oracle, 2*time.Minute, 10*time.Second, 7, 7, 7, 7, 7), // too old
	}})
	w.measured(w.theirs, measurements.Batch{Sessions: []measurements.SessionSample{sample(theirs, "orders", domain.PostgreSQL, time.Second, 10*time.Second, 9, 9, 9, 9, 9)}})
	const path = metricsPath + "connections"
	for name, c := range map[string]struct {
		filter, want string
		unknown      float64
	}{
		"the organization": {"", "43=5+22+6+5+5 at 40, postgresql28=4+20+3+1+0 at 55, sqlserver15=1+2+3+4+5 at 40", 1},
		"one":              {"?" + ofInstances(ids["orders"]), "28=4+20+3+1+0 at 55, postgresql28=4+20+3+1+0 at 55", 0},
		"one, twice":       {"?" + ofInstances(ids["orders"], ids["orders"]), "28=4+20+3+1+0 at 55, postgresql28=4+20+3+1+0 at 55", 0},
		"too old":          {"?" + ofInstances(ids["ledger"]), noConnections, 1},
		"nobody's id":      {"?" + ofInstances(uuid.New()), noConnections, 0},
		"another's":        {"?" + ofInstances(theirs["orders"]), noConnections, 0},
	} {
		a := w.get(w.ours.viewer, path+c.filter)
		if got := a.snapshot(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		// F7. What is not known is counted apart: 0 connections are not the same as none known.
		if got := a.object()["instancesWithoutSample"]; got != c.unknown {
			t.Errorf("%s: %v servers without a sample, want %v", name, got, c.unknown)
		}
		if a.Header().Get("Cache-Control") != "private, no-cache" || a.object()["asOf"] != w.clock.Now().Format(time.RFC3339) {
			t.Errorf("%s: %v, %s", name, a.Header(), a.Body)
		}
	}
	p := w.get(w.ours.viewer, path+"?from="+w.clock.Now().Format(time.RFC3339)+"&bucketSize=1h&instanceId=").problem(400, "invalid_parameter")
	if diff := cmp.Diff([]string{"query instanceId invalid_parameter", "query bucketSize unknown_parameter", "query from unknown_parameter"}, p.places()); diff != "" {
		t.Error(diff)
	}
	w.get(w.ours.viewer, path+"?"+strings.Repeat(ofInstances(ids["orders"]), 501)).problem(422, "too_many_instances")
	// PostgreSQL's sample has aged, at a minute; that of SQL Server counts three of its intervals.
	w.clock.Advance(56 * time.Second)
	if got := w.get(w.ours.viewer, path).snapshot(); got != "15=1+2+3+4+5 at 40, sqlserver15=1+2+3+4+5 at 40" {
		t.Errorf("a minute later: %s", got)
	}
	w.fed(w.ours, inventory.Item{ExternalID: "billing", Engine: domain.SQLServer, CreatedAt: w.ago(30 * day), Removed: true})
	if got := w.get(w.ours.viewer, path).snapshot(); got != noConnections {
		t.Errorf("of a removed one: %s", got)
	}
}

// TestTheEnvelopeOfTiles: every size, aligned or not, with the bucket that is still
// filling and without.
func TestTheEnvelopeOfTiles(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	w.fleetOfThree(w.ours)
	now := w.clock.Now()
	type envelope struct {
		From, To, BucketSize string
		BucketStarts         []string
		LastBucketPartial    bool
		GeneratedAt          string
		Series               map[string][]*float64
	}
	rfc := func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
	for tile, series := range tileSeries {
		for _, size := range timegrid.Sizes() {
			edge, width := size.Floor(now), size.Width()
			for name, c := range map[string]struct {
				from, to time.Time
				buckets  int
			}{
				"whole buckets":            {edge.Add(-3 * width), edge, 3},
				"cut at both ends":         {edge.Add(-3*width + time.Microsecond), edge.Add(-1), 3},
				"to behind an edge":        {edge.Add(-3 * width), edge.Add(-width + time.Microsecond), 3},
				"to in the future is now":  {edge.Add(-2 * width), now.Add(30 * day), 3},
				"from another zone":        {edge.Add(-3 * width).In(time.FixedZone("", 19800)), edge.In(time.FixedZone("", -12600)), 3},
				"the first that there are": {timegrid.Week.Floor(time.Time{}), timegrid.Week.Floor(time.Time{}).Add(width), 1},
			} {
				name = fmt.Sprintf("%s by %s, %s", tile, size, name)
				var got envelope
				w.get(w.ours.viewer, metricsPath+tile+windowed(rfc(c.from), c.to.Format(time.RFC3339Nano), string(size))).is(200).decode(&got)
				until := instant.Cut(c.to)
				if until.After(now) {
					until = now
				}
				if until.Equal(edge) && c.to.After(now) { // the clock stands on an edge
					c.buckets--
				}
				window := timegrid.Window{From: c.from, To: until, Size: size}
				want := envelope{From: rfc(c.from), To: rfc(until), BucketSize: string(size), LastBucketPartial: window.End().After(now), GeneratedAt: rfc(now), Series: map[string][]*float64{}}
				for i := range c.buckets {
					want.BucketStarts = append(want.BucketStarts, rfc(size.Floor(c.from).Add(time.Duration(i)*width)))
				}
				for _, s := range series {
					want.Series[s] = make([]*float64, c.buckets) // nothing was measured
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
		}
	}
}

// TestRefusalsOfTiles: as of the history of alerts, all of it at once.
func TestRefusalsOfTiles(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	now := w.clock.Now()
	rfc := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
	many := strings.Repeat("&instanceId="+uuid.NewString(), 501)
	minute := now.Truncate(time.Minute)
	for name, c := range map[string]struct {
		query  string
		status int
		code   string
		places []string
	}{
		"nothing":             {"", 400, "missing_parameter", []string{"query from missing_parameter", "query to missing_parameter", "query bucketSize missing_parameter"}},
		"unreadable, at once": {windowed("yesterday", "", "5m") + "&instanceId=&instanceName=x", 400, "invalid_parameter", []string{"query from invalid_parameter", "query to invalid_parameter", "query bucketSize invalid_bucket_size", "query instanceId invalid_parameter", "query instanceName unknown_parameter"}},
		"an empty filter":     {windowed(rfc(-day), rfc(0), "1h") + "&instanceId=", 400, "invalid_parameter", []string{"query instanceId invalid_parameter"}},
		"from is to":          {windowed(rfc(-day), rfc(-day), "1h"), 422, "invalid_window", []string{"query from invalid_window"}},
		"from now on":         {windowed(rfc(0), rfc(day), "1h"), 422, "invalid_window", []string{"query from invalid_window"}},
		"all that is wrong":   {windowed(rfc(day), rfc(time.Hour), "1h") + many, 422, "invalid_window", []string{"query from invalid_window", "query from window_in_future", "query instanceId too_many_instances"}},
		"11,001 minutes":      {windowed(minute.Add(-11_001*time.Minute).Format(time.RFC3339), minute.Format(time.RFC3339), "1m"), 422, "too_many_buckets", []string{"query to too_many_buckets"}},
	} {
		for tile := range tileSeries {
			a := w.get(w.ours.viewer, metricsPath+tile+c.query)
			p := a.problem(c.status, c.code)
			if diff := cmp.Diff(c.places, p.places()); diff != "" || a.Header().Get("Cache-Control") != "private, no-store" {
				t.Errorf("%s, %s: %s, %v", tile, name, diff, a.Header())
			}
		}
	}
	widest := windowed(minute.Add(-11_000*time.Minute).Format(time.RFC3339), minute.Format(time.RFC3339), "1m") + many[:500*len("&instanceId="+uuid.NewString())]
	for tile, series := range tileSeries {
		if n := len(w.get(w.ours.viewer, metricsPath+tile+widest).lines()[series[0]]); n != 11_000 {
			t.Errorf("%s: %d buckets", tile, n)
		}
	}
}
