package resolve

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/domain/fleet"
	"muster/internal/intake"
)

// Resolver finds what messages name, of all that one message names at once.
type Resolver struct {
	Keys
	Fleet FleetIndex
	Hosts HostIndex
	// CatchUp waits until Fleet has everything that is in the log now; false if it does not
	// within a second.
	CatchUp func(ctx context.Context) (bool, error)
}

// Keys knows what feeds call things by ids of their own; *commands.Service does, from
// the log's own index.
type Keys interface {
	// FindPlaces returns what names mean, in their order.
	FindPlaces(ctx context.Context, organization uuid.UUID, names []inventory.PlaceName) ([]inventory.Place, error)
}

// FleetIndex is the fleet's read model, without what was removed. *fleet.Reader of
// projections is one.
type FleetIndex interface {
	// Called returns the instances whose id, external id, name or host is one of these.
	Called(ctx context.Context, organization uuid.UUID, references []string) ([]fleet.CalledInstance, error)
	// DatabasesCalled returns the databases on instances by name or external id.
	DatabasesCalled(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, names []string) ([]fleet.CalledDatabase, error)
	// Engines returns the engines of those that are there.
	Engines(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]fleet.Engine, error)
	// HostsOf returns the hosts of those that are there, as they were registered.
	HostsOf(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]string, error)
	// DatabaseNames returns the names of those databases that are there.
	DatabaseNames(ctx context.Context, organization uuid.UUID, databases []uuid.UUID) (map[uuid.UUID]string, error)
}

// HostIndex knows the instances on hosts by either form of their names, some of which may have
// been removed since. *push.Intake does.
type HostIndex interface {
	KnownOn(ctx context.Context, organization uuid.UUID, hosts []string) (map[string][]uuid.UUID, error)
}

// Labelled finds what the labels of an agent's message mean.
func (r *Resolver) Labelled(ctx context.Context, organization uuid.UUID, all []Labels) (Directory, error) {
	references, names := references(all)
	if len(references) == 0 {
		return Directory{}, nil
	}
	instances, err := r.Fleet.Called(ctx, organization, references)
	if err != nil || len(instances) == 0 {
		return Directory{}, err
	}
	var databases []fleet.CalledDatabase
	if len(names) > 0 {
		ids := make([]uuid.UUID, 0, len(instances))
		for _, i := range instances {
			ids = append(ids, i.ID)
		}
		if databases, err = r.Fleet.DatabasesCalled(ctx, organization, ids, names); err != nil {
			return Directory{}, err
		}
	}
	return newDirectory(instances, databases), nil
}

// Engines returns the engines of instances that FindPlaces found. The read model may lag behind
// a registration by the same sender a moment ago, so it waits for it. Error:
// *intake.LaggingError if the read model does not catch up.
func (r *Resolver) Engines(ctx context.Context, organization uuid.UUID, instances []uuid.UUID) (map[uuid.UUID]fleet.Engine, error) {
	return waitFor(ctx, r, organization, instances, r.Fleet.Engines)
}

// DatabaseNames is the same for the names of databases.
func (r *Resolver) DatabaseNames(ctx context.Context, organization uuid.UUID, databases []uuid.UUID) (map[uuid.UUID]string, error) {
	return waitFor(ctx, r, organization, databases, r.Fleet.DatabaseNames)
}

// waitFor reads of the read model what the log's index has, each id once.
func waitFor[V any](
	ctx context.Context, r *Resolver, organization uuid.UUID, ids []uuid.UUID,
	read func(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]V, error),
) (map[uuid.UUID]V, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := read(ctx, organization, ids)
	if err != nil || len(found) == len(ids) {
		return found, err
	}
	if ok, err := r.CatchUp(ctx); err != nil {
		return nil, err
	} else if !ok {
		return nil, &intake.LaggingError{}
	}
	if found, err = read(ctx, organization, ids); err == nil && len(found) < len(ids) { // removed meanwhile
		return nil, &intake.LaggingError{}
	}
	return found, err
}

// Claims says which instances samples of hosts concern, by which a limited token is judged:
// named are the instances that each names, at the place of its host.
func (r *Resolver) Claims(ctx context.Context, organization uuid.UUID, hosts []string, named [][]uuid.UUID) ([]fleet.HostClaim, error) {
	known, err := r.knownOn(ctx, organization, hosts)
	if err != nil {
		return nil, err
	}
	registered, err := r.Fleet.HostsOf(ctx, organization, slices.Concat(named...))
	if err != nil {
		return nil, err
	}
	claims := make([]fleet.HostClaim, len(hosts))
	for i, host := range hosts {
		claims[i] = fleet.HostClaim{Named: named[i], Known: known[host], Elsewhere: slices.ContainsFunc(named[i], func(id uuid.UUID) bool {
			return fleet.NamesHost(registered[id])
		})}
	}
	return claims, nil
}

// knownOn are the instances known to run on hosts: by registration, and by earlier samples.
func (r *Resolver) knownOn(ctx context.Context, organization uuid.UUID, hosts []string) (map[string][]uuid.UUID, error) {
	on, err := r.Hosts.KnownOn(ctx, organization, hosts)
	if err != nil || len(on) == 0 {
		return nil, err
	}
	var all []uuid.UUID
	for _, ids := range on {
		all = append(all, ids...)
	}
	live, err := r.Fleet.Engines(ctx, organization, all)
	if err != nil {
		return nil, err
	}
	for host, ids := range on {
		on[host] = slices.DeleteFunc(ids, func(id uuid.UUID) bool { _, there := live[id]; return !there })
	}
	return on, nil
}
