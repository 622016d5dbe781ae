package monitor

import (
	"context"
	"errors"
	"slices"
	"time"

	"maps"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/printable"
	"muster/internal/concurrency/lease"
	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/watch"
)

// home is where what is measured of a claimed server goes: our own database, in
// transactions that hold the claim.
type home struct {
	*Monitor
	claim claim
}

func (h *home) lost() error { return &lease.LostError{What: h.claim.lost()} }

// Target is the server as it is registered now.
func (h *home) Target(ctx context.Context) (servers.Target, error) {
	credentials, ok, err := h.Connections.Credentials(ctx, h.claim.Organization, h.claim.Instance)
	if err != nil {
		return servers.Target{}, err
	}
	if !ok {
		return servers.Target{}, h.lost() // forgotten a moment ago
	}
	return credentials.Target(h.Reach)
}

// Excluded has the server assessed: the assessment, hours away else, keeps the reason where
// people see it.
func (h *home) Excluded(ctx context.Context) error {
	_, err := h.Connections.Due(ctx, h.claim.Organization, h.claim.Instance)
	return err
}

// identified keeps who answers. Where that is another server than before, it is assessed now,
// and not in some hours, so that people read of it what is true.
func (h *home) identified(ctx context.Context, is servers.Identity) error {
	moved, err := h.Connections.SawServer(ctx, h.claim.Organization, h.claim.Instance, is)
	if err != nil || !moved {
		return err
	}
	h.Log.WarnContext(ctx, "another server answers for an instance than before", "instance", h.claim.Instance)
	_, err = h.Connections.Due(ctx, h.claim.Organization, h.claim.Instance)
	return err
}

// Returned has the server assessed if the last assessment could not connect, because that
// result is no longer true.
func (h *home) Returned(ctx context.Context) error {
	return h.Connections.DueAgain(ctx, h.claim.Organization, h.claim.Instance)
}

// Databases tells the fleet of the databases that it does not have as they are.
func (h *home) Databases(ctx context.Context, names []string) (map[string]uuid.UUID, error) {
	printed := printable.Names(names)
	keys := make(map[string]string, len(names))
	for _, name := range names {
		keys[name] = inventory.DatabaseKey(name, printed[name])
	}
	byName := func(known map[string]uuid.UUID) map[string]uuid.UUID {
		ids := make(map[string]uuid.UUID, len(names))
		for name, key := range keys {
			if id, there := known[key]; there {
				ids[name] = id
			}
		}
		return ids
	}
	known, err := h.Fleet.DatabasesOf(ctx, h.claim.Organization, h.claim.Instance)
	if err != nil || slices.Equal(slices.Sorted(maps.Values(keys)), slices.Sorted(maps.Keys(known))) {
		return byName(known), err
	}
	actor := usecase.Actor{OrganizationID: h.claim.Organization, Component: "collector"}
	_, refused := h.Fleet.RecordDatabases(ctx, actor, h.claim.Instance, names)
	var gone *usecase.NotFoundError
	var rule *usecase.RuleError
	switch {
	case errors.As(refused, &gone):
		return nil, h.lost() // removed a moment ago
	case refused != nil && !errors.As(refused, &rule):
		return nil, refused
	}
	known, err = h.Fleet.DatabasesOf(ctx, h.claim.Organization, h.claim.Instance)
	return byName(known), errors.Join(err, refused)
}

// Lacks keeps them beside the lease.
func (h *home) Lacks(ctx context.Context, grants []snapshot.MissingGrant) error {
	return h.leases.lacks(ctx, h.claim, grants)
}

// Record keeps them while the claim holds.
func (h *home) Record(ctx context.Context, b measurements.Batch, signs []watch.Sign) error {
	b.Guard = h.claim.guard
	return h.record(ctx, b, signs)
}

// Count moves statements_at in the transaction that keeps them.
func (h *home) Count(ctx context.Context, since *time.Time, now *measure.List, b measurements.Batch, signs []watch.Sign) error {
	b.Guard = func(ctx context.Context, tx sqlx.ExtContext) error { return h.claim.count(ctx, tx, since, now.At) }
	return h.record(ctx, b, signs)
}

// record hands a batch on, when it is its turn.
func (h *home) record(ctx context.Context, b measurements.Batch, signs []watch.Sign) error {
	select {
	case h.writes <- struct{}{}:
		defer func() { <-h.writes }()
	case <-ctx.Done():
		return ctx.Err()
	}
	receipt, err := h.Intake.Record(ctx, b, signs...)
	if h.Kept != nil {
		h.Kept(receipt)
	}
	return err
}

// CountedUntil is until when the statements of the server are counted.
func (h *home) CountedUntil(ctx context.Context) (*time.Time, error) {
	return h.leases.statementsAt(ctx, h.claim)
}

// Basis is none: the lists were lost with the process that had them.
func (h *home) Basis(context.Context) (*measure.List, error) { return nil, nil }

// KeepsTexts is the organization's setting.
func (h *home) KeepsTexts(ctx context.Context) (bool, error) {
	if h.Texts == nil {
		return false, nil
	}
	return h.Texts.KeepsTexts(ctx, h.claim.Organization)
}
