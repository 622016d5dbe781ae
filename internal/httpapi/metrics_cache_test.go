package httpapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus/testutil"

	domain "muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/organization"
	"muster/domain/timegrid"
	"muster/internal/httpapi/tiles"
	"muster/internal/measurements"
)

// watchedStore counts what is read of a store, and can keep it from answering.
type watchedStore struct {
	measurements.Store
	reads   atomic.Int64
	without domain.Engine // cannot be read
	before  func()        // a reading
}

func (s *watchedStore) read(engine domain.Engine) error {
	s.reads.Add(1)
	if s.before != nil {
		s.before()
	}
	if engine != "" && engine == s.without {
		return errors.New("this engine is not to be read")
	}
	return nil
}

func (s *watchedStore) Utilization(ctx context.Context, organization uuid.UUID, hosts measurements.HostScope, w timegrid.Window) (measurements.Utilization, error) {
	if err := s.read(""); err != nil {
		return measurements.Utilization{}, err
	}
	return s.Store.Utilization(ctx, organization, hosts, w)
}

func (s *watchedStore) QueryPerformance(ctx context.Context, organization uuid.UUID, engine domain.Engine, scope domain.Scope, w timegrid.Window, now time.Time) (measurements.QuerySums, error) {
	if err := s.read(engine); err != nil {
		return measurements.QuerySums{}, err
	}
	return s.Store.QueryPerformance(ctx, organization, engine, scope, w, now)
}

func (s *watchedStore) WaitEvents(ctx context.Context, organization uuid.UUID, engine domain.Engine, scope domain.Scope, w timegrid.Window) (measurements.WaitSums, error) {
	if err := s.read(engine); err != nil {
		return measurements.WaitSums{}, err
	}
	return s.Store.WaitEvents(ctx, organization, engine, scope, w)
}

func (s *watchedStore) Connections(ctx context.Context, organization uuid.UUID, engine domain.Engine, databases []uuid.UUID, now time.Time) (measurements.OpenConnections, error) {
	if err := s.read(engine); err != nil {
		return measurements.OpenConnections{}, err
	}
	return s.Store.Connections(ctx, organization, engine, databases, now)
}

func watchedWorld(t *testing.T) (*world, *watchedStore) {
	t.Helper()
	watched := &watchedStore{}
	w := newWorld(t, func(d *Dependencies) {
		watched.Store = d.Tiles.Store
		d.Tiles.Store = watched
	})
	return w, watched
}

// TestATileIsShared: by all who ask for the same buckets of the same servers within
// half a minute. Each is told the window that they asked for.
func TestATileIsShared(t *testing.T) {
	t.Parallel()
	w, store := watchedWorld(t)
	ids := w.fleetOfThree(w.ours)
	start, rfc := w.hourAgo(5), time.RFC3339Nano
	late, soon := start.Add(59*time.Minute), start.Add(2*time.Hour+time.Microsecond)
	both := ofInstances(ids["orders"], ids["billing"])
	token := w.token(w.ours.member, organization.ScopeMetricsRead)
	sharers := map[string]request{
		"again":                   {path: hours(start, 3) + both, as: w.ours.viewer},
		"by a colleague":          {path: hours(start, 3) + both, as: w.ours.admin},
		"by a token":              {path: hours(start, 3) + both, token: token},
		"in another order, twice": {path: hours(start, 3) + ofInstances(ids["billing"], ids["orders"], ids["billing"]), as: w.ours.viewer},
		"within the same hours":   {path: windowed(late.Format(rfc), soon.Format(rfc), "1h") + both, as: w.ours.viewer},
		"from another zone":       {path: windowed(start.In(time.FixedZone("", 19800)).Format(rfc), start.Add(3*time.Hour).Format(rfc), "1h") + both, as: w.ours.viewer},
	}
	first := w.clock.Now()
	w.get(w.ours.viewer, metricsPath+"utilization"+hours(start, 3)+both).is(200)
	w.clock.Advance(tiles.TileLife - time.Nanosecond)
	for name, r := range sharers {
		r.method, r.path = "GET", metricsPath+"utilization"+r.path
		shown := w.do(r).is(200).object()
		if store.reads.Load() != 1 || shown["generatedAt"] != first.Format(rfc) {
			t.Errorf("%s: read %d times, made at %v", name, store.reads.Load(), shown["generatedAt"])
		}
		from, to := start, start.Add(3*time.Hour)
		if name == "within the same hours" {
			from, to = late, soon
		}
		if shown["from"] != from.Format(rfc) || shown["to"] != to.Format(rfc) {
			t.Errorf("%s: told %v to %v, want %s to %s", name, shown["from"], shown["to"], from, to)
		}
	}
	for name, query := range map[string]string{
		"the organization": hours(start, 3), "one server": hours(start, 3) + ofInstances(ids["orders"]), "an hour more": hours(start, 4) + both,
	} {
		before := store.reads.Load()
		if w.get(w.ours.viewer, metricsPath+"utilization"+query).is(200); store.reads.Load() != before+1 {
			t.Errorf("%s shares a tile with something else", name)
		}
	}
	w.clock.Advance(time.Nanosecond)
	before := store.reads.Load()
	shown := w.get(w.ours.viewer, metricsPath+"utilization"+hours(start, 3)+both).is(200).object()
	if store.reads.Load() != before+1 || shown["generatedAt"] != instant.Cut(w.clock.Now()).Format(rfc) {
		t.Errorf("half a minute later: made at %v", shown["generatedAt"])
	}
}

