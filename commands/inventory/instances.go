package inventory

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

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/printable"
	"muster/internal/postgres/statement"
)

// Registration is an instance as a person names it.
type Registration struct {
	ExternalID string // empty: the new instance's id
	Name       string
	Engine     fleet.Engine
	Version    string
	Host       string
	Active     bool
	CreatedAt  time.Time // zero: now
	Tags       map[string]string
}

// RegisterInstance makes an instance known. Errors: *usecase.RuleError, with
// duplicate_external_id where the organization has that key already.
func (f *Fleet) RegisterInstance(ctx context.Context, actor usecase.Actor, r Registration) (uuid.UUID, usecase.Mark, error) {
	var id uuid.UUID
	mark, err := f.Transact(ctx, func(tx *sqlx.Tx) (mark usecase.Mark, err error) {
		id, mark, err = f.RegisterInstanceTx(ctx, tx, actor, uuid.Nil, r)
		return mark, err
	})
	return id, mark, err
}

// RegisterInstanceTx is RegisterInstance in the caller's transaction, last in
// it, under an id that the caller made (uuid.Nil: a new one): so that the
// connection string that is sealed for this id is kept together with it. An
// instance that has been registered under this id stays as it is.
func (f *Fleet) RegisterInstanceTx(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID, r Registration) (uuid.UUID, usecase.Mark, error) {
	w := f.newWriter(tx, actor)
	if err := r.Check(w.now); err != nil {
		return uuid.Nil, usecase.Mark{}, err
	}
	if id == uuid.Nil {
		id = usecase.NewID()
	}
	if r.ExternalID == "" {
		r.ExternalID = id.String()
	}
	known, err := w.lockKeys(ctx, fleet.InstanceStream, []string{r.ExternalID})
	if err != nil {
		return uuid.Nil, usecase.Mark{}, err
	}
	if present(known[r.ExternalID].StateDigest) {
		if known[r.ExternalID].Stream == id {
			at, err := usecase.Fold(ctx, f.Base, tx, actor.OrganizationID, id, func(fleet.Event, time.Time) {})
			return id, at.Last, err
		}
		return uuid.Nil, usecase.Mark{}, usecase.FieldError("#/externalId", "duplicate_external_id", "is an instance of this organization already")
	}
	d := fleet.InstanceDetails{Name: r.Name, Engine: r.Engine, Version: r.Version, Host: r.Host, Active: r.Active, CreatedAt: w.now}
	if !r.CreatedAt.IsZero() {
		d.CreatedAt = instant.Cut(r.CreatedAt)
	}
	if _, err := w.registerInstance(ctx, id, r.ExternalID, d, fleet.ChangeTags{Set: r.Tags}); err != nil {
		return uuid.Nil, usecase.Mark{}, err
	}
	mark, err := w.write(ctx)
	return id, mark, err
}

// Check returns a *usecase.RuleError with every rule that the instance breaks by itself,
// whatever else there is.
func (r Registration) Check(now time.Time) error {
	c := usecase.Check{Now: now}
	if r.ExternalID != "" {
		c.ExternalID("#", r.ExternalID, map[string]bool{})
	}
	c.Text("#/name", r.Name, 1)
	checkEngine(&c, "#/engine", r.Engine)
	c.Text("#/version", r.Version, 0)
	c.Text("#/host", r.Host, 0)
	c.Time("#/createdAt", r.CreatedAt)
	checkTags(&c, "#/tags", r.Tags)
	return c.Err()
}

// Change changes what is not nil.
type Change struct {
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

// ChangeInstance changes an instance. Errors: *usecase.NotFoundError, *usecase.RuleError.
func (f *Fleet) ChangeInstance(ctx context.Context, actor usecase.Actor, id uuid.UUID, c Change) (usecase.Mark, error) {
	return f.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) { return f.ChangeInstanceTx(ctx, tx, actor, id, c) })
}

