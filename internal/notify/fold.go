package notify

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/notification"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/eventstore"
	"muster/internal/channel"
)

// followed are the types of events that are looked at, by log.
var followed = map[eventstore.Log][]string{
	eventstore.Fleet: {
		"instance.registered", "instance.changed", "instance.assessed",
		"alert.raised", "alert.changed", "alert.acknowledged", "alert.muted", "alert.muted_until", "alert.unmuted", "alert.mute_ended",
		"alert.resolved", "alert.auto_resolved",
	},
	eventstore.Reports:      {"report.ready", "report.failed"},
	eventstore.Organization: {"schedule.missed"},
}

// recorded is an event as it is followed.
type recorded struct {
	Position       int64     `db:"position"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Stream         uuid.UUID `db:"stream_id"`
	Type           string    `db:"type"`
	SchemaVersion  int       `db:"schema_version"`
	OccurredAt     time.Time `db:"occurred_at"`
	RecordedAt     time.Time `db:"recorded_at"`
	Data           []byte    `db:"data"`
	Log            eventstore.Log
	event          any
}

// openAlert is an alert that is open, as its row has it.
type openAlert struct {
	ID             uuid.UUID      `db:"alert_id"`
	OrganizationID uuid.UUID      `db:"organization_id"`
	Title          string         `db:"title"`
	Severity       alert.Severity `db:"severity"`
	InstanceID     *uuid.UUID     `db:"instance_id"`
	RaisedAt       time.Time      `db:"raised_at"`
	Acknowledged   bool           `db:"acknowledged"`
	Muted          bool           `db:"muted"`
	Label          string         `db:"label"`
	Others         string         `db:"others"`   // ids, with spaces between
	Rule           string         `db:"rule"`     // its id; empty: none
	BeganAt        *time.Time     `db:"began_at"` // since when it fires; nil: a program from before raised it
}

// downRule is the rule of package watch whose alerts say that servers are down.
const downRule = "down"

// others are further servers that an alert concerns.
func (a *openAlert) others() (ids []uuid.UUID) {
	for _, text := range strings.Fields(a.Others) {
		if id, err := uuid.Parse(text); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// server is one, as its row has it.
type server struct {
	ID             uuid.UUID `db:"instance_id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Name           string    `db:"name"`
	Engine         string    `db:"engine"`
}

func (s server) subject() notification.Subject {
	return notification.Subject{Instances: []uuid.UUID{s.ID}, Name: s.Name, Engine: fleet.Engine(s.Engine)}
}

// happened is an event that may be told.
type happened struct {
	channel.Notice
	notification.Subject
	Organization uuid.UUID
	Position     int64
	RecordedAt   time.Time
	RaisedAt     *time.Time            // of its alert
	Was          *notification.Subject // its alert before, which was raised already and changed
}

// world is what is known of alerts and servers when an event comes.
type world struct {
	alerts  map[uuid.UUID]*openAlert
	servers map[uuid.UUID]server
	moved   map[uuid.UUID]bool // alerts that are to be written; those that are not in alerts are closed
	named   map[uuid.UUID]bool // servers that are to be written
	// described answers what the report of an event, or the schedule, is called, and where it is about.
	described func(ctx context.Context, e recorded) (description, error)
}

type description struct {
	title     string
	instances []uuid.UUID
	schedule  *uuid.UUID // the first that asked for the report
}

func newWorld() *world {
	return &world{alerts: map[uuid.UUID]*openAlert{}, servers: map[uuid.UUID]server{}, moved: map[uuid.UUID]bool{}, named: map[uuid.UUID]bool{}}
}