// TestTwoOrganizationsShareNothing, whatever they ask for.
func TestTwoOrganizationsShareNothing(t *testing.T) {
	t.Parallel()
	w, store := watchedWorld(t)
	start, nobody := w.hourAgo(5), ofInstances(uuid.New())
	for i, tenant := range []tenant{w.ours, w.theirs} {
		w.measured(tenant, measurements.Batch{Hosts: []measurements.HostSample{{Host: "db01", At: start, CPUPercent: to(10.0 + float64(i))}}})
	}
	for range 2 {
		for filter, want := range map[string][2]string{"": {"10", "11"}, nobody: {"-", "-"}} {
			ours := w.get(w.ours.viewer, metricsPath+"utilization"+hours(start, 1)+filter)
			theirs := w.get(w.theirs.viewer, metricsPath+"utilization"+hours(start, 1)+filter)
			if got := [2]string{ours.line("cpuPercent"), theirs.line("cpuPercent")}; got != want {
				t.Errorf("ours and theirs are %q, want %q", got, want)
			}
		}
	}
	if n := store.reads.Load(); n != 4 {
		t.Errorf("read %d times", n)
	}
}

// TestTagsOfTiles: 304 for whoever has what is shown, and whatever was read anew
// meanwhile.
func TestTagsOfTiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := w.hourAgo(5)
	for tile := range tileSeries {
		get := func(query string, header map[string]string) answer {
			return w.do(request{method: "GET", path: metricsPath + tile + query, as: w.ours.viewer, header: header})
		}
		first := get(hours(start, 3), nil).is(200)
		tag := first.Header().Get("ETag")
		if !strings.HasPrefix(tag, `W/"u-`) {
			t.Errorf("%s has tag %s", tile, tag)
		}
		unaligned := windowed(start.Add(time.Minute).Format(time.RFC3339), start.Add(3*time.Hour).Format(time.RFC3339), "1h")
		for name, a := range map[string]answer{
			"again":            get(hours(start, 3), map[string]string{"If-None-Match": `"x", ` + tag}),
			"of another echo":  get(unaligned, map[string]string{"If-None-Match": tag}),
			"anything will do": get(hours(start, 3), map[string]string{"If-None-Match": "*", "Accept-Encoding": "gzip"}),
		} {
			if a.is(http.StatusNotModified); a.Body.Len() > 0 {
				t.Errorf("%s, %s: a body of %d bytes", tile, name, a.Body.Len())
			}
			for header, want := range map[string]string{"ETag": tag, "Cache-Control": "private, max-age=30", "Vary": "Accept-Encoding, Authorization, Cookie"} {
				if got, whole := strings.Join(a.Header().Values(header), ", "), strings.Join(first.Header().Values(header), ", "); got != want || whole != want {
					t.Errorf("%s, %s: %s is %q, and of the whole answer %q, want %q", tile, name, header, got, whole, want)
				}
			}
		}
		get(hours(start, 3), map[string]string{"If-None-Match": `W/"u-0000000000000000"`}).is(200)
		w.clock.Advance(time.Minute)
		get(hours(start, 3), map[string]string{"If-None-Match": tag}).is(http.StatusNotModified)
		if changed := get(hours(start, 4), map[string]string{"If-None-Match": tag}).is(200); changed.Header().Get("ETag") == tag {
			t.Errorf("%s: another window has the same tag", tile)
		}
	}
	tag := w.get(w.ours.viewer, metricsPath+"utilization"+hours(start, 3)).Header().Get("ETag")
	w.clock.Advance(time.Minute)
	w.measured(w.ours, measurements.Batch{Hosts: []measurements.HostSample{{Host: "db01", At: start, CPUPercent: to(10.0)}}})
	again := w.do(request{method: "GET", path: metricsPath + "utilization" + hours(start, 3), as: w.ours.viewer, header: map[string]string{"If-None-Match": tag}})
	if again.line("cpuPercent") != "10 - -" || again.Header().Get("ETag") == tag {
		t.Errorf("what has arrived is told as %s, with tag %s", again.Body, again.Header().Get("ETag"))
	}
}

