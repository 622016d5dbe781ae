package control

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/exception"
	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/projections"
)

// server is one as the log knows it.
type server struct {
	name   string
	engine domain.Engine
	life   Life
}

// take folds an event that the log recorded.
func (s *server) take(fact domain.Event, at time.Time) {
	switch e := fact.(type) {
	case domain.InstanceRegistered:
		s.name, s.engine = e.Name, e.Engine
		s.life = Life{{At: earlier(e.CreatedAt, at), Known: true, Alive: e.Active}}
	case domain.InstanceChanged:
		s.name, s.engine = e.Name, e.Engine
		if len(s.life) > 0 {
			s.life[0].At = earlier(e.CreatedAt, s.life[0].At)
		}
	case domain.InstanceActivated:
		s.life = append(s.life, Turn{At: at, Known: true, Alive: true})
	case domain.InstanceDeactivated:
		s.life = append(s.life, Turn{At: at, Known: true})
	case domain.InstanceRemoved:
		s.life = append(s.life, Turn{At: at})
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a.UTC()
	}
	return b.UTC()
}

// item is the server's course over the window; in is false where it was never active in it.
func (s *server) item(id uuid.UUID, q Question, looks []Look, exceptions []Exception) (item Item, in bool) {
	life := slices.Clone(s.life)
	if len(life) > 0 && len(looks) > 0 && looks[0].At.Before(life[0].At) {
		life[0].At = time.Time{} // it was there before anybody registered it
	}
	for i, t := range life {
		end := q.To
		if i+1 < len(life) {
			end = life[i+1].At
		}
		in = in || t.Alive && t.At.Before(q.To) && end.After(q.From)
	}
	if !in {
		return item, false
	}
	item = Item{Instance: id, Name: s.name, Removed: !life[len(life)-1].Known, Course: Periods(q.From, q.To, life, looks, exceptions)}
	if q.WithLooks {
		item.Looks = looks
	}
	return item, true
}

// servers are those of the check's engine that the log of the fleet had up to a position.
func (r *Reader) servers(ctx context.Context, q Question, upTo int64) (map[uuid.UUID]*server, error) {
	ids, err := r.asked(ctx, q, upTo)
	if err != nil {
		return nil, err
	}
	servers := map[uuid.UUID]*server{}
	for e, err := range r.Log.LoadEach(ctx, q.Organization, ids) {
		if err != nil {
			return nil, err
		}
		if e.StreamType != domain.InstanceStream || e.Position > upTo {
			continue
		}
		fact, err := projections.Fact[domain.Event](r.Decode, e, "the fleet")
		if err != nil {
			return nil, fmt.Errorf("event %d of the fleet: %w", e.Position, err)
		}
		if servers[e.Stream] == nil {
			servers[e.Stream] = &server{}
		}
		servers[e.Stream].take(fact, e.RecordedAt)
	}
	for id, s := range servers {
		if s.engine != q.Engine {
			delete(servers, id)
		}
	}
	return servers, nil
}

// asked are the ids of the servers in question.
func (r *Reader) asked(ctx context.Context, q Question, upTo int64) (ids []uuid.UUID, err error) {
	switch {
	case q.Instances != nil:
		return q.Instances, nil
	case !q.FromRecord:
		return r.Fleet.Ever(ctx, q.Organization)
	}
	filter := eventstore.Filter{
		Organization: q.Organization, StreamType: domain.InstanceStream, UpTo: upTo, Types: []string{domain.Name(domain.InstanceRegistered{})},
	}
	if upTo == 0 { // an empty log; no end would be every event of later
		return nil, nil
	}
	for e, err := range r.Log.Read(ctx, eventstore.Fleet, filter) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, e.Stream)
	}
	return ids, nil
}

// Granted is an exception that was in force in the window, and who decided.
type Granted struct {
	Exception
	DatabaseID             *uuid.UUID
	Reason                 string
	Until                  time.Time
	RequestedBy, GrantedBy uuid.UUID
	RevokedBy              *uuid.UUID
	RevokedAt              *time.Time
	GrantedIn, RevokedIn   int64 // positions in the organization's log; 0: it was not
}