// apply folds an event into what is told of it: nothing, or one thing, or one for each
// check that found something new.
func (w *world) apply(ctx context.Context, e recorded) ([]happened, error) {
	switch event := e.event.(type) {
	case fleet.InstanceRegistered:
		w.name(e, event.Name, event.Engine)
	case fleet.InstanceChanged:
		w.name(e, event.Name, event.Engine)
	case alert.Raised:
		a := &openAlert{ID: e.Stream, OrganizationID: e.OrganizationID, RaisedAt: e.OccurredAt}
		a.describe(event.Details)
		w.alerts[e.Stream], w.moved[e.Stream] = a, true
		return []happened{w.tellAlert(e, a, notification.AlertRaised).with(event.Details)}, nil
	case fleet.InstanceAssessed:
		return w.tellFindings(e, event), nil
	case report.Ready, report.Failed, schedule.Missed:
		h, err := w.tellOther(ctx, e)
		if err != nil {
			return nil, err
		}
		return []happened{h}, nil
	default:
		if h, ok := w.applyAlert(e); ok {
			return []happened{h}, nil
		}
	}
	return nil, nil
}

// tellFindings tells of new findings, those of one check and severity at once.
func (w *world) tellFindings(e recorded, event fleet.InstanceAssessed) (told []happened) {
	s, known := w.servers[event.InstanceID]
	if !known { // it was removed
		return nil
	}
	for _, n := range event.New {
		h := base(e, notification.FindingNew)
		h.ID = uuid.NewSHA1(eventIDs, []byte(h.ID.String()+" "+n.CheckID+" "+n.Severity))
		severity, check, finding := notification.SeverityOf(n.Severity), n.CheckID, n.Severity
		h.Title = n.Title
		if n.Findings > 1 {
			h.Title += ": " + strconv.Itoa(n.Findings) + " findings"
		}
		h.Notice.Severity, h.CheckID, h.FindingSeverity = &severity, &check, &finding
		h.Instance = &channel.Reference{ID: event.InstanceID, Name: s.Name}
		h.Subject.Severity, h.Instances, h.Name, h.Engine = severity, []uuid.UUID{event.InstanceID}, s.Name, fleet.Engine(s.Engine)
		told = append(told, h)
	}
	return told
}

// applyAlert folds what happens to an alert that was raised.
func (w *world) applyAlert(e recorded) (happened, bool) {
	a := w.alerts[e.Stream]
	if a == nil { // closed before: a mute that ends
		return happened{}, false
	}
	w.moved[e.Stream] = true
	switch event := e.event.(type) {
	case alert.Changed:
		was := w.tellAlert(e, a, notification.AlertRaised).Subject
		a.describe(event.Details)
		is := w.tellAlert(e, a, notification.AlertRaised).with(event.Details)
		is.Was = &was
		return is, true
	case alert.Muted, alert.MutedUntil:
		a.Muted = true
	case alert.Unmuted, alert.MuteEnded:
		a.Muted = false
	case alert.Acknowledged:
		a.Acknowledged = true
		return w.tellAlert(e, a, notification.AlertAcknowledged), true
	case alert.Resolved, alert.AutoResolved:
		delete(w.alerts, e.Stream)
		return w.tellAlert(e, a, notification.AlertResolved).over(a, resolvedAt(event)), true
	}
	return happened{}, false
}

func (w *world) name(e recorded, name string, engine fleet.Engine) {
	w.servers[e.Stream] = server{ID: e.Stream, OrganizationID: e.OrganizationID, Name: name, Engine: string(engine)}
	w.named[e.Stream] = true
}

func (a *openAlert) describe(d alert.Details) {
	began := d.FirstTriggeredAt.UTC()
	a.Title, a.Severity, a.InstanceID, a.Rule, a.BeganAt = d.Title, d.Severity, nil, "", &began
	if d.Rule != nil {
		a.Rule = d.Rule.ID
	}
	if d.InstanceID != uuid.Nil {
		a.InstanceID = &d.InstanceID
	}
	ids := make([]string, len(d.OtherInstanceIDs))
	for i, id := range d.OtherInstanceIDs {
		ids[i] = id.String()
	}
	a.Others = strings.Join(ids, " ")
	if a.Label == "" { // and from then on it stays
		a.Label = d.Title
		if d.Rule != nil && d.Rule.Name != "" {
			a.Label = d.Rule.Name
		}
	}
}

