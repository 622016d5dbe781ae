package handlers

import (
	"context"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements/backups"
	"muster/internal/measurements/replication"
	"muster/internal/report/snapshot"
)

// addServer adds the role of a scorecard's server, the growth of its databases and its last backup.
func (g *Inputs) addServer(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	if len(doc.Instances) == 0 {
		return nil
	}
	id := doc.Instances[0].ID
	scope := fleet.Scope{Filtered: true, Instances: []uuid.UUID{id}}
	states, err := replication.Related(ctx, g.DB, in.OrganizationID, scope, id)
	if err != nil {
		return err
	}
	doc.Server = &snapshot.Server{}
	if len(states) > 0 {
		doc.Server.Role = string(states[0].Role)
	}
	now, before, err := g.Facts.DatabaseSizes(ctx, in.OrganizationID, id)
	if err != nil {
		return err
	}
	for name, size := range now.Bytes { // a sum of whole numbers: the order does not show
		if was, known := before.Bytes[name]; known {
			if doc.Server.Before == nil {
				doc.Server.Before = &snapshot.SizeBefore{At: before.At}
			}
			doc.Server.Before.Change += size - was
		}
	}
	newest, err := backups.NewestOf(ctx, g.DB, in.OrganizationID, scope)
	if err != nil {
		return err
	}
	doc.Server.Backup = lastBackup(newest)
	return nil
}

// lastBackup is the newest one of the whole server, or the oldest of the newest ones of its databases.
func lastBackup(all []backups.Newest) (last *snapshot.LastBackup) {
	of := map[uuid.UUID]backups.Newest{}
	for _, b := range all {
		if known, ok := of[b.Database]; b.Kind.Whole() && (!ok || b.FinishedAt.After(known.FinishedAt)) {
			of[b.Database] = b
		}
	}
	if whole, ok := of[uuid.Nil]; ok {
		return &snapshot.LastBackup{FinishedAt: whole.FinishedAt}
	}
	for _, b := range of {
		if last == nil || b.FinishedAt.Before(last.FinishedAt) {
			last = &snapshot.LastBackup{FinishedAt: b.FinishedAt, Databases: len(of)}
		}
	}
	return last
}
