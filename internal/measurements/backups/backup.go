package backups

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/printable"
)

// Kind is what a backup contains.
type Kind string

// The kinds.
const (
	Full         Kind = "full"
	Differential Kind = "differential" // what changed since a full one, or since the one before
	Log          Kind = "log"          // of transactions: SQL Server, Oracle
	WAL          Kind = "wal"          // archived, of PostgreSQL
	Base         Kind = "base"         // of a whole PostgreSQL server
)

// Kinds returns every kind.
func Kinds() []Kind { return []Kind{Full, Base, Differential, Log, WAL} }

// Whole is whether a backup can be restored without another one.
func (k Kind) Whole() bool { return k == Full || k == Base }

// Source is who says which backups there are.
type Source string

// The sources.
const (
	MSDB       Source = "msdb"     // SQL Server's own history
	RMAN       Source = "rman"     // Oracle's views of RMAN
	Archiver   Source = "archiver" // PostgreSQL's
	PgBackRest Source = "pgbackrest"
	Barman     Source = "barman"
	WALG       Source = "wal-g"
	Feed       Source = "feed" // POST /ingest/v1/backups
)

// Sources returns every source.
func Sources() []Source { return []Source{MSDB, RMAN, Archiver, PgBackRest, Barman, WALG, Feed} }

// Condition is how the backups of a source go on.
type Condition string

// The conditions, from the best to the worst.
const (
	Works   Condition = "works"
	Off     Condition = "off"     // nobody asked for backups
	Unknown Condition = "unknown" // it cannot be read
	Idle    Condition = "idle"    // switched on, and nothing comes of it
	Failing Condition = "failing"
	Refused Condition = "refused" // it tells of another server
)

// Conditions returns every condition.
func Conditions() []Condition { return []Condition{Works, Off, Unknown, Idle, Failing, Refused} }

// Bounds of a Look.
const (
	MaxBackups   = 10_000
	MaxDatabases = 10_000
	maxText      = 300
)

// Backup is one that has ended well.
type Backup struct {
	Database   uuid.UUID  `json:"-"`                  // zero: the whole server
	Name       string     `json:"database,omitempty"` // of the database, as its source calls it
	Kind       Kind       `json:"kind"`
	StartedAt  *time.Time `json:"startedAt,omitempty"`
	FinishedAt time.Time  `json:"finishedAt"`
	SizeBytes  *int64     `json:"sizeBytes,omitempty"`
	Tool       string     `json:"tool,omitempty"`
}

// Database is one of which a source knows every backup.
type Database struct {
	ID   uuid.UUID `json:"id,omitzero"` // zero: the whole server
	Name string    `json:"database,omitempty"`
	// Since is from when on the source would know a backup: the database was created then, or the source
	// was not asked for anything earlier.
	Since time.Time `json:"since"`
	NoLog bool      `json:"noLog,omitempty"` // it has no backups of its log (simple recovery, NOARCHIVELOG)
}

// Look is what a source says at a time.
type Look struct {
	Instance  uuid.UUID `json:"-"`
	At        time.Time `json:"-"`
	Source    Source    `json:"source"`
	Condition Condition `json:"condition"`
	Why       string    `json:"why,omitempty"`    // in a sentence, unless it works
	Denied    string    `json:"denied,omitempty"` // the grant without which it cannot be read
	Backups   []Backup  `json:"-"`
	// Complete are the databases of which the source knows every backup.
	Complete []Database `json:"complete,omitempty"`
}

// Resolve puts in the ids of databases by their names, and drops what is of a database without one.
// What has no name is of the whole server.
func (l *Look) Resolve(ids map[string]uuid.UUID) {
	known := func(name string) (uuid.UUID, bool) {
		id, ok := ids[name]
		return id, ok || name == ""
	}
	var backups []Backup
	for _, b := range l.Backups {
		if id, ok := known(b.Name); ok {
			b.Database = id
			backups = append(backups, b)
		}
	}
	var complete []Database
	for _, d := range l.Complete {
		if id, ok := known(d.Name); ok {
			d.ID = id
			complete = append(complete, d)
		}
	}
	l.Backups, l.Complete = backups, complete
}

// Fit makes a Look keep to the bounds, with clean and short texts. Backups that are none are dropped:
// of another kind, of the future (latest), or finished before they began.
func (l Look) Fit(latest time.Time) Look {
	l.Why, l.Denied = clean(l.Why), clean(l.Denied)
	if !slices.Contains(Conditions(), l.Condition) {
		l.Condition = Unknown
	}
	var backups []Backup
	for _, b := range l.Backups {
		if b.fits(latest) && len(backups) < MaxBackups {
			b.Tool = clean(b.Tool)
			backups = append(backups, b)
		}
	}
	l.Backups = backups
	l.Complete = l.Complete[:min(len(l.Complete), MaxDatabases)]
	return l
}

func (b *Backup) fits(latest time.Time) bool {
	began := b.StartedAt == nil || !b.StartedAt.After(b.FinishedAt)
	size := b.SizeBytes == nil || *b.SizeBytes >= 0
	return slices.Contains(Kinds(), b.Kind) && !b.FinishedAt.After(latest) && b.FinishedAt.Year() >= 1970 && began && size
}

func clean(text string) string {
	return printable.Cut(printable.Clean(strings.ReplaceAll(text, "\x00", "")), maxText)
}
