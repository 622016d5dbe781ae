package channel

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/printable"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/internal/text/pageaddress"
)

// Most is how many events a message tells; the rest is counted.
const Most = 100

// Reference is something that has an id and a name.
type Reference struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// OwnedInstance is a server with the team that owns it.
type OwnedInstance struct {
	Reference
	Owner *Reference `json:"owner"`
}

// Notice is an event as it is told. ID is the same wherever and however often it is.
type Notice struct {
	ID        uuid.UUID              `json:"id"`
	Type      notification.EventType `json:"type"`
	At        time.Time              `json:"at"`
	Title     string                 `json:"title"`
	Label     string                 `json:"label,omitempty"`       // what is stable of an alert: its rule's name, else its first title
	Details   string                 `json:"description,omitempty"` // of an alert that is raised
	AlertRule *alert.Rule            `json:"alertRule,omitempty"`   // likewise
	Since     *time.Time             `json:"since,omitempty"`       // an alert fires, or fired
	Until     *time.Time             `json:"until,omitempty"`       // it fired, where it is over
	Severity  *alert.Severity        `json:"severity"`
	Instance  *Reference             `json:"instance"`
	// Owner is the team that owns the server: first when the event is put into a delivery, then
	// when the delivery is closed. Nil: none does, or there is no server.
	Owner *Reference `json:"owner"`
	// OtherInstances are further servers that an alert concerns, as those on one host.
	OtherInstances []OwnedInstance `json:"otherInstances,omitempty"`

	AlertID    *uuid.UUID `json:"alertId"`
	ReportID   *uuid.UUID `json:"reportId"`
	ScheduleID *uuid.UUID `json:"scheduleId"`
	DueAt      *time.Time `json:"dueAt"`
	Reason     *string    `json:"reason"`
	// Brief is what page 1 of a ready report says first; nil: it has none, or it has expired.
	Brief *report.Brief `json:"report,omitempty"`
	// Of new findings.
	CheckID         *string `json:"checkId"`
	FindingSeverity *string `json:"findingSeverity"`
}

// Message is what is told at once.
type Message struct {
	ID             uuid.UUID // the delivery's
	At             time.Time // when it was put together
	Rule           Reference
	Events         []Notice // the first Most
	Omitted        int
	OrganizationID uuid.UUID
	Organization   string
	PublicURL      string
	Demo           bool
}

// Heading is a message in a line: its first event, and how many more there are.
func Heading(m Message) string {
	if len(m.Events) == 0 {
		return ""
	}
	said := What(m.Events[0]) + ": " + About(m.Events[0])
	if more := len(m.Events) - 1 + m.Omitted; more > 0 {
		said += " and " + strconv.Itoa(more) + " more"
	}
	return said
}

// Owners are the teams that own the servers of an event, each once.
func (n Notice) Owners() (owners []Reference) {
	add := func(owner *Reference) {
		if owner != nil && !slices.ContainsFunc(owners, func(o Reference) bool { return o.ID == owner.ID }) {
			owners = append(owners, *owner)
		}
	}
	add(n.Owner)
	for _, other := range n.OtherInstances {
		add(other.Owner)
	}
	return owners
}

// For is the event as teams are told of it: about their own servers, the first of which stands for all.
func (n Notice) For(teams []uuid.UUID) Notice {
	all := n.OtherInstances
	if n.Instance != nil {
		all = append([]OwnedInstance{{Reference: *n.Instance, Owner: n.Owner}}, all...)
	}
	var theirs []OwnedInstance
	for _, i := range all {
		if i.Owner != nil && slices.Contains(teams, i.Owner.ID) {
			theirs = append(theirs, i)
		}
	}
	if len(theirs) < len(all) {
		n.Title, n.Details = alert.WithoutServers(n.Title, n.Details)
	}
	if len(theirs) > 0 {
		n.Instance, n.Owner, n.OtherInstances = &theirs[0].Reference, theirs[0].Owner, theirs[1:]
	}
	return n
}

// Line is an event in a line.
func Line(n Notice) string {
	said := What(n) + ": " + About(n)
	if n.Owner != nil {
		said += ", owner " + printable.Clean(n.Owner.Name)
	}
	if why := Why(n); why != "" {
		said += ": " + why
	}
	return said
}

// Why says in whole sentences why a report has failed; empty of anything else.
func Why(n Notice) string {
	if n.Type != notification.ReportFailed || n.Reason == nil {
		return ""
	}
	return printable.Clean(*n.Reason)
}

// Below is what a chat says of an event under its line; empty: nothing.
func Below(n Notice) string {
	if n.Brief == nil {
		return ""
	}
	return printable.Cut(printable.Clean(n.Brief.Sentences()), maxBelow)
}

// maxBelow is how many characters of it a chat shows.
const maxBelow = 600

// What is what happened: "Raised (critical)", "Resolved after 12 min (critical)".
func What(n Notice) string {
	said := map[notification.EventType]string{
		notification.AlertRaised: "Raised", notification.AlertResolved: "Resolved", notification.AlertAcknowledged: "Acknowledged",
		notification.ReportReady: "Report ready", notification.ReportFailed: "Report failed", notification.ScheduleMissed: "Schedule missed",
		notification.FindingNew: "New finding", notification.InstanceDown: "Down", notification.InstanceUp: "Up again",
	}[n.Type]
	if d, over := lasted(n); over {
		said += " after " + length(d)
	}
	if n.FindingSeverity != nil {
		return said + " (" + *n.FindingSeverity + ")"
	}
	if n.Severity != nil {
		said += " (" + string(*n.Severity) + ")"
	}
	return said
}

