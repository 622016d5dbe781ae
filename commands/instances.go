package commands

import (
	"context"
	_ "embed" // the statement
	"errors"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/printable"
	"muster/internal/postgres/statement"
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
	Tags       map[string]string
}

// RegisterInstance makes an instance known. Errors: *RuleError, with
// duplicate_external_id where the organization has that key already.
func (s *Service) RegisterInstance(ctx context.Context, actor Actor, r RegisterInstance) (uuid.UUID, Mark, error) {
	var id uuid.UUID
	mark, err := s.inTxMarked(ctx, func(tx *sqlx.Tx) (mark Mark, err error) {
		id, mark, err = s.RegisterInstanceTx(ctx, tx, actor, uuid.Nil, r)
		return mark, err
	})
	return id, mark, err
}

// RegisterInstanceTx is RegisterInstance in the caller's transaction, last in
// it, under an id that the caller made (uuid.Nil: a new one): so that the
// connection string that is sealed for this id is kept together with it. An
// instance that has been registered under this id stays as it is.
func (s *Service) RegisterInstanceTx(ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID, r RegisterInstance) (uuid.UUID, Mark, error) {
	w := s.newFleetWriter(tx, actor)
	if err := r.Check(w.now); err != nil {
		return uuid.Nil, Mark{}, err
	}
	if id == uuid.Nil {
		id = newID()
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
			at, err := fold(ctx, s, tx, actor.OrganizationID, id, func(fleet.Event, time.Time) {})
			return id, at.last, err
		}
		return uuid.Nil, Mark{}, fieldError("#/externalId", "duplicate_external_id", "is an instance of this organization already")
	}
	d := fleet.InstanceDetails{Name: r.Name, Engine: r.Engine, Version: r.Version, Host: r.Host, Active: r.Active, CreatedAt: w.now}
	if !r.CreatedAt.IsZero() {
		d.CreatedAt = instant.Cut(r.CreatedAt)
	}
	if _, err := w.registerInstance(ctx, id, r.ExternalID, d, fleet.ChangeTags{Set: r.Tags}); err != nil {
		return uuid.Nil, Mark{}, err
	}
	mark, err := w.write(ctx)
	return id, mark, err
}

// Check returns a *RuleError with every rule that the instance breaks by itself,
// whatever else there is.
func (r RegisterInstance) Check(now time.Time) error {
	c := fleetCheck{now: now}
	if r.ExternalID != "" {
		c.externalID("#", r.ExternalID, map[string]bool{})
	}
	c.text("#/name", r.Name, 1)
	c.engine("#/engine", r.Engine)
	c.text("#/version", r.Version, 0)
	c.text("#/host", r.Host, 0)
	c.time("#/createdAt", r.CreatedAt)
	c.tags("#/tags", r.Tags)
	return c.err()
}

// ChangeInstance changes what is not nil.
type ChangeInstance struct {
	Name    *string
	Version *string
	Host    *string
	Active  *bool
	// Engine is the engine that the caller expects of the instance: it never changes.
	Engine *fleet.Engine
	// DeclinedGrants are all that the organization will not give.
	DeclinedGrants *[]string
	Tags           *fleet.ChangeTags
}

// ChangeInstance changes an instance. Errors: *NotFoundError, *RuleError.
func (s *Service) ChangeInstance(ctx context.Context, actor Actor, id uuid.UUID, c ChangeInstance) (Mark, error) {
	return s.inTxMarked(ctx, func(tx *sqlx.Tx) (Mark, error) { return s.ChangeInstanceTx(ctx, tx, actor, id, c) })
}

// ChangeInstanceTx is ChangeInstance in the caller's transaction, last in it, so
// that a new connection string is kept together with the rest of the change.
func (s *Service) ChangeInstanceTx(ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID, c ChangeInstance) (Mark, error) {
	said := c
	said.Engine = nil // which the instance is needed for
	if err := said.Check(""); err != nil {
		return Mark{}, err
	}
	return s.withInstanceTx(ctx, tx, actor, id, func(w *fleetWriter, instance *fleet.Instance, at stream) error {
		d := instance.Details()
		if err := c.Check(d.Engine); err != nil {
			return err
		}
		if c.Name != nil {
			d.Name = *c.Name
		}
		if c.Version != nil {
			d.Version = *c.Version
		}
		if c.Host != nil {
			d.Host = *c.Host
		}
		if c.Active != nil {
			d.Active = *c.Active
		}
		events, err := instance.Change(d)
		if err != nil {
			return err
		}
		if c.DeclinedGrants != nil {
			declined, err := instance.Decline(*c.DeclinedGrants)
			if err != nil {
				return err
			}
			events = append(events, declined...)
		}
		if c.Tags != nil {
			tagged, _, err := w.tag(ctx, instance, *c.Tags)
			if err != nil {
				return err
			}
			events = append(events, tagged...)
		}
		return w.keepInstance(id, at, instance, instance.ExternalID(), events)
	})
}

// Check returns a *RuleError with every rule that the change of an instance of an engine
// breaks.
func (c ChangeInstance) Check(engine fleet.Engine) error {
	var check fleetCheck
	if c.Name != nil {
		check.text("#/name", *c.Name, 1)
	}
	check.optional("#/version", c.Version)
	check.optional("#/host", c.Host)
	if c.Tags != nil {
		check.tags("#/tags", c.Tags.Set)
	}
	if c.Engine != nil {
		check.fixed("#/engine", engine, *c.Engine)
	}
	return check.err()
}

