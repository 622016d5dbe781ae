package measurementstest

import (
	"fmt"
	"math"
	"time"

	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/engine"
	"muster/internal/measurements"
)

// Who may be behind what.
var (
	hostBreakdowns = []measurements.Breakdown{
		{Series: measurements.CPU, By: measurements.ByHost}, {Series: measurements.Memory, By: measurements.ByHost}, {Series: measurements.Disk, By: measurements.ByVolume},
	}
	queryBreakdowns = breakdowns([]measurements.Series{measurements.Average, measurements.Maximum},
		measurements.ByInstance, measurements.ByDatabase, measurements.ByStatement)
	waitBreakdowns = append(breakdowns([]measurements.Series{"locks", "lightweightLocks", "io", "clientNetwork", "other", "all"},
		measurements.ByInstance, measurements.ByDatabase, measurements.ByStatement,
		measurements.ByEvent, measurements.ByUser, measurements.ByApplication, measurements.ByClient), measurements.Breakdown{Series: "all", By: measurements.ByCategory})
	connectionBreakdowns = breakdowns([]measurements.Series{"total", "active", "idle", "waiting"}, measurements.ByInstance, measurements.ByDatabase)
)

func breakdowns(series []measurements.Series, by ...measurements.Key) (all []measurements.Breakdown) {
	for _, s := range series {
		for _, key := range by {
			all = append(all, measurements.Breakdown{Series: s, By: key})
		}
	}
	return all
}

// waitLine is the line of wait events that a series is.
var waitLine = map[measurements.Series]string{
	"locks": waitNames[0], "lightweightLocks": waitNames[1], "io": waitNames[2], "clientNetwork": waitNames[3], "other": waitNames[4],
}

// everybody is a limit that leaves nobody out.
const everybody = 1 << 20

// ranked asks who is behind a figure, up to a limit.
type ranked func(h Harness, limit int) (measurements.Ranking, error)

// behind compares the contributors to a figure one by one and, for a limit of its own, the
// first of them, the sum of the others, and the figure itself.
func (c *comparison) behind(what string, of ranked) measurements.Ranking {
	c.Helper()
	read := func(h Harness, limit int) measurements.Ranking {
		r, err := of(h, limit)
		if err != nil {
			c.Fatalf("%s: %v", what, err)
		}
		return r
	}
	want, got := read(c.reference, everybody), read(c.tested, everybody)
	if got.Sampled != want.Sampled || len(got.Items) != len(want.Items) || !close(got.Total(), want.Total()) {
		c.Fatalf("%s: %d contributors to %v (sampled %v), want %d to %v (%v)\n%v\n%v",
			what, len(got.Items), got.Total(), got.Sampled, len(want.Items), want.Total(), want.Sampled, got.Items, want.Items)
	}
	if of, is := want.Coverage, got.Coverage; is.Instances != of.Instances || !close(is.AttributedMs, of.AttributedMs) || !close(is.BusyMs, of.BusyMs) {
		c.Errorf("%s: coverage %+v, want %+v", what, is, of)
	}
	known := make(map[measurements.Contributor]measurements.Contributor)
	for _, item := range want.Items {
		known[identity(item)] = item
	}
	for _, item := range got.Items {
		other, ok := known[identity(item)]
		if !ok || !close(item.Value, other.Value) || !close(item.Calls, other.Calls) || !close(item.TotalMs, other.TotalMs) {
			c.Errorf("%s: %+v, want %+v", what, item, other)
		}
	}
	limit := rapid.IntRange(1, 4).Draw(c.T, "limit")
	first := read(c.tested, limit)
	c.holds(fmt.Sprintf("%s, the first %d", what, limit), first, got)
	return got
}

// part is the value that decides the order.
func part(r measurements.Ranking, c measurements.Contributor) float64 {
	if r.Series == measurements.Average {
		return c.TotalMs
	}
	return c.Value
}

// identity is what a contributor is.
func identity(c measurements.Contributor) measurements.Contributor {
	c.Value, c.Calls, c.TotalMs = 0, 0, 0
	return c
}