// ChangeInstanceTx is ChangeInstance in the caller's transaction, last in it, so
// that a new connection string is kept together with the rest of the change.
func (f *Fleet) ChangeInstanceTx(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID, c Change) (usecase.Mark, error) {
	said := c
	said.Engine = nil // which the instance is needed for
	if err := said.Check(""); err != nil {
		return usecase.Mark{}, err
	}
	return f.withInstanceTx(ctx, tx, actor, id, func(w *writer, instance *fleet.Instance, at usecase.Stream) error {
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

// Check returns a *usecase.RuleError with every rule that the change of an instance of an engine
// breaks.
func (c Change) Check(engine fleet.Engine) error {
	var check usecase.Check
	if c.Name != nil {
		check.Text("#/name", *c.Name, 1)
	}
	check.Optional("#/version", c.Version)
	check.Optional("#/host", c.Host)
	if c.Tags != nil {
		checkTags(&check, "#/tags", c.Tags.Set)
	}
	if c.Engine != nil {
		checkFixed(&check, "#/engine", engine, *c.Engine)
	}
	return check.Err()
}

// RemoveInstance takes an instance and its databases out of every list and count; their history
// stays in the log. Errors: *usecase.NotFoundError, also for an instance that is already removed.
func (f *Fleet) RemoveInstance(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return f.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) { return f.RemoveInstanceTx(ctx, tx, actor, id) })
}

// RemoveInstanceTx is RemoveInstance in the caller's transaction, last in it, so
// that its connection string goes with it.
func (f *Fleet) RemoveInstanceTx(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return f.withInstanceTx(ctx, tx, actor, id, func(w *writer, instance *fleet.Instance, _ usecase.Stream) error {
		return w.removeInstance(ctx, id, instance.ExternalID())
	})
}

// RecordDatabases records the names of the databases that a collector found on an instance: new
// ones are registered as of now, and missing ones are removed. Their external ids are their
// names, even if these are not legible (DatabaseKey), and their names are printable.Names. Code
// that stores data of a database under its name prints the name in the same way. Errors:
// *usecase.NotFoundError.
func (f *Fleet) RecordDatabases(ctx context.Context, actor usecase.Actor, instance uuid.UUID, names []string) (usecase.Mark, error) {
	record := func(w *writer, _ *fleet.Instance, _ usecase.Stream) error {
		listed, err := statement.All[string](ctx, w.tx, "list the databases of an instance",
			`SELECT external_id FROM instance_databases WHERE instance_id = $1 ORDER BY external_id`, instance)
		if err != nil {
			return err
		}
		var found []Database
		there := make(map[string]bool, len(names))
		printed := printable.Names(names)
		for _, name := range names {
			key := DatabaseKey(name, printed[name])
			if !there[key] {
				found = append(found, Database{ExternalID: key, Name: printed[name]})
			}
			there[key] = true
		}
		for _, name := range listed {
			if !there[name] {
				found = append(found, Database{ExternalID: name, Removed: true})
			}
		}
		return w.recordDatabases(ctx, []Item{{Databases: found}}, []IDs{{ID: instance}})
	}
	return f.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) { return f.withInstanceTx(ctx, tx, actor, instance, record) })
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
// *usecase.NotFoundError for an instance that is foreign, unknown or removed.
func (f *Fleet) withInstanceTx(
	ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID, change func(w *writer, i *fleet.Instance, at usecase.Stream) error,
) (usecase.Mark, error) {
	w := f.newWriter(tx, actor)
	outcomes, err := w.eachInstance(ctx, []uuid.UUID{id}, func(_ uuid.UUID, i *fleet.Instance, at usecase.Stream) error { return change(w, i, at) })
	if err == nil {
		err = outcomes[0].Refusal
	}
	if err != nil {
		return usecase.Mark{}, err
	}
	return w.write(ctx)
}

// eachInstance runs change on existing instances, each once, at the version at which it was
// folded and under the lock of its external key. If the change does not apply to one
// (*usecase.RuleError), the others are still changed; a foreign, unknown or removed one is a
// *usecase.NotFoundError. The outcomes are in the order of ids.
func (w *writer) eachInstance(ctx context.Context, ids []uuid.UUID, change func(id uuid.UUID, i *fleet.Instance, at usecase.Stream) error) ([]usecase.Outcome, error) {
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
	outcomes, seen := make([]usecase.Outcome, 0, len(ids)), make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		o := usecase.Outcome{ID: id, Refusal: &usecase.NotFoundError{What: "instance"}}
		if _, locked := keys[id]; locked {
			instance, at, err := w.loadInstance(ctx, id)
			if err != nil {
				return nil, err
			}
			if instance.Known() {
				o.Refusal = change(id, instance, at)
			}
		}
		var broken *usecase.RuleError
		var missing *usecase.NotFoundError
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
func (f *Fleet) DatabasesOf(ctx context.Context, organization, instance uuid.UUID) (map[string]uuid.UUID, error) {
	return statement.Map[string, uuid.UUID](ctx, f.DB, "read the databases of an instance", databasesOf, organization, instance, fleet.DatabaseStream)
}
