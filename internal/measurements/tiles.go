package measurements

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/engine"
	"muster/internal/measurements/waitclass"
)

// Tiles puts the engines' parts together as the dashboard shows them.
type Tiles struct {
	Store Store
	Log   *slog.Logger
	// Dropped is called for each engine that could not be read; nil: it is not called.
	Dropped func(Drop)
}

// Drop is an engine that a tile was answered without.
type Drop struct {
	Organization uuid.UUID
	Tile         string
	Engine       fleet.Engine
	Err          error // why; it may quote what nobody else should see
}

// QueryPerformance is the tile: execution-weighted average and highest mean.
type QueryPerformance struct {
	AvgMs, MaxMs Values
	Engines      []fleet.Engine // read, and with a sample in the window
	Partial      []fleet.Engine // those of them whose samples are, some at least, of a part only
	Incomplete   bool           // an engine could not be read
}

// WaitEvents is the tile, the engines' parts summed.
type WaitEvents struct {
	Waiting    [waitclass.Categories]Values
	Engines    []fleet.Engine
	Partial    []fleet.Engine
	Incomplete bool
}

// Contributors are those who are behind a figure, over all engines.
type Contributors struct {
	Ranking
	Engines    []fleet.Engine // read, and with a sample in the span
	Partial    []fleet.Engine // those of them with samples of a part only
	Incomplete bool           // an engine could not be read

	Names   map[uint64]string // of items of a key that is a name
	Unnamed error             // why names could not be read
}

// Snapshot is the Connections card.
type Snapshot struct {
	OpenConnections
	Engines    []EngineConnections // those with a sample that counts
	Incomplete bool
}

// EngineConnections is one engine's part of it.
type EngineConnections struct {
	Engine fleet.Engine
	OpenConnections
}

// Utilization reads the tile.
func (t *Tiles) Utilization(ctx context.Context, organization uuid.UUID, hosts HostScope, w timegrid.Window) (Utilization, error) {
	return t.Store.Utilization(ctx, organization, hosts, w)
}

// QueryPerformance reads the tile. An engine that cannot be read is left out, logged
// and told to Dropped; it is an error only when ctx has ended, or no engine can be read.
func (t *Tiles) QueryPerformance(ctx context.Context, organization uuid.UUID, scope fleet.Scope, w timegrid.Window, now time.Time) (QueryPerformance, error) {
	n := w.Len()
	tile := QueryPerformance{AvgMs: Gaps(n), MaxMs: Gaps(n)}
	totalMs, calls := make(Values, n), make(Values, n)
	var err error
	tile.Incomplete, err = t.each(ctx, organization, "query-performance", func(ctx context.Context, engine fleet.Engine) error {
		part, err := t.Store.QueryPerformance(ctx, organization, engine, scope, w, now)
		if err != nil || !part.Sampled {
			return err
		}
		tile.Engines = append(tile.Engines, engine)
		if part.Partial {
			tile.Partial = append(tile.Partial, engine)
		}
		for i := range n {
			totalMs[i] += part.TotalMs[i]
			calls[i] += part.Calls[i]
			if m := part.MaxMs[i]; math.IsNaN(tile.MaxMs[i]) || m > tile.MaxMs[i] {
				tile.MaxMs[i] = m
			}
		}
		return nil
	})
	for i := range n {
		if calls[i] > 0 {
			tile.AvgMs[i] = totalMs[i] / calls[i]
		}
	}
	return tile, err
}

// WaitEvents reads the tile, as QueryPerformance does.
func (t *Tiles) WaitEvents(ctx context.Context, organization uuid.UUID, scope fleet.Scope, w timegrid.Window) (WaitEvents, error) {
	var tile WaitEvents
	for c := range tile.Waiting {
		tile.Waiting[c] = Gaps(w.Len())
	}
	var err error
	tile.Incomplete, err = t.each(ctx, organization, "wait-events", func(ctx context.Context, engine fleet.Engine) error {
		part, err := t.Store.WaitEvents(ctx, organization, engine, scope, w)
		if err != nil || !part.Sampled {
			return err
		}
		tile.Engines = append(tile.Engines, engine)
		if part.Partial {
			tile.Partial = append(tile.Partial, engine)
		}
		for c := range tile.Waiting {
			tile.Waiting[c].addValues(part.Waiting[c])
		}
		return nil
	})
	return tile, err
}

// Connections reads the card, as QueryPerformance does.
func (t *Tiles) Connections(ctx context.Context, organization uuid.UUID, databases []uuid.UUID, now time.Time) (Snapshot, error) {
	var card Snapshot
	var err error
	card.Incomplete, err = t.each(ctx, organization, "connections", func(ctx context.Context, engine fleet.Engine) error {
		part, err := t.Store.Connections(ctx, organization, engine, databases, now)
		if err != nil || part.SampledAt.IsZero() {
			return err
		}
		card.Engines = append(card.Engines, EngineConnections{engine, part})
		card.addDatabase(part)
		return nil
	})
	return card, err
}

// UtilizationContributors says which hosts or volumes are behind a figure of the tile.
func (t *Tiles) UtilizationContributors(ctx context.Context, organization uuid.UUID, hosts HostScope, span Span, b Breakdown) (Contributors, error) {
	ranking, err := t.Store.UtilizationContributors(ctx, organization, hosts, span, b)
	return Contributors{Ranking: ranking}, err
}

