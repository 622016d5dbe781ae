package schedule

import (
	"time"

	"github.com/google/uuid"
)

// StreamType is the stream type of schedules in the organization log; the stream id is
// the schedule's id.
const StreamType = "schedule"

// Event is a fact in the life of a schedule. Its wire name is its Name.
type Event interface{ name() string }

// Created says that a member wants a report again and again.
type Created struct {
	OwnerID uuid.UUID `json:"ownerId"`
	Terms
}

// Changed says what the schedule is from now on.
type Changed struct{ Terms }

// TakenOver says whose schedule it is from now on.
type TakenOver struct {
	OwnerID uuid.UUID `json:"ownerId"`
}

// Removed says that it is due no more.
type Removed struct{}

// Requested says that the report of a due time was requested.
type Requested struct {
	DueAt    time.Time `json:"dueAt"`
	ReportID uuid.UUID `json:"reportId"`        // the first one, where each team has its own
	Teams    []OfTeam  `json:"teams,omitempty"` // in their order
}

// OfTeam is what became of the report of one team.
type OfTeam struct {
	TeamID   uuid.UUID  `json:"teamId"`
	ReportID *uuid.UUID `json:"reportId,omitempty"`
	Why      string     `json:"why,omitempty"` // a sentence: why it has none
}

// Unchanged says that there was nothing to report at a due time: the findings are those of an
// earlier report.
type Unchanged struct {
	DueAt    time.Time `json:"dueAt"`
	ReportID uuid.UUID `json:"reportId"` // the earlier one
}

// Missed says that no report of a due time was requested, and none will be.
type Missed struct {
	DueAt  time.Time `json:"dueAt"`
	Reason string    `json:"reason"`
	Detail string    `json:"detail,omitempty"` // of what was refused: a sentence
}

// Paused says that a due time came while the schedule had no owner who may request reports.
type Paused struct {
	DueAt  time.Time `json:"dueAt"`
	Reason string    `json:"reason"`
}

// Reasons of Missed.
const (
	ReasonAway    = "away"     // no process looked before the next was due
	ReasonNextDue = "next_due" // it waited, for room or for what failed, until the next was due
	ReasonRefused = "refused"  // such a report cannot be requested any more
	ReasonChanged = "changed"  // it waited when the schedule was changed or removed
)

// Reasons of Paused.
const (
	ReasonDisabled   = "owner_disabled"
	ReasonErased     = "owner_erased"
	ReasonNotAllowed = "owner_not_allowed" // the owner's role may not request reports
)

func (Created) name() string   { return "schedule.created" }
func (Changed) name() string   { return "schedule.changed" }
func (TakenOver) name() string { return "schedule.taken_over" }
func (Removed) name() string   { return "schedule.removed" }
func (Requested) name() string { return "schedule.requested" }
func (Unchanged) name() string { return "schedule.unchanged" }
func (Missed) name() string    { return "schedule.missed" }
func (Paused) name() string    { return "schedule.paused" }

// Events returns an empty value of every event of a schedule. All are at schema version 1.
// A name that was ever written stays.
func Events() []Event {
	return []Event{Created{}, Changed{}, TakenOver{}, Removed{}, Requested{}, Unchanged{}, Missed{}, Paused{}}
}

// Name returns the wire name of an event; it is empty for none.
func Name(e Event) string {
	if e == nil {
		return ""
	}
	return e.name()
}

// Status is what became of a due time, spelt as on the wire.
type Status string

// The statuses of a run. Waiting is no fact: the due time has come and has none yet.
const (
	StatusWaiting   Status = "waiting"
	StatusRequested Status = "requested"
	StatusUnchanged Status = "unchanged"
	StatusMissed    Status = "missed"
	StatusPaused    Status = "paused"
)

// Run is what became of a due time.
type Run struct {
	DueAt    time.Time
	Status   Status
	ReportID uuid.UUID // of Requested, and the earlier one of Unchanged
	Reason   string    // of Missed and Paused
}

// RunOf is the run that an event records; ok is false if it records none.
func RunOf(e Event) (run Run, ok bool) {
	switch e := e.(type) {
	case Requested:
		return Run{DueAt: e.DueAt, Status: StatusRequested, ReportID: e.ReportID}, true
	case Unchanged:
		return Run{DueAt: e.DueAt, Status: StatusUnchanged, ReportID: e.ReportID}, true
	case Missed:
		return Run{DueAt: e.DueAt, Status: StatusMissed, Reason: e.Reason}, true
	case Paused:
		return Run{DueAt: e.DueAt, Status: StatusPaused, Reason: e.Reason}, true
	}
	return Run{}, false
}
