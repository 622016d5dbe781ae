package notification

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/fleet"
)

// Kind is the name of a kind of channel, spelled as in events. internal/notify/channel has the kinds.
type Kind string

// The kinds without an address of their own: the recipients are members. Organizations begin with
// a channel of kind Email. OwningTeam has no settings.
const (
	Email      Kind = "email"
	OwningTeam Kind = "team"
)

// EventType is a type of event that a rule can send, spelled as in the API.
type EventType string

// The types.
const (
	AlertRaised       EventType = "alert.raised"
	AlertResolved     EventType = "alert.resolved"
	AlertAcknowledged EventType = "alert.acknowledged"
	ReportReady       EventType = "report.ready"
	ReportFailed      EventType = "report.failed"
	ScheduleMissed    EventType = "schedule.missed"
	FindingNew        EventType = "finding.new" // of one check on one server, or more severe than before
	InstanceDown      EventType = "instance.down"
	InstanceUp        EventType = "instance.up"
)

// EventTypes are all of them.
func EventTypes() []EventType {
	return []EventType{AlertRaised, AlertResolved, AlertAcknowledged, ReportReady, ReportFailed, ScheduleMissed, FindingNew, InstanceDown, InstanceUp}
}

// OfAlert says whether such an event is one of an alert.
func (t EventType) OfAlert() bool { return strings.HasPrefix(string(t), "alert.") }

// OfServer says whether such an event is about one server, with a severity.
func (t EventType) OfServer() bool {
	return t.OfAlert() || slices.Contains([]EventType{FindingNew, InstanceDown, InstanceUp}, t)
}

// SeverityOf is how severe a new finding is among alerts: rules and quiet hours have one
// scale. Errors: none; a severity that is not known counts as the least.
func SeverityOf(finding string) alert.Severity {
	switch finding {
	case "Critical":
		return alert.Critical
	case "High":
		return alert.Warning
	default:
		return alert.Info
	}
}

// Match says which events a rule matches. An event has to match each member; an empty member
// matches everything. Severity, engine, name, tags and teams apply to the server of an event about
// one server (OfServer), InstanceIDs also to the servers in the scope of a report that names some. A
// rule with tags or teams matches only events about one server.
type Match struct {
	Severities   []alert.Severity `json:"severity"`
	Engines      []fleet.Engine   `json:"engine"`
	InstanceIDs  []uuid.UUID      `json:"instanceIds"`
	NameContains string           `json:"nameContains"`      // of the server; case does not matter
	Tags         fleet.TagFilter  `json:"tags,omitempty"`    // of the server, when it happens
	TeamIDs      []uuid.UUID      `json:"teamIds,omitempty"` // that own the server, when it is told
	Events       []EventType      `json:"event"`
}

// Subject is an event as rules look at it.
type Subject struct {
	Type      EventType
	Severity  alert.Severity // of what is about one server
	Instances []uuid.UUID    // the alert's server, or those of a report's scope; none: of the organization
	Name      string         // of an alert's server; empty: it has none
	Engine    fleet.Engine   // of an alert's server
	Tags      fleet.Tags     // of an alert's server
	Owner     uuid.UUID      // the team that owns an alert's server; uuid.Nil: nobody does
	Others    []Subject      // the same of other servers that an alert concerns
	// State is what an alert says about its server: InstanceDown, or InstanceUp at its end;
	// otherwise empty. A rule may name it. A rule with all events gets the alert once.
	State EventType
}

// Matches says whether an event is one of those.
func (m Match) Matches(s Subject) bool {
	if !has(m.Events, s.Type) && (s.State == "" || !slices.Contains(m.Events, s.State)) {
		return false
	}
	if !s.Type.OfServer() {
		return len(m.Tags) == 0 && len(m.TeamIDs) == 0 && (len(s.Instances) == 0 || m.someOf(s.Instances))
	}
	return has(m.Severities, s.Severity) && (m.isAbout(s) || slices.ContainsFunc(s.Others, m.isAbout))
}

// isAbout says whether the server of an alert is one of the rule's.
func (m Match) isAbout(s Subject) bool {
	return has(m.Engines, s.Engine) && m.Tags.Passes(s.Tags) && has(m.TeamIDs, s.Owner) && m.someOf(s.Instances) && strings.Contains(strings.ToLower(s.Name), strings.ToLower(m.NameContains))
}

// someOf says whether one of the servers is one of the rule's.
func (m Match) someOf(instances []uuid.UUID) bool {
	return len(m.InstanceIDs) == 0 || slices.ContainsFunc(instances, func(id uuid.UUID) bool { return slices.Contains(m.InstanceIDs, id) })
}

// has says whether a list has it; an empty one has everything.
func has[T comparable](list []T, one T) bool { return len(list) == 0 || slices.Contains(list, one) }

// Terms are what a rule says, but its name.
type Terms struct {
	Match         Match       `json:"match"`
	ChannelIDs    []uuid.UUID `json:"channelIds"`
	GroupSeconds  int         `json:"groupSeconds"`  // how long more events are waited for
	RepeatMinutes int         `json:"repeatMinutes"` // after which an open alert is repeated; 0: never
	Quiet         *Quiet      `json:"quiet"`
	Enabled       bool        `json:"enabled"`
}

// Group is how long more events are waited for.
func (t Terms) Group() time.Duration { return time.Duration(t.GroupSeconds) * time.Second }

// Waits returns the end of quiet hours until which an event of now waits; ok is false if it
// does not wait, or if load does not know the time zone.
func (t Terms) Waits(s Subject, now time.Time, load func(name string) (*time.Location, error)) (until time.Time, ok bool, err error) {
	if t.Quiet == nil || t.Quiet.ExceptCritical && s.Type.OfServer() && s.Severity == alert.Critical {
		return time.Time{}, false, nil
	}
	zone, err := load(t.Quiet.TimeZone)
	if err != nil { // its clocks are unknown: a message at night is better than none
		return time.Time{}, false, nil
	}
	return t.Quiet.Until(now, zone)
}

// TellsOf says whether some alert of a server would match, or some report that names it.
func (m Match) TellsOf(server Subject) bool {
	for _, t := range EventTypes() {
		s := server
		s.Type = t
		if len(m.Severities) > 0 {
			s.Severity = m.Severities[0]
		}
		if (t.OfServer() || len(m.InstanceIDs) > 0 && t != ScheduleMissed) && m.Matches(s) {
			return true
		}
	}
	return false
}
