package alert

import (
	"time"

	"github.com/google/uuid"
)

// MaxMute is how far ahead a mute may end: a year, as an exception does, so that each is
// looked at again. One without an end is for good.
const MaxMute = 366 * 24 * time.Hour

// MaxNote is how many characters a note may have.
const MaxNote = 2000

// StreamType is the type of an alert's stream, which is in the fleet's log.
const StreamType = "alert"

// Severity is how bad it is, as the sender says.
type Severity string

// The severities.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// Severities returns every severity, the mildest first.
func Severities() []Severity { return []Severity{Info, Warning, Critical} }

// Rule is what raised an alert, where that is known. Threshold and Unit are
// absent where the rule is not Muster's own.
type Rule struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Threshold *float64 `json:"threshold,omitempty"`
	Unit      string   `json:"unit,omitempty"`
}

// Details are what a sender says about an alert. InstanceID is the alert's own server or its
// database's server; uuid.Nil if the alert belongs to the organization only.
type Details struct {
	Title       string    `json:"title"`
	Description string    `json:"description,omitempty"`
	Severity    Severity  `json:"severity"`
	Rule        *Rule     `json:"rule,omitempty"`
	InstanceID  uuid.UUID `json:"instanceId,omitzero"`
	DatabaseID  uuid.UUID `json:"databaseId,omitzero"`
	// OtherInstanceIDs are further servers that it concerns, as those that are on one host.
	OtherInstanceIDs []uuid.UUID `json:"otherInstanceIds,omitempty"`
	CreatedAt        time.Time   `json:"createdAt"`
	FirstTriggeredAt time.Time   `json:"firstTriggeredAt"`
	LastTriggeredAt  time.Time   `json:"lastTriggeredAt"`
}

// Label is the name that an alert with these details at its raise keeps, whatever its title
// becomes.
func (d Details) Label() string {
	if d.Rule != nil && d.Rule.Name != "" {
		return d.Rule.Name
	}
	return d.Title
}

// Blocking is who waited for whom when an alert about a wait for a lock was raised. It is what the
// alert speaks of, so what comes later does not change it. It names nobody: whose sessions they were
// (Person) is kept beside the log, and erased after the organization's inputsRetentionDays.
type Blocking struct {
	EpisodeID uuid.UUID        `json:"episodeId"`
	At        time.Time        `json:"at"`
	Sessions  []BlockedSession `json:"sessions"`          // at most MaxBlockedSessions
	Omitted   int              `json:"omitted,omitempty"` // further sessions that waited
	// People is the PeopleDigest of those who are kept beside the log; empty: nobody is.
	People string `json:"people,omitempty"`
}

// MaxBlockedSessions is how many sessions of a tree stay in the log.
const MaxBlockedSessions = 100

// BlockedSession is a session that waits for others, or that others wait for.
type BlockedSession struct {
	Session     string     `json:"session"` // the server's own id
	Kind        string     `json:"kind"`
	Began       *time.Time `json:"began,omitempty"` // by the server's clock
	Database    string     `json:"database,omitempty"`
	State       string     `json:"state,omitempty"`
	Idle        bool       `json:"idle,omitempty"` // in a transaction
	StatementID string     `json:"statementId,omitempty"`
	Transaction *time.Time `json:"transaction,omitempty"`
	Changed     *time.Time `json:"changed,omitempty"` // its state
	Waits       *time.Time `json:"waits,omitempty"`
	For         []string   `json:"for,omitempty"`
	Lock        string     `json:"lock,omitempty"`
	Mode        string     `json:"mode,omitempty"`
	Object      string     `json:"object,omitempty"`
	Advisory    bool       `json:"advisory,omitempty"`
}

// Window is the maintenance window that an alert was raised in: somebody works on its servers, so
// it is told to nobody before the window ends. Until is when the window ends, as it was announced then.
type Window struct {
	ID    uuid.UUID `json:"id"`
	Until time.Time `json:"until"`
}

// Event is a fact about an alert.
type Event interface{ name() string }

