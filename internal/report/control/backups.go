package control

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/measurements/backups"
	"muster/internal/report/snapshot"
)

// Backups is the control of backups. It is no check: it goes by the backups that servers, agents and senders tell of, for
// servers of every engine.
const Backups = "BACKUP-RPO"

// ReasonNoBackups is why a day of Backups is not assessed.
const ReasonNoBackups = "The age of a backup on this day is not known."

// Find returns a check of the catalog, or the control of backups.
func Find(checks *catalogue.Catalogue, id string) (catalogue.Check, bool) {
	if id != Backups {
		return checks.Check(id)
	}
	return catalogue.Check{Check: snapshot.Check{
		ID: Backups, Title: "No backup of a database is older than its recovery point objective", Domain: "Maintenance", Severity: "Critical",
	}}, true
}

// BackupDays answers how old the backups of servers became on the days that a window touches; serverfacts.Source does.
type BackupDays interface {
	BackedUp(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, from, to, now time.Time) (map[uuid.UUID]BackedUp, error)
}

// BackedUp is how the backups of a server were, day by day, against the RPO that it has now.
type BackedUp struct {
	RPO  time.Duration
	Days []backups.Day
}

// BackupCounts counts the days on which a server was known.
type BackupCounts struct {
	RPO                 time.Duration
	Kept, Late, Unknown int
}

// backupItems makes the course of each server from its days. A day is a look that holds until the next one.
func (r *Reader) backupItems(ctx context.Context, q Question, servers map[uuid.UUID]*server) (items []Item, err error) {
	q.WithLooks = false // days are no assessments
	ids := slices.SortedFunc(maps.Keys(servers), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	for some := range slices.Chunk(ids, serversAtOnce) {
		of, err := r.Backups.BackedUp(ctx, q.Organization, some, q.From, q.To, q.Now)
		if err != nil {
			return nil, err
		}
		for _, id := range some {
			looks, counts := looksOf(of[id], servers[id].life(""))
			item, in := servers[id].item(id, q, looks, nil)
			if !in {
				continue
			}
			for i := range item.Course.Periods {
				item.Course.Periods[i].Looks = 0
			}
			item.Backups = &counts
			items = append(items, item)
		}
	}
	return items, nil
}

// looksOf are the days of a server from its registration on, those of them on which it was active counted.
func looksOf(of BackedUp, life Life) (looks []Look, counts BackupCounts) {
	counts.RPO = of.RPO
	for _, d := range of.Days {
		if len(life) == 0 || !d.Start.AddDate(0, 0, 1).After(life[0].At) {
			continue
		}
		at := instant.Later(d.Start, life[0].At)
		answer := assessment.Answer{Status: snapshot.StatusNotAssessed, Reason: ReasonNoBackups}
		count := &counts.Unknown
		switch kept, known := d.Kept(of.RPO); {
		case !known:
		case kept:
			answer, count = assessment.Answer{Status: snapshot.StatusPass}, &counts.Kept
		default:
			answer, count = assessment.Answer{Status: snapshot.StatusFail}, &counts.Late
		}
		looks = append(looks, Look{At: at, Answers: []assessment.Answer{answer}})
		if life.alive(d.Start, d.Start.AddDate(0, 0, 1)) {
			*count++
		}
	}
	return looks, counts
}

// alive says whether the server was active at any time between two.
func (l Life) alive(from, to time.Time) bool {
	for i, t := range l {
		ends := i+1 < len(l) && !l[i+1].At.After(from)
		if t.Alive && t.At.Before(to) && !ends {
			return true
		}
	}
	return false
}
