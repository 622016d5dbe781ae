package httpapi

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/instant"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/tiles"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
)

// behind asks for the contributors to a figure over a window.
func (w *world) behind(as person, tile string, from, to time.Time, query string) answer {
	w.t.Helper()
	window := url.Values{"from": {from.Format(time.RFC3339Nano)}, "to": {to.Format(time.RFC3339Nano)}}
	if tile == "connections" {
		window = nil
	}
	return w.get(as, metricsPath+tile+"/contributors?"+strings.Trim(window.Encode()+"&"+query, "&"))
}

// shares reads contributors as lines: what an item is, its value, and its part.
func (a answer) shares() (c api.Contributors) {
	a.t.Helper()
	a.is(200).decode(&c)
	return c
}

// TestContributors: who is behind each figure, in order, with the others summed, and what
// was removed under its last name.
func TestContributors(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids, theirs := w.fleetOfThree(w.ours), w.fleetOfThree(w.theirs)
	start := w.hourAgo(5)
	databases := make(map[string]uuid.UUID)
	for _, name := range []string{"orders", "billing"} {
		var page struct{ Items []struct{ ID uuid.UUID } }
		w.get(w.ours.viewer, "/api/v1/instances/"+ids[name].String()+"/databases").is(200).decode(&page)
		databases[name] = page.Items[0].ID
	}
	ran := func(name string, engine domain.Engine, statements ...measurements.Statement) measurements.StatementSample {
		return measurements.StatementSample{Instance: ids[name], Engine: engine, Database: databases[name], At: start.Add(time.Minute), Interval: time.Minute, Statements: statements}
	}
	busy := ran("orders", domain.PostgreSQL, measurements.Statement{Key: "q1", Calls: 10, TotalMs: 100}, measurements.Statement{Key: "q2", Calls: 90, TotalMs: 100.5})
	busy.BusyMs = to(250.0)
	w.measured(w.ours, measurements.Batch{
		Hosts: []measurements.HostSample{
			{Host: "db01", Instances: []uuid.UUID{ids["orders"]}, At: start, CPUPercent: to(40.0), Volumes: []measurements.Volume{{Mount: "/data", UsedPercent: to(71.2)}, {Mount: "/", UsedPercent: to(12.0)}}},
			{Host: "db01", At: start.Add(time.Minute), CPUPercent: to(60.0)},
			{Host: "db02", Instances: []uuid.UUID{ids["billing"]}, At: start, CPUPercent: to(10.0), Volumes: []measurements.Volume{{Mount: "/", UsedPercent: to(91.7)}}},
			{Host: "db03", At: start, CPUPercent: to(5.0)},
		},
		Sessions: []measurements.SessionSample{
			{Instance: ids["orders"], Engine: domain.PostgreSQL, Database: databases["orders"], At: start, Interval: time.Minute, Waits: map[string]int64{"Lock": 3, "IO": 1}},
			{Instance: ids["billing"], Engine: domain.SQLServer, Database: databases["billing"], At: start, Interval: time.Minute, Waits: map[string]int64{"LCK_M_X": 1}},
			{Instance: ids["orders"], Engine: domain.PostgreSQL, Database: databases["orders"], At: w.ago(time.Second), Interval: time.Minute, Active: 2, Idle: 5},
			{Instance: ids["billing"], Engine: domain.SQLServer, Database: databases["billing"], At: w.ago(time.Second), Interval: time.Minute, Active: 4},
		},
		Statements: []measurements.StatementSample{
			busy,
			ran("billing", domain.SQLServer, measurements.Statement{Key: "q3", Calls: 1, TotalMs: 400, MaxMs: to(450.0)}),
		},
	})
	unsaid := w.behind(w.ours.viewer, "query-performance", start, start.Add(time.Hour), "series=average&by=instance&instanceId="+ids["billing"].String()).shares()
	if unsaid.Coverage != nil {
		t.Errorf("a server that does not say how long it executed is covered by %+v", unsaid.Coverage)
	}
	w.measuredNow(w.theirs, theirs["orders"], uuid.New())
	w.do(request{method: "DELETE", path: "/api/v1/instances/" + ids["billing"].String(), as: w.ours.admin}).is(204)

	orders := &api.ContributingInstance{Id: ids["orders"], Name: "orders", Engine: api.Postgresql}
	billing := &api.ContributingInstance{Id: ids["billing"], Name: "billing", Engine: api.Sqlserver, Removed: true}
	d := func(name string) *api.ContributingDatabase {
		return &api.ContributingDatabase{Id: databases[name], Name: "d"}
	}
	statement := func(name, key string) *api.ContributingStatement {
		return &api.ContributingStatement{Id: measurements.StatementID(ids[name], measurements.HashStatement(databases[name], key))}
	}
	for _, c := range []struct {
		tile, query string
		total       *float64
		items       []api.Contributor
		others      api.OtherContributors
	}{
		{"utilization", "series=cpu&by=host&limit=1", to(21.667), []api.Contributor{{Host: to("db01"), Value: 50}}, api.OtherContributors{Count: 2, Value: to(7.5)}},
		{"utilization", "series=disk&by=volume&limit=2", to(91.7), []api.Contributor{{Host: to("db02"), Mount: to("/"), Value: 91.7}, {Host: to("db01"), Mount: to("/data"), Value: 71.2}}, api.OtherContributors{Count: 1}},
		{"query-performance", "series=average&by=instance&limit=1", to(5.946),
			[]api.Contributor{{Instance: billing, Value: 400, Calls: to(1.0), TotalMs: to(400.0), Share: to(0.666112)}},
			api.OtherContributors{Count: 1, Value: to(2.005), Calls: to(100.0), TotalMs: to(200.5), Share: to(0.333888)}},
		{"query-performance", "series=maximum&by=statement", to(450.0), []api.Contributor{
			{Instance: billing, Database: d("billing"), Statement: statement("billing", "q3"), Value: 450},
			{Instance: orders, Database: d("orders"), Statement: statement("orders", "q1"), Value: 10},
			{Instance: orders, Database: d("orders"), Statement: statement("orders", "q2"), Value: 1.117},
		}, api.OtherContributors{}},
		{"query-performance", "series=average&by=database&instanceId=" + ids["orders"].String(), to(2.005), []api.Contributor{
			{Instance: orders, Database: d("orders"), Value: 2.005, Calls: to(100.0), TotalMs: to(200.5), Share: to(1.0)},
		}, api.OtherContributors{Calls: to(0.0), TotalMs: to(0.0), Share: to(0.0)}},
		{"wait-events", "series=all&by=category&limit=1", to(5.0), []api.Contributor{{Category: to("locks"), Value: 4, Share: to(0.8)}}, api.OtherContributors{Count: 1, Value: to(1.0), Share: to(0.2)}},
		{"wait-events", "series=locks&by=database", to(4.0), []api.Contributor{
			{Instance: orders, Database: d("orders"), Value: 3, Share: to(0.75)}, {Instance: billing, Database: d("billing"), Value: 1, Share: to(0.25)},
		}, api.OtherContributors{Share: to(0.0)}},
		{"connections", "series=active&by=instance", to(2.0), []api.Contributor{{Instance: orders, Value: 2, Share: to(1.0)}}, api.OtherContributors{Share: to(0.0)}},
	} {
		got := w.behind(w.ours.viewer, c.tile, start, start.Add(time.Hour), c.query).shares()
		if diff := cmp.Diff(c.items, got.Items); diff != "" || !cmp.Equal(c.total, got.Total) || !cmp.Equal(c.others, got.Others) || got.Incomplete {
			t.Errorf("%s %s: %s\ntotal %v, others %+v", c.tile, c.query, diff, cmp.Diff(c.total, got.Total), cmp.Diff(c.others, got.Others))
		}
		var coverage *api.Coverage // of orders, whose server says how long it executed
		if c.tile == "query-performance" {
			coverage = &api.Coverage{AttributedMs: 200.5, BusyMs: 250, Share: 0.802, Instances: 1}
		}
		if diff := cmp.Diff(coverage, got.Coverage); diff != "" {
			t.Errorf("%s %s: %s", c.tile, c.query, diff)
		}
	}
	// C25. Of an empty scope the total is the tile's own.
	nobody := ofInstances(uuid.New())
	for _, series := range []string{"total", "active", "idle", "waiting"} {
		got := w.behind(w.ours.viewer, "connections", start, start, "by=instance&series="+series+"&"+nobody).shares()
		if tile := w.get(w.ours.viewer, metricsPath+"connections?"+nobody).object()[series]; got.Total == nil || tile != *got.Total {
			t.Errorf("connections %s of nobody: %v, and the tile has %v", series, got.Total, tile)
		}
	}
}

