package nights

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements/backups"
)

// Ends is when the backup of a night ends, on its day.
const Ends = 2*time.Hour + 41*time.Minute

const (
	day  = 24 * time.Hour
	took = 31 * time.Minute
	// kept is how many nights a source lists.
	kept     = 31
	logEvery = 15 * time.Minute
)

// Between is a time in which no backup ended.
type Between struct{ From, Until time.Time }

// Subject is what is backed up: a server, or one of its databases.
type Subject struct {
	Database    uuid.UUID // zero: the whole server
	Name        string    // of the database
	Bytes       int64     // of a full backup
	Failed      []Between // nights whose backups ended later, or not yet
	LogFailed   []Between
	Last        time.Time // no backup of any kind after it; zero: they go on
	Whole, Logs backups.Kind
	Tool        string
}

// Of are the backups of a subject at a time, the newest first of each kind.
func (s Subject) Of(at time.Time) (all []backups.Backup) {
	latest := at
	if !s.Last.IsZero() && s.Last.Before(at) {
		latest = s.Last
	}
	seen := map[time.Time]bool{}
	for night := range kept {
		finished := outside(s.Failed, latest.UTC().Truncate(day).Add(-time.Duration(night)*day+Ends))
		started := finished.Add(-took)
		if finished.After(latest) || seen[finished] {
			continue
		}
		seen[finished] = true
		all = append(all, backups.Backup{Database: s.Database, Name: s.Name, Kind: s.Whole, StartedAt: &started, FinishedAt: finished, SizeBytes: &s.Bytes, Tool: s.Tool})
	}
	if latest.Equal(at) {
		all = append(all, backups.Backup{Database: s.Database, Name: s.Name, Kind: s.Logs, FinishedAt: s.log(at)})
	}
	return all
}

// outside is when a backup ended that was due at a time: then, or when the failures ended.
func outside(failed []Between, due time.Time) time.Time {
	for range failed { // one failure may end in another
		i := slices.IndexFunc(failed, func(f Between) bool { return !due.Before(f.From) && due.Before(f.Until) })
		if i < 0 {
			break
		}
		due = failed[i].Until
	}
	return due
}

// log is the end of the newest backup of the log.
func (s Subject) log(at time.Time) time.Time {
	for range s.LogFailed { // one failure may begin in another
		i := slices.IndexFunc(s.LogFailed, func(f Between) bool { return f.From.Before(at) && at.Before(f.Until) })
		if i < 0 {
			break
		}
		at = s.LogFailed[i].From
	}
	return at.Truncate(logEvery)
}
