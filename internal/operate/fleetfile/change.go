package fleetfile

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/inventory"
	"muster/domain/organization"
	"muster/domain/printable"
	"muster/internal/servers"
)

// Action is what a change does.
type Action string

// The actions. What stays is listed with the reason, and is no change.
const (
	Add    Action = "add"
	Alter  Action = "change"
	Remove Action = "remove"
	Stay   Action = "stay"
)

// signs are what a printed line begins with.
var signs = map[Action]string{Add: "+", Alter: "~", Remove: "-", Stay: " "}

// Kinds of what changes.
const (
	KindSettings   = "settings"
	KindInstance   = "instance"
	KindTeam       = "team"
	KindChannel    = "channel"
	KindRule       = "rule"
	KindWatchRule  = "watch rule"
	KindWindow     = "maintenance window"
	KindObjectives = "objectives"
	KindException  = "exception"
)

// Change is one difference between the file and the organization, or what stays although
// the file is other.
type Change struct {
	Action      Action       `json:"action"`
	Kind        string       `json:"kind"`
	ExternalID  string       `json:"externalId,omitempty"` // of an instance
	Called      string       `json:"called,omitempty"`     // "pg-orders-01", "PG-S17 on pg-orders-01"
	About       string       `json:"about,omitempty"`      // "postgresql, muster@db01:5432"
	Differences []Difference `json:"differences,omitempty"`
	Why         string       `json:"why,omitempty"`     // of what stays
	Outcome     Outcome      `json:"outcome,omitempty"` // empty: nothing was tried
	Problem     *Problem     `json:"problem,omitempty"` // of what was not done

	task task
}

// Difference is what changes about one thing. Of a connection it shows user and host;
// what else is other about it is named, and never shown.
type Difference struct {
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Other is what differs where both show the same: password, database, TLS, parameters.
	Other []string `json:"other,omitempty"`
}

// Outcome is what came of a change.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"
	NotDone Outcome = "notDone"
)

// Problem says why a change was not applied, in a code of the API where it has one.
type Problem struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func (d Difference) String() string {
	if len(d.Other) > 0 {
		return d.Field + " " + d.After + " with another " + strings.Join(d.Other, ", another ")
	}
	return fmt.Sprintf("%s %s → %s", d.Field, d.Before, d.After)
}

// String is the change in one line.
func (c Change) String() string {
	text := signs[c.Action] + " " + c.Kind
	if c.Called != "" {
		text += " " + c.Called
	}
	if c.About != "" {
		text += " (" + c.About + ")"
	}
	var differences []string
	for _, d := range c.Differences {
		differences = append(differences, d.String())
	}
	if c.Why != "" {
		differences = append(differences, c.Why)
	}
	if len(differences) > 0 {
		text += ": " + strings.Join(differences, ", ")
	}
	return printable.Clean(text)
}

// task is what a change stands for; one of its parts is set.
type task struct {
	settings  *commands.ChangeOrganization
	instance  *instanceTask
	team      *teamTask
	channel   *channelTask
	rule      *ruleTask
	exception *exceptionTask

	watch      *organization.SetWatchRule
	window     *windowTask
	objectives *objectivesTask
}

// instanceTask adds, changes or removes an instance.
type instanceTask struct {
	id         uuid.UUID
	remove     bool
	declared   Instance
	change     inventory.Change // of one that is there
	connection bool             // takes the DSN that the file names
	classify   bool             // takes the mode that the file names
	was        string           // the DSN that was seen; empty: none
	is         servers.Identity // who answers at the DSN that the file names; empty: it was not reached
}

// exceptionTask puts an exception in force and ends those that it takes the place of.
type exceptionTask struct {
	declared *Exception // nil: only ends
	on       string     // external id of its instance; empty: all
	database *uuid.UUID
	granted  bool      // it is in force already
	asked    uuid.UUID // it is asked for already; uuid.Nil: not
	ends     []uuid.UUID
}

// Plan is all differences, in the order in which they are applied, and what stays.
type Plan struct {
	Changes []Change
	Stays   []Change
	ids     map[string]uuid.UUID // of the instances that are there, by external id

	teams, channels map[string]uuid.UUID // that are there, by name in lower case
}

// named is the external id of an instance that is there.
func (p *Plan) named(instance uuid.UUID) string {
	for externalID, id := range p.ids {
		if id == instance {
			return externalID
		}
	}
	return instance.String()
}

// Count is how many changes do something.
func (p *Plan) Count(a Action) (n int) {
	for _, c := range p.Changes {
		if c.Action == a {
			n++
		}
	}
	return n
}
