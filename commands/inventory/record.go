package inventory

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/eventstore"
)

// RecordFleet takes in a batch of instances and their databases, all or
// nothing. Sent again it changes nothing and returns the same ids (see stateDigest).
// What is left out stays; what was removed and comes again is new. Errors: *usecase.RuleError
// with a pointer to each bad field; outside_token names each by which a token reaches
// beyond what fleet.Limit leaves it, engine_fixed and managed_by_connection what no feed
// changes.
func (f *Fleet) RecordFleet(ctx context.Context, actor usecase.Actor, items []Item) ([]IDs, usecase.Mark, error) {
	if err := checkItems(items, f.Clock()); err != nil {
		return nil, usecase.Mark{}, err
	}
	var ids []IDs
	var spent usecase.Spent
	mark, err := f.Transact(ctx, func(tx *sqlx.Tx) (mark usecase.Mark, err error) {
		spent.GiveBack() // by the attempt before
		w := f.newWriter(tx, actor)
		if ids, err = w.recordInstances(ctx, items); err != nil {
			return usecase.Mark{}, err
		}
		if spent, err = f.SpendEvents(ctx, actor, w.events()); err != nil {
			return usecase.Mark{}, err
		}
		return w.write(ctx)
	})
	if err != nil {
		spent.GiveBack()
	}
	return ids, mark, err
}

// recordInstances decides about every item. The instances' batches come before
// their databases': a reader meets them in that order.
func (w *writer) recordInstances(ctx context.Context, items []Item) ([]IDs, error) {
	keys := make([]string, 0, len(items))
	for _, item := range items {
		keys = append(keys, item.ExternalID)
	}
	known, err := w.lockKeys(ctx, fleet.InstanceStream, keys)
	if err != nil {
		return nil, err
	}
	found, err := w.findItems(ctx, items, known)
	if err != nil {
		return nil, err
	}
	if err := w.holdItems(ctx, found); err != nil {
		return nil, err
	}
	ids := make([]IDs, 0, len(items))
	for _, item := range found {
		id, kept, err := w.recordInstance(ctx, item)
		if err != nil {
			return nil, err
		}
		ids = append(ids, IDs{ExternalID: item.ExternalID, ID: id, Databases: []IDs{}, Kept: kept})
	}
	return ids, w.recordDatabases(ctx, items, ids)
}

// recordInstance also returns the keys of the item's tags that are not the feed's to set.
func (w *writer) recordInstance(ctx context.Context, item foundItem) (id uuid.UUID, kept []string, err error) {
	switch {
	case item.Removed && item.there:
		return item.key.Stream, nil, w.removeInstance(ctx, item.key.Stream, item.ExternalID)
	case item.instance != nil:
		events, err := item.instance.Change(item.details(item.instance.Details()))
		if err != nil {
			return uuid.Nil, nil, err
		}
		tagged, kept, err := w.tag(ctx, item.instance, w.fed(item.Tags))
		if err != nil {
			return uuid.Nil, nil, err
		}
		return item.key.Stream, kept, w.keepInstance(item.key.Stream, item.at, item.instance, item.ExternalID, append(events, tagged...))
	case item.Removed, item.there:
		return item.key.Stream, nil, nil
	}
	id = usecase.NewID()
	kept, err = w.registerInstance(ctx, id, item.ExternalID, item.details(fleet.InstanceDetails{Active: true, CreatedAt: w.now}), w.fed(item.Tags))
	return id, kept, err
}

// registerInstance also returns the keys of tags that this caller may not set.
func (w *writer) registerInstance(ctx context.Context, id uuid.UUID, externalID string, d fleet.InstanceDetails, tags fleet.ChangeTags) (kept []string, err error) {
	instance, registered := new(fleet.Instance), new(fleet.Instance)
	events, err := instance.Register(externalID, d)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		registered.Apply(e)
	}
	tagged, kept, err := w.tag(ctx, registered, tags)
	if err != nil {
		return nil, err
	}
	return kept, w.keepInstance(id, usecase.Stream{Version: eventstore.NoStream}, instance, externalID, append(events, tagged...))
}

// recordDatabases decides about the databases of every item and adds their ids.
func (w *writer) recordDatabases(ctx context.Context, items []Item, ids []IDs) error {
	var keys []string
	for i, item := range items {
		for _, d := range item.Databases {
			keys = append(keys, databaseKey(ids[i].ID, d.ExternalID))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	known, err := w.lockKeys(ctx, fleet.DatabaseStream, keys)
	if err != nil {
		return err
	}
	for i, item := range items {
		for _, d := range item.Databases {
			key := known[databaseKey(ids[i].ID, d.ExternalID)]
			id := key.Stream
			if !item.Removed { // with its instance it is gone already
				if id, err = w.recordDatabase(ctx, ids[i].ID, key, d); err != nil {
					return err
				}
			}
			ids[i].Databases = append(ids[i].Databases, IDs{ExternalID: d.ExternalID, ID: id})
		}
	}
	return nil
}

func (w *writer) recordDatabase(ctx context.Context, instance uuid.UUID, key eventstore.StreamKey, d Database) (uuid.UUID, error) {
	there := present(key.StateDigest)
	if !there && d.Removed || there && !d.Removed && sameDatabase(key.StateDigest, d) {
		return key.Stream, nil
	}
	id, database, at := key.Stream, new(fleet.Database), usecase.Stream{Version: eventstore.NoStream}
	createdAt := instant.Cut(d.CreatedAt)
	var err error
	if there {
		if database, at, err = w.loadDatabase(ctx, id); err != nil {
			return uuid.Nil, err
		}
	} else {
		id = usecase.NewID()
	}
	if d.CreatedAt.IsZero() {
		if createdAt = database.CreatedAt(); !there {
			createdAt = w.now
		}
	}
	events := database.Remove()
	if !d.Removed {
		if events, err = database.Register(instance, d.ExternalID, d.Name, createdAt); err != nil {
			return uuid.Nil, err
		}
	}
	return id, w.keepDatabase(id, at, database, instance, d, events)
}
