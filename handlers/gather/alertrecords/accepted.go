package alertrecords

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"muster/domain/exception"
	"muster/domain/instant"
	"muster/domain/maintenance"
	"muster/eventstore"
	"muster/internal/report/snapshot"
	"muster/projections"
)

// accept adds the exceptions that were in force at some time in the window, and who made the maintenance windows in
// which alerts were raised.
func (s Source) accept(ctx context.Context, in Scope, r *snapshot.AlertRecords) error {
	all := map[uuid.UUID]*snapshot.AlertConsent{}
	filter := eventstore.Filter{Organization: in.Organization, StreamType: exception.StreamType, RecordedTo: in.Window.To}
	for e, err := range s.Events.Read(ctx, eventstore.Organization, filter) {
		if err != nil {
			return fmt.Errorf("read exceptions: %w", err)
		}
		fact, err := projections.Fact[exception.Event](s.Decode, e, "an exception")
		if err != nil {
			return fmt.Errorf("event %d of the organization: %w", e.Position, err)
		}
		decide(all, e, fact)
	}
	for _, x := range all {
		inForce := !x.GrantedAt.IsZero() && x.Until.After(in.Window.From) && (x.RevokedAt == nil || x.RevokedAt.After(in.Window.From))
		if inForce && (in.Whole || x.InstanceID == uuid.Nil || slices.Contains(in.Instances, x.InstanceID)) {
			r.Accepted = append(r.Accepted, *x)
		}
	}
	return s.windowMakers(ctx, in, r)
}

func decide(all map[uuid.UUID]*snapshot.AlertConsent, e eventstore.Event, fact exception.Event) {
	at := instant.Cut(e.RecordedAt)
	switch fact := fact.(type) {
	case exception.Requested:
		x := &snapshot.AlertConsent{ID: e.Stream, CheckID: fact.CheckID, Until: fact.Until}
		if fact.InstanceID != nil {
			x.InstanceID = *fact.InstanceID
		}
		all[e.Stream] = x
	case exception.Granted:
		if x := all[e.Stream]; x != nil {
			x.GrantedBy, x.GrantedAt = snapshot.Person{ID: e.Actor()}, at
		}
	case exception.Revoked:
		if x := all[e.Stream]; x != nil {
			x.RevokedAt = &at
		}
	}
}

// windowMakers notes who made the maintenance windows.
func (s Source) windowMakers(ctx context.Context, in Scope, r *snapshot.AlertRecords) error {
	windows := map[uuid.UUID]bool{}
	for i := range r.Listed {
		if m := r.Listed[i].Maintenance; m != nil {
			windows[m.ID] = true
		}
	}
	makers := map[uuid.UUID]uuid.UUID{}
	for e, err := range s.Events.LoadEach(ctx, in.Organization, projections.SortedIDs(windows)) {
		if err != nil {
			return fmt.Errorf("read maintenance windows: %w", err)
		}
		if e.Type == maintenance.Name(maintenance.Created{}) {
			makers[e.Stream] = e.Actor()
		}
	}
	for i := range r.Listed {
		if m := r.Listed[i].Maintenance; m != nil && makers[m.ID] != uuid.Nil {
			m.By = &snapshot.Person{ID: makers[m.ID]}
		}
	}
	return nil
}
