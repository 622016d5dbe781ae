package commands

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/legible"
)

// RecordDatabases takes in the names of the databases that a collector found on
// an instance: new ones are registered as of now, those that are gone are
// removed. Their external ids are their names, also where those are not legible. Errors: *NotFoundError.
func (s *Service) RecordDatabases(ctx context.Context, actor Actor, instance uuid.UUID, names []string) (Mark, error) {
	return s.withInstance(ctx, actor, instance, func(w *fleetWriter, _ *fleet.Instance, _ stream) error {
		var listed []string
		err := w.tx.SelectContext(ctx, &listed, `SELECT external_id FROM instance_databases WHERE instance_id = $1 ORDER BY external_id`, instance)
		if err != nil {
			return fmt.Errorf("list the databases of an instance: %w", err)
		}
		var found []FleetDatabase
		there := make(map[string]bool, len(names))
		for _, name := range names {
			if !there[name] {
				found = append(found, FleetDatabase{ExternalID: name, Name: legible.Clean(name)})
			}
			there[name] = true
		}
		for _, name := range listed {
			if !there[name] {
				found = append(found, FleetDatabase{ExternalID: name, Removed: true})
			}
		}
		return w.recordDatabases(ctx, []FleetItem{{Databases: found}}, []FleetIDs{{ID: instance}})
	})
}

// withInstance runs change on an instance that is there, in a transaction of its
// own: see withInstanceTx.
func (s *Service) withInstance(ctx context.Context, actor Actor, id uuid.UUID, change instanceChange) (mark Mark, err error) {
	err = s.inTx(ctx, func(tx *sqlx.Tx) (err error) {
		mark, err = s.withInstanceTx(ctx, tx, actor, id, change)
		return err
	})
	return mark, err
}

// instanceChange decides about an instance at the version it was folded at.
type instanceChange func(w *fleetWriter, i *fleet.Instance, at stream) error

// withInstanceTx runs change on an instance that is there, under the lock of its
// external key. Errors: *NotFoundError for one that is foreign, unknown or removed.
func (s *Service) withInstanceTx(ctx context.Context, tx *sqlx.Tx, actor Actor, id uuid.UUID, change instanceChange) (Mark, error) {
	w, err := s.newFleetWriter(tx, actor)
	if err != nil {
		return Mark{}, err
	}
	instance, _, err := w.loadInstance(ctx, id) // for its external id, which never changes
	if err != nil {
		return Mark{}, err
	}
	if !instance.Known() {
		return Mark{}, &NotFoundError{What: "instance"}
	}
	if _, err := w.lockKeys(ctx, fleet.InstanceStream, []string{instance.ExternalID()}); err != nil {
		return Mark{}, err
	}
	instance, at, err := w.loadInstance(ctx, id)
	if err != nil {
		return Mark{}, err
	}
	if !instance.Known() {
		return Mark{}, &NotFoundError{What: "instance"}
	}
	if err := change(w, instance, at); err != nil {
		return Mark{}, err
	}
	return w.write(ctx)
}