// Raised says that an alert began. Key is its sender's name for it, unique in the organization
// among open alerts. After is the end of the previous alert that a machine raised under this
// key: older messages belong to that alert. Limited says that an ingest token with a limit to
// instances raised it.
type Raised struct {
	Key     string    `json:"key"`
	After   time.Time `json:"after,omitzero"`
	Limited bool      `json:"limited,omitempty"`
	// Blocking is absent in alerts about anything else, and in those of earlier releases.
	Blocking *Blocking `json:"blocking,omitempty"`
	// Maintenance is the window that all of its servers were in; nil: at least one was in none.
	Maintenance *Window `json:"maintenance,omitempty"`
	Details
}

// Changed holds what the sender says of the alert from now on.
type Changed struct {
	Details
}

// TriggeredAgain says that the alert had stopped firing and fires again while
// it is still open. FirstTriggeredAt is as it is from now on. StartedAt is since
// when it fires again; zero: since FirstTriggeredAt.
type TriggeredAgain struct {
	FirstTriggeredAt time.Time `json:"firstTriggeredAt"`
	LastTriggeredAt  time.Time `json:"lastTriggeredAt"`
	StartedAt        time.Time `json:"startedAt,omitzero"`
}

// Since is since when it fires again.
func (e TriggeredAgain) Since() time.Time {
	if e.StartedAt.IsZero() {
		return e.FirstTriggeredAt
	}
	return e.StartedAt
}

// StillFiring says until when the alert was seen firing, once an hour; in
// between the time moves beside the log.
type StillFiring struct {
	LastTriggeredAt time.Time `json:"lastTriggeredAt"`
}

// Acknowledged says that a person knows about the alert.
type Acknowledged struct{}

// Muted says that the alert counts nowhere.
type Muted struct{}

// MutedUntil says that the alert counts nowhere before a time.
type MutedUntil struct {
	Until time.Time `json:"until"`
}

// Unmuted says that it counts again.
type Unmuted struct{}

// MuteEnded says that it counts again because the time of its mute has come.
type MuteEnded struct {
	Until time.Time `json:"until"`
}

// Noted is what a person wrote who did what the event before it says, or why Muster did it.
type Noted struct {
	Note string `json:"note"`
}

// Resolved says that a person closed the alert. LastTriggeredAt is final. StartedAt is the
// latest start that a machine named while it was open: a message with that start still belongs
// to this alert.
type Resolved struct {
	ResolvedAt      time.Time `json:"resolvedAt"`
	LastTriggeredAt time.Time `json:"lastTriggeredAt"`
	StartedAt       time.Time `json:"startedAt,omitzero"`
}

// AutoResolved says that the condition of the alert is over. LastTriggeredAt and StartedAt are
// as in Resolved. Lapsed: no sender reported the end. The announced end passed without a new
// message, and the condition may still hold.
type AutoResolved struct {
	ResolvedAt      time.Time `json:"resolvedAt"`
	LastTriggeredAt time.Time `json:"lastTriggeredAt"`
	StartedAt       time.Time `json:"startedAt,omitzero"`
	Lapsed          bool      `json:"lapsed,omitempty"`
}

func (Raised) name() string         { return "alert.raised" }
func (Changed) name() string        { return "alert.changed" }
func (TriggeredAgain) name() string { return "alert.triggered_again" }
func (StillFiring) name() string    { return "alert.still_firing" }
func (Acknowledged) name() string   { return "alert.acknowledged" }
func (Muted) name() string          { return "alert.muted" }
func (MutedUntil) name() string     { return "alert.muted_until" }
func (Unmuted) name() string        { return "alert.unmuted" }
func (MuteEnded) name() string      { return "alert.mute_ended" }
func (Noted) name() string          { return "alert.noted" }
func (Resolved) name() string       { return "alert.resolved" }
func (AutoResolved) name() string   { return "alert.auto_resolved" }

// Events returns an empty value of every event of an alert. All are at schema version 1. A
// name that was ever written stays.
func Events() []Event {
	return []Event{
		Raised{}, Changed{}, TriggeredAgain{}, StillFiring{}, Acknowledged{}, Muted{}, MutedUntil{}, Unmuted{}, MuteEnded{}, Noted{},
		Resolved{}, AutoResolved{},
	}
}

// Name returns the wire name of an event; it is empty for none.
func Name(e Event) string {
	if e == nil {
		return ""
	}
	return e.name()
}