// About is to what it happened: "Lock waits above 5 sessions, pg-orders-01". A title that names
// the server itself needs it no second time.
func About(n Notice) string {
	said := printable.Clean(n.Title)
	if n.Instance != nil && n.Instance.Name != "" && !mentions(n.Title, n.Instance.Name) {
		said += ", " + printable.Clean(n.Instance.Name)
	}
	if n.DueAt != nil {
		said += ", due " + n.DueAt.UTC().Format("2 January 2006, 15:04 UTC")
	}
	if n.Reason != nil && Why(n) == "" {
		said += ", " + cmp.Or(missed[*n.Reason], printable.Clean(*n.Reason))
	}
	return said
}

// mentions tells whether a text has a name, with nothing in front of it or behind it that
// could be more of a name.
func mentions(text, name string) bool {
	more := func(r rune) bool { return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at+i])
		behind, _ := utf8.DecodeRuneInString(text[at+i+len(name):])
		if !more(before) && !more(behind) {
			return true
		}
		at += i + len(name)
	}
}

// lasted is how long an alert fired that is over; false where it is not, or nobody knows.
func lasted(n Notice) (time.Duration, bool) {
	if n.Type != notification.AlertResolved || n.Since == nil || n.Until == nil {
		return 0, false
	}
	return n.Until.Sub(*n.Since), true
}

// length is how long something took.
func length(d time.Duration) string {
	if d < time.Second {
		return "less than 1 s"
	}
	return alert.Length(d)
}

// Facts are the brief of a ready report, or the owner of the server and what else is known of an alert. An alert that is raised
// has the time since it fires, its threshold, and what to do. One that is over has how long it fired.
func Facts(n Notice) (said []string) {
	if n.Owner != nil {
		said = append(said, "Owner: "+printable.Clean(n.Owner.Name)+".")
	}
	if b := n.Brief; b != nil {
		said = append(said, "Verdict: "+b.StateWords()+". "+printable.Clean(strings.TrimSpace(b.Verdict+" "+b.Rest)))
		for _, f := range b.Facts() {
			said = append(said, f.Label+": "+printable.Clean(f.Words)+".")
		}
	}
	return append(said, course(n)...)
}

// course is how an alert has gone so far.
func course(n Notice) (said []string) {
	if d, over := lasted(n); over {
		const at = "2 January 2006, 15:04:05 UTC"
		return []string{"It is over. It lasted " + length(d) + ", from " + n.Since.UTC().Format(at) + " to " + n.Until.UTC().Format(at) + "."}
	}
	if n.Type != notification.AlertRaised {
		return nil
	}
	var when []string
	if n.Since != nil {
		when = append(when, "Since "+n.Since.UTC().Format("2 January 2006, 15:04 UTC"))
	}
	if r := n.AlertRule; r != nil && r.Threshold != nil {
		when = append(when, strings.TrimSpace(fmt.Sprintf("threshold %g %s", *r.Threshold, printable.Clean(r.Unit))))
	}
	if len(when) > 0 {
		said = append(said, strings.Join(when, ", ")+".")
	}
	if n.Details != "" {
		said = append(said, printable.Clean(strings.Join(strings.Fields(n.Details), " ")))
	}
	return said
}

// Dashboard is the page with the figures of an alert's server; empty where it has none.
func Dashboard(publicURL string, n Notice) string {
	if n.AlertID == nil || n.Instance == nil {
		return ""
	}
	return strings.TrimRight(publicURL, "/") + "/?instanceId=" + n.Instance.ID.String()
}

// Acknowledge is where somebody says that they know of an alert; empty where there is nothing
// to acknowledge.
func Acknowledge(publicURL string, n Notice) string {
	if n.AlertID == nil || n.Type != notification.AlertRaised {
		return ""
	}
	return Link(publicURL, n) + "#acknowledge"
}

// missed is why there is no report of a due time, in words.
var missed = map[string]string{
	schedule.ReasonAway:    "Muster was away",
	schedule.ReasonNextDue: "it waited until the next was due",
	schedule.ReasonRefused: "such a report cannot be requested any more",
	schedule.ReasonChanged: "the schedule was changed or removed before the delivery",
}

// Link is the page that shows an event.
func Link(publicURL string, n Notice) string {
	switch {
	case n.AlertID != nil:
		return pageaddress.Link(publicURL, pageaddress.Alert, n.AlertID.String())
	case n.ReportID != nil:
		return pageaddress.Link(publicURL, pageaddress.Report, n.ReportID.String())
	case n.ScheduleID != nil:
		return pageaddress.Link(publicURL, pageaddress.Schedule, n.ScheduleID.String())
	case n.CheckID != nil && n.Instance != nil:
		return pageaddress.Link(publicURL, pageaddress.Findings) + "?group=none&checkId=" + url.QueryEscape(*n.CheckID) + "&instanceId=" + n.Instance.ID.String()
	case n.Instance != nil:
		return pageaddress.Link(publicURL, pageaddress.Instance, n.Instance.ID.String())
	}
	return strings.TrimRight(publicURL, "/")
}
