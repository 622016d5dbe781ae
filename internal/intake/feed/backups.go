package feed

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/printable"
	"muster/internal/intake"
	"muster/internal/measurements"
	"muster/internal/measurements/backups"
)

// BackupItem is a backup that has ended well, as its sender tells of it.
type BackupItem struct {
	Instance   string
	Database   string // empty: the whole server
	Kind       backups.Kind
	StartedAt  *time.Time
	FinishedAt time.Time
	SizeBytes  *int64
	Tool       string
}

// BackupLook is what a source says of an instance's backups, as an agent sends it. The names of
// databases in it are external ids.
type BackupLook struct {
	Instance string
	backups.Look
}

// names are those of places in a look: of its instance, and of the databases in it.
func (l *BackupLook) names() (names []inventory.PlaceName) {
	names = append(names, inventory.PlaceName{Instance: &l.Instance})
	add := func(database *string) {
		if *database != "" {
			names = append(names, inventory.PlaceName{Instance: &l.Instance, Database: database})
		}
	}
	for i := range l.Backups {
		add(&l.Backups[i].Name)
	}
	for i := range l.Complete {
		add(&l.Complete[i].Name)
	}
	return names
}

// TakeBackups records backups that another tool made: nothing is written before every one was checked
// against every rule. Muster's own connections see none of these, so anybody may send those of an
// instance that was registered by DSN, too. Errors: *usecase.RuleError.
func (d *Doors) TakeBackups(ctx context.Context, from intake.Caller, items []BackupItem) (receipt intake.Receipt, err error) {
	var names []inventory.PlaceName
	for i := range items {
		name := inventory.PlaceName{Instance: &items[i].Instance}
		if items[i].Database != "" {
			name.Database = &items[i].Database
		}
		names = append(names, name)
	}
	places, err := d.Places.FindPlaces(ctx, from.OrganizationID, names)
	if err != nil {
		return receipt, err
	}
	if from.Limit != nil {
		forbidden := func(instance uuid.UUID) bool { return !from.Limit.Allows(instance) }
		if outside := among("backups", places, forbidden); len(outside) > 0 {
			return receipt, usecase.OutsideLimit(outside)
		}
	}
	now := d.Now()
	r := rules{latest: now.Add(maxSampleAhead), tells: true}
	byInstance := map[uuid.UUID]*backups.Look{}
	var order []uuid.UUID
	for i, item := range items {
		b := r.backup(r.item("#/backups/", i), item, places[i])
		instance := places[i].Instance
		if byInstance[instance] == nil {
			byInstance[instance] = &backups.Look{Instance: instance, At: now, Source: backups.Feed, Condition: backups.Works}
			order = append(order, instance)
		}
		byInstance[instance].Backups = append(byInstance[instance].Backups, b)
	}
	if len(r.broken) > 0 {
		return receipt, r.err()
	}
	batch := measurements.Batch{Organization: from.OrganizationID, Token: from.Token}
	for _, instance := range order {
		batch.Backups = append(batch.Backups, *byInstance[instance])
	}
	if _, err := d.Store.Record(ctx, batch); err != nil {
		return receipt, err
	}
	receipt.Record(intake.Backup, len(items))
	return receipt, nil
}

// backup reads a backup. Those of kinds base and wal are of the whole server, whatever database they name.
func (r *rules) backup(at string, item BackupItem, on inventory.Place) backups.Backup {
	b := backups.Backup{Kind: item.Kind, StartedAt: item.StartedAt, SizeBytes: item.SizeBytes, Tool: item.Tool}
	switch {
	case item.Database != "":
		_, b.Database = r.known(at, on)
	case on.Instance == uuid.Nil:
		r.unknownInstance(at + "/instance")
	}
	if b.Kind == backups.Base || b.Kind == backups.WAL {
		b.Database = uuid.Nil
	}
	b.FinishedAt = r.time(at+"/finishedAt", item.FinishedAt)
	if b.StartedAt != nil && b.StartedAt.After(b.FinishedAt) {
		r.breaks(at+"/startedAt", "out_of_range", "must not be later than finishedAt")
	}
	if utf8.RuneCountInString(b.Tool) > maxKey {
		r.breaks(at+"/tool", "out_of_range", fmt.Sprintf("must be at most %d characters", maxKey))
	} else if !printable.Name(b.Tool) {
		r.breaks(at+"/tool", "invalid_name", printable.Rule)
	}
	return b
}

// backupLook reads what a source says. Package backups drops what cannot be, and what is of a database
// that is not known: it may be new, or gone.
func (r *rules) backupLook(at string, l BackupLook, on serverPlaces) backups.Look {
	look := l.Look
	if on[0].Instance == uuid.Nil {
		r.unknownInstance(at + "/instance")
	}
	look.Instance, look.At = on[0].Instance, r.time(at+"/at", l.At)
	ids := map[string]uuid.UUID{}
	databases := on[1:]
	take := func(name string) {
		if name != "" {
			if databases[0].Database != uuid.Nil {
				ids[name] = databases[0].Database
			}
			databases = databases[1:]
		}
	}
	for i := range look.Backups {
		take(look.Backups[i].Name)
	}
	for i := range look.Complete {
		take(look.Complete[i].Name)
	}
	look.Resolve(ids)
	return look
}
