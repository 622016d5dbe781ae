package exception

import (
	"regexp"
	"time"

	"github.com/google/uuid"
)

// StreamType is the stream type in the organization log; the stream id is the
// exception's id.
const StreamType = "exception"

// MaxAhead is how far ahead an exception may reach: a year, so that each is
// looked at again.
const MaxAhead = 366 * 24 * time.Hour

// Bounds of the texts, in characters.
const (
	MaxReason = 2000
	MaxObject = 500
)

// riskID is the form of the id of a risk in the register of a Data Inventory.
var riskID = regexp.MustCompile(`^R-[A-Z2-7]{7}$`)

// IsRisk says whether what a CheckID names is a risk of the register, and no check.
func IsRisk(checkID string) bool { return riskID.MatchString(checkID) }

// Subject is the findings that an exception is about, or a risk of the register. What is not
// named stands for all of them; a database is named with its instance. A risk is named by its
// id in the place of a check, and with the instance of its table.
type Subject struct {
	CheckID    string     `json:"checkId"`
	InstanceID *uuid.UUID `json:"instanceId"`
	DatabaseID *uuid.UUID `json:"databaseId"`
	ObjectRef  string     `json:"objectRef"` // as reports name the object; empty: all
}

// Event is a fact in the life of an exception. Its wire name is its Name.
type Event interface{ name() string }

// Requested says that a member asked.
type Requested struct {
	Subject
	Reason string    `json:"reason"`
	Until  time.Time `json:"until"` // exclusive
}

// Granted says that an administrator agreed: from now on, until it lapses or is
// revoked, its findings are accepted.
type Granted struct{}

// Revoked says that an administrator refused it, or took it back.
type Revoked struct{}

func (Requested) name() string { return "exception.requested" }
func (Granted) name() string   { return "exception.granted" }
func (Revoked) name() string   { return "exception.revoked" }

// Events returns an empty value of every event of an exception. All are at schema version 1. A
// name that was ever written stays.
func Events() []Event {
	return []Event{Requested{}, Granted{}, Revoked{}}
}

// Name returns the wire name of an event; it is empty for none.
func Name(e Event) string {
	if e == nil {
		return ""
	}
	return e.name()
}
