package snapshot

import (
	"strings"
	"time"

	"muster/internal/report/snapshot/day"
)

// Server has what is known of a scorecard's server beside its checks and measurements.
type Server struct {
	Role string `json:"role"` // in replication, as the newest state of it has it; empty: not known
	// Before is the size that its databases had; nil: no earlier size is known.
	Before *SizeBefore `json:"before,omitempty"`
	// Backup is its last backup; nil: none is known.
	Backup *LastBackup `json:"backup,omitempty"`
	// Backups are those of its databases against their RPO; nil: no source tells of any.
	Backups *Backups `json:"backups,omitempty"`
	// Replication is how it stands; nil: the server does not replicate, or that is not known.
	Replication *Replication `json:"replication,omitempty"`
	// Room is what is full first: a volume or a tablespace, without any date the fullest one; nil: none is measured.
	Room *day.Fill `json:"room,omitempty"`
	// Undated is what is nearly full beside it without a date; nil: nothing is.
	Undated *day.Fill `json:"undated,omitempty"`
}

// Backups counts databases, or the whole server as one, by how their backups stood at the instant of the document.
type Backups struct {
	RPOSeconds int64       `json:"rpoSeconds"`
	Late       int         `json:"late"` // without a backup, or with one that is older than the RPO
	InTime     int         `json:"inTime"`
	Unknown    int         `json:"unknown"`
	Worst      *day.Backup `json:"worst,omitempty"` // of those that are late
}

// Words say in a clause how they stand.
func (b *Backups) Words() string {
	rpo := day.Objective(b.RPOSeconds)
	switch {
	case b.Worst != nil:
		late := day.LateBackup(*b.Worst)
		return strings.ToLower(late[:1]) + late[1:] + ", RPO " + rpo
	case b.Unknown > 0:
		return "the age of backups of " + day.Count(b.Unknown, "database", "databases") + " is not known"
	}
	return "the backups are within the RPO of " + rpo
}

// Replication is what is wrong with it. What a standby that Muster monitors does not follow is said of that one alone.
type Replication struct {
	Broken int    `json:"broken"` // the server, standbys and subscriptions that do not follow
	First  string `json:"first"`  // one of them; empty: the server itself
	Why    string `json:"why"`
	// LagSeconds is that of the server, or of the standby Laggard of it; nil: not known.
	LagSeconds *float64 `json:"lagSeconds,omitempty"`
	Laggard    string   `json:"laggard,omitempty"`
}

// SizeBefore compares the databases whose size is known now and was known then.
type SizeBefore struct {
	At     time.Time `json:"at"`
	Change int64     `json:"change"` // in bytes, since then
}

// LastBackup is the newest backup that can be restored by itself. If databases are backed up one by one, it is that of
// the database whose newest one is the oldest.
type LastBackup struct {
	FinishedAt time.Time `json:"finishedAt"`
	Databases  int       `json:"databases"` // that have one; 0: it is of the whole server
}
