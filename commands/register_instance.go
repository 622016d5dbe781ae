package commands

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/eventstore"
)

// RegisterInstance is an instance as a person names it.
type RegisterInstance struct {
	ExternalID string // empty: the new instance's id
	Name       string
	Engine     fleet.Engine
	Version    string
	Host       string
	Active     bool
	CreatedAt  time.Time // zero: now
}

// RegisterInstance makes an instance known. Errors: *RuleError, with
// duplicate_external_id where the organization has that key already.
func (s *Service) RegisterInstance(ctx context.Context, actor Actor, r RegisterInstance) (uuid.UUID, Mark, error) {
	var id uuid.UUID
	var mark Mark
	err := s.inTx(ctx, func(tx *sqlx.Tx) (err error) {
		id, mark, err = s.RegisterInstanceTx(ctx, tx, actor, uuid.Nil, r)
		return err
	})
	return id, mark, err
}

// RegisterInstanceTx is RegisterInstance in the caller's transaction, last in
// it, under an id that the caller made (uuid.Nil: a new one): so that the
// connection string that is sealed for this id is kept together with it. An
// instance that has been registered under this id stays as it is.
func (s *Service) RegisterInstanceTx(ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID, r RegisterInstance) (uuid.UUID, Mark, error) {
	w, err := s.newFleetWriter(tx, actor)
	if err != nil {
		return uuid.Nil, Mark{}, err
	}
	if err := r.check(w.now); err != nil {
		return uuid.Nil, Mark{}, err
	}
	if id == uuid.Nil {
		if id, err = uuid.NewV7(); err != nil {
			return uuid.Nil, Mark{}, err
		}
	}
	if r.ExternalID == "" {
		r.ExternalID = id.String()
	}
	known, err := w.lockKeys(ctx, fleet.InstanceStream, []string{r.ExternalID})
	if err != nil {
		return uuid.Nil, Mark{}, err
	}
	if present(known[r.ExternalID].StateDigest) {
		if known[r.ExternalID].Stream == id {
			return id, Mark{Log: eventstore.Fleet}, nil
		}
		return uuid.Nil, Mark{}, fieldError("#/externalId", "duplicate_external_id", "is an instance of this organization already")
	}
	d := fleet.Details{Name: r.Name, Engine: r.Engine, Version: r.Version, Host: r.Host, Active: r.Active, CreatedAt: w.now}
	if !r.CreatedAt.IsZero() {
		d.CreatedAt = moment(r.CreatedAt)
	}
	if id, err = w.registerInstance(id, r.ExternalID, d); err != nil {
		return uuid.Nil, Mark{}, err
	}
	mark, err := w.write(ctx)
	return id, mark, err
}

func (r RegisterInstance) check(now time.Time) error {
	c := fleetCheck{now: now}
	c.text("#/name", r.Name, 1)
	c.engine("#/engine", r.Engine)
	c.text("#/version", r.Version, 0)
	c.text("#/host", r.Host, 0)
	c.time("#/createdAt", r.CreatedAt)
	return c.err()
}