// TestTilesArePacked where the caller takes it, and are the same unpacked.
func TestTilesArePacked(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	query := windowed(w.hourAgo(30).Format(time.RFC3339), w.hourAgo(6).Format(time.RFC3339), "1m")
	for tile := range tileSeries {
		plain := w.get(w.ours.viewer, metricsPath+tile+query).is(200)
		for _, accepts := range []string{"gzip", "br, gzip;q=0.5", "*;q=0, gzip"} {
			packed := w.do(request{method: "GET", path: metricsPath + tile + query, as: w.ours.viewer, header: map[string]string{"Accept-Encoding": accepts}}).is(200)
			z, err := gzip.NewReader(packed.Body)
			must(t, err)
			text, err := io.ReadAll(z)
			must(t, err)
			if packed.Header().Get("Content-Encoding") != "gzip" || !bytes.Equal(text, plain.Body.Bytes()) || packed.Header().Get("ETag") != plain.Header().Get("ETag") {
				t.Errorf("%s as %s: %v, %.300s", tile, accepts, packed.Header(), text)
			}
		}
		for _, refuses := range []string{"gzip;q=0", "gzip;q=0.0", "gzip; Q=0.000, *"} {
			refused := w.do(request{method: "GET", path: metricsPath + tile + query, as: w.ours.viewer, header: map[string]string{"Accept-Encoding": refuses}}).is(200)
			if refused.Header().Get("Content-Encoding") != "" {
				t.Errorf("%s: packed for somebody who does not take it: %s", tile, refuses)
			}
		}
	}
}

// TestAnEngineThatCannotBeRead is reading 24: 200, it is missing, it is counted, and
// nobody keeps the answer.
func TestAnEngineThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w, store := watchedWorld(t)
	ids := w.fleetOfThree(w.ours)
	start := w.hourAgo(5)
	at := func(name string, engine domain.Engine) (measurements.SessionSample, measurements.StatementSample) {
		return measurements.SessionSample{Instance: ids[name], Engine: engine, Database: ids[name+"/d"], At: start, Interval: 10 * time.Second, Waits: map[string]int64{"Lock": 2, "LCK_M_X": 3}},
			measurements.StatementSample{Instance: ids[name], Engine: engine, Database: ids[name+"/d"], At: start, Interval: time.Minute, Statements: []measurements.Statement{{Key: "a", Calls: 1, TotalMs: 10}}}
	}
	ours, ourStatements := at("orders", domain.PostgreSQL)
	theirs, theirStatements := at("billing", domain.SQLServer)
	nowOurs, nowTheirs := ours, theirs
	nowOurs.At, nowOurs.Active, nowTheirs.At, nowTheirs.Active = w.ago(time.Second), 1, w.ago(time.Second), 1
	w.measured(w.ours, measurements.Batch{Sessions: []measurements.SessionSample{ours, theirs, nowOurs, nowTheirs}, Statements: []measurements.StatementSample{ourStatements, theirStatements}})
	both, one := "[postgresql sqlserver]", "[postgresql]"
	engines := func(a answer) string {
		var out []string
		for _, e := range a.is(200).object()["engines"].([]any) {
			if card, ok := e.(map[string]any); ok { // of connections
				e = card["engine"]
			}
			out = append(out, e.(string))
		}
		return "[" + strings.Join(out, " ") + "]"
	}
	for tile, query := range map[string]string{"query-performance": hours(start, 1), "wait-events": hours(start, 1), "connections": ""} {
		get := func() answer { return w.get(w.ours.viewer, metricsPath+tile+query) }
		store.without = domain.SQLServer
		for range 2 { // the second is not the first
			before := store.reads.Load()
			if a := get(); engines(a) != one || store.reads.Load() == before || strings.Contains(a.Header().Get("Cache-Control"), "max-age") {
				t.Errorf("%s without an engine: %v, %s", tile, a.Header(), a.Body)
			}
		}
		counted := testutil.ToFloat64(w.deps.Metrics.EnginesDropped.WithLabelValues(tile, "sqlserver"))
		if counted != 2 {
			t.Errorf("%s: %v times an engine was dropped", tile, counted)
		}
		store.without = ""
		if a := get(); engines(a) != both {
			t.Errorf("%s, once it can be read: %s", tile, a.Body)
		}
	}
}

