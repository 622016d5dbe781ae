package fleetfile

import (
	"time"

	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/servers"
	"muster/internal/text/strictyaml"
)

// File is what a file declares about an organization. What it leaves out stays as it is.
type File struct {
	Settings   organization.ChangeSettings
	Instances  []Instance
	Exceptions []Exception
	Teams      []Team
	Channels   []Channel
	Rules      []Rule
	WatchRules []WatchRule
	Windows    []Window
	Objectives []Objective
	// Lists says which lists the file has at all: what a list that is there does not name
	// can be pruned, and a list that is not there says nothing.
	Lists struct{ Instances, Exceptions, Teams, Channels, Rules, Windows, Objectives bool }
}

// Instance is a server as the file declares it; nil is left as it is.
type Instance struct {
	Place
	ExternalID string
	Name       *string // of a new one: the external id
	Engine     fleet.Engine
	Host       *string // of a new one: that of the connection
	Active     *bool   // of a new one: true
	DSN        string  // resolved; empty: the file names none
	target     servers.Target
	Classify   string // empty: as it is, names at first
	// Separate registers a server that another instance leads to already.
	Separate *bool
	// Tags are all that people set; those of feeds stay. nil is left as it is.
	Tags map[string]string
}

func (i Instance) separate() bool { return i.Separate != nil && *i.Separate }

// Exception is an exception that is to be in force.
type Exception struct {
	Place
	CheckID   string
	Instance  string // external id; empty: all
	Database  string // as it is called on the server; empty: all
	ObjectRef string
	Reason    string
	Until     time.Time
}

// Place is where in the file something stands.
type Place struct {
	Line  int
	Field string // "instances[3]"
}

// fault is a fault at a member of what stands there.
func (p Place) fault(member, rule string) Fault {
	return Fault{Line: p.Line, Field: p.Field + "." + member, Rule: rule}
}

// Fault is one thing that is wrong with a file.
type Fault = strictyaml.Fault
