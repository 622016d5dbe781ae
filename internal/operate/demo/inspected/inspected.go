package inspected

import (
	_ "embed"
	"fmt"
	"strconv"
	"sync"
	"time"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/text/strictyaml"
)

//go:embed assessments.yaml
var text []byte

// Server is what agents found on one server, over time (assessments.yaml).
type Server struct {
	Name, Edition string
	Fails         []failing
	Blind         []string // checks that the agent could not run
	Accounts      []account
	Settings      []setting
	Databases     []stored
}

// span is when something is so, in days before the organization was made.
type span struct{ Since, Gone *int }

func (s span) holds(ago int) bool {
	return (s.Since == nil || ago <= *s.Since) && (s.Gone == nil || ago > *s.Gone)
}

// failing is a check that fails for a time.
type failing struct {
	span     `yaml:",inline"`
	Check    string
	In       string // database
	Evidence string
	Measured string
	Objects  []string
}

type account struct {
	span       `yaml:",inline"`
	Name       string
	Login      *bool // left out: it can
	Superuser  bool
	Privileges []string
	MemberOf   []string `yaml:"memberOf"`
	Seen       *int     // days before the assessment; left out: never
	Expires    *int     // days after the organization was made
}

// setting is one that was another one until some days before.
type setting struct {
	Name, Value, Unit string
	Was               string
	Since             *int
}

type stored struct {
	Name      string
	GB, Grows float64 // grows by so much a day
	Encrypted *bool
	Tables    []struct {
		Schema, Table string
		Rows          int64
		Readers       []string // nil: the agent did not look
		Columns       map[string]string
	}
}

// bytes is how large it is so many days after the organization was made.
func (db stored) bytes(days float64) float64 { return max(0, db.GB+db.Grows*days) * 1e9 }

var read = sync.OnceValue(func() (all struct{ Servers []Server }) {
	if err := strictyaml.Decode(text, &all); err != nil { // the tests read it
		panic(fmt.Errorf("assessments.yaml: %w", err))
	}
	return all
})

// Servers are all that agents look at.
func Servers() []Server { return read().Servers }

// Of is what agents found on the server of a name; empty: none looks at it.
func Of(name string) (in Server) {
	for _, one := range Servers() {
		if one.Name == name {
			in = one
		}
	}
	return in
}

// Bytes is how large a database is at a time.
func (in Server) Bytes(database string, made, at time.Time) float64 {
	for _, db := range in.Databases {
		if db.Name == database {
			return db.bytes(at.Sub(made).Hours() / 24)
		}
	}
	return 0
}

// defaultConnections is PostgreSQL's max_connections where nobody has set it.
const defaultConnections = 100

// MaxConnections is how many sessions a PostgreSQL server admits, by its settings.
func (in Server) MaxConnections() int {
	for _, s := range in.Settings {
		if limit, err := strconv.Atoi(s.Value); err == nil && s.Name == "max_connections" {
			return limit
		}
	}
	return defaultConnections
}

// On is the server that an agent looks at.
type On struct {
	Engine     fleet.Engine
	Version    string
	LastBackup time.Time
}

// looksAt is when agents look at servers, on a day. A demo may be made before that.
const looksAt = 5*time.Hour + 10*time.Minute

// At is when the assessment of so many days before the organization was made took
// place. That of its day is of the moment.
func At(made time.Time, ago int) time.Time {
	if ago == 0 {
		return made.UTC().Truncate(time.Second)
	}
	return timegrid.Day.Floor(made).AddDate(0, 0, -ago).Add(looksAt)
}