// TestDroppedEnginesAreListed for whoever looks at operations, of their organization.
func TestDroppedEnginesAreListed(t *testing.T) {
	t.Parallel()
	w, store := watchedWorld(t)
	const path = "/api/v1/ops/engines"
	if items := w.get(w.ours.auditor, path).is(200).object()["items"].([]any); len(items) != 0 {
		t.Errorf("before anything was dropped: %v", items)
	}
	store.without = domain.SQLServer
	for range 2 {
		w.get(w.ours.viewer, metricsPath+"connections").is(200)
	}
	must(t, w.deps.Drops.Flush(t.Context()))
	want := []any{map[string]any{
		"tile": "connections", "engine": "sqlserver", "drops": 2.0, "lastAt": w.clock.Now().Format(time.RFC3339),
		"lastError": "could not be read; the log says why",
	}}
	if diff := cmp.Diff(want, w.get(w.ours.auditor, path).is(200).object()["items"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if items := w.get(w.theirs.auditor, path).is(200).object()["items"].([]any); len(items) != 0 {
		t.Errorf("of another organization: %v", items)
	}
	w.get(w.ours.member, path).problem(403, "forbidden")
}

// TestATileThatCannotBeRead: a failure is told and not kept, and neither is a panic,
// which ends nothing but the reading.
func TestATileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w, store := watchedWorld(t)
	path := metricsPath + "utilization" + hours(w.hourAgo(5), 1)
	log := &complaints{}
	w.deps.Log = slog.New(log)
	w.build()
	store.before = func() { panic("spilled") }
	w.get(w.ours.viewer, path).problem(500, "internal_error")
	if said := log.take(); len(said) != 1 || !strings.Contains(said[0], "spilled") {
		t.Errorf("the log says %q", said)
	}
	store.before = nil
	w.get(w.ours.viewer, path).is(200)
}

// TestOneReadingForManyCallers, of whom the first one gives up.
func TestOneReadingForManyCallers(t *testing.T) {
	t.Parallel()
	w, store := watchedWorld(t)
	reading, goOn := make(chan struct{}), make(chan struct{})
	store.before = func() { close(reading); <-goOn }
	path := metricsPath + "utilization" + hours(w.hourAgo(5), 1)
	ctx, giveUp := context.WithCancel(t.Context())
	gone := make(chan answer)
	go func() { gone <- w.doIn(ctx, request{method: "GET", path: path, as: w.ours.viewer}) }()
	<-reading
	giveUp()
	(<-gone).problem(503, "unavailable")
	var callers sync.WaitGroup
	answers := make([]answer, 20)
	for i := range answers {
		callers.Go(func() { answers[i] = w.get(w.ours.member, path) })
	}
	close(goOn)
	callers.Wait()
	for _, a := range answers {
		if a.is(200).Body.String() != answers[0].Body.String() {
			t.Error("two answers of one reading")
		}
	}
	if n := store.reads.Load(); n != 1 {
		t.Errorf("read %d times", n)
	}
}
