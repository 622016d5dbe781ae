package measurementstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/engine"
	"muster/internal/measurements"
)

// RunProperty holds a store to the reference: of whatever fleet, whatever arrives in
// whatever order, and whenever it is rolled up, each tile at each size, of any window
// and filter, is the same, to nine digits; and where the one has a gap or a zero, the
// other has it.
func RunProperty(t *testing.T, open Open) {
	h := open(t)
	rapid.Check(t, func(t *rapid.T) {
		c := comparison{T: t, life: lives().Draw(t, "life"), organization: uuid.New(), tested: h, reference: NewReference().Harness()}
		for i, message := range c.life.messages {
			message.Organization = c.organization
			c.reference.write(t, message)
			c.tested.write(t, message)
			if c.life.rolled[i] {
				c.tested.roll(t)
			}
		}
		c.tested.roll(t)
		for _, size := range timegrid.Sizes() {
			for _, scope := range []fleet.Scope{everything, c.filter()} {
				w := c.window(size)
				c.tiles(scope, w)
				c.contributors(scope, w)
				c.activity(scope, w)
				c.statements(scope, w)
				c.servers(w)
			}
		}
		c.now()
	})
}

// comparison is a store beside the reference.
type comparison struct {
	*rapid.T
	life              life
	organization      uuid.UUID
	tested, reference Harness
}

// filter draws a filter: of instances of the fleet, with an unknown one, or of none.
func (c *comparison) filter() fleet.Scope {
	scope := fleet.Scope{Filtered: true}
	for _, s := range append([]server{{id: uuid.UUID{9}}}, c.life.instances...) {
		if rapid.Bool().Draw(c.T, "in scope") {
			scope.Instances = append(scope.Instances, s.id)
		}
	}
	return scope
}

// window draws a window over an era or two, from any place in a bucket to any other.
func (c *comparison) window(size timegrid.Size) timegrid.Window {
	widest := map[timegrid.Size]time.Duration{timegrid.Minute: 2 * time.Hour, timegrid.Hour: 48 * time.Hour, timegrid.Day: 40 * 24 * time.Hour, timegrid.Week: 60 * 24 * time.Hour}
	part := func(name string) time.Duration {
		return time.Duration(rapid.IntRange(0, 16).Draw(c.T, name))*widest[size]/16 + time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(c.T, "and a bit"))
	}
	w := timegrid.Window{From: rapid.SampledFrom(eras).Draw(c.T, "window's era").Add(-part("before") / 4), Size: size}
	w.To = w.From.Add(1 + part("long"))
	if rapid.IntRange(0, 3).Draw(c.T, "on the edges") == 0 {
		w.From, w.To = w.Start(), w.End()
	}
	return w
}

// tiles compares the tiles that have a window.
func (c *comparison) tiles(scope fleet.Scope, w timegrid.Window) {
	hosts := measurements.HostScope{Scope: scope}
	if scope.Filtered && len(scope.Instances) > 0 {
		hosts.Names = rapid.SliceOf(rapid.SampledFrom(c.life.hosts)).Draw(c.T, "names")
	}
	c.same(fmt.Sprintf("utilization in %v of %v", w, hosts), func(h Harness) answer {
		return h.utilization(c, c.organization, hosts, w)
	})
	// Seven days ago may lie within an era.
	now := moments().Draw(c.T, "now").Add(7 * 24 * time.Hour)
	for _, engine := range engine.Measured() {
		c.same(fmt.Sprintf("query performance of %s in %v at %s of %v", engine, w, now, scope), func(h Harness) answer {
			return h.queries(c, c.organization, engine, scope, w, now)
		})
		c.same(fmt.Sprintf("wait events of %s in %v of %v", engine, w, scope), func(h Harness) answer {
			return h.waits(c, c.organization, engine, scope, w)
		})
	}
}

// now compares what is open.
func (c *comparison) now() {
	age := rapid.OneOf(rapid.SampledFrom([]time.Duration{time.Minute, 90 * time.Second, 15 * time.Minute}), rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(-10, 1000).Draw(t, "seconds")) * time.Second
	})).Draw(c.T, "age")
	now := c.life.moments().Draw(c.T, "sampled").Add(age).Add(rapid.SampledFrom([]time.Duration{0, time.Microsecond}).Draw(c.T, "and a bit"))
	var databases []uuid.UUID
	for _, s := range c.life.instances {
		for _, id := range s.databases {
			if rapid.IntRange(0, 3).Draw(c.T, "live") > 0 {
				databases = append(databases, id)
			}
		}
	}
	for _, engine := range engine.Measured() {
		c.same(fmt.Sprintf("connections of %s at %s of %v", engine, now, databases), func(h Harness) answer {
			return answer{besides: h.connections(c, c.organization, engine, databases, now)}
		})
		b := rapid.SampledFrom(connectionBreakdowns).Draw(c.T, "connections by")
		b.Zeros = rapid.Bool().Draw(c.T, "with who has none")
		c.behind(fmt.Sprintf("behind %v of %s at %s of %v", b, engine, now, databases), func(h Harness, limit int) (measurements.Ranking, error) {
			b.Limit = limit
			return h.Store.ConnectionContributors(c.Context(), c.organization, engine, databases, b, now)
		})
	}
}

// same compares what both say.
func (c *comparison) same(what string, of func(Harness) answer) {
	c.Helper()
	of(c.tested).is(c, of(c.reference), what)
}
