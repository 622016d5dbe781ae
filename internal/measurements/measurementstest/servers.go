package measurementstest

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// servers compares what each server tells about itself with the reference.
func (c *comparison) servers(w timegrid.Window) {
	c.Helper()
	for _, of := range c.life.instances {
		what := fmt.Sprintf("the figures of %s in %v", of.id, w)
		read := func(h Harness) measurements.ServerFigures {
			found, err := h.Store.ServerFigures(c.Context(), c.organization, of.engine, of.id, w)
			if err != nil {
				c.Fatalf("%s: %v", what, err)
			}
			return found
		}
		want, got := read(c.reference), read(c.tested)
		if len(got) != len(want) {
			c.Errorf("%s: %d, want %d", what, len(got), len(want))
		}
		for key, line := range want {
			other := got[key]
			if other == nil || !near(line.Values, other.Values) || !slices.Equal(line.Told, other.Told) || cmp.Diff(line.Holders, other.Holders) != "" {
				c.Errorf("%s: %v is %+v, want %+v", what, key, other, line)
			}
		}
	}
}

// servers are samples of what servers tell about themselves.
func (l *life) servers() *rapid.Generator[[]measurements.Batch] {
	return rapid.Custom(func(t *rapid.T) (sent []measurements.Batch) {
		for range rapid.IntRange(0, 15).Draw(t, "server samples") {
			of := rapid.SampledFrom(l.instances).Draw(t, "instance")
			sent = append(sent, measurements.Batch{Servers: []measurements.ServerSample{{
				Instance: of.id, Engine: of.engine, At: l.moments().Draw(t, "at"), Figures: Figures(t, of.databases),
			}}})
		}
		return sent
	})
}

// Figures draws some figures of a server, none twice.
func Figures(t *rapid.T, databases []uuid.UUID) (all []measurements.ServerFigure) {
	for _, of := range rapid.SliceOfNDistinct(rapid.SampledFrom(measurements.Figures()), 1, 6, rapid.ID).Draw(t, "figures") {
		owners := []uuid.UUID{uuid.Nil}
		if of.ByDatabase() {
			owners = append(owners, databases...)
		}
		for _, database := range rapid.SliceOfNDistinct(rapid.SampledFrom(owners), 1, len(owners), rapid.ID).Draw(t, "of") {
			f := measurements.ServerFigure{Figure: of, Database: database, Telling: rapid.SampledFrom([]measurements.Telling{measurements.Told, measurements.Told, measurements.NotTold, measurements.Denied}).Draw(t, "told")}
			if f.Telling == measurements.Told {
				f.Value = rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, 1<<40)).Draw(t, "value")
				if of.Counts() {
					f.Interval = rapid.SampledFrom([]time.Duration{0, time.Minute, 30 * time.Second}).Draw(t, "interval")
				}
			}
			if of == measurements.OldestTransaction && f.Telling == measurements.Told && rapid.Bool().Draw(t, "is held") {
				h := &measurements.Holder{Session: rapid.SampledFrom([]string{"1", "prepared x\x00"}).Draw(t, "session"), Database: databases[0], Doing: doing(t, []string{""})}
				h.Sessions, h.Wait, h.Event = 1, "", ""
				f.Holder = h
			}
			all = append(all, f)
		}
	}
	return all
}
