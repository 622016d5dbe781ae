package httpapi

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"muster/eventstore"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/projections/fleet"
)

// sampledFleet are the instances and databases that samples name, by external id.
type sampledFleet struct {
	instances map[string]fleet.Instance
	databases map[databaseOn]uuid.UUID
}

// databaseOn is a database as samples name it.
type databaseOn struct{ instance, database string }

// namesIn are the external ids in a body: instances that something names, and
// databases, each once.
func namesIn(body api.SampleBatch) (instances map[string]bool, databases map[databaseOn]bool) {
	instances, databases = map[string]bool{}, map[databaseOn]bool{}
	for _, h := range wire.Value(body.Hosts) {
		for _, name := range h.Instances {
			instances[name] = true
		}
	}
	on := func(instance, database string) {
		instances[instance] = true
		databases[databaseOn{instance, database}] = true
	}
	for _, sample := range wire.Value(body.Sessions) {
		on(sample.Instance, sample.Database)
	}
	for _, sample := range wire.Value(body.Statements) {
		on(sample.Instance, sample.Database)
	}
	return instances, databases
}

// sampledFleet finds what a body names. The read model may lag behind what the same
// sender registered a moment ago: nothing is unknown before it has what was in the log
// when the call came.
func (s *server) sampledFleet(ctx context.Context, body api.SampleBatch) (sampledFleet, error) {
	instances, databases := namesIn(body)
	known, err := s.findSampled(ctx, instances, databases)
	if err != nil || len(known.instances) == len(instances) && len(known.databases) == len(databases) {
		return known, err
	}
	head, err := s.Events.Head(ctx, s.DB, eventstore.Fleet)
	if err != nil {
		return known, fmt.Errorf("look how far the fleet's log is: %w", err)
	}
	if !s.Waiter.Wait(ctx, head.Log, head.Position, fleet.Name) {
		return known, &wire.Problem{Code: "unavailable", Detail: "Some instances or databases in this call are not known yet: the latest registrations are still being processed. Nothing was stored; send the call again."}
	}
	return s.findSampled(ctx, instances, databases)
}

// findSampled looks everything up in two statements.
func (s *server) findSampled(ctx context.Context, instances map[string]bool, databases map[databaseOn]bool) (sampledFleet, error) {
	known := sampledFleet{instances: make(map[string]fleet.Instance, len(instances)), databases: make(map[databaseOn]uuid.UUID, len(databases))}
	if len(instances) == 0 {
		return known, nil
	}
	organization := wire.Caller(ctx).Organization.ID
	keys := make([]string, 0, len(instances))
	for key := range instances {
		keys = append(keys, key)
	}
	rows, err := s.Fleet.Keyed(ctx, organization, keys)
	if err != nil {
		return known, err
	}
	called := make(map[uuid.UUID]string, len(rows))
	for _, row := range rows {
		known.instances[row.ExternalID] = row
		called[row.ID] = row.ExternalID
	}
	var on []uuid.UUID
	keys = keys[:0]
	for d := range databases {
		if instance, ok := known.instances[d.instance]; ok {
			on, keys = append(on, instance.ID), append(keys, d.database)
		}
	}
	found, err := s.Fleet.DatabasesKeyed(ctx, organization, on, keys)
	if err != nil {
		return known, err
	}
	for _, d := range found {
		known.databases[databaseOn{called[d.InstanceID], d.ExternalID}] = d.ID
	}
	return known, nil
}

// withinLimit refuses what a token that is limited to instances may not say. Of a
// host it has to name the instances: without them the host's figures would be those
// of whatever runs there. And where others are known to run there, one of its own has
// to be among them, or it could write another's figures under a name of its choice.
func (s *server) withinLimit(ctx context.Context, body api.SampleBatch, known sampledFleet, limit []uuid.UUID) error {
	allowed := func(name string) bool {
		instance, ok := known.instances[name]
		return ok && slices.Contains(limit, instance.ID)
	}
	for i, sample := range wire.Value(body.Sessions) {
		if !allowed(sample.Instance) {
			return samplesForbidden(fmt.Sprintf("#/sessions/%d/instance", i))
		}
	}
	for i, sample := range wire.Value(body.Statements) {
		if !allowed(sample.Instance) {
			return samplesForbidden(fmt.Sprintf("#/statements/%d/instance", i))
		}
	}
	var names []string
	for i, h := range wire.Value(body.Hosts) {
		if len(h.Instances) == 0 {
			return samplesForbidden(fmt.Sprintf("#/hosts/%d/instances", i))
		}
		for j, name := range h.Instances {
			if !allowed(name) {
				return samplesForbidden(fmt.Sprintf("#/hosts/%d/instances/%d", i, j))
			}
		}
		names = append(names, h.Host)
	}
	on, err := s.knownOn(ctx, names)
	if err != nil {
		return err
	}
	for i, h := range wire.Value(body.Hosts) {
		ours := func(id uuid.UUID) bool { return slices.Contains(limit, id) }
		if there := on[h.Host]; len(there) > 0 && !slices.ContainsFunc(there, ours) {
			return samplesForbidden(fmt.Sprintf("#/hosts/%d/host", i))
		}
	}
	return nil
}

// knownOn are the live instances that run on hosts by anything that says so: what was
// registered, and the samples that came before.
func (s *server) knownOn(ctx context.Context, hosts []string) (map[string][]uuid.UUID, error) {
	on, err := s.Intake.KnownOn(ctx, wire.Caller(ctx).Organization.ID, hosts)
	if err != nil || len(on) == 0 {
		return nil, err
	}
	live, err := s.Fleet.Scope(ctx, wire.Caller(ctx).Organization.ID, slices.Concat(slices.Collect(maps.Values(on))...), nil)
	if err != nil {
		return nil, err
	}
	lives := make(map[uuid.UUID]bool, len(live.Instances))
	for _, id := range live.Instances {
		lives[id] = true
	}
	for host, ids := range on {
		on[host] = slices.DeleteFunc(ids, func(id uuid.UUID) bool { return !lives[id] })
	}
	return on, nil
}