// granted are the exceptions of the check that were in force at any time in the window, by
// when they were granted.
func (r *Reader) granted(ctx context.Context, q Question, upTo int64) ([]Granted, error) {
	if upTo == 0 {
		return nil, nil
	}
	known := map[uuid.UUID]*Granted{}
	var order []*Granted
	for e, err := range r.Log.Read(ctx, eventstore.Organization, eventstore.Filter{Organization: q.Organization, StreamType: exception.StreamType, UpTo: upTo}) {
		if err != nil {
			return nil, err
		}
		fact, err := projections.Fact[exception.Event](r.Decode, e, "an exception")
		if err != nil {
			return nil, fmt.Errorf("event %d of the organization: %w", e.Position, err)
		}
		switch fact := fact.(type) {
		case exception.Requested:
			if fact.CheckID == q.Check {
				known[e.Stream] = &Granted{
					Exception:  Exception{ID: e.Stream, Instance: fact.InstanceID, Object: fact.ObjectRef},
					DatabaseID: fact.DatabaseID, Reason: fact.Reason, Until: fact.Until.UTC(), RequestedBy: e.Actor(),
				}
			}
		case exception.Granted:
			if g := known[e.Stream]; g != nil && g.GrantedIn == 0 {
				g.From, g.To, g.GrantedBy, g.GrantedIn = e.RecordedAt, g.Until, e.Actor(), e.Position
				order = append(order, g)
			}
		case exception.Revoked:
			if g := known[e.Stream]; g != nil && g.GrantedIn > 0 && g.RevokedIn == 0 {
				who, at := e.Actor(), e.RecordedAt
				g.RevokedBy, g.RevokedAt, g.RevokedIn, g.To = &who, &at, e.Position, earlier(at, g.Until)
			}
		}
	}
	var out []Granted
	for _, g := range order {
		if g.From.Before(q.To) && g.To.After(q.From) {
			out = append(out, *g)
		}
	}
	return r.withDatabases(ctx, q.Organization, out)
}

// withDatabases gives exceptions the names by which assessments know databases. One about a
// database that nobody knows any more covers nothing.
func (r *Reader) withDatabases(ctx context.Context, organization uuid.UUID, all []Granted) ([]Granted, error) {
	var ids []uuid.UUID
	for _, g := range all {
		if g.DatabaseID != nil {
			ids = append(ids, *g.DatabaseID)
		}
	}
	if len(ids) == 0 {
		return all, nil
	}
	names, err := r.Fleet.Names(ctx, organization, ids)
	if err != nil {
		return nil, err
	}
	out := all[:0]
	for _, g := range all {
		if g.DatabaseID != nil {
			named, there := names[*g.DatabaseID]
			if !there {
				continue
			}
			g.Database = &named.Name
		}
		out = append(out, g)
	}
	return out, nil
}

// Told is what the log of the fleet says of an assessment.
type Told struct {
	Position int64
	SHA256   string // of the assessment as it is stored, hex; empty: the event does not say
}

// Events are what the log of the fleet was told of the assessments of some items, by the
// assessment, as far as the log went for an answer. Most assessments have
// none: the log is told of the first of a day, and of what differs.
func (r *Reader) Events(ctx context.Context, organization uuid.UUID, e Evidence) (map[uuid.UUID]Told, error) {
	streams := make([]uuid.UUID, len(e.Items))
	for i, item := range e.Items {
		streams[i] = domain.AssessmentsOf(item.Instance)
	}
	told := map[uuid.UUID]Told{}
	for event, err := range r.Log.LoadEach(ctx, organization, streams) {
		if err != nil {
			return nil, err
		}
		fact, err := projections.Fact[domain.InstanceAssessed](r.Decode, event, "an assessment")
		if err != nil {
			return nil, fmt.Errorf("event %d of the fleet: %w", event.Position, err)
		}
		if event.Position <= e.Fleet.Position {
			told[fact.AssessmentID] = Told{event.Position, fact.FactsSHA256}
		}
	}
	return told, nil
}
