package notify

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/notification"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/internal/accounts"
	"muster/internal/notify/channel"
	"muster/internal/postgres/statement"
)

//go:embed sql/streams.sql
var streamsQuery string

// describing are the events that say what an alert is, or what a server is called.
var (
	describingAlerts  = []string{"alert.raised", "alert.changed"}
	describingServers = []string{"instance.registered", "instance.changed", "instance.tagged"}
)

// past is the log's record of alerts and servers. It is read anew for each page of events. So
// the message about an event that only ends an alert depends on the log alone, and on no read
// model with another position.
type past struct {
	alerts  map[uuid.UUID][]described     // in order
	servers map[uuid.UUID][]named         // in order
	teams   map[uuid.UUID][]accounts.Team // of organizations, as they are now
	owners  map[uuid.UUID]ownership       // by those teams
	today   bool                          // servers are called as they are today, and not as they were then
}

// ownership is accounts.Ownership of an organization's teams.
type ownership func(server uuid.UUID, tags fleet.Tags) *accounts.Team

// described is what an event says of an alert.
type described struct {
	alert.Details
	position int64
	at       time.Time
}

// named is what an event says of a server.
type named struct {
	server
	position int64
}

// server is one as it was called, and whose it is.
type server struct {
	ID           uuid.UUID
	Name         string
	Engine       fleet.Engine
	Tags         fleet.Tags
	Owner        *channel.Reference // the team that owns it today; nil: none does
	organization uuid.UUID
}

func (s server) subject() notification.Subject {
	subject := notification.Subject{Instances: []uuid.UUID{s.ID}, Name: s.Name, Engine: s.Engine, Tags: s.Tags}
	if s.Owner != nil {
		subject.Owner = s.Owner.ID
	}
	return subject
}

// reference is how a notification names it.
func (s server) reference() channel.Reference { return channel.Reference{ID: s.ID, Name: s.Name} }

// openAlert is an alert as it was described at some time.
type openAlert struct {
	alert.Details
	ID       uuid.UUID
	RaisedAt time.Time
	Label    string
}

// places are the servers that it concerns.
func places(d alert.Details) []uuid.UUID {
	return append([]uuid.UUID{d.InstanceID}, d.OtherInstanceIDs...)
}

// history reads what the logs say.
type history struct {
	events   *eventstore.Store
	registry *eventstore.Registry
}

// ids are streams with the organizations that they are of.
type ids map[uuid.UUID]uuid.UUID

// remember reads the past of what events are about.
func (h history) remember(ctx context.Context, q sqlx.QueryerContext, events []topic.Event) (past, error) {
	alerts, servers := ids{}, ids{}
	for _, e := range events {
		switch fact := e.Fact.(type) {
		case fleet.InstanceAssessed:
			if len(fact.New) > 0 {
				servers[fact.InstanceID] = e.OrganizationID
			}
		case alert.Event:
			alerts[e.Stream] = e.OrganizationID
		}
	}
	return h.described(ctx, q, alerts, servers)
}

// described reads what alerts and their servers were called, and further servers.
func (h history) described(ctx context.Context, q sqlx.QueryerContext, alerts, servers ids) (past, error) {
	p := past{alerts: map[uuid.UUID][]described{}}
	err := h.streams(ctx, q, alerts, describingAlerts, func(e topic.Event) {
		is := described{position: e.Position, at: e.OccurredAt}
		switch fact := e.Fact.(type) {
		case alert.Raised:
			is.Details = fact.Details
		case alert.Changed:
			is.Details = fact.Details
		}
		p.alerts[e.Stream] = append(p.alerts[e.Stream], is)
		for _, id := range places(is.Details) {
			servers[id] = e.OrganizationID
		}
	})
	if err != nil {
		return p, err
	}
	called, err := h.names(ctx, q, servers)
	p.servers, p.teams, p.owners = called.servers, called.teams, called.owners
	return p, err
}

// names reads what servers were called.
func (h history) names(ctx context.Context, q sqlx.QueryerContext, servers ids) (past, error) {
	p := past{servers: map[uuid.UUID][]named{}, teams: map[uuid.UUID][]accounts.Team{}, owners: map[uuid.UUID]ownership{}}
	err := h.streams(ctx, q, servers, describingServers, func(e topic.Event) {
		is := named{server{ID: e.Stream, organization: e.OrganizationID}, e.Position}
		if before := p.servers[e.Stream]; len(before) > 0 {
			is.server = before[len(before)-1].server
		}
		switch fact := e.Fact.(type) {
		case fleet.InstanceRegistered:
			is.Name, is.Engine, is.Tags = fact.Name, fact.Engine, nil
		case fleet.InstanceChanged:
			is.Name, is.Engine = fact.Name, fact.Engine
		case fleet.InstanceTagged:
			is.Tags = is.Tags.Apply(fact)
		}
		p.servers[e.Stream] = append(p.servers[e.Stream], is)
	})
	for _, organization := range servers {
		if _, read := p.teams[organization]; read || err != nil {
			continue
		}
		p.teams[organization], err = accounts.TeamsOf(ctx, q, organization)
		p.owners[organization] = accounts.Ownership(p.teams[organization])
	}
	return p, err
}

