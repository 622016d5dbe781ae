package measurementstest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/engine"
	"muster/internal/measurements"
)

// statements compares what statements came to in a window, one of them bucket by bucket,
// and what is known of them.
func (c *comparison) statements(scope fleet.Scope, w timegrid.Window) {
	c.Helper()
	now := moments().Draw(c.T, "now").Add(7 * 24 * time.Hour)
	of := measurements.StatementScope{Scope: scope}
	if rapid.IntRange(0, 2).Draw(c.T, "one database") == 0 {
		of.Database = rapid.SampledFrom(rapid.SampledFrom(c.life.instances).Draw(c.T, "instance").databases).Draw(c.T, "database")
	}
	for _, engine := range engine.Measured() {
		if w.Size == timegrid.Week {
			break
		}
		span := measurements.Span{From: w.Start(), To: w.End(), Size: w.Size}
		read := func(h Harness) (map[measurements.StatementRef]measurements.StatementSums, bool) {
			all := make(map[measurements.StatementRef]measurements.StatementSums)
			sampled, _, err := h.Store.Statements(c.Context(), c.organization, engine, of, span, now, func(s measurements.StatementSums) {
				if _, twice := all[s.StatementRef]; twice {
					c.Errorf("%+v twice", s)
				}
				all[s.StatementRef] = s
			})
			if err != nil {
				c.Fatal(err)
			}
			return all, sampled
		}
		want, wantSampled := read(c.reference)
		got, sampled := read(c.tested)
		what := fmt.Sprintf("statements of %s in %v at %s of %v", engine, span, now, of)
		if len(got) != len(want) || sampled != wantSampled {
			c.Errorf("%s: %v (sampled %v), want %v (%v)", what, got, sampled, want, wantSampled)
		}
		for ref, is := range want {
			if s := got[ref]; s.Database != is.Database || !close(s.Calls, is.Calls) || !close(s.TotalMs, is.TotalMs) || !close(s.MaxMs, is.MaxMs) {
				c.Errorf("%s: %+v, want %+v", what, s, is)
			}
		}
	}
	c.known(of, w, now)
}

// known compares what is known of statements, and one of them bucket by bucket.
func (c *comparison) known(of measurements.StatementScope, w timegrid.Window, now time.Time) {
	c.Helper()
	everywhere, err := c.reference.Store.MatchStatements(c.Context(), c.organization, measurements.StatementScope{}, measurements.StatementMatch{})
	if err != nil {
		c.Fatal(err)
	}
	seen := []uuid.UUID{{9}}
	for ref := range everywhere {
		seen = append(seen, ref.ID())
	}
	slices.SortFunc(seen, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	named := func(h Harness) map[uuid.UUID]measurements.NamedStatement {
		named, err := h.Store.NameStatements(c.Context(), c.organization, seen)
		if err != nil {
			c.Fatal(err)
		}
		return named
	}
	want, got := named(c.reference), named(c.tested)
	if len(got) != len(want) {
		c.Errorf("%d of %d statements are known, want %d", len(got), len(seen), len(want))
	}
	for id, is := range want {
		one := got[id]
		if behind := is.LastSeen.Sub(one.LastSeen); behind < 0 || behind >= time.Hour {
			c.Errorf("%v was last seen %s, want %s, or less than an hour before", id, one.LastSeen, is.LastSeen)
		}
		if one.LastSeen = is.LastSeen; one != is {
			c.Errorf("%+v, want %+v", one, is)
		}
	}
	match := rapid.SampledFrom([]measurements.StatementMatch{
		{}, {Text: "select A"}, {Text: "%"}, {FirstFrom: w.Start(), FirstTo: w.End()}, {Text: "b", FirstFrom: w.Start(), FirstTo: w.End()},
	}).Draw(c.T, "match")
	matched := func(h Harness) map[measurements.StatementRef]bool {
		matched, err := h.Store.MatchStatements(c.Context(), c.organization, of, match)
		if err != nil {
			c.Fatal(err)
		}
		return matched
	}
	all := matched(c.reference)
	if got := matched(c.tested); fmt.Sprint(got) != fmt.Sprint(all) {
		c.Errorf("%+v of %v: %v, want %v", match, of, got, all)
	}
	c.firstExecutions(of.Scope, w)
	one := rapid.SampledFrom(seen).Draw(c.T, "statement")
	found, ok := want[one]
	if ok {
		c.same(fmt.Sprintf("%v in %v at %s", found, w, now), func(h Harness) answer {
			series, err := h.Store.StatementSeries(c.Context(), c.organization, found, w, now)
			if err != nil {
				c.Fatal(err)
			}
			return answer{lines: map[string]line{"calls": series.Calls, "time": series.TotalMs, "maximum": series.MaxMs}}
		})
	}
}

// firstExecutions compares how many statements are new.
func (c *comparison) firstExecutions(scope fleet.Scope, w timegrid.Window) {
	c.Helper()
	from := rapid.SampledFrom([]time.Time{w.Start(), w.Start().Add(-10 * 365 * 24 * time.Hour)}).Draw(c.T, "new from")
	read := func(h Harness) map[string]bool {
		all, err := h.Store.FirstExecutions(c.Context(), c.organization, scope, from, w.End(), 1000)
		if err != nil {
			c.Fatal(err)
		}
		found := make(map[string]bool, len(all))
		for _, one := range all {
			found[fmt.Sprint(one)] = true
		}
		return found
	}
	if want, got := read(c.reference), read(c.tested); !maps.Equal(got, want) {
		c.Errorf("new from %s to %s in %v: %v, want %v", from, w.End(), scope, got, want)
	}
}