// with is what is told of an alert that is raised, or changed.
func (h happened) with(d alert.Details) happened {
	h.Details, h.AlertRule = d.Description, d.Rule
	since := d.FirstTriggeredAt.UTC()
	h.Since = &since
	return h
}

// over is what is told of an alert that is over: when it was, and of servers that were down
// nothing that reads as if they still are.
func (h happened) over(a *openAlert, at time.Time) happened {
	if a.Rule == downRule {
		h.Title = wasDown.Replace(h.Title)
	}
	if a.BeganAt != nil {
		at = at.UTC()
		h.Since, h.Until = a.BeganAt, &at
	}
	return h
}

// wasDown puts the watch's words of servers that are down into the past.
var wasDown = strings.NewReplacer(" is down", " was down", " are down", " were down", " keeps going down", " kept going down", " keep going down", " kept going down")

func resolvedAt(event any) time.Time {
	switch e := event.(type) {
	case alert.Resolved:
		return e.ResolvedAt
	case alert.AutoResolved:
		return e.ResolvedAt
	}
	return time.Time{}
}

// eventIDs is the namespace of the ids by which events are told.
var eventIDs = uuid.MustParse("0199f0d2-7a10-5c44-9b0e-2f6f1e6c1cff")

// eventID is made of the event's place, so that it is the same whoever tells it.
func eventID(e recorded) uuid.UUID {
	return uuid.NewSHA1(eventIDs, []byte(e.Stream.String()+" "+string(e.Log)+" "+strconv.FormatInt(e.Position, 10)))
}

func base(e recorded, t notification.EventType) happened {
	return happened{
		Notice: channel.Notice{ID: eventID(e), Type: t, At: e.OccurredAt.UTC()}, Subject: notification.Subject{Type: t},
		Organization: e.OrganizationID, Position: e.Position, RecordedAt: e.RecordedAt,
	}
}

func (w *world) tellAlert(e recorded, a *openAlert, t notification.EventType) happened {
	h := base(e, t)
	severity, raised := a.Severity, a.RaisedAt
	h.Title, h.Label, h.Notice.Severity, h.AlertID, h.RaisedAt = a.Title, a.Label, &severity, &a.ID, &raised
	h.Subject.Severity = severity
	if a.Rule == downRule {
		h.State = map[notification.EventType]notification.EventType{
			notification.AlertRaised: notification.InstanceDown, notification.AlertResolved: notification.InstanceUp,
		}[t]
	}
	if a.InstanceID != nil {
		s := w.servers[*a.InstanceID]
		h.Instance = &channel.Reference{ID: *a.InstanceID, Name: s.Name}
		h.Instances, h.Name, h.Engine = []uuid.UUID{*a.InstanceID}, s.Name, fleet.Engine(s.Engine)
	}
	for _, id := range a.others() {
		h.Others = append(h.Others, w.servers[id].subject())
	}
	return h
}

func (w *world) tellOther(ctx context.Context, e recorded) (happened, error) {
	is, err := w.described(ctx, e)
	if err != nil {
		return happened{}, err
	}
	var h happened
	stream := e.Stream
	switch event := e.event.(type) {
	case report.Ready:
		h = base(e, notification.ReportReady)
		h.ReportID, h.ScheduleID = &stream, is.schedule
	case report.Failed:
		h = base(e, notification.ReportFailed)
		h.ReportID, h.ScheduleID, h.Reason = &stream, is.schedule, &event.Message
	case schedule.Missed:
		h = base(e, notification.ScheduleMissed)
		due := event.DueAt.UTC()
		h.ScheduleID, h.DueAt, h.Reason = &stream, &due, &event.Reason
	}
	h.Title, h.Instances = is.title, is.instances
	return h, nil
}

// decode reads the event of each.
func decode(registry *eventstore.Registry, log eventstore.Log, events []recorded) error {
	for i := range events {
		e := &events[i]
		e.Log = log
		var err error
		if e.event, err = registry.Decode(eventstore.Event{Log: log, Position: e.Position, Type: e.Type, SchemaVersion: e.SchemaVersion, Data: e.Data}); err != nil {
			return err
		}
	}
	return nil
}
