package alerts

import (
	"context"
	_ "embed" // the schema and the queries
	"fmt"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/alert"
	"muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/statement"
	"muster/projections"
)

// Name of the projection, and the version of its tables. The queries name the
// version's schema, alerts_v1.
const (
	Name    = "alerts"
	Version = 1
)

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
)

// Projection returns the projection that Reader reads.
func Projection(decode projections.Decode) projections.Projection {
	p := projection{decode: decode}
	return projections.Projection{
		Name: Name, Version: Version, Logs: []eventstore.Log{eventstore.Fleet}, Schema: schema, Apply: p.apply,
	}
}

type projection struct{ decode projections.Decode }

type rawID = projections.RawID

// apply folds a page in memory and writes every touched alert once.
func (p projection) apply(ctx context.Context, tx projections.Tx, events []eventstore.Event) error {
	facts, err := projections.DecodePage(events, p.fact)
	if err != nil {
		return err
	}
	alerts, err := load(ctx, tx, raisedBefore(events, facts))
	if err != nil {
		return err
	}
	before := tally(alerts)
	places := make(map[rawID]placeName)
	for i, e := range events {
		switch fact := facts[i].(type) {
		case domain.Event:
			a := alerts[rawID(e.Stream)]
			if a == nil {
				a = &folded{}
				alerts[rawID(e.Stream)] = a
			}
			if err := a.apply(e, fact); err != nil {
				return err
			}
		case fleet.Event:
			if name, ok := nameIn(fact); ok {
				places[rawID(e.Stream)] = placeName{rawID(e.OrganizationID), name}
			}
		}
	}
	if err := write(ctx, tx, alerts); err != nil {
		return err
	}
	if err := name(ctx, tx, places); err != nil {
		return err
	}
	return count(ctx, tx, before, tally(alerts))
}

// fact decodes an event; one that says nothing of an alert or a name stays nil.
func (p projection) fact(e eventstore.Event) (any, error) {
	switch e.StreamType {
	case domain.StreamType:
		return alertFact(p.decode, e)
	case fleet.InstanceStream, fleet.DatabaseStream:
		return p.decode(e)
	}
	return nil, nil
}

// alertFact decodes an event of an alert.
func alertFact(decode projections.Decode, e eventstore.Event) (domain.Event, error) {
	return projections.Fact[domain.Event](decode, e, "an alert")
}

// raisedBefore lists the alerts that a page goes on with. Those that are raised
// in it need not be looked for, and in a rebuild most are.
func raisedBefore(events []eventstore.Event, facts []any) []rawID {
	seen := make(map[rawID]bool)
	var before []rawID
	for i, e := range events {
		fact, isAlert := facts[i].(domain.Event)
		if !isAlert || seen[rawID(e.Stream)] {
			continue
		}
		seen[rawID(e.Stream)] = true
		if _, raised := fact.(domain.Raised); !raised {
			before = append(before, rawID(e.Stream))
		}
	}
	return before
}

func load(ctx context.Context, tx projections.Tx, ids []rawID) (map[rawID]*folded, error) {
	alerts := make(map[rawID]*folded, len(ids))
	if len(ids) == 0 {
		return alerts, nil
	}
	rows, err := tx.QueryContext(ctx, loadAlerts, ids)
	if err != nil {
		return nil, fmt.Errorf("load alerts: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		f := &folded{}
		var instance, database uuid.NullUUID
		err := rows.Scan((*uuid.UUID)(&f.id), (*uuid.UUID)(&f.organization), &instance, &database, &f.title, &f.description,
			&f.severity, &f.state, &f.muted, &f.rule, &f.created, &f.first, &f.last, &f.resolved, &f.occurrences)
		if err != nil {
			return nil, fmt.Errorf("load alerts: %w", err)
		}
		f.instance, f.database = rawID(instance.UUID), rawID(database.UUID)
		alerts[f.id] = f
	}
	return alerts, rows.Err()
}

// write stores every alert with one statement.
func write(ctx context.Context, tx projections.Tx, alerts map[rawID]*folded) error {
	if len(alerts) == 0 {
		return nil
	}
	rows := make([]alertRow, 0, len(alerts))
	for _, id := range projections.SortedIDs(alerts) {
		f := alerts[id]
		rows = append(rows, alertRow{
			f.id, f.organization, orNull(&f.instance), orNull(&f.database), f.title, f.description,
			string(f.severity), string(f.state), f.muted, f.rule, f.created, f.first, f.last, f.resolved, f.occurrences,
		})
	}
	return statement.Exec(ctx, tx, "write alerts", writeAlerts, statement.Columns(rows)...)
}

// alertRow is a row of alerts, in the order of write_alerts.sql.
type alertRow struct {
	ID, Organization                    rawID
	Instance, Database                  *rawID
	Title, Description, Severity, State string
	Muted                               bool
	Rule                                *string
	Created, First, Last                time.Time
	Resolved                            *time.Time
	Occurrences                         int32
}

func orNull(id *rawID) *rawID {
	if *id == (rawID{}) {
		return nil
	}
	return id
}

// placeName is what an instance or a database is called.
type placeName struct {
	organization rawID
	name         string
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

func name(ctx context.Context, tx projections.Tx, places map[rawID]placeName) error {
	if len(places) == 0 {
		return nil
	}
	var organizations []rawID
	var names []string
	ids := projections.SortedIDs(places)
	for _, id := range ids {
		organizations, names = append(organizations, places[id].organization), append(names, places[id].name)
	}
	return statement.Exec(ctx, tx, "write names of places", writePlaces, ids, organizations, names)
}