// streams reads the events of some types from some streams of the fleet's log, in order.
func (h history) streams(ctx context.Context, q sqlx.QueryerContext, of ids, types []string, each func(topic.Event)) error {
	delete(of, uuid.Nil)
	if len(of) == 0 {
		return nil
	}
	streams := slices.Collect(maps.Keys(of))
	organizations := make([]uuid.UUID, len(streams))
	for i, id := range streams {
		organizations[i] = of[id]
	}
	rows, err := statement.All[struct {
		Position       int64     `db:"position"`
		OrganizationID uuid.UUID `db:"organization_id"`
		Stream         uuid.UUID `db:"stream_id"`
		Type           string    `db:"type"`
		SchemaVersion  int       `db:"schema_version"`
		OccurredAt     time.Time `db:"occurred_at"`
		Data           []byte    `db:"data"`
	}](ctx, q, "read what alerts and servers were", streamsQuery, statement.IDs(streams), statement.IDs(organizations), types)
	if err != nil {
		return err
	}
	for _, row := range rows {
		e := topic.Event{Event: eventstore.Event{
			Log: eventstore.Fleet, Position: row.Position, OrganizationID: row.OrganizationID, Stream: row.Stream,
			Type: row.Type, SchemaVersion: row.SchemaVersion, OccurredAt: row.OccurredAt, Data: row.Data,
		}}
		if e.Fact, err = h.registry.Decode(e.Event); err != nil {
			return err
		}
		each(e)
	}
	return nil
}

// alert is an alert as of a position, and its state before the event there or the last one that
// described it; nil: it did not exist.
func (p past) alert(id uuid.UUID, position int64) (is, was *openAlert) {
	for _, d := range p.alerts[id] {
		if d.position > position {
			break
		}
		next := &openAlert{ID: id, Details: d.Details, RaisedAt: d.at, Label: d.Label()}
		if is != nil {
			next.RaisedAt, next.Label = is.RaisedAt, is.Label
		}
		is, was = next, is
	}
	return is, was
}

// server is a server as of a position, with its owner of today.
func (p past) server(id uuid.UUID, position int64) (s server, known bool) {
	if p.today {
		position = math.MaxInt64
	}
	s.ID = id
	for _, n := range p.servers[id] {
		if n.position > position {
			break
		}
		s, known = n.server, true
	}
	s.Owner = p.owner(id)
	return s, known
}

// owner is the team that owns a server by the selectors and tags of today; nil: none does.
func (p past) owner(id uuid.UUID) *channel.Reference {
	called := p.servers[id]
	if len(called) == 0 {
		return nil
	}
	latest := called[len(called)-1]
	if t := p.owners[latest.organization](id, latest.Tags); t != nil {
		return &channel.Reference{ID: t.ID, Name: t.Name}
	}
	return nil
}

// description is the name of a report or a schedule, and its scope.
type description struct {
	title     string
	instances []uuid.UUID
	schedule  *uuid.UUID // the first that asked for the report
}

// naming are the events that say what a report or a schedule is called, and which schedules
// asked for a report.
var naming = []string{"report.queued", "report.reused", "schedule.created", "schedule.changed"}

// describe reads from its stream what reports and schedules are called, and which schedules asked for a report.
func (h history) describe(ctx context.Context, q sqlx.ExtContext, e topic.Event) (is description, err error) {
	var schedules []report.Scheduled
	for event, err := range h.events.Load(ctx, q, e.OrganizationID, e.Stream) {
		if err != nil {
			return is, fmt.Errorf("load stream %s: %w", e.Stream, err)
		}
		if !slices.Contains(naming, event.Type) {
			continue
		}
		decoded, err := h.registry.Decode(event)
		if err != nil {
			return is, err
		}
		switch says := decoded.(type) {
		case report.Queued:
			is.title, is.instances = says.Kind.Title()+", "+says.ScopeLabel, says.Scope.InstanceIDs
			schedules = withSchedule(schedules, says.Schedule)
		case report.Reused:
			schedules = withSchedule(schedules, says.Schedule)
		case schedule.Created:
			is.title = says.Name
		case schedule.Changed:
			is.title = says.Name
		}
	}
	if len(schedules) > 0 {
		is.schedule = &schedules[0].ID
		is.title += ", for the schedule " + schedules[0].Name
	}
	switch others := len(schedules) - 1; {
	case others == 1:
		is.title += " and another schedule"
	case others > 1:
		is.title += fmt.Sprintf(" and %d other schedules", others)
	}
	return is, nil
}

// withSchedule adds a schedule that requested a report; the same one may come twice.
func withSchedule(all []report.Scheduled, by *report.Scheduled) []report.Scheduled {
	if by == nil || slices.ContainsFunc(all, func(s report.Scheduled) bool { return s.ID == by.ID }) {
		return all
	}
	return append(all, *by)
}