// holds is what has to hold of the first of a ranking, and of the others together.
func (c *comparison) holds(what string, first, all measurements.Ranking) {
	c.Helper()
	if n := len(first.Items); n != min(first.Limit, len(all.Items)) || n+first.Others.Count != len(all.Items) {
		c.Fatalf("%s: %d items and %d others of %d", what, n, first.Others.Count, len(all.Items))
	}
	others := make(map[measurements.Contributor]measurements.Contributor)
	for _, item := range all.Items {
		others[identity(item)] = item
	}
	for i, item := range first.Items {
		same, known := others[identity(item)]
		delete(others, identity(item))
		if !known || !close(item.Value, same.Value) || !close(part(first, item), part(all, all.Items[i])) {
			c.Errorf("%s: item %d is %+v, want %+v", what, i, item, all.Items[i])
		}
	}
	var rest measurements.Others
	for _, item := range others {
		rest.Count++
		rest.Sum += item.Value
		rest.Calls += item.Calls
		rest.TotalMs += item.TotalMs
	}
	if o := first.Others; !close(o.Sum, rest.Sum) || !close(o.Calls, rest.Calls) || !close(o.TotalMs, rest.TotalMs) {
		c.Errorf("%s: others %+v, want %+v", what, o, rest)
	}
	total, value, n := first.Total(), first.OthersValue(), float64(first.Others.Count)
	var values, calls, totalMs float64
	for _, item := range first.Items {
		values, calls, totalMs = values+item.Value, calls+item.Calls, totalMs+item.TotalMs
	}
	if n == 0 || first.Series == measurements.Disk || first.Series == measurements.Maximum {
		if !math.IsNaN(value) {
			c.Errorf("%s: the value of the others is %v, want none", what, value)
		}
		value = 0
	}
	var sum float64
	switch {
	case !first.Sampled:
		return
	case first.Series == measurements.CPU || first.Series == measurements.Memory:
		sum = (values + n*value) / (float64(len(first.Items)) + n)
	case first.Series == measurements.Average:
		sum = (totalMs + first.Others.TotalMs) / (calls + first.Others.Calls)
	case first.Series == measurements.Disk || first.Series == measurements.Maximum:
		if sum = math.NaN(); len(first.Items) > 0 {
			sum = first.Items[0].Value
		}
	default:
		sum = values + value
	}
	if !close(total, sum) {
		c.Errorf("%s: items and others come to %v, the figure is %v", what, sum, total)
	}
}

// close is to nine digits; a gap is close to a gap.
func close(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
}

// contributors compares who is behind figures of a window, and the figures of one of its
// buckets with the tile's own.
func (c *comparison) contributors(scope fleet.Scope, w timegrid.Window) {
	if w.Size == timegrid.Week {
		return
	}
	hosts := measurements.HostScope{Scope: scope}
	if scope.Filtered && len(scope.Instances) > 0 {
		hosts.Names = rapid.SliceOf(rapid.SampledFrom(c.life.hosts)).Draw(c.T, "names")
	}
	now := moments().Draw(c.T, "now").Add(7 * 24 * time.Hour)
	one := rapid.IntRange(0, w.Len()-1).Draw(c.T, "bucket")
	bucket := measurements.Span{From: w.Starts()[one], To: w.Starts()[one].Add(w.Size.Width()), Size: w.Size}
	for _, span := range []measurements.Span{{From: w.Start(), To: w.End(), Size: w.Size}, bucket} {
		alone := timegrid.Window{From: bucket.From, To: bucket.To, Size: bucket.Size}
		agrees := func(what string, r measurements.Ranking, tile line) {
			if span == bucket && !close(r.Total(), tile[0]) {
				c.Errorf("%s: contributors to %v, the tile has %v", what, r.Total(), tile[0])
			}
		}
		name := map[measurements.Series]string{measurements.CPU: "CPU", measurements.Memory: "memory", measurements.Disk: "disk"}
		b := rapid.SampledFrom(hostBreakdowns).Draw(c.T, "hosts by")
		what := fmt.Sprintf("behind %v in %v of %v", b, span, hosts)
		agrees(what, c.behind(what, func(h Harness, limit int) (measurements.Ranking, error) {
			b.Limit = limit
			return h.Store.UtilizationContributors(c.Context(), c.organization, hosts, span, b)
		}), c.tested.utilization(c, c.organization, hosts, alone).lines[name[b.Series]])
		for _, engine := range engine.Measured() {
			b := rapid.SampledFrom(queryBreakdowns).Draw(c.T, "queries by")
			what := fmt.Sprintf("behind %v of %s in %v at %s of %v", b, engine, span, now, scope)
			r := c.behind(what, func(h Harness, limit int) (measurements.Ranking, error) {
				b.Limit = limit
				return h.Store.QueryContributors(c.Context(), c.organization, engine, scope, span, b, now)
			})
			sums := c.tested.queries(c, c.organization, engine, scope, alone, now).lines
			if b.Series == measurements.Maximum {
				agrees(what, r, sums["maximum"])
			} else {
				agrees(what, r, line{sums["time"][0] / sums["calls"][0]})
			}
			b = rapid.SampledFrom(waitBreakdowns).Draw(c.T, "waits by")
			what = fmt.Sprintf("behind %v of %s in %v of %v", b, engine, span, scope)
			r = c.behind(what, func(h Harness, limit int) (measurements.Ranking, error) {
				b.Limit = limit
				return h.Store.WaitContributors(c.Context(), c.organization, engine, scope, span, b)
			})
			waits := c.tested.waits(c, c.organization, engine, scope, alone).lines
			shown := waits[waitLine[b.Series]]
			if b.Series == measurements.WaitingForAnything {
				shown = line{0}
				for _, name := range waitLine {
					shown[0] += waits[name][0]
				}
			}
			agrees(what, r, shown)
		}
	}
}
