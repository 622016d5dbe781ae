package measurementstest

import (
	"fmt"
	"math"

	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/engine"
	"muster/internal/measurements"
)

// activity compares what sessions did with the reference, by a dimension, and all of it with the
// wait events of the same window: together with what was on the CPU it is the same.
func (c *comparison) activity(scope fleet.Scope, w timegrid.Window) {
	c.Helper()
	q := measurements.ActivityQuery{By: rapid.SampledFrom(measurements.Dimensions()).Draw(c.T, "activity by")}
	if rapid.Bool().Draw(c.T, "of some states") {
		q.States = rapid.SliceOfNDistinct(rapid.SampledFrom(measurements.States()), 1, 3, rapid.ID).Draw(c.T, "states")
	}
	for _, by := range []measurements.Dimension{measurements.DimUser, measurements.DimApplication, measurements.DimClient} {
		if rapid.IntRange(0, 3).Draw(c.T, "of some people") == 0 {
			of := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "nobody"}), 1, 2, rapid.ID).Draw(c.T, "names")
			q.Names = map[measurements.Dimension][]string{by: of}
		}
	}
	for _, of := range engine.Measured() {
		what := fmt.Sprintf("activity of %s by %s (%v, %v) in %v of %v", of, q.By, q.States, q.Names, w, scope)
		read := func(h Harness, q measurements.ActivityQuery) measurements.ActivityPart {
			part, err := h.Store.Activity(c.Context(), c.organization, of, scope, w, q)
			if err != nil {
				c.Fatalf("%s: %v", what, err)
			}
			return part
		}
		want, got := read(c.reference, q), read(c.tested, q)
		for key := range got.Lines {
			if want.Lines[key] == nil {
				c.Errorf("%s: %+v is %v, want nothing", what, key, got.Lines[key])
			}
		}
		for key, line := range want.Lines {
			if !near(line, got.Lines[key]) {
				c.Errorf("%s: %+v is\n%v, want\n%v", what, key, got.Lines[key], line)
			}
			for class, want := range want.Classes[key] {
				if got.Classes != nil && !close(got.Classes[key][class], want) {
					c.Errorf("%s: of %+v, class %d comes to %v, want %v", what, key, class, got.Classes[key][class], want)
				}
			}
		}
		if got.Partial != want.Partial {
			c.Errorf("%s: partial is %t", what, got.Partial)
		}
		c.deadlocks(of, scope, w)
		byClass := read(c.tested, measurements.ActivityQuery{By: measurements.DimWaitClass})
		all := read(c.tested, measurements.ActivityQuery{By: q.By})
		tile := c.tested.waits(c, c.organization, of, scope, w)
		for i := range w.Len() {
			waits, sum := 0.0, 0.0
			for class, name := range waitNames {
				shown := tile.lines[name][i]
				if waits += shown; math.IsNaN(shown) == all.Sampled[i] {
					c.Errorf("%s: bucket %d is sampled: %t, the tile has %v", what, i, all.Sampled[i], shown)
				}
				if line, there := byClass.Lines[measurements.ActivityKey{Class: class}]; there && !close(line[i], shown) || !there && shown > 0 {
					c.Errorf("%s: %s in bucket %d is %v, in the tile %v", what, name, i, line, shown)
				}
			}
			if !all.Sampled[i] {
				continue
			}
			if cpu := byClass.Lines[measurements.ActivityKey{Class: measurements.ClassOnCPU}]; cpu != nil && !math.IsNaN(cpu[i]) {
				waits += cpu[i]
			}
			for _, line := range all.Lines {
				if !math.IsNaN(line[i]) {
					sum += line[i]
				}
			}
			if !close(sum, waits) {
				c.Errorf("%s: all lines come to %v in bucket %d, waits and CPU to %v", what, sum, i, waits)
			}
		}
	}
}

// deadlocks compares those of an engine's databases.
func (c *comparison) deadlocks(of fleet.Engine, scope fleet.Scope, w timegrid.Window) {
	c.Helper()
	limit := rapid.SampledFrom([]int{1, 2, 100}).Draw(c.T, "databases with deadlocks")
	read := func(h Harness) measurements.Deadlocks {
		found, err := h.Store.Deadlocks(c.Context(), c.organization, of, scope, w, limit)
		if err != nil {
			c.Fatalf("deadlocks of %s in %v of %v: %v", of, w, scope, err)
		}
		return found
	}
	want, got := read(c.reference), read(c.tested)
	for key, line := range want.Lines {
		if !near(line, got.Lines[key]) {
			c.Errorf("deadlocks of %s in %v of %v: %v has %v, want %v", of, w, scope, key, got.Lines[key], line)
		}
	}
	if len(got.Lines) != len(want.Lines) || got.Others != want.Others || !near(want.Total, got.Total) {
		c.Errorf("deadlocks of %s in %v of %v: %d databases, %d others and %v, want %d, %d and %v", of, w, scope, len(got.Lines), got.Others, got.Total, len(want.Lines), want.Others, want.Total)
	}
}