// TestContributorsOfAWindow: it is widened to what is kept as far back, and says so; what
// is not kept any more is said to be so, and a figure that is not kept by that too.
func TestContributorsOfAWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := w.clock.Now().Truncate(time.Minute).Add(time.Minute + 31*time.Second)
	w.clock.Advance(now.Sub(w.clock.Now()))
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, c := range []struct {
		from, to         time.Time
		wantFrom, wantTo time.Time
	}{
		{ago(2 * time.Hour), ago(time.Hour), ago(2 * time.Hour).Truncate(time.Minute), ago(time.Hour).Truncate(time.Minute).Add(time.Minute)},
		{ago(time.Minute), now.Add(time.Hour), ago(time.Minute).Truncate(time.Minute), now.Truncate(time.Minute).Add(time.Minute)},
		{ago(5 * day), ago(5*day - time.Minute), ago(5 * day).Truncate(time.Hour), ago(5*day - time.Minute).Truncate(time.Hour).Add(time.Hour)},
		{ago(50 * day), ago(49 * day), ago(50 * day).Truncate(day), ago(49 * day).Truncate(day).Add(day)},
	} {
		got := w.behind(w.ours.viewer, "query-performance", c.from, c.to, "series=average&by=statement").shares()
		if !got.From.Equal(c.wantFrom) || !got.To.Equal(c.wantTo) || got.Total != nil || len(got.Items) > 0 {
			t.Errorf("from %s to %s: from %s to %s, want %s and %s", c.from, c.to, got.From, got.To, c.wantFrom, c.wantTo)
		}
	}
	w.behind(w.ours.viewer, "query-performance", ago(500*day), ago(499*day), "series=average&by=instance").is(200)
	w.behind(w.ours.viewer, "wait-events", ago(500*day), ago(499*day), "series=all&by=database").problem(422, "detail_not_kept")
	w.behind(w.ours.viewer, "utilization", ago(500*day), now, "series=disk&by=volume").problem(422, "detail_not_kept")
	for _, c := range []struct{ tile, query string }{
		{"utilization", "series=cpu&by=volume"}, {"utilization", "series=disk&by=host"}, {"query-performance", "series=average&by=category"},
		{"wait-events", "series=io&by=category"}, {"wait-events", "series=all&by=host"}, {"connections", "series=total&by=host"},
	} {
		w.behind(w.ours.viewer, c.tile, ago(time.Hour), now, c.query).problem(400, "by_not_available")
	}
	w.behind(w.ours.viewer, "wait-events", now, ago(time.Hour), "series=io&by=category").problem(422, "invalid_window")
}

