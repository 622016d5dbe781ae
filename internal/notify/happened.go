package notify

import (
	"context"
	"strconv"
	"strings"
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
	"muster/internal/notify/channel"
)

// tellable are the types of events that may be told, by log.
var tellable = map[eventstore.Log][]string{
	eventstore.Fleet: {
		"instance.assessed", "alert.raised", "alert.changed", "alert.acknowledged", "alert.resolved", "alert.auto_resolved",
	},
	eventstore.Reports:      {"report.ready", "report.failed"},
	eventstore.Organization: {"schedule.missed"},
}

// downRule is the rule of package watch whose alerts say that servers are down.
const downRule = "down"

// happened is an event that may be told.
type happened struct {
	channel.Notice
	notification.Subject
	Organization uuid.UUID
	Position     int64
	RecordedAt   time.Time
	RaisedAt     *time.Time            // of its alert
	Was          *notification.Subject // its alert before, which was raised already and changed
	Held         bool                  // its servers are in a maintenance window: it is not told
}

// happened is what may be told of each event: nothing, or one thing, or one for each check that found something
// new. today: servers are called as they are today.
func (h history) happened(ctx context.Context, q sqlx.ExtContext, events []topic.Event, today bool) (told []happened, err error) {
	p, err := h.remember(ctx, q, events)
	if err != nil {
		return nil, err
	}
	p.today = today
	for _, e := range events {
		switch fact := e.Fact.(type) {
		case fleet.InstanceAssessed:
			told = append(told, p.tellFindings(e, fact)...)
		case report.Ready, report.Failed, schedule.Missed:
			is, err := h.describe(ctx, q, e)
			if err != nil {
				return nil, err
			}
			told = append(told, tellOther(e, is))
		case alert.Event:
			told = append(told, p.tell(e)...)
		}
	}
	return told, nil
}

// tell tells what happens to an alert.
func (p past) tell(e topic.Event) []happened {
	a, was := p.alert(e.Stream, e.Position)
	if a == nil { // its raise is gone from the log
		return nil
	}
	switch fact := e.Fact.(type) {
	case alert.Raised:
		h := p.tellAlert(e, a, notification.AlertRaised).with(fact.Details)
		h.Held = fact.Maintenance != nil
		return []happened{h}
	case alert.Changed:
		h := p.tellAlert(e, a, notification.AlertRaised).with(fact.Details)
		if was != nil {
			before := p.tellAlert(e, was, notification.AlertRaised).Subject
			h.Was = &before
		}
		return []happened{h}
	case alert.Acknowledged:
		return []happened{p.tellAlert(e, a, notification.AlertAcknowledged)}
	case alert.Resolved:
		return []happened{p.tellAlert(e, a, notification.AlertResolved).over(a, fact.ResolvedAt)}
	case alert.AutoResolved:
		return []happened{p.tellAlert(e, a, notification.AlertResolved).over(a, fact.ResolvedAt)}
	}
	return nil
}

// tellFindings sends new findings, those of one check and severity together.
func (p past) tellFindings(e topic.Event, event fleet.InstanceAssessed) (told []happened) {
	s, known := p.server(event.InstanceID, e.Position)
	if !known { // it was never registered
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
		place := s.reference()
		h.Instance, h.Notice.Owner = &place, s.Owner
		h.Subject = s.subject()
		h.Subject.Type, h.Subject.Severity = notification.FindingNew, severity
		told = append(told, h)
	}
	return told
}

// with is the message about an alert that is raised, or changed.
func (h happened) with(d alert.Details) happened {
	h.Details, h.AlertRule = d.Description, d.Rule
	since := d.FirstTriggeredAt.UTC()
	h.Since = &since
	return h
}

// over is the message about an alert that is over: it says how long it lasted, and for servers
// that were down nothing that reads as if they still were.
func (h happened) over(a *openAlert, at time.Time) happened {
	if a.down() {
		h.Title = wasDown.Replace(h.Title)
	}
	since, until := a.FirstTriggeredAt.UTC(), at.UTC()
	h.Since, h.Until = &since, &until
	return h
}

// down says whether it is about servers that are down.
func (a *openAlert) down() bool { return a.Rule != nil && a.Rule.ID == downRule }

// wasDown puts the watch's words of servers that are down into the past.
var wasDown = strings.NewReplacer(" is down", " was down", " are down", " were down", " keeps going down", " kept going down", " keep going down", " kept going down")

// eventIDs is the namespace of the ids under which events are sent.
var eventIDs = uuid.MustParse("0199f0d2-7a10-5c44-9b0e-2f6f1e6c1cff")

// eventID is made from the event's position, so it is the same in every process.
func eventID(e topic.Event) uuid.UUID {
	return uuid.NewSHA1(eventIDs, []byte(e.Stream.String()+" "+string(e.Log)+" "+strconv.FormatInt(e.Position, 10)))
}

func base(e topic.Event, t notification.EventType) happened {
	return happened{
		Notice: channel.Notice{ID: eventID(e), Type: t, At: e.OccurredAt.UTC()}, Subject: notification.Subject{Type: t},
		Organization: e.OrganizationID, Position: e.Position, RecordedAt: e.RecordedAt,
	}
}

func (p past) tellAlert(e topic.Event, a *openAlert, t notification.EventType) happened {
	h := base(e, t)
	severity, raised := a.Severity, a.RaisedAt
	h.Title, h.Label, h.Notice.Severity, h.AlertID, h.RaisedAt = a.Title, a.Label, &severity, &a.ID, &raised
	h.Subject.Severity = severity
	if a.down() {
		h.State = map[notification.EventType]notification.EventType{
			notification.AlertRaised: notification.InstanceDown, notification.AlertResolved: notification.InstanceUp,
		}[t]
	}
	if a.InstanceID != uuid.Nil {
		s, _ := p.server(a.InstanceID, e.Position)
		place, subject := s.reference(), s.subject()
		h.Instance, h.Notice.Owner = &place, s.Owner
		subject.Type, subject.Severity, subject.State = h.Subject.Type, h.Subject.Severity, h.State
		h.Subject = subject
	}
	for _, id := range a.OtherInstanceIDs {
		s, _ := p.server(id, e.Position)
		h.Others = append(h.Others, s.subject())
		h.OtherInstances = append(h.OtherInstances, channel.OwnedInstance{Reference: s.reference(), Owner: s.Owner})
	}
	return h
}

func tellOther(e topic.Event, is description) (h happened) {
	stream := e.Stream
	switch fact := e.Fact.(type) {
	case report.Ready:
		h = base(e, notification.ReportReady)
		h.ReportID, h.ScheduleID = &stream, is.schedule
	case report.Failed:
		h = base(e, notification.ReportFailed)
		h.ReportID, h.ScheduleID, h.Reason = &stream, is.schedule, &fact.Message
	case schedule.Missed:
		h = base(e, notification.ScheduleMissed)
		due := fact.DueAt.UTC()
		h.ScheduleID, h.DueAt, h.Reason = &stream, &due, &fact.Reason
	}
	h.Title, h.Instances = is.title, is.instances
	return h
}
