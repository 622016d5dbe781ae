package alertrecords

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/eventstore"
	"muster/handlers/gather/alertlog"
	"muster/internal/report/snapshot"
	"muster/projections"
)

// Source is what is read.
type Source struct {
	DB     *sqlx.DB
	Events *eventstore.Store
	Decode projections.Decode
	// Names are the names of members.
	Names func(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error)
}

// Scope is the servers of a report: all if Instances is empty and Whole.
type Scope struct {
	Organization uuid.UUID
	Whole        bool
	Instances    []uuid.UUID
	Window       snapshot.Window
	Now          time.Time // of the request, which says which deliveries are still kept
}

// has says whether a server is in the scope.
func (s Scope) has(id uuid.UUID) bool { return s.Whole || slices.Contains(s.Instances, id) }

// Gather returns the records of a window.
func (s Source) Gather(ctx context.Context, in Scope) (*snapshot.AlertRecords, error) {
	found, err := alertlog.Reader{DB: s.DB, Events: s.Events, Decode: s.Decode}.OpenIn(ctx, in.Organization, in.Window.From, in.Window.To)
	if err != nil {
		return nil, err
	}
	out := &snapshot.AlertRecords{}
	for _, a := range found {
		if !in.Whole && !slices.ContainsFunc(a.Servers, in.has) {
			continue
		}
		out.Listed = append(out.Listed, record(a, in))
		if a.RecordedAt.Sub(a.RaisedAt) > time.Hour {
			out.Imported++
		}
	}
	limit(out, in.Window, snapshot.MaxAlertRecords)
	if out.Servers, err = s.servers(ctx, in, out.Listed); err != nil {
		return nil, err
	}
	if err := s.tell(ctx, in, out); err != nil {
		return nil, err
	}
	if err := s.accept(ctx, in, out); err != nil {
		return nil, err
	}
	return out, s.name(ctx, in.Organization, out)
}

// record is an alert in the form of the document.
func record(a *alertlog.Alert, in Scope) snapshot.AlertRecord {
	out := snapshot.AlertRecord{ID: a.ID, Rule: a.Label, Title: a.Title, Severity: string(a.Severity), RaisedAt: a.RaisedAt, ClosedAt: a.ClosedAt,
		ByItself: a.ByItself, AcknowledgedAt: a.AcknowledgedAt, AcknowledgedBy: person(a.AcknowledgedBy)}
	if i := slices.IndexFunc(a.Servers, in.has); i >= 0 {
		out.InstanceID = a.Servers[i]
	}
	if m := a.Maintenance; m != nil {
		out.Maintenance = &snapshot.Maintenance{ID: m.ID, Until: m.Until}
	}
	for _, at := range a.Again {
		if in.Window.Within(&at) {
			out.Reopened++
		}
	}
	for _, m := range a.Mutes {
		if m.Ended == nil || !m.Ended.Before(in.Window.From) {
			out.Mutes = append(out.Mutes, snapshot.AlertMute{By: person(m.By), From: m.From, Until: m.Until, Ended: m.Ended})
		}
	}
	return out
}

// person is who did something; nil: a program.
func person(id uuid.UUID) *snapshot.Person {
	if id == uuid.Nil {
		return nil
	}
	return &snapshot.Person{ID: id}
}

// limit keeps the latest records, and sums up the others.
func limit(r *snapshot.AlertRecords, w snapshot.Window, most int) {
	slices.SortFunc(r.Listed, func(a, b snapshot.AlertRecord) int { return b.RaisedAt.Compare(a.RaisedAt) })
	if len(r.Listed) <= most {
		return
	}
	r.Unlisted = &snapshot.AlertSum{}
	for i := range r.Listed[most:] {
		r.Unlisted.Add(r.Listed[most+i].Sum(w))
	}
	r.Listed = r.Listed[:most]
}

// servers are those in scope, and those of the alerts, by what the log says of them before the window's end.
func (s Source) servers(ctx context.Context, in Scope, listed []snapshot.AlertRecord) ([]snapshot.AlertServer, error) {
	ids := map[uuid.UUID]bool{}
	for _, id := range in.Instances {
		ids[id] = true
	}
	for i := range listed {
		ids[listed[i].InstanceID] = true
	}
	if in.Whole {
		all := eventstore.Filter{Organization: in.Organization, StreamType: fleet.InstanceStream, RecordedTo: in.Window.To,
			Types: []string{fleet.Name(fleet.InstanceRegistered{})}}
		for e, err := range s.Events.Read(ctx, eventstore.Fleet, all) {
			if err != nil {
				return nil, fmt.Errorf("read servers: %w", err)
			}
			ids[e.Stream] = true
		}
	}
	delete(ids, uuid.Nil)
	var out []snapshot.AlertServer
	for e, err := range s.Events.LoadEach(ctx, in.Organization, projections.SortedIDs(ids)) {
		if err != nil {
			return nil, fmt.Errorf("read servers: %w", err)
		}
		if !e.RecordedAt.Before(in.Window.To) || e.StreamType != fleet.InstanceStream {
			continue
		}
		fact, err := projections.Fact[fleet.Event](s.Decode, e, "a server")
		if err != nil {
			return nil, fmt.Errorf("event %d of the fleet: %w", e.Position, err)
		}
		if len(out) == 0 || out[len(out)-1].ID != e.Stream {
			out = append(out, snapshot.AlertServer{ID: e.Stream})
		}
		describeServer(&out[len(out)-1], e, fact, in.Window)
	}
	return slices.DeleteFunc(out, func(a snapshot.AlertServer) bool { // gone before the window, and without an alert in it
		return a.Removed != nil && a.Removed.Before(in.Window.From) &&
			!slices.ContainsFunc(listed, func(r snapshot.AlertRecord) bool { return r.InstanceID == a.ID })
	}), nil
}

func describeServer(a *snapshot.AlertServer, e eventstore.Event, fact fleet.Event, w snapshot.Window) {
	at := instant.Cut(e.RecordedAt)
	switch fact := fact.(type) {
	case fleet.InstanceRegistered:
		a.Name = fact.Name
		if !at.Before(w.From) {
			a.Joined = &at
		}
	case fleet.InstanceChanged:
		a.Name = fact.Name
	case fleet.InstanceRemoved:
		a.Removed = &at
	}
}

// name fills in the names of members.
func (s Source) name(ctx context.Context, organization uuid.UUID, r *snapshot.AlertRecords) error {
	people := r.Named()
	ids := make([]uuid.UUID, len(people))
	for i, p := range people {
		ids[i] = p.ID
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	names, err := s.Names(ctx, organization, slices.Compact(ids))
	for _, p := range people {
		p.Name = names[p.ID]
	}
	return err
}
