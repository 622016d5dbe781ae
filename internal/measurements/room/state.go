package room

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/printable"
)

// Kind is what has a size.
type Kind string

// The kinds.
const (
	Volume     Kind = "volume"
	Tablespace Kind = "tablespace"
	Database   Kind = "database"
)

// Kinds returns every kind.
func Kinds() []Kind { return []Kind{Volume, Tablespace, Database} }

// Bounds of a State.
const (
	MaxSizes     = 1000   // of each kind, the greatest
	MaxNamed     = 50     // sequences, ages and jobs, the worst of each
	MaxTables    = 70     // the greatest MaxNamed, and others with the most dead rows
	MaxDatabases = 1000   // of a server, that are considered
	MaxObjects   = 100000 // tables, and sequences, of a database that are considered
	maxName      = 200

	mostSentences = 10 // of Denied and Left
)

// Every is how often a server is looked at. A State that is older than three of these says nothing
// about now.
const Every = time.Hour

// Fresh is how old a State may be to say something about now.
const Fresh = 3 * Every

// JobsOf is how far back runs of jobs count that failed.
const JobsOf = 24 * time.Hour

// State is how a server is at a time. What is nil or empty is not known.
type State struct {
	Instance uuid.UUID    `json:"-"`
	Engine   fleet.Engine `json:"-"`
	At       time.Time    `json:"-"`

	Sizes     []Size     `json:"sizes,omitempty"`
	Ages      []Age      `json:"ages,omitempty"`
	Sequences []Sequence `json:"sequences,omitempty"`
	Tables    []Table    `json:"tables,omitempty"`
	Jobs      []Job      `json:"jobs,omitempty"`   // that failed in the last 24 hours, newest first
	Failed    *int       `json:"failed,omitempty"` // how many runs of jobs did; nil: the server does not tell
	Looked    int        `json:"looked,omitempty"` // databases whose tables and sequences are known
	Databases int        `json:"databases,omitempty"`
	Hidden    int        `json:"hidden,omitempty"` // sequences whose value the account may not read
	Denied    []string   `json:"denied,omitempty"` // grants without which something is missing
	Left      []string   `json:"left,omitempty"`   // what was left out, and why: sentences
}

// Sent is a State as an agent sends it (SampleBatch, openapi.yaml).
type Sent struct {
	Server string    `json:"instance"` // its external id
	At     time.Time `json:"at"`
	State
}

// Size is how much of something is used. Limit is 0 if there is none.
type Size struct {
	Kind  Kind    `json:"kind"`
	Name  string  `json:"name"`
	Used  float64 `json:"used"` // bytes
	Limit float64 `json:"limit,omitempty"`
}

// Called is what people call something that has a size: "tablespace ERP.USERS". Some names say it themselves.
func Called(kind Kind, name string) string {
	for _, noun := range []string{"filegroup ", "log of ", "disk group ", "recovery area "} {
		if strings.HasPrefix(name, noun) {
			return name
		}
	}
	return string(kind) + " " + name
}

// Age is how many ids lie between now and the oldest one that is needed in a database.
type Age struct {
	Database     string `json:"database"`
	Transactions int64  `json:"transactions"`
	Multixacts   int64  `json:"multixacts"`
	FreezeAt     int64  `json:"freezeAt,omitempty"` // from where on autovacuum freezes, even if it is off
}

// WrapAt is how many ids there are before they wrap around.
const WrapAt = 1 << 31

// Share is the share of ids that is used, of the kind of which more is.
func (a Age) Share() float64 { return float64(max(a.Transactions, a.Multixacts)) / WrapAt }

// Sequence is a sequence or an identity column, and how near it is to its end.
type Sequence struct {
	Database string  `json:"database,omitempty"`
	Name     string  `json:"name"`             // with its schema
	Column   string  `json:"column,omitempty"` // that takes its values
	Type     string  `json:"type"`             // that ends it: the sequence's, or the column's
	Last     float64 `json:"last"`
	Max      float64 `json:"max"`
	Used     float64 `json:"used"` // percent
}

