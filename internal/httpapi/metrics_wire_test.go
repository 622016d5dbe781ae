package httpapi

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	domain "muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/engine"
	"muster/internal/measurements"
)

// TestTheWireAgreesWithTheTiles: whatever was measured, and whatever is asked for,
// to the three decimals that the wire has.
func TestTheWireAgreesWithTheTiles(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t, unlimited)
	ids := w.fleetOfThree(w.ours)
	names, engines := []string{"orders", "billing", "ledger"}, engine.Measured()
	start := w.hourAgo(12)
	// Each minute has something of everything, more or less; a query of each engine is
	// seen twice in it.
	var b measurements.Batch
	for i := range 6 * 60 {
		if i%7 == 3 || i/60 == 4 { // gaps of a minute and of an hour
			continue
		}
		at := start.Add(time.Duration(i) * time.Minute)
		x := math.Mod(float64(i)*math.Pi, 100)
		b.Hosts = append(b.Hosts, measurements.HostSample{Host: "db01", At: at, CPUPercent: to(x), MemoryPercent: to(100 - x), Volumes: []measurements.Volume{{Mount: "/", UsedPercent: to(x / 3)}}})
		if e := i % 3; i%2 == 0 {
			for range 2 {
				at = at.Add(20 * time.Second)
				b.Sessions = append(b.Sessions, measurements.SessionSample{Instance: ids[names[e]], Engine: engines[e], Database: ids[names[e]+"/d"], At: at, Interval: 10 * time.Second, Waits: map[string]int64{"Lock": int64(i % 11), "LCK_M_X": int64(i % 4)}})
				b.Statements = append(b.Statements, measurements.StatementSample{Instance: ids[names[e]], Engine: engines[e], Database: ids[names[e]+"/d"], At: at, Interval: time.Minute, Statements: []measurements.Statement{
					{Key: "a", Calls: int64(i % 13), TotalMs: x * float64(i%13)}, {Key: "b", Calls: 1, TotalMs: x * x},
				}})
			}
		}
	}
	w.measured(w.ours, b)
	rapid.Check(t, func(r *rapid.T) {
		size := rapid.SampledFrom(timegrid.Sizes()).Draw(r, "size")
		from := start.Add(time.Duration(rapid.Int64Range(-7200, 8*3600).Draw(r, "from")) * time.Second)
		window := timegrid.Window{From: from, To: from.Add(time.Duration(rapid.Int64Range(1, 5*3600).Draw(r, "long")) * time.Second), Size: size}
		if now := w.clock.Now(); window.To.After(now) {
			window.To = now
		}
		scope, filter := domain.Scope{}, ""
		if picked := rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(r, "of"); len(picked) > 0 {
			scope.Filtered = true
			for _, name := range picked {
				scope.Instances = append(scope.Instances, ids[name])
			}
			filter = ofInstances(scope.Instances...)
		}
		for tile, want := range w.directly(w.ours.organization.ID, scope, window) {
			got := w.get(w.ours.viewer, metricsPath+tile+windowed(window.From.Format(time.RFC3339), window.To.Format(time.RFC3339), string(size))+filter).lines()
			for series, values := range want {
				if !agree(got[series], values) {
					r.Fatalf("%s: %s is %v, want %v", tile, series, got[series], values)
				}
			}
		}
	})
}

// directly is what the tiles have without HTTP, by tile and series.
func (w *world) directly(organization uuid.UUID, scope domain.Scope, window timegrid.Window) map[string]map[string]measurements.Values {
	w.t.Helper()
	ctx := context.Background()
	hosts := measurements.HostScope{Scope: scope}
	if scope.Filtered {
		var err error
		hosts.Names, err = w.deps.Fleet.HostsIn(ctx, organization, scope)
		must(w.t, err)
	}
	u, err := w.deps.Tiles.Utilization(ctx, organization, hosts, window)
	must(w.t, err)
	q, err := w.deps.Tiles.QueryPerformance(ctx, organization, scope, window, w.clock.Now())
	must(w.t, err)
	e, err := w.deps.Tiles.WaitEvents(ctx, organization, scope, window)
	must(w.t, err)
	waits := map[string]measurements.Values{}
	for i, series := range tileSeries["wait-events"] {
		waits[series] = e.Waiting[i]
	}
	return map[string]map[string]measurements.Values{
		"utilization":       {"cpuPercent": u.CPUPercent, "memoryPercent": u.MemoryPercent, "diskPercent": u.DiskPercent},
		"query-performance": {"avgLatencyMs": q.AvgMs, "maxLatencyMs": q.MaxMs},
		"wait-events":       waits,
	}
}

func agree(wire []*float64, values measurements.Values) bool {
	return slices.EqualFunc(wire, values, func(shown *float64, v float64) bool {
		if shown == nil || math.IsNaN(v) {
			return shown == nil && math.IsNaN(v)
		}
		return math.Abs(*shown-v) <= 0.0005+1e-9*math.Abs(v)
	})
}
