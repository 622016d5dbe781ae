package fleet

import (
	"time"

	"github.com/google/uuid"
)

// Stream types in the fleet log.
const (
	InstanceStream = "instance"
	DatabaseStream = "database"
	// AssessmentStream is what assessments of one instance came to; AssessmentsOf is its id.
	AssessmentStream = "assessment"
)

// Engine is a database engine. It is an open set: an unknown one is refused on
// the way in, but readers tolerate it.
type Engine string

// The engines known.
const (
	PostgreSQL Engine = "postgresql"
	SQLServer  Engine = "sqlserver"
	Oracle     Engine = "oracle"
	MongoDB    Engine = "mongodb"
	MySQL      Engine = "mysql"
)

// Engines returns every engine known.
func Engines() []Engine { return []Engine{PostgreSQL, SQLServer, Oracle, MongoDB, MySQL} }

// Event is a fact about an instance or a database.
type Event interface{ name() string }

// InstanceRegistered says that the instance is known from now on. CreatedAt is the registration
// time that lists and trends use.
type InstanceRegistered struct {
	ExternalID string    `json:"externalId"`
	Name       string    `json:"name"`
	Engine     Engine    `json:"engine"`
	Version    string    `json:"version"`
	Host       string    `json:"host"`
	Active     bool      `json:"active"`
	CreatedAt  time.Time `json:"createdAt"`
}

// InstanceChanged has the new name, engine, version, host and creation time, and the previous
// name and host if these changed.
type InstanceChanged struct {
	Name       string    `json:"name"`
	Engine     Engine    `json:"engine"`
	Version    string    `json:"version"`
	Host       string    `json:"host"`
	CreatedAt  time.Time `json:"createdAt"`
	FormerName string    `json:"formerName,omitempty"`
	FormerHost string    `json:"formerHost,omitempty"`
}

// InstanceActivated says that the instance is assessed and reported again.
type InstanceActivated struct{}

// InstanceDeactivated says that the instance is counted, but not assessed.
type InstanceDeactivated struct{}

// InstanceRemoved says that the instance is gone, with its databases; registered again it is a
// new instance with a new id.
type InstanceRemoved struct{}

// InstanceGrantsDeclined holds the grants that the organization will not give Muster's
// account from now on, as missing grants name them; none: it declines none any more.
type InstanceGrantsDeclined struct {
	Objects []string `json:"objects"`
}

// InstanceTagged has the tags with a new value, the keys of the removed ones, and who changed
// them; By is empty for a person.
type InstanceTagged struct {
	Set     map[string]string `json:"set,omitempty"`
	Removed []string          `json:"removed,omitempty"`
	By      TagSource         `json:"by,omitempty"`
}

// DatabaseRegistered says that the database is known from now on.
type DatabaseRegistered struct {
	InstanceID uuid.UUID `json:"instanceId"`
	ExternalID string    `json:"externalId"`
	Name       string    `json:"name"`
	CreatedAt  time.Time `json:"createdAt"`
}

// DatabaseChanged holds name or creation time as they are from now on.
type DatabaseChanged struct {
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
}

// DatabaseRemoved says that the database is gone.
type DatabaseRemoved struct {
	InstanceID uuid.UUID `json:"instanceId"`
}

func (InstanceRegistered) name() string  { return "instance.registered" }
func (InstanceChanged) name() string     { return "instance.changed" }
func (InstanceActivated) name() string   { return "instance.activated" }
func (InstanceDeactivated) name() string { return "instance.deactivated" }
func (InstanceRemoved) name() string     { return "instance.removed" }
func (DatabaseRegistered) name() string  { return "database.registered" }
func (DatabaseChanged) name() string     { return "database.changed" }
func (DatabaseRemoved) name() string     { return "database.removed" }
func (InstanceAssessed) name() string    { return "instance.assessed" }

func (InstanceGrantsDeclined) name() string { return "instance.grants_declined" }
func (InstanceTagged) name() string         { return "instance.tagged" }

// Events returns an empty value of every event of the fleet. All are at schema version 1. A
// name that was ever written stays.
func Events() []Event {
	return []Event{
		InstanceRegistered{}, InstanceChanged{}, InstanceActivated{}, InstanceDeactivated{}, InstanceRemoved{},
		DatabaseRegistered{}, DatabaseChanged{}, DatabaseRemoved{}, InstanceAssessed{}, InstanceGrantsDeclined{}, InstanceTagged{}, AssessmentKept{},
	}
}

// Name returns the wire name of an event; it is empty for none.
func Name(e Event) string {
	if e == nil {
		return ""
	}
	return e.name()
}
