package postgres

import (
	"fmt"
	"path/filepath"

	"muster/internal/postgres/cluster"
)

// InUseError says that a `muster serve` already runs on a data directory.
type InUseError struct {
	DataDir string
	PID     int // 0: not known
}

func (e *InUseError) Error() string {
	who := "another muster serve"
	if e.PID != 0 {
		who = fmt.Sprintf("another muster serve (process %d)", e.PID)
	}
	return fmt.Sprintf("%s runs on the data directory %s: stop it, or give this one its own with --data-dir", who, e.DataDir)
}

// ClusterVersionError says that the programs are missing that a cluster was
// made with: no other major version reads its files.
type ClusterVersionError struct {
	Dir     string
	DataDir string // Muster's; Dir may lie outside it
	Missing *cluster.NotInstalledError
}

func (e *ClusterVersionError) Error() string {
	aside := fmt.Sprintf("mv %s %s.old", e.DataDir, e.DataDir)
	if filepath.Dir(e.Dir) != e.DataDir {
		aside += fmt.Sprintf("; mv %s %s.old", e.Dir, e.Dir)
	}
	return fmt.Sprintf("the database in %s was made by PostgreSQL %d, and only the programs of that version read it. %v. "+
		"To go on with a newer version, install both, then: muster backup DIR; %s; muster restore DIR (docs/runbooks/restore.md)",
		e.Dir, e.Missing.Major, e.Missing, aside)
}

func (e *ClusterVersionError) Unwrap() error { return e.Missing }

// MissingClusterError says that a data directory points to a cluster elsewhere
// which is not there.
type MissingClusterError struct {
	Pointer string // the file that names Home
	Home    string
}

func (e *MissingClusterError) Error() string {
	return fmt.Sprintf("%s says that the database is in %s, and there is none: restore it, "+
		"or remove %s to start with an empty one", e.Pointer, e.Home, e.Pointer)
}
