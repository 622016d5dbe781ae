package objectives

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/objective"
	"muster/domain/organization"
	"muster/domain/rule"
	"muster/eventstore"
	"muster/internal/postgres/statement"
)

// Instances answers what objectives must know of the fleet; *fleet.Reader of projections does.
type Instances interface {
	// InstanceNames returns the names of those ids that exist and are not removed.
	InstanceNames(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error)
}

// Objectives is the use case.
type Objectives struct {
	base      *usecase.Base
	instances Instances
}

// New returns the use case over a base.
func New(base *usecase.Base, instances Instances) *Objectives { return &Objectives{base, instances} }

// Row is a list of objectives with the time in which it holds.
type Row struct {
	Items list      `db:"items"`
	Holds time.Time `db:"holds_from"`
}

type list []objective.Objective

// Scan implements sql.Scanner.
func (l *list) Scan(src any) error { return statement.ScanJSON(src, (*[]objective.Objective)(l)) }

// Digest names what a change of the list changes: whoever changes it says which state they saw.
func (r Row) Digest() string { return organization.Digest(r.Items) }

// Current is the list that holds; without one, it is empty.
func Current(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID) (Row, error) {
	r, _, err := statement.Find[Row](ctx, q, "read the objectives", `SELECT items, holds_from FROM objectives WHERE organization_id = $1 AND holds_until IS NULL`, organization)
	return r, err
}

// At is the list that held just before a time, and when it began to hold. A list that was first set later counts
// for the time before it.
func At(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, at time.Time) (Row, error) {
	r, _, err := statement.Find[Row](ctx, q, "read the objectives of a time", `SELECT items, holds_from FROM objectives WHERE organization_id = $1
		ORDER BY holds_from < $2 DESC, CASE WHEN holds_from < $2 THEN holds_from END DESC, holds_from LIMIT 1`, organization, at)
	return r, err
}

// ChangedIn are the times from a time until before another at which the list changed, or was first set, in order.
func ChangedIn(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, from, to time.Time) ([]time.Time, error) {
	return statement.All[time.Time](ctx, q, "read when the objectives changed", `SELECT holds_from FROM objectives
		WHERE organization_id = $1 AND holds_from >= $2 AND holds_from < $3 ORDER BY holds_from`, organization, from, to)
}

// SetObjectives replaces the list. seen are the digests of the states that the change was made from, one of
// which must be the list's; nil: any. Errors: *usecase.RuleError with every broken rule, or
// precondition_failed.
func (o *Objectives) SetObjectives(ctx context.Context, actor usecase.Actor, is []objective.Objective, seen []string) (usecase.Mark, error) {
	is = objective.Normal(is)
	if err := usecase.FieldErrors(objective.Broken(is)); err != nil {
		return usecase.Mark{}, err
	}
	to := usecase.StreamPlace{Log: eventstore.Organization, StreamType: objective.Stream, ID: objective.StreamID(actor.OrganizationID)}
	return o.base.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := usecase.LockStream(ctx, tx, actor.OrganizationID); err != nil {
			return usecase.Mark{}, err
		}
		was, err := Current(ctx, tx, actor.OrganizationID)
		if err != nil {
			return usecase.Mark{}, err
		}
		if seen != nil && !slices.Contains(seen, was.Digest()) {
			return usecase.Mark{}, &usecase.RuleError{Code: "precondition_failed", Detail: "The objectives have changed since you read them. Read them again and repeat your change."}
		}
		if err := o.check(ctx, actor, is, was.Items); err != nil {
			return usecase.Mark{}, err
		}
		return usecase.Decide(ctx, o.base, tx, actor, to, func(any, time.Time) {}, func(now time.Time) ([]objective.Event, error) {
			if organization.Digest(is) == organization.Digest([]objective.Objective(was.Items)) {
				return nil, nil
			}
			return []objective.Event{objective.Changed{From: append([]objective.Objective{}, was.Items...), To: is}}, replace(ctx, tx, actor.OrganizationID, is, now)
		}, nil)
	})
}

// check refuses servers that are not there. Those that the list had before may stay.
func (o *Objectives) check(ctx context.Context, actor usecase.Actor, is, was []objective.Objective) error {
	var ids []uuid.UUID
	for _, one := range is {
		ids = append(ids, one.Selector.InstanceIDs...)
	}
	names, err := o.instances.InstanceNames(ctx, actor.OrganizationID, ids)
	if err != nil {
		return fmt.Errorf("look up instances: %w", err)
	}
	known := func(id uuid.UUID) bool {
		_, there := names[id]
		return there || slices.ContainsFunc(was, func(o objective.Objective) bool { return slices.Contains(o.Selector.InstanceIDs, id) })
	}
	var broken []rule.Broken
	for i, one := range is {
		for j, id := range one.Selector.InstanceIDs {
			if !known(id) {
				broken = append(broken, rule.Broken{Pointer: fmt.Sprintf("#/items/%d/selector/instanceIds/%d", i, j), Code: "instance_not_in_organization", Detail: "unknown instance"})
			}
		}
	}
	return usecase.FieldErrors(broken)
}

// replace closes the row that holds, and opens the next one.
func replace(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, is []objective.Objective, now time.Time) error {
	text, err := json.Marshal(is)
	if err != nil {
		return err
	}
	if err := statement.Exec(ctx, tx, "end the objectives that held", `UPDATE objectives SET holds_until = $2
		WHERE organization_id = $1 AND holds_until IS NULL AND holds_from < $2`, organization, now); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "keep the objectives", `INSERT INTO objectives (organization_id, items, holds_from) VALUES ($1, $2, $3)
		ON CONFLICT (organization_id, holds_from) DO UPDATE SET items = excluded.items`, organization, string(text), now)
}
