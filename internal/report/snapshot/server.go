package snapshot

import "time"

// Server has what is known of a scorecard's server beside its checks and measurements.
type Server struct {
	Role string `json:"role"` // in replication, as the newest state of it has it; empty: not known
	// Before is the size that its databases had; nil: no earlier size is known.
	Before *SizeBefore `json:"before,omitempty"`
	// Backup is its last backup; nil: none is known.
	Backup *LastBackup `json:"backup,omitempty"`
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