// TestTheBreakdownOfABucketMatchesTheTile holds the breakdown of each bucket to the tile's value of it (F17):
// of every series, in quiet minutes, in the bucket in which the window ends, and in the one that is not over.
// The window is the bucket's; of the alert history, which counts what lies in the window, it is the part of the
// bucket in the window.
func TestTheBreakdownOfABucketMatchesTheTile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := w.clock.Now().Truncate(time.Hour).Add(time.Hour + 6*time.Minute + 31*time.Second)
	w.clock.Advance(now.Sub(w.clock.Now()))
	ids := w.fleetOfThree(w.ours)
	minute := func(n int) time.Time { return now.Truncate(time.Hour).Add(time.Duration(n) * time.Minute) }
	engines := map[string]domain.Engine{"orders": domain.PostgreSQL, "billing": domain.SQLServer}
	var samples measurements.Batch
	sampled := func(at time.Time, n int64) {
		for _, name := range []string{"orders", "billing"} {
			waits := map[string]int64{"Lock": n, "IO": 1, "LWLock": n / 2, "Client": 2, "Extension": 1}
			if name == "billing" {
				waits = map[string]int64{"LCK_M_X": n / 2, "PAGEIOLATCH_SH": 2}
			}
			database := uuid.NewSHA1(ids[name], []byte("d"))
			samples.Sessions = append(samples.Sessions, measurements.SessionSample{Instance: ids[name], Engine: engines[name], Database: database, At: at, Interval: 10 * time.Second, Waits: waits})
			samples.Statements = append(samples.Statements, measurements.StatementSample{Instance: ids[name], Engine: engines[name], Database: database, At: at, Interval: 10 * time.Second,
				Statements: []measurements.Statement{{Key: "q1", Calls: 1 + n, TotalMs: float64(7 * (n + 3))}, {Key: "q2", Calls: 3, TotalMs: float64(n)}}})
			samples.Hosts = append(samples.Hosts, measurements.HostSample{Host: name, Instances: []uuid.UUID{ids[name]}, At: at, CPUPercent: to(float64(20 + n)), MemoryPercent: to(float64(30 + 2*n)),
				Volumes: []measurements.Volume{{Mount: "/", UsedPercent: to(float64(40 + n))}}})
		}
	}
	for n, of := range []int{-70, -65, 0, 1, 3, 6} { // nothing in the minutes 2, 4 and 5
		for i := range 3 {
			sampled(minute(of).Add(time.Duration(i*10)*time.Second), int64(n+i))
		}
	}
	w.measured(w.ours, samples)
	w.raised(w.ours,
		alerting.Item{ExternalID: "before the window", FirstTriggeredAt: minute(0).Add(5 * time.Second), Instance: to("orders")},
		alerting.Item{ExternalID: "ended", FirstTriggeredAt: minute(1), LastTriggeredAt: minute(3), ResolvedAt: to(minute(4)), State: alert.ResolvedState, Instance: to("orders")},
		alerting.Item{ExternalID: "now", FirstTriggeredAt: minute(6).Add(7 * time.Second), Instance: to("billing")},
	)
	asked := []struct {
		path, tile, by string
		series         map[string]string // what the breakdown calls it
	}{
		{metricsPath + "utilization", "cpuPercent memoryPercent", "host", map[string]string{"cpuPercent": "cpu", "memoryPercent": "memory"}},
		{metricsPath + "utilization", "diskPercent", "volume", map[string]string{"diskPercent": "disk"}},
		{metricsPath + "query-performance", "avgLatencyMs maxLatencyMs", "instance", map[string]string{"avgLatencyMs": "average", "maxLatencyMs": "maximum"}},
		{metricsPath + "query-performance", "avgLatencyMs maxLatencyMs", "statement", map[string]string{"avgLatencyMs": "average", "maxLatencyMs": "maximum"}},
		{metricsPath + "wait-events", "locks lightweightLocks io clientNetwork other", "instance", nil},
		{metricsPath + "wait-events", "locks lightweightLocks io clientNetwork other", "database", nil},
		{alertHistoryPath, "active resolved", "alert", nil},
	}
	agree := func(from, until time.Time, size string, width time.Duration, last int) (compared, values int) {
		t.Helper()
		for _, c := range asked {
			shown := w.get(w.ours.viewer, c.path+windowed(from.Format(time.RFC3339Nano), until.Format(time.RFC3339Nano), size))
			var tile struct {
				BucketStarts []time.Time
				GeneratedAt  time.Time
			}
			shown.is(200).decode(&tile)
			for _, line := range strings.Fields(c.tile) {
				of := shown.lines()[line]
				for i, start := range tile.BucketStarts {
					if last > 0 && i < len(of)-last {
						continue
					}
					end, series := start.Add(width), line
					if name, ok := c.series[line]; ok {
						series = name
					}
					if c.path == alertHistoryPath {
						start, end = instant.Later(start, from), instant.Earlier(end, until)
					}
					window := url.Values{"from": {start.Format(time.RFC3339Nano)}, "to": {end.Format(time.RFC3339Nano)}, "series": {series}, "by": {c.by}, "limit": {"1"}}
					got := w.get(w.ours.viewer, c.path+"/contributors?"+window.Encode()).shares()
					if compared++; of[i] != nil {
						values++
					}
					if !cmp.Equal(got.Total, of[i]) {
						t.Errorf("%s of %s by %s in the %s from %s: the breakdown is of %v, the tile has %v", series, c.path, c.by, size, start.Format("15:04:05"), wire.Value(got.Total), wire.Value(of[i]))
					}
					if !got.GeneratedAt.Equal(tile.GeneratedAt) {
						t.Errorf("the breakdown was read at %s and the tile at %s", got.GeneratedAt, tile.GeneratedAt)
					}
				}
			}
		}
		return compared, values
	}
	for _, c := range []struct {
		from, until time.Time
		size        string
		width       time.Duration
	}{
		{minute(0), now, "1m", time.Minute},                              // to the bucket that is not over
		{minute(1), minute(3).Add(20 * time.Second), "1m", time.Minute},  // ends within one that is
		{minute(-120), now, "1h", time.Hour},                             // hours, the last one under way
		{minute(-70), minute(-65).Add(5 * time.Second), "1h", time.Hour}, // begins and ends within an hour
	} {
		if compared, values := agree(c.from, c.until, c.size, c.width, 0); values == 0 || compared == 0 {
			t.Errorf("from %s: %d buckets, %d with a value", c.from, compared, values)
		}
	}

	// Ten seconds on there are more samples. The tile is the one of then for 30 seconds; the answers say when they were
	// read, and that the bucket is not over.
	w.clock.Advance(10 * time.Second)
	samples = measurements.Batch{}
	sampled(now.Add(9*time.Second), 90)
	w.measured(w.ours, samples)
	span := url.Values{"from": {minute(6).Format(time.RFC3339)}, "to": {minute(7).Format(time.RFC3339)}, "series": {"locks"}, "by": {"instance"}}
	later := w.get(w.ours.viewer, metricsPath+"wait-events/contributors?"+span.Encode()).shares()
	var tile api.WaitEvents
	w.get(w.ours.viewer, metricsPath+"wait-events"+windowed(minute(0).Format(time.RFC3339), now.Format(time.RFC3339), "1m")).is(200).decode(&tile)
	if !later.GeneratedAt.Equal(tile.GeneratedAt.Add(10*time.Second)) || !later.To.After(later.GeneratedAt) {
		t.Errorf("read at %s, the tile at %s; the bucket is over at %s", later.GeneratedAt, tile.GeneratedAt, later.To)
	}
	w.clock.Advance(tiles.TileLife)
	if compared, _ := agree(minute(0), w.clock.Now(), "1m", time.Minute, 2); compared == 0 {
		t.Error("nothing was compared once the bucket is over")
	}
}
