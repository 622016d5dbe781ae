package control

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/exception"
	domain "muster/domain/fleet"
	"muster/domain/instant"
	"muster/eventstore"
	"muster/projections"
)

// server is one as the log knows it.
type server struct {
	name   string
	turns  []turn // the oldest first
	events []LifeEvent
}

// turn is what a server was from a time on.
type turn struct {
	at           time.Time
	engine       domain.Engine
	known, alive bool
}

// What happened to a server.
const (
	Joined        = "joined"
	Activated     = "activated"
	Deactivated   = "deactivated"
	EngineChanged = "engineChanged"
	Left          = "left"
)

// Kinds of who did it.
const (
	ByMember = "member"
	ByToken  = "token"
	ByMuster = "muster"
)

// LifeEvent is when a server joined or left, or began or ceased to be looked at.
type LifeEvent struct {
	What     string
	At       time.Time // when it was recorded
	Since    time.Time // of joined: the creation time that was told
	Engine   domain.Engine
	ByKind   string
	ByID     uuid.UUID // the member or the token; uuid.Nil: the program
	Position int64     // in the fleet's log
}

// take folds an event that the log recorded.
func (s *server) take(fact domain.Event, event eventstore.Event) {
	at, last := event.RecordedAt, turn{}
	if len(s.turns) > 0 {
		last = s.turns[len(s.turns)-1]
	}
	next := last
	next.at = at
	var what string
	switch e := fact.(type) {
	case domain.InstanceRegistered:
		s.name, what = e.Name, Joined
		next = turn{at: instant.Earlier(e.CreatedAt, at).UTC(), engine: e.Engine, known: true, alive: e.Active}
	case domain.InstanceChanged:
		s.name = e.Name
		if len(s.turns) > 0 {
			s.turns[0].at = instant.Earlier(e.CreatedAt, s.turns[0].at).UTC()
		}
		if e.Engine == last.engine {
			return
		}
		next.engine, what = e.Engine, EngineChanged
	case domain.InstanceActivated:
		next.alive, what = true, Activated
	case domain.InstanceDeactivated:
		next.alive, what = false, Deactivated
	case domain.InstanceRemoved:
		next.known, next.alive, what = false, false, Left
	default:
		return
	}
	s.turns = append(s.turns, next)
	kind, who := causeOf(event)
	happened := LifeEvent{What: what, At: at, Engine: next.engine, ByKind: kind, ByID: who, Position: event.Position}
	if what == Joined {
		happened.Since = next.at
	}
	s.events = append(s.events, happened)
}

// life is what it was for a check of an engine: while it was of another one, it is as if it
// were not there.
func (s *server) life(engine domain.Engine) (life Life) {
	for _, t := range s.turns {
		ours := t.known && (engine == "" || t.engine == engine)
		life = append(life, Turn{At: t.at, Known: ours, Alive: ours && t.alive})
	}
	return life
}

// causeOf is who caused an event.
func causeOf(e eventstore.Event) (kind string, id uuid.UUID) {
	var m eventstore.Metadata
	if json.Unmarshal(e.Metadata, &m) != nil {
		return ByMuster, uuid.Nil
	}
	if id, err := uuid.Parse(m.ActorID); err == nil {
		return ByMember, id
	}
	if id, err := uuid.Parse(m.TokenID); err == nil {
		return ByToken, id
	}
	return ByMuster, uuid.Nil
}

// item is the server's course over the window; in is false if it was never active in it.
func (s *server) item(id uuid.UUID, q Question, looks []Look, exceptions []Exception) (item Item, in bool) {
	life := s.life(q.Engine)
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
	item = Item{
		Instance: id, Name: s.name, Removed: !s.turns[len(s.turns)-1].known, Course: Periods(q.From, q.To, life, looks, exceptions), Events: s.events,
	}
	if q.WithLooks {
		item.Looks = looks
	}
	for _, l := range looks {
		switch {
		case l.Altered != "":
			item.Altered = append(item.Altered, l)
		case l.Late:
			item.Late = append(item.Late, l)
		}
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
		servers[e.Stream].take(fact, e)
	}
	for id, s := range servers {
		if !slices.ContainsFunc(s.turns, func(t turn) bool { return q.Engine == "" || t.engine == q.Engine }) {
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
				g.RevokedBy, g.RevokedAt, g.RevokedIn, g.To = &who, &at, e.Position, instant.Earlier(at, g.Until).UTC()
			}
		}
	}
	var out []Granted
	for _, g := range order {
		if g.From.Before(q.To) && g.To.After(q.From) && q.covers(g.Instance) {
			out = append(out, *g)
		}
	}
	return r.withDatabases(ctx, q.Organization, out)
}

// withDatabases gives exceptions the names under which assessments know databases. An exception
// for a database that is no longer known covers nothing.
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
