package rehearsal

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/watch"
)

// Result is what was measured, in numbers.
type Result struct {
	Seconds    int               `json:"seconds"`
	Sessions   int               `json:"sessionSamples"` // one for each database and look
	Intervals  int               `json:"intervals"`      // in which the statements of a database were counted
	Statements int               `json:"statements"`     // that were executed in them
	Calls      int64             `json:"calls"`
	Texts      int               `json:"texts"`
	Failed     map[string]string `json:"failed"` // the last code of each part that failed, by its name
}

// Run measures a server for so long, or until ctx ends.
func Run(ctx context.Context, engine measure.Engine, target servers.Target, lasting time.Duration) Result {
	h := &home{target: target, result: Result{Failed: map[string]string{}}}
	began := time.Now()
	ctx, end := context.WithTimeout(ctx, lasting)
	defer end()
	measure.New(measure.Config{
		Engine: engine, Organization: uuid.New(), Instance: uuid.New(), Home: h, Gate: measure.NewGate(1),
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Unnamed: true,
	}).Run(ctx)
	h.result.Seconds = int(time.Since(began).Seconds())
	return h.result
}

// home is a measure.Home that keeps numbers.
type home struct {
	target  servers.Target
	result  Result
	counted *time.Time
}

// Target is the one of the configuration.
func (h *home) Target(context.Context) (servers.Target, error) { return h.target, nil }

// Excluded does nothing: the connection says so.
func (h *home) Excluded(context.Context) error { return nil }

// Returned does nothing.
func (h *home) Returned(context.Context) error { return nil }

// Databases gives each database an id by its name, as the agent does.
func (h *home) Databases(_ context.Context, names []string) (map[string]uuid.UUID, error) {
	ids := make(map[string]uuid.UUID, len(names))
	for _, name := range names {
		ids[name] = uuid.NewSHA1(uuid.Nil, []byte(name))
	}
	return ids, nil
}

// Lacks does nothing: the check lists the grants.
func (h *home) Lacks(context.Context, []snapshot.MissingGrant) error { return nil }

// Record counts. What the end of the rehearsal interrupted has not failed.
func (h *home) Record(ctx context.Context, b measurements.Batch, _ []watch.Sign) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	h.result.Sessions += len(b.Sessions)
	for _, s := range b.Statements {
		h.result.Intervals++
		h.result.Statements += len(s.Statements)
		for _, one := range s.Statements {
			h.result.Calls += one.Calls
			if one.Text != "" {
				h.result.Texts++
			}
		}
	}
	for _, r := range b.Reached {
		if part := r.Part; !r.Up {
			if part == "" {
				part = "connection"
			}
			h.result.Failed[part] = r.Code
		}
	}
	return nil
}

// Count is Record, and keeps until when.
func (h *home) Count(ctx context.Context, _ *time.Time, now *measure.List, b measurements.Batch, signs []watch.Sign) error {
	h.counted = &now.At
	return h.Record(ctx, b, signs)
}

// CountedUntil is what Count kept.
func (h *home) CountedUntil(context.Context) (*time.Time, error) { return h.counted, nil }

// Basis is nil: a rehearsal begins anew.
func (h *home) Basis(context.Context) (*measure.List, error) { return nil, nil }

// KeepsTexts says that texts are read. They are counted, and dropped.
func (h *home) KeepsTexts(context.Context) (bool, error) { return true, nil }