// QueryContributors says who is behind a figure of query performance, as QueryPerformance
// reads it.
func (t *Tiles) QueryContributors(ctx context.Context, organization uuid.UUID, scope fleet.Scope, span Span, b Breakdown, now time.Time) (Contributors, error) {
	return t.contributors(ctx, organization, "query-performance", b, func(ctx context.Context, engine fleet.Engine) (Ranking, error) {
		return t.Store.QueryContributors(ctx, organization, engine, scope, span, b, now)
	})
}

// mostShared is how many contributors that engines share are added up one by one.
const mostShared = 1000

// WaitContributors says who is behind a figure of wait events, as WaitEvents reads it.
func (t *Tiles) WaitContributors(ctx context.Context, organization uuid.UUID, scope fleet.Scope, span Span, b Breakdown) (Contributors, error) {
	asked := b.Limit
	if b.shared() { // so that what is another for one engine may be an item of all
		b.Limit = max(asked, mostShared)
	}
	all, err := t.contributors(ctx, organization, "wait-events", b, func(ctx context.Context, engine fleet.Engine) (Ranking, error) {
		return t.Store.WaitContributors(ctx, organization, engine, scope, span, b)
	})
	if err == nil && b.named() {
		all.Names, all.Unnamed = t.nameContributors(ctx, organization, &all.Ranking)
	}
	all.cut(asked)
	return all, err
}

// nameContributors returns the names of items, by their hashes. Items whose names are gone become
// one: nobody can tell them apart any more. Where names cannot be read, all do.
func (t *Tiles) nameContributors(ctx context.Context, organization uuid.UUID, r *Ranking) (map[uint64]string, error) {
	by, _ := r.Dimension()
	var hashes []uint64
	for _, c := range r.Items {
		hashes = append(hashes, c.Name)
	}
	names, err := t.Store.Names(ctx, organization, by, hashes)
	r.addUp(r.Items, func(c Contributor) Contributor {
		if names[c.Name] == "" {
			c.Name = 0
		}
		return c
	})
	return names, err
}

// ConnectionContributors says who is behind a count of the card, as Connections reads it.
func (t *Tiles) ConnectionContributors(ctx context.Context, organization uuid.UUID, databases []uuid.UUID, b Breakdown, now time.Time) (Contributors, error) {
	return t.contributors(ctx, organization, "connections", b, func(ctx context.Context, engine fleet.Engine) (Ranking, error) {
		return t.Store.ConnectionContributors(ctx, organization, engine, databases, b, now)
	})
}

// contributors joins what the engines have, as eachKept reads them.
func (t *Tiles) contributors(ctx context.Context, organization uuid.UUID, tile string, b Breakdown, read func(context.Context, fleet.Engine) (Ranking, error)) (Contributors, error) {
	all := Contributors{Ranking: Ranking{Breakdown: b}}
	var err error
	all.Incomplete, err = t.eachKept(ctx, organization, tile, func(ctx context.Context, engine fleet.Engine) error {
		part, err := read(ctx, engine)
		if err != nil || !part.Sampled {
			return err
		}
		all.Engines = append(all.Engines, engine)
		if part.Partial {
			all.Partial = append(all.Partial, engine)
		}
		all.Join(part)
		return nil
	})
	return all, err
}

// eachKept reads as each does. What the store does not keep is an error, and no engine's
// failure.
func (t *Tiles) eachKept(ctx context.Context, organization uuid.UUID, tile string, read func(context.Context, fleet.Engine) error) (incomplete bool, err error) {
	var notKept *NotKeptError
	incomplete, err = t.each(ctx, organization, tile, func(ctx context.Context, engine fleet.Engine) error {
		err := read(ctx, engine)
		if errors.As(err, &notKept) {
			return nil
		}
		return err
	})
	if notKept != nil {
		return false, notKept
	}
	return incomplete, err
}

// each reads a tile's engines, one after the other: at once they would take three of the pool's
// connections for each tile, and a store that is slow for one engine is not faster for three.
// Each has an equal share of the remaining time, so that a slow one is dropped like a broken
// one (reading 24) and the others are answered. A store from which nothing can be read is an
// error: gaps and zeros would say that nothing was measured.
func (t *Tiles) each(ctx context.Context, organization uuid.UUID, tile string, read func(context.Context, fleet.Engine) error) (incomplete bool, err error) {
	engines := engine.Measured()
	var failures []Drop
	for i, engine := range engines {
		err := within(ctx, len(engines)-i, func(ctx context.Context) error { return read(ctx, engine) })
		if ctx.Err() != nil {
			return true, fmt.Errorf("read %s of %s: %w", tile, engine, ctx.Err())
		}
		if err != nil {
			failures = append(failures, Drop{organization, tile, engine, err})
		}
	}
	if len(failures) == len(engines) {
		return true, fmt.Errorf("read %s: %w", tile, failures[0].Err)
	}
	for _, f := range failures {
		t.Log.WarnContext(ctx, "answering without an engine", "tile", tile, "engine", f.Engine, "error", f.Err)
		if t.Dropped != nil {
			t.Dropped(f)
		}
	}
	return len(failures) > 0, nil
}

// within calls read, of which so many are still to come, with its share of the time until ctx
// ends.
func within(ctx context.Context, shares int, read func(context.Context) error) error {
	if deadline, ok := ctx.Deadline(); ok {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(shares))
		defer end()
	}
	return read(ctx)
}
