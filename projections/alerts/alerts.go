package alerts

import (
	"context"
	_ "embed" // the query
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/alert"
	"muster/eventstore"
	"muster/projections"
)

// Reader answers from the live generation of the alerts projection, with what
// alert_last_seen knows beyond it. Every query carries the organization.
type Reader struct {
	db     *sqlx.DB
	events *eventstore.Store
	decode projections.Decode
}

// NewReader returns a reader on db; events and decode are for timelines.
func NewReader(db *sqlx.DB, events *eventstore.Store, decode projections.Decode) *Reader {
	return &Reader{db: db, events: events, decode: decode}
}

// NamedPlace is an instance or a database; it may have been removed.
type NamedPlace struct {
	ID   uuid.UUID
	Name string
}

// Alert is one alert. Times are UTC.
type Alert struct {
	ID               uuid.UUID
	Title            string
	Description      string
	Severity         domain.Severity
	State            domain.State
	Muted            bool
	MutedUntil       *time.Time // when its mute ends by itself
	Rule             *domain.Rule
	CreatedAt        time.Time
	FirstTriggeredAt time.Time
	LastTriggeredAt  time.Time
	ResolvedAt       *time.Time // exactly where it is closed
	Occurrences      int
	Instance         *NamedPlace // its own, or its database's
	Database         *NamedPlace
	Others           []NamedPlace // instances that it concerns beside its own, in the alert's order
}

// Instances are those that it concerns.
func (a Alert) Instances() []NamedPlace {
	if a.Instance == nil {
		return a.Others
	}
	return append([]NamedPlace{*a.Instance}, a.Others...)
}

// Within is the alert as it is for people who see some instances alone: about the first of theirs,
// and without the name of another. ok is false if it concerns none of theirs.
func (a Alert) Within(sees func(uuid.UUID) bool) (_ Alert, ok bool) {
	all := a.Instances()
	seen := slices.DeleteFunc(slices.Clone(all), func(p NamedPlace) bool { return !sees(p.ID) })
	if len(seen) == 0 {
		return a, false
	}
	if len(seen) < len(all) {
		a.Title, a.Description = domain.WithoutServers(a.Title, a.Description)
	}
	if a.Instance == nil || a.Instance.ID != seen[0].ID {
		a.Database = nil
	}
	a.Instance, a.Others = &seen[0], seen[1:]
	return a, true
}

// seenLater joins an alert (a) with its row of alert_last_seen (s) where that
// row knows of a later time. What is closed is final as its last event says.
const seenLater = `s.alert_id = a.id AND s.last_triggered_at > a.last_triggered_at AND a.resolved_at IS NULL`

// columnsRead are what is read of an alert (a), of what is known beside its log (s) and of its
// places (i, d, and the names of others), but for the time until which it was seen firing, which comes last.
const columnsRead = `a.id, coalesce(s.title, a.title), coalesce(s.description, a.description), a.severity, a.state, a.muted, a.muted_until, a.rule, a.created_at,
       a.first_triggered_at, a.resolved_at, a.occurrences, a.instance_id, i.name, a.database_id, d.name, a.other_instance_ids,
       (SELECT json_object_agg(o.id, o.name) FROM alerts_v5.places o
        WHERE o.organization_id = a.organization_id AND o.id = ANY (string_to_array(nullif(a.other_instance_ids, ''), ',')::uuid[]))`

// placesNamed joins an alert (a) with what its instance (i) and its database (d)
// are called. Whatever its events say, it shows no name of another organization.
const placesNamed = `LEFT JOIN alerts_v5.places i ON i.id = a.instance_id AND i.organization_id = a.organization_id
LEFT JOIN alerts_v5.places d ON d.id = a.database_id AND d.organization_id = a.organization_id`

//go:embed sql/alert.sql
var alertQuery string

// Alert returns one; ok is false where this organization has none of that id.
func (r *Reader) Alert(ctx context.Context, organization, id uuid.UUID) (a Alert, ok bool, err error) {
	query := strings.NewReplacer("{{columns}}", columnsRead, "{{places}}", placesNamed, "{{seen later}}", seenLater).Replace(alertQuery)
	found, err := r.alerts(ctx, query, organization, id)
	if err != nil {
		return Alert{}, false, fmt.Errorf("read alert: %w", err)
	}
	if len(found) == 0 {
		return Alert{}, false, nil
	}
	return found[0], true, nil
}

//go:embed sql/outage.sql
var outageQuery string

// Outage returns the unresolved alert of an instance by one of these rules. If it has none of
// its own, it returns one by the first of the rules that is about the whole organization.
func (r *Reader) Outage(ctx context.Context, organization, instance uuid.UUID, rules ...string) (a Alert, ok bool, err error) {
	query := strings.NewReplacer("{{columns}}", columnsRead, "{{places}}", placesNamed, "{{seen later}}", seenLater).Replace(outageQuery)
	found, err := r.alerts(ctx, query, organization, instance, rules)
	if err != nil {
		return Alert{}, false, fmt.Errorf("read the alert of an outage: %w", err)
	}
	if len(found) == 0 {
		return Alert{}, false, nil
	}
	return found[0], true, nil
}

func (r *Reader) alerts(ctx context.Context, query string, args ...any) ([]Alert, error) {
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	alerts := []Alert{}
	for rows.Next() {
		var a Alert
		var rule []byte
		var instance, database uuid.NullUUID
		var instanceName, databaseName *string
		var others string
		var otherNames []byte
		err := rows.Scan(&a.ID, &a.Title, &a.Description, &a.Severity, &a.State, &a.Muted, &a.MutedUntil, &rule, &a.CreatedAt,
			&a.FirstTriggeredAt, &a.ResolvedAt, &a.Occurrences, &instance, &instanceName, &database, &databaseName, &others, &otherNames,
			&a.LastTriggeredAt)
		if err != nil {
			return nil, err
		}
		if rule != nil {
			a.Rule = &domain.Rule{}
			if err := json.Unmarshal(rule, a.Rule); err != nil {
				return nil, err
			}
		}
		a.Instance, a.Database = at(instance, instanceName), at(database, databaseName)
		if a.Others, err = placesIn(others, otherNames); err != nil {
			return nil, err
		}
		alerts = append(alerts, a)
	}
	return alerts, rows.Err()
}

// placesIn are the places of ids with commas between, with their names by id in JSON.
func placesIn(ids string, names []byte) (places []NamedPlace, err error) {
	if ids == "" {
		return nil, nil
	}
	byID := map[string]string{}
	if names != nil {
		if err := json.Unmarshal(names, &byID); err != nil {
			return nil, err
		}
	}
	for text := range strings.SplitSeq(ids, ",") {
		id, err := uuid.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("read where an alert is: %w", err)
		}
		places = append(places, NamedPlace{id, byID[text]})
	}
	return places, nil
}

// at is a place whose name may be unknown, because its registration was dropped.
func at(id uuid.NullUUID, name *string) *NamedPlace {
	if !id.Valid {
		return nil
	}
	p := &NamedPlace{ID: id.UUID}
	if name != nil {
		p.Name = *name
	}
	return p
}
