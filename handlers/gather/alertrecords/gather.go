package alertrecords

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot"
	"muster/projections"
	"muster/projections/alerts"
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
}

// Gather returns the records of a window.
func (s Source) Gather(ctx context.Context, in Scope) (*snapshot.AlertRecords, error) {
	// An append that began before the window's end may not be committed yet. It holds the head of its log until it is.
	if _, err := statement.One[int64](ctx, s.DB, "wait for appends", `SELECT position FROM log_head WHERE log = $1 FOR SHARE`, string(eventstore.Fleet)); err != nil {
		return nil, err
	}
	streams, err := s.candidates(ctx, in)
	if err != nil {
		return nil, err
	}
	folded, err := s.fold(ctx, in, streams)
	if err != nil {
		return nil, err
	}
	out := &snapshot.AlertRecords{}
	for _, f := range folded {
		if f.within(in) {
			out.Listed = append(out.Listed, f.record(in))
			if f.recorded.Sub(f.RaisedAt) > time.Hour {
				out.Imported++
			}
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

// candidates are the streams of all alerts that may have been open or raised in the window.
func (s Source) candidates(ctx context.Context, in Scope) ([]uuid.UUID, error) {
	found := map[uuid.UUID]bool{}
	for _, f := range []eventstore.Filter{
		{RecordedFrom: in.Window.From, RecordedTo: in.Window.To},
		{RecordedFrom: in.Window.To, Types: []string{alert.Name(alert.Resolved{}), alert.Name(alert.AutoResolved{})}},
	} {
		f.Organization, f.StreamType = in.Organization, alert.StreamType
		for e, err := range s.Events.Read(ctx, eventstore.Fleet, f) {
			if err != nil {
				return nil, fmt.Errorf("read the alerts of a window: %w", err)
			}
			found[e.Stream] = true
		}
	}
	known, err := statement.All[uuid.UUID](ctx, s.DB, "read the alerts that were open", `SELECT id FROM `+alerts.Table+`
		WHERE organization_id = $1 AND (resolved_at IS NULL OR resolved_at >= $2)`, in.Organization, in.Window.From)
	for _, id := range known {
		found[id] = true
	}
	return projections.SortedIDs(found), err
}

// folded is an alert as its events up to the window's end make it.
type folded struct {
	snapshot.AlertRecord
	servers    []uuid.UUID // its own or its database's, then the others
	recorded   time.Time   // when its raise was
	ackedBy    uuid.UUID
	state      alert.State
	reopenedAt []time.Time
	mutes      []mute
}

// mute is one time in which an alert was muted.
type mute struct {
	by    uuid.UUID
	from  time.Time
	until *time.Time
	ended *time.Time
}

func (s Source) fold(ctx context.Context, in Scope, streams []uuid.UUID) ([]*folded, error) {
	var all []*folded
	var last *folded
	for e, err := range s.Events.LoadEach(ctx, in.Organization, streams) {
		if err != nil {
			return nil, fmt.Errorf("read alerts: %w", err)
		}
		if !e.RecordedAt.Before(in.Window.To) || e.StreamType != alert.StreamType {
			continue
		}
		fact, err := projections.Fact[alert.Event](s.Decode, e, "an alert")
		if err != nil {
			return nil, fmt.Errorf("event %d of the fleet: %w", e.Position, err)
		}
		if last == nil || last.ID != e.Stream {
			last = &folded{AlertRecord: snapshot.AlertRecord{ID: e.Stream}, recorded: e.RecordedAt}
			all = append(all, last)
		}
		last.apply(e, fact)
	}
	return all, nil
}

// apply folds an event.
func (f *folded) apply(e eventstore.Event, fact alert.Event) {
	f.state, _ = alert.Next(f.state, fact)
	at := earlier(e.OccurredAt, e.RecordedAt)
	switch fact := fact.(type) {
	case alert.Raised:
		f.Rule = fact.Label()
		f.describe(e, fact.Details)
		if m := fact.Maintenance; m != nil {
			f.Maintenance = &snapshot.Maintenance{ID: m.ID, Until: m.Until}
		}
	case alert.Changed:
		f.describe(e, fact.Details)
	case alert.TriggeredAgain:
		f.reopenedAt = append(f.reopenedAt, earlier(fact.Since(), e.RecordedAt))
	case alert.Acknowledged:
		f.AcknowledgedAt, f.ackedBy = &at, e.Actor()
	case alert.Muted:
		f.mute(e.Actor(), at, nil)
	case alert.MutedUntil:
		f.mute(e.Actor(), at, &fact.Until)
	case alert.Unmuted:
		f.unmute(at)
	case alert.MuteEnded:
		f.unmute(earlier(fact.Until, e.RecordedAt))
	case alert.Resolved:
		f.close(fact.ResolvedAt, e.RecordedAt)
	case alert.AutoResolved:
		f.close(fact.ResolvedAt, e.RecordedAt)
		f.ByItself = true
	case alert.StillFiring, alert.Noted:
	}
}

// earlier is a time that somebody named, or the time of the record if that was before.
func earlier(named, recorded time.Time) time.Time {
	if named.After(recorded) {
		return instant.Cut(recorded)
	}
	return instant.Cut(named)
}

func (f *folded) describe(e eventstore.Event, d alert.Details) {
	f.Title, f.Severity, f.RaisedAt = d.Title, string(d.Severity), earlier(d.CreatedAt, e.RecordedAt)
	f.servers = nil
	if d.InstanceID != uuid.Nil {
		f.servers = append([]uuid.UUID{d.InstanceID}, d.OtherInstanceIDs...)
	}
}

func (f *folded) close(named, recorded time.Time) {
	at := instant.Later(earlier(named, recorded), f.RaisedAt)
	f.ClosedAt = &at
}

func (f *folded) mute(by uuid.UUID, at time.Time, until *time.Time) {
	f.unmute(at)
	f.mutes = append(f.mutes, mute{by: by, from: at, until: until})
}

func (f *folded) unmute(at time.Time) {
	if n := len(f.mutes); n > 0 && f.mutes[n-1].ended == nil {
		f.mutes[n-1].ended = &at
	}
}

// within says whether the alert belongs to the report: it is about a server in scope, and was open or raised in the
// window.
func (f *folded) within(in Scope) bool {
	if f.state == "" || !f.RaisedAt.Before(in.Window.To) || f.ClosedAt != nil && f.ClosedAt.Before(in.Window.From) {
		return false
	}
	return in.Whole || slices.ContainsFunc(f.servers, func(id uuid.UUID) bool { return slices.Contains(in.Instances, id) })
}

// record is the alert in the form of the document.
func (f *folded) record(in Scope) snapshot.AlertRecord {
	out := f.AlertRecord
	for _, id := range f.servers {
		if in.Whole || slices.Contains(in.Instances, id) {
			out.InstanceID = id
			break
		}
	}
	if f.ackedBy != uuid.Nil {
		out.AcknowledgedBy = &snapshot.Person{ID: f.ackedBy}
	}
	for _, at := range f.reopenedAt {
		if !at.Before(in.Window.From) && at.Before(in.Window.To) {
			out.Reopened++
		}
	}
	for _, m := range f.mutes {
		if m.ended != nil && m.ended.Before(in.Window.From) {
			continue
		}
		one := snapshot.AlertMute{From: m.from, Until: m.until, Ended: m.ended}
		if m.by != uuid.Nil {
			one.By = &snapshot.Person{ID: m.by}
		}
		out.Mutes = append(out.Mutes, one)
	}
	return out
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
