package feed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/inventory"
	"muster/internal/assessment"
	"muster/internal/measurements"
)

// Codes of what another is to send.
const (
	byCollector  = "assessed_by_collector"
	instanceHeld = "instance_held"
)

// refuseCollected is the guard of a batch: Muster itself measures instances that an
// administrator registered with a connection, and no other sender may send their sessions and
// statements. Hosts are accepted: an agent may measure the machine below a server to which
// Muster connects.
func (d *Doors) refuseCollected(b measurements.Batch) func(context.Context, sqlx.ExtContext) error {
	measured := map[uuid.UUID]bool{}
	for _, s := range b.Sessions {
		measured[s.Instance] = true
	}
	for _, s := range b.Statements {
		measured[s.Instance] = true
	}
	for _, s := range b.Blocking {
		measured[s.Instance] = true
	}
	for _, s := range b.Servers {
		measured[s.Instance] = true
	}
	for _, s := range b.Replication {
		measured[s.Instance] = true
	}
	for _, l := range b.Backups {
		measured[l.Instance] = true
	}
	for _, s := range b.Room {
		measured[s.Instance] = true
	}
	return func(ctx context.Context, tx sqlx.ExtContext) error {
		if len(measured) == 0 {
			return nil
		}
		return d.Assessments.RefuseCollected(ctx, tx, b.Organization, slices.Collect(maps.Keys(measured)))
	}
}

// refused says in the call's own terms that another is to send some of its items.
func (f found) refused(err error) error {
	var collected *assessment.CollectedError
	var held *measurements.HeldError
	switch {
	case errors.As(err, &collected):
		r := f.pointers(collected.Instances, true, byCollector, "was registered by DSN, and Muster measures it over that")
		return r.err()
	case errors.As(err, &held):
		r := f.pointers(held.Instances, false, instanceHeld, "is held by another sender, from whom its statements come")
		return r.err()
	}
	return err
}

// among points to the instances of the items of a list that are of some instances.
func among(list string, places []inventory.Place, some func(uuid.UUID) bool) (pointers []string) {
	for i, place := range places {
		if some(place.Instance) {
			pointers = append(pointers, fmt.Sprintf("#/%s/%d/instance", list, i))
		}
	}
	return pointers
}

// pointers names the items of instances: those of statements and, if they have to be named too,
// of sessions, of blocking and of servers.
func (f found) pointers(instances []uuid.UUID, sessions bool, code, detail string) (r rules) {
	theirs := func(instance uuid.UUID) bool { return slices.Contains(instances, instance) }
	var named []string
	if sessions {
		named = slices.Concat(among("sessions", f.sessions, theirs), among("blocking", f.blocking, theirs), among("servers", instancesOf(f.servers), theirs), among("replication", f.replication, theirs), among("backups", instancesOf(f.looks), theirs), among("room", f.room, theirs))
	}
	for _, at := range append(named, among("statements", f.statements, theirs)...) {
		r.breaks(at, code, detail)
	}
	return r
}