// Table is how a table is looked after.
type Table struct {
	Database    string     `json:"database,omitempty"`
	Name        string     `json:"name"` // with its schema
	Bytes       int64      `json:"bytes"`
	Live        *int64     `json:"live,omitempty"` // rows
	Dead        *int64     `json:"dead,omitempty"`
	Changed     *int64     `json:"changed,omitempty"` // rows since the last analyze
	Vacuumed    *time.Time `json:"vacuumed,omitempty"`
	Autovacuum  *time.Time `json:"autovacuumed,omitempty"`
	Analyzed    *time.Time `json:"analyzed,omitempty"`
	Autoanalyze *time.Time `json:"autoanalyzed,omitempty"`
	Due         bool       `json:"due,omitempty"` // it has more dead rows than autovacuum waits for
	Off         bool       `json:"off,omitempty"` // autovacuum is switched off for it
	Bloat       *int64     `json:"bloat,omitempty"`
	Method      string     `json:"method,omitempty"` // of the estimate of its bloat
}

// The methods of estimates of bloat.
const (
	DeadRowShare = "deadRowShare" // the share of dead rows, of the table without its indexes
	UnusedPages  = "unusedPages"  // reserved pages without data
)

// Job is a run of a job of the server's scheduler that failed.
type Job struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"` // when it began
	Step string    `json:"step,omitempty"`
	Why  string    `json:"why,omitempty"` // in the server's words
}

// Fit is a State as it is kept: with legible names, and no more of anything than may be.
func (s State) Fit() State {
	s.Sizes = fitted(s.Sizes, MaxSizes*len(Kinds()), func(a, b Size) int { return cmp.Compare(b.Used, a.Used) }, func(x *Size) bool {
		return clean(&x.Name) && slices.Contains(Kinds(), x.Kind) && x.Used >= 0 && x.Limit >= 0
	})
	s.Ages = fitted(s.Ages, MaxNamed, func(a, b Age) int { return cmp.Compare(b.Share(), a.Share()) }, func(x *Age) bool { return clean(&x.Database) })
	s.Sequences = fitted(s.Sequences, MaxNamed, func(a, b Sequence) int { return cmp.Compare(b.Used, a.Used) }, func(x *Sequence) bool {
		clean(&x.Database)
		clean(&x.Column)
		clean(&x.Type)
		return clean(&x.Name)
	})
	s.Tables = fitted(s.Tables, MaxTables, func(a, b Table) int { return cmp.Compare(b.Bytes, a.Bytes) }, func(x *Table) bool {
		clean(&x.Database)
		clean(&x.Method)
		return clean(&x.Name)
	})
	s.Jobs = fitted(s.Jobs, MaxNamed, func(a, b Job) int { return b.At.Compare(a.At) }, func(x *Job) bool {
		clean(&x.Step)
		clean(&x.Why)
		return clean(&x.Name)
	})
	s.Denied, s.Left = sentences(s.Denied), sentences(s.Left)
	return s
}

// sentences are the first of those that are legible.
func sentences(all []string) (kept []string) {
	for _, one := range all[:min(len(all), mostSentences)] {
		if clean(&one) {
			kept = append(kept, one)
		}
	}
	return kept
}

// Worst are the tables to name: the greatest, and others with the most dead rows.
func Worst(all []Table) []Table {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Table) int { return cmp.Compare(b.Bytes, a.Bytes) })
	if len(all) <= MaxTables {
		return all
	}
	rest := all[MaxNamed:]
	dead := func(t Table) int64 {
		if t.Dead == nil {
			return 0
		}
		return *t.Dead
	}
	slices.SortStableFunc(rest, func(a, b Table) int { return cmp.Compare(dead(b), dead(a)) })
	return all[:MaxTables]
}

func fitted[T any](all []T, most int, order func(a, b T) int, fit func(*T) bool) (kept []T) {
	for _, one := range all {
		if fit(&one) {
			kept = append(kept, one)
		}
	}
	slices.SortStableFunc(kept, order)
	return kept[:min(len(kept), most)]
}

// clean makes a text legible, and says whether anything is left of it.
func clean(text *string) bool {
	*text = printable.Cut(printable.Clean(strings.ReplaceAll(*text, "\x00", "")), maxName)
	return *text != ""
}
