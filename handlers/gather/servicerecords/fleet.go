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

// notice is an alert that says that a server is down.
type notice struct {
	alert  uuid.UUID
	raised time.Time
	taken  *time.Time // when somebody acknowledged it
}

// notices are the alerts of the window about servers that were down, by server and in order.
func (s Source) notices(ctx context.Context, in Scope) (map[uuid.UUID][]notice, error) {
	filter := eventstore.Filter{Organization: in.Organization, StreamType: alert.StreamType, RecordedFrom: in.Window.From, RecordedTo: in.Window.To,
		Types: []string{alert.Name(alert.Raised{}), alert.Name(alert.Acknowledged{})}}
	servers, taken := map[uuid.UUID][]notice{}, map[uuid.UUID]time.Time{}
	for e, err := range s.Events.Read(ctx, eventstore.Fleet, filter) {
		if err != nil {
			return nil, fmt.Errorf("read alerts about servers that were down: %w", err)
		}
		fact, err := projections.Fact[alert.Event](s.Decode, e, "an alert")
		if err != nil {
			return nil, fmt.Errorf("event %d of the fleet: %w", e.Position, err)
		}
		switch fact := fact.(type) {
		case alert.Raised:
			if fact.Rule == nil || fact.Rule.ID != string(watch.Down) {
				continue
			}
			for _, id := range append([]uuid.UUID{fact.InstanceID}, fact.OtherInstanceIDs...) {
				servers[id] = append(servers[id], notice{alert: e.Stream, raised: instant.Cut(e.RecordedAt)})
			}
		case alert.Acknowledged:
			if _, again := taken[e.Stream]; !again {
				taken[e.Stream] = instant.Cut(e.RecordedAt)
			}
		}
	}
	for _, all := range servers {
		for i := range all {
			if at, ok := taken[all[i].alert]; ok {
				all[i].taken = &at
			}
		}
	}
	return servers, nil
}

// noticed says when an outage was seen and taken: by the first alert of its time.
func noticed(o *snapshot.ServiceOutage, notices []notice) {
	for _, n := range notices {
		if !n.raised.Before(o.From) && !n.raised.After(o.To) {
			o.SeenAt, o.TakenAt = &n.raised, n.taken
			return
		}
	}
}
