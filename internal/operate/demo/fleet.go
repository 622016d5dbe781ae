package demo

import (
	"time"

	"muster/commands/inventory"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/timegrid"
)

// server is one of the servers that exist on paper only (servers.yaml): what a feed
// would say of it, what it has to do, and the machine that it does it on.
type server struct {
	Name      string
	Engine    fleet.Engine
	Version   string
	Host      string
	Inactive  bool
	Tags      map[string]string
	Days      int // since it was registered, before the organization was made
	Databases []string

	Rhythm  rhythm
	Pool    float64    // sessions that the applications of one database keep open
	Calls   float64    // statements a minute in one database when it is busiest
	CPU     [2]float64 // percent, when nothing is to be done and at the busiest
	Memory  float64    // percent
	RAM     float64    // GiB
	Volumes []volume   // none: nobody measures it
}

// volume is a volume that fills until somebody cleans it up.
type volume struct {
	Mount  string
	Low    float64 // percent, when it has been cleaned up
	Grows  float64 // percent a day
	Every  int     // days from one clean-up to the next
	Before int     // how many days before the organization was made was the last one
}

var paper = reading[struct {
	Rhythms []any // anchors, which servers name
	Servers []server
}]("servers.yaml", serversYAML)

// servers are those that exist on paper only.
func servers() []server { return paper().Servers }

// items is the demo fleet as a feed would send it at now: a pure function of now's day.
func items(now time.Time) []inventory.Item {
	today := timegrid.Day.Floor(now)
	out := make([]inventory.Item, len(servers()))
	for i, s := range servers() {
		created := today.AddDate(0, 0, -s.Days).Add(8 * time.Hour)
		active := !s.Inactive
		item := inventory.Item{
			ExternalID: s.Name, Name: s.Name, Engine: s.Engine,
			Version: &s.Version, Host: &s.Host, Active: &active, CreatedAt: created, Tags: &s.Tags,
		}
		for k, name := range s.Databases {
			item.Databases = append(item.Databases, inventory.Database{
				ExternalID: name, Name: name, CreatedAt: created.Add(time.Duration(5*(k+1)) * time.Minute),
			})
		}
		out[i] = item
	}
	return out
}

// The places of the members in people who do something.
const (
	ana = iota
	jonas
	mei
	samuel
	tomas
	dana
)

// person is one of the demo organization's members.
type person struct {
	name, email string
	role        organization.Role
	// joins says that they accept their invitation: a schedule requests nothing in the
	// name of somebody who has not. Nobody knows their password.
	joins bool
}

// people are the members besides whoever signs in first. None who administers joins: that
// is left to whoever looks at the demo.
var people = []person{
	{"Ana Ruiz", "ana.ruiz@demo.example", organization.Member, true},
	{"Jonas Weber", "jonas.weber@demo.example", organization.Admin, false},
	{"Mei Tanaka", "mei.tanaka@demo.example", organization.Auditor, false},
	{"Samuel Okoye", "samuel.okoye@demo.example", organization.Viewer, false},
	{"Tomás Pereira", "tomas.pereira@demo.example", organization.Member, true},
	{"Dana Berg", "dana.berg@demo.example", organization.Team, false},
}
