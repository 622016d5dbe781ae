package alerts

import (
	"context"
	_ "embed" // the schema and the queries
	"maps"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/alert"
	"muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/projections"
)

// Name of the projection, and the version of its tables. The queries name the
// version's schema, alerts_v5.
const (
	Name    = "alerts"
	Version = 5
)

// Table is where an alert is as it is now, for who joins it in a statement of his own.
const Table = "alerts_v5.alerts"

var (
	//go:embed sql/schema.sql
	schema string
	//go:embed sql/load_alerts.sql
	loadAlerts string
	//go:embed sql/write_alerts.sql
	writeAlerts string
	//go:embed sql/write_places.sql
	writePlaces string
	//go:embed sql/write_totals.sql
	writeTotals string
	//go:embed sql/write_totals_of_instances.sql
	writeTotalsOfInstances string
)

// Projection returns the projection that Reader reads.
func Projection(decode projections.Decode) projections.Projection {
	return projections.Projection{
		Name: Name, Version: Version, Logs: []eventstore.Log{eventstore.Fleet}, Schema: schema,
		Decode: func(e eventstore.Event) (any, error) { return fact(decode, e) }, Apply: apply,
	}
}

// apply folds a page in memory and writes every touched alert once.
func apply(ctx context.Context, tx *sqlx.Tx, events []projections.Event) error {
	alerts, err := load(ctx, tx, raisedBefore(events))
	if err != nil {
		return err
	}
	stored := maps.Clone(alerts)
	before, beforeOfInstances := tally(alerts)
	places := make(map[uuid.UUID]placeName)
	for _, e := range events {
		switch fact := e.Fact.(type) {
		case domain.Event:
			a := alerts[e.Stream]
			if a == nil {
				a = &folded{}
				alerts[e.Stream] = a
			}
			if err := a.apply(e.Event, fact); err != nil {
				return err
			}
		case fleet.Event:
			if name, ok := nameIn(fact); ok {
				places[e.Stream] = placeName{e.Stream, e.OrganizationID, name}
			}
		}
	}
	if err := write(ctx, tx, alerts, stored); err != nil {
		return err
	}
	if err := name(ctx, tx, places); err != nil {
		return err
	}
	after, afterOfInstances := tally(alerts)
	if err := projections.Count(ctx, tx, "count alerts", writeTotals, forgetTotals, before, after); err != nil {
		return err
	}
	return projections.Count(ctx, tx, "count alerts of instances", writeTotalsOfInstances, forgetTotalsOfInstances, beforeOfInstances, afterOfInstances)
}

// tally says how many of some alerts each counter counts.
func tally(alerts map[uuid.UUID]*folded) (map[counter]int64, map[instanceCounter]int64) {
	ofInstances := projections.Tally(alerts, (*folded).instanceCounter)
	delete(ofInstances, instanceCounter{})
	return projections.Tally(alerts, (*folded).counter), ofInstances
}

// fact decodes an event; an event that concerns no alert and no name stays nil.
func fact(decode projections.Decode, e eventstore.Event) (any, error) {
	switch e.StreamType {
	case domain.StreamType:
		return alertFact(decode, e)
	case fleet.InstanceStream, fleet.DatabaseStream:
		return decode(e)
	}
	return nil, nil
}

func alertFact(decode projections.Decode, e eventstore.Event) (domain.Event, error) {
	return projections.Fact[domain.Event](decode, e, "an alert")
}

// raisedBefore lists the alerts that a page goes on with. Those that are raised
// in it need not be looked for, and in a rebuild most are.
func raisedBefore(events []projections.Event) []uuid.UUID {
	seen := make(map[uuid.UUID]bool)
	var before []uuid.UUID
	for _, e := range events {
		fact, isAlert := e.Fact.(domain.Event)
		if !isAlert || seen[e.Stream] {
			continue
		}
		seen[e.Stream] = true
		if _, raised := fact.(domain.Raised); !raised {
			before = append(before, e.Stream)
		}
	}
	return before
}

func load(ctx context.Context, tx *sqlx.Tx, ids []uuid.UUID) (map[uuid.UUID]*folded, error) {
	alerts := make(map[uuid.UUID]*folded, len(ids))
	if len(ids) == 0 {
		return alerts, nil
	}
	rows, err := statement.All[folded](ctx, tx, "load alerts", loadAlerts, statement.IDs(ids))
	for i := range rows {
		alerts[rows[i].ID] = &rows[i]
	}
	return alerts, err
}

func write(ctx context.Context, tx *sqlx.Tx, alerts, stored map[uuid.UUID]*folded) error {
	var added, changed []folded
	for _, id := range projections.SortedIDs(alerts) {
		if stored[id] != nil {
			changed = append(changed, *alerts[id])
		} else {
			added = append(added, *alerts[id])
		}
	}
	return projections.Write(ctx, tx, "alerts", writeAlerts, added, changed)
}

const forgetTotals = `DELETE FROM totals WHERE organization_id = ANY ($1) AND hour = ANY ($2)
  AND severity = ANY ($3) AND closed = ANY ($4) AND muted = ANY ($5) AND alerts = 0`

const forgetTotalsOfInstances = `DELETE FROM totals_of_instances WHERE organization_id = ANY ($1) AND instance_id = ANY ($2) AND month = ANY ($3)
  AND severity = ANY ($4) AND closed = ANY ($5) AND muted = ANY ($6) AND alerts = 0`

// placeName is what an instance or a database is called: a row of places, in the
// order of write_places.sql.
type placeName struct {
	ID, Organization uuid.UUID
	Name             string
}

// nameIn is the name that an event of the fleet gives.
func nameIn(fact fleet.Event) (name string, ok bool) {
	switch fact := fact.(type) {
	case fleet.InstanceRegistered:
		return fact.Name, true
	case fleet.InstanceChanged:
		return fact.Name, true
	case fleet.DatabaseRegistered:
		return fact.Name, true
	case fleet.DatabaseChanged:
		return fact.Name, true
	}
	return "", false
}

func name(ctx context.Context, tx *sqlx.Tx, places map[uuid.UUID]placeName) error {
	if len(places) == 0 {
		return nil
	}
	rows := make([]placeName, 0, len(places))
	for _, id := range projections.SortedIDs(places) {
		rows = append(rows, places[id])
	}
	return statement.Exec(ctx, tx, "write names of places", writePlaces, statement.Columns(rows)...)
}
