package inventory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/postgres/statement"
)

// writer collects what one transaction appends to the fleet's log.
type writer struct {
	f     *Fleet
	tx    *sqlx.Tx
	actor usecase.Actor
	now   time.Time
	call  uuid.UUID // joins the events of one call

	batches []eventstore.Append
	added   databaseList
	gone    databaseList

	protectedTags []string // keys; nil: they were not read yet
}

// databaseList is what the batch changes about instance_databases.
type databaseList struct {
	instances []uuid.UUID
	names     []string
}

func (l *databaseList) addDatabase(instance uuid.UUID, externalID string) {
	l.instances = append(l.instances, instance)
	l.names = append(l.names, externalID)
}

func (f *Fleet) newWriter(tx *sqlx.Tx, actor usecase.Actor) *writer {
	return &writer{f: f, tx: tx, actor: actor, now: f.Clock(), call: usecase.NewID()}
}

func (w *writer) lockKeys(ctx context.Context, streamType string, keys []string) (map[string]eventstore.StreamKey, error) {
	known, err := w.f.Events.LockKeys(ctx, w.tx, w.actor.OrganizationID, streamType, keys)
	if err != nil {
		return nil, fmt.Errorf("lock keys of %s: %w", streamType, err)
	}
	return known, nil
}

// databaseKey is the external key of a database: unique in its instance, and
// an instance that is registered again has databases of its own.
func databaseKey(instance uuid.UUID, externalID string) string {
	return instance.String() + "/" + externalID
}

func (w *writer) loadInstance(ctx context.Context, id uuid.UUID) (*fleet.Instance, usecase.Stream, error) {
	instance := new(fleet.Instance)
	at, err := usecase.Fold(ctx, w.f.Base, w.tx, w.actor.OrganizationID, id, func(e fleet.Event, _ time.Time) { instance.Apply(e) })
	return instance, at, err
}

func (w *writer) loadDatabase(ctx context.Context, id uuid.UUID) (*fleet.Database, usecase.Stream, error) {
	database := new(fleet.Database)
	at, err := usecase.Fold(ctx, w.f.Base, w.tx, w.actor.OrganizationID, id, func(e fleet.Event, _ time.Time) { database.Apply(e) })
	return database, at, err
}

func (w *writer) keepInstance(id uuid.UUID, at usecase.Stream, instance *fleet.Instance, externalID string, events []fleet.Event) error {
	for _, e := range events {
		instance.Apply(e)
	}
	digest := slices.Clone(removedDigest[:])
	if instance.Known() {
		digest = instanceDigest(instance.Details(), instance.Tags().Fed())
	}
	return w.keep(fleet.InstanceStream, id, at, externalID, digest, events)
}

func (w *writer) keepDatabase(id uuid.UUID, at usecase.Stream, database *fleet.Database, instance uuid.UUID, d Database, events []fleet.Event) error {
	known := database.Known()
	for _, e := range events {
		database.Apply(e)
	}
	digest := slices.Clone(removedDigest[:])
	if database.Known() {
		digest = databaseDigest(d.Name, database.CreatedAt())
	}
	switch {
	case !known && database.Known():
		w.added.addDatabase(instance, d.ExternalID)
	case known && !database.Known():
		w.gone.addDatabase(instance, d.ExternalID)
	}
	return w.keep(fleet.DatabaseStream, id, at, databaseKey(instance, d.ExternalID), digest, events)
}

func (w *writer) keep(streamType string, id uuid.UUID, at usecase.Stream, key string, digest []byte, events []fleet.Event) error {
	if len(events) == 0 {
		return nil
	}
	encoded, err := usecase.EncodeAll(w.now, events)
	if err != nil {
		return err
	}
	w.batches = append(w.batches, eventstore.Append{
		Organization: w.actor.OrganizationID, StreamType: streamType, Stream: id, Expected: at.Version,
		Events: encoded, Metadata: w.metadata(streamType, at.Last),
		Key: &eventstore.KeyState{Key: key, StateDigest: digest},
	})
	return nil
}

// metadata name the token of a feed beside what it does to instances, which is audited.
func (w *writer) metadata(streamType string, cause usecase.Mark) eventstore.Metadata {
	m := w.actor.Metadata(w.call, cause)
	if streamType == fleet.InstanceStream && w.actor.MemberID == uuid.Nil && w.actor.Token != uuid.Nil {
		m.TokenID = w.actor.Token.String()
	}
	return m
}

// events is how many events write appends.
func (w *writer) events() (n int) {
	for _, b := range w.batches {
		n += len(b.Events)
	}
	return n
}

// write appends everything at once; without anything to append the Mark is at
// position 0.
func (w *writer) write(ctx context.Context) (usecase.Mark, error) {
	if len(w.batches) == 0 {
		return usecase.Mark{Log: eventstore.Fleet}, nil
	}
	if len(w.added.names) > 0 {
		err := statement.Exec(ctx, w.tx, "list new databases", `INSERT INTO instance_databases (instance_id, external_id, organization_id)
			SELECT instance_id, external_id, $3 FROM unnest($1::uuid[], $2::text[]) AS added (instance_id, external_id)
			ON CONFLICT DO NOTHING`, w.added.instances, w.added.names, w.actor.OrganizationID)
		if err != nil {
			return usecase.Mark{}, err
		}
	}
	if len(w.gone.names) > 0 {
		err := statement.Exec(ctx, w.tx, "unlist removed databases", `DELETE FROM instance_databases WHERE (instance_id, external_id) IN
			(SELECT * FROM unnest($1::uuid[], $2::text[]))`, w.gone.instances, w.gone.names)
		if err != nil {
			return usecase.Mark{}, err
		}
	}
	return w.f.Append(ctx, w.tx, eventstore.Fleet, w.batches...)
}

// removeInstance decides about removing an instance; its databases go with it.
func (w *writer) removeInstance(ctx context.Context, id uuid.UUID, externalID string) error {
	instance, at, err := w.loadInstance(ctx, id)
	if err != nil {
		return err
	}
	err = statement.Exec(ctx, w.tx, "unlist the databases of an instance", `DELETE FROM instance_databases WHERE instance_id = $1`, id)
	if err != nil {
		return err
	}
	return w.keepInstance(id, at, instance, externalID, instance.Remove())
}
