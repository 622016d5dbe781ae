package measuretest

import (
	"context"
	"time"

	"github.com/google/uuid"

	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/watch"
)

// Home is a measure.Home that keeps everything, and remembers it.
type Home struct {
	To      servers.Target
	Batches []measurements.Batch
	Signs   []watch.Sign
	Lacking []snapshot.MissingGrant
	Known   map[string]uuid.UUID
	Texts   bool
	Keeps   bool  // the last list, as an agent does
	Fail    error // instead of keeping the next batch
	Failed  error // after having kept it

	counted *time.Time
	last    *measure.List
}

// Target is To.
func (h *Home) Target(context.Context) (servers.Target, error) { return h.To, nil }

// Excluded does nothing.
func (h *Home) Excluded(context.Context) error { return nil }

// Returned does nothing.
func (h *Home) Returned(context.Context) error { return nil }

// Databases keeps the names; a database has one id for as long as it is there.
func (h *Home) Databases(_ context.Context, names []string) (map[string]uuid.UUID, error) {
	known := make(map[string]uuid.UUID, len(names))
	for _, name := range names {
		known[name] = h.Known[name]
		if known[name] == uuid.Nil {
			known[name] = uuid.New()
		}
	}
	h.Known = known
	return known, nil
}

// Lacks keeps them.
func (h *Home) Lacks(_ context.Context, grants []snapshot.MissingGrant) error {
	h.Lacking = grants
	return nil
}

// Record keeps the batch.
func (h *Home) Record(_ context.Context, b measurements.Batch, signs []watch.Sign) error {
	if fail := h.Fail; fail != nil {
		h.Fail = nil
		return fail
	}
	h.Batches, h.Signs = append(h.Batches, b), append(h.Signs, signs...)
	return nil
}

// grants are what is lacking, each in a line.
func (h *Home) grants() (lines []string) {
	for _, g := range h.Lacking {
		lines = append(lines, g.Object+": "+g.Statement)
	}
	return lines
}

// Count keeps the batch, and until when statements are counted.
func (h *Home) Count(ctx context.Context, _ *time.Time, now *measure.List, b measurements.Batch, signs []watch.Sign) error {
	if err := h.Record(ctx, b, signs); err != nil {
		return err
	}
	h.counted, h.last = &now.At, now
	failed := h.Failed
	h.Failed = nil
	return failed
}

// CountedUntil is what Count kept.
func (h *Home) CountedUntil(context.Context) (*time.Time, error) { return h.counted, nil }

// Basis is the last list, if it is stored.
func (h *Home) Basis(context.Context) (*measure.List, error) {
	if !h.Keeps {
		return nil, nil
	}
	return h.last, nil
}

// KeepsTexts is Texts.
func (h *Home) KeepsTexts(context.Context) (bool, error) { return h.Texts, nil }