// RemoveInstance takes an instance and its databases out of every list and count; their history
// stays in the log. Errors: *NotFoundError, also for an instance that is already removed.
func (s *Service) RemoveInstance(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	return s.inTxMarked(ctx, func(tx *sqlx.Tx) (Mark, error) { return s.RemoveInstanceTx(ctx, tx, actor, id) })
}

// RemoveInstanceTx is RemoveInstance in the caller's transaction, last in it, so
// that its connection string goes with it.
func (s *Service) RemoveInstanceTx(ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID) (Mark, error) {
	return s.withInstanceTx(ctx, tx, actor, id, func(w *fleetWriter, instance *fleet.Instance, _ stream) error {
		return w.removeInstance(ctx, id, instance.ExternalID())
	})
}

// RecordDatabases records the names of the databases that a collector found on an instance: new
// ones are registered as of now, and missing ones are removed. Their external ids are their
// names, even if these are not legible (DatabaseKey), and their names are printable.Names. Code
// that stores data of a database under its name prints the name in the same way. Errors:
// *NotFoundError.
func (s *Service) RecordDatabases(ctx context.Context, actor Actor, instance uuid.UUID, names []string) (Mark, error) {
	record := func(w *fleetWriter, _ *fleet.Instance, _ stream) error {
		listed, err := statement.All[string](ctx, w.tx, "list the databases of an instance",
			`SELECT external_id FROM instance_databases WHERE instance_id = $1 ORDER BY external_id`, instance)
		if err != nil {
			return err
		}
		var found []FleetDatabase
		there := make(map[string]bool, len(names))
		printed := printable.Names(names)
		for _, name := range names {
			key := DatabaseKey(name, printed[name])
			if !there[key] {
				found = append(found, FleetDatabase{ExternalID: key, Name: printed[name]})
			}
			there[key] = true
		}
		for _, name := range listed {
			if !there[name] {
				found = append(found, FleetDatabase{ExternalID: name, Removed: true})
			}
		}
		return w.recordDatabases(ctx, []FleetItem{{Databases: found}}, []FleetIDs{{ID: instance}})
	}
	return s.inTxMarked(ctx, func(tx *sqlx.Tx) (Mark, error) { return s.withInstanceTx(ctx, tx, actor, instance, record) })
}

// DatabaseKey is the external id of a database that a collector found, made from its name and
// the printed form of it: a name that is not UTF-8 cannot be stored.
func DatabaseKey(name, printed string) string {
	if utf8.ValidString(name) {
		return name
	}
	return printed
}

// withInstanceTx runs change on one instance, as eachInstance does, and appends. Errors:
// *NotFoundError for an instance that is foreign, unknown or removed.
func (s *Service) withInstanceTx(
	ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID, change func(w *fleetWriter, i *fleet.Instance, at stream) error,
) (Mark, error) {
	w := s.newFleetWriter(tx, actor)
	outcomes, err := w.eachInstance(ctx, []uuid.UUID{id}, func(_ uuid.UUID, i *fleet.Instance, at stream) error { return change(w, i, at) })
	if err == nil {
		err = outcomes[0].Refusal
	}
	if err != nil {
		return Mark{}, err
	}
	return w.write(ctx)
}

// eachInstance runs change on existing instances, each once, at the version at which it was
// folded and under the lock of its external key. If the change does not apply to one
// (*RuleError), the others are still changed; a foreign, unknown or removed one is a
// *NotFoundError. The outcomes are in the order of ids.
func (w *fleetWriter) eachInstance(ctx context.Context, ids []uuid.UUID, change func(id uuid.UUID, i *fleet.Instance, at stream) error) ([]Outcome, error) {
	keys := make(map[uuid.UUID]string, len(ids))
	for _, id := range ids {
		instance, _, err := w.loadInstance(ctx, id) // for its external id, which never changes
		if err != nil {
			return nil, err
		}
		if instance.Known() {
			keys[id] = instance.ExternalID()
		}
	}
	if _, err := w.lockKeys(ctx, fleet.InstanceStream, slices.Collect(maps.Values(keys))); err != nil {
		return nil, err
	}
	outcomes, seen := make([]Outcome, 0, len(ids)), make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		o := Outcome{ID: id, Refusal: &NotFoundError{What: "instance"}}
		if _, locked := keys[id]; locked {
			instance, at, err := w.loadInstance(ctx, id)
			if err != nil {
				return nil, err
			}
			if instance.Known() {
				o.Refusal = change(id, instance, at)
			}
		}
		var broken *RuleError
		var missing *NotFoundError
		if o.Refusal != nil && !errors.As(o.Refusal, &broken) && !errors.As(o.Refusal, &missing) {
			return nil, o.Refusal
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

//go:embed sql/databases_of.sql
var databasesOf string

// DatabasesOf returns the ids of an instance's databases by external id, as the
// write side has them; what a collector found bears its DatabaseKey. A foreign instance has
// none, like an unknown one.
func (s *Service) DatabasesOf(ctx context.Context, organization, instance uuid.UUID) (map[string]uuid.UUID, error) {
	return statement.Map[string, uuid.UUID](ctx, s.DB, "read the databases of an instance", databasesOf, organization, instance, fleet.DatabaseStream)
}
