package servicerecords

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/maintenance"
	"muster/eventstore"
	"muster/handlers/gather/alertlog"
	"muster/internal/report/snapshot"
	"muster/internal/watch"
	"muster/projections"
)

// servers are those in scope as the log has them at the window's end, by id. Of the whole organization they are those
// that were active in the window.
func (s Source) servers(ctx context.Context, in Scope) ([]server, error) {
	known := map[uuid.UUID]*server{}
	filter := eventstore.Filter{Organization: in.Organization, StreamType: fleet.InstanceStream, RecordedTo: in.Window.To, Types: []string{
		fleet.Name(fleet.InstanceRegistered{}), fleet.Name(fleet.InstanceChanged{}), fleet.Name(fleet.InstanceTagged{}),
		fleet.Name(fleet.InstanceActivated{}), fleet.Name(fleet.InstanceDeactivated{}), fleet.Name(fleet.InstanceRemoved{}),
	}}
	for e, err := range s.Events.Read(ctx, eventstore.Fleet, filter) {
		if err != nil {
			return nil, fmt.Errorf("read servers: %w", err)
		}
		if !in.Whole && !slices.Contains(in.Instances, e.Stream) {
			continue
		}
		fact, err := projections.Fact[fleet.Event](s.Decode, e, "a server")
		if err != nil {
			return nil, fmt.Errorf("event %d of the fleet: %w", e.Position, err)
		}
		if known[e.Stream] == nil {
			known[e.Stream] = &server{id: e.Stream}
		}
		known[e.Stream].apply(fact, instant.Cut(e.RecordedAt))
	}
	var all []server
	for _, one := range known {
		if !in.Whole || one.active(in.Window) {
			all = append(all, *one)
		}
	}
	slices.SortFunc(all, func(a, b server) int { return bytes.Compare(a.id[:], b.id[:]) })
	return all, nil
}

func (s *server) apply(fact fleet.Event, at time.Time) {
	switch fact := fact.(type) {
	case fleet.InstanceRegistered:
		s.name, s.engine, s.created, s.registered = fact.Name, fact.Engine, instant.Cut(fact.CreatedAt), at
		if !fact.Active {
			s.since = &s.created
		}
	case fleet.InstanceChanged:
		s.name, s.engine, s.created = fact.Name, fact.Engine, instant.Cut(fact.CreatedAt)
	case fleet.InstanceTagged:
		s.tags = s.tags.Apply(fact)
	case fleet.InstanceActivated:
		if s.since != nil {
			s.off, s.since = append(s.off, maintenance.Span{From: *s.since, To: at}), nil
		}
	case fleet.InstanceDeactivated:
		if s.since == nil {
			s.since = &at
		}
	case fleet.InstanceRemoved:
		s.removed = &at
		if s.since == nil {
			s.since = &at
		}
	}
}

// notices are the alerts of the window about servers that were down, by server and in order. An alert that is about
// several servers is a notice of those that were down as it was raised: others may be back since.
func (s Source) notices(ctx context.Context, in Scope) (map[uuid.UUID][]*alertlog.Alert, error) {
	filter := eventstore.Filter{Organization: in.Organization, StreamType: alert.StreamType, RecordedFrom: in.Window.From, RecordedTo: in.Window.To,
		Types: []string{alert.Name(alert.Raised{})}}
	var ids []uuid.UUID
	for e, err := range s.Events.Read(ctx, eventstore.Fleet, filter) {
		if err != nil {
			return nil, fmt.Errorf("read alerts about servers that were down: %w", err)
		}
		fact, err := projections.Fact[alert.Raised](s.Decode, e, "an alert")
		if err != nil {
			return nil, fmt.Errorf("event %d of the fleet: %w", e.Position, err)
		}
		if fact.Rule != nil && fact.Rule.ID == string(watch.Down) {
			ids = append(ids, e.Stream)
		}
	}
	found, err := alertlog.Reader{DB: s.DB, Events: s.Events, Decode: s.Decode}.Fold(ctx, in.Organization, ids, in.Window.To)
	slices.SortStableFunc(found, func(a, b *alertlog.Alert) int { return a.RecordedAt.Compare(b.RecordedAt) })
	servers := map[uuid.UUID][]*alertlog.Alert{}
	for _, a := range found {
		for _, id := range a.First {
			servers[id] = append(servers[id], a)
		}
	}
	return servers, err
}

// noticed says when an outage was seen and taken: by the first alert of its time. It was seen when Muster recorded the
// alert, which says that it began with the outage.
func noticed(o *snapshot.ServiceOutage, notices []*alertlog.Alert) {
	for _, a := range notices {
		if !a.RecordedAt.Before(o.From) && !a.RecordedAt.After(o.To) {
			o.SeenAt, o.TakenAt = &a.RecordedAt, a.AcknowledgedAt
			return
		}
	}
}
