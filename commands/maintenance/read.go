package maintenance

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/alert"
	domain "muster/domain/maintenance"
	"muster/domain/organization"
	"muster/internal/postgres/statement"
	"muster/internal/process/zones"
)

// keptDays is for how long past times of windows are known; a report covers at most 92 days.
const keptDays = 400

// listedDays is for how long a window that is over stays in the list.
const listedDays = 30

// Row is the terms of a window with the time in which they hold.
type Row struct {
	ID        uuid.UUID   `db:"id"`
	Name      string      `db:"name"`
	Terms     termsColumn `db:"terms"`
	CreatedAt time.Time   `db:"created_at"`
	Holds     time.Time   `db:"holds_from"`
	Until     *time.Time  `db:"holds_until"`
}

type termsColumn struct{ domain.Terms }

// Scan implements sql.Scanner.
func (t *termsColumn) Scan(src any) error { return statement.ScanJSON(src, &t.Terms) }

// Digest names what a change of the window changes: whoever changes it says which state they saw.
func (r Row) Digest() string {
	return organization.Digest(struct {
		Name  string
		Terms domain.Terms
		Holds time.Time
	}{r.Name, r.Terms.Terms, r.Holds.UTC()})
}

// Version is the row as the domain looks at it. A zone that this machine does not know gives a window
// without times.
func (r Row) Version() domain.Version {
	v := domain.Version{ID: r.ID, Terms: r.Terms.Terms, Holds: r.Holds, Until: r.Until, Zone: time.UTC}
	if r.Terms.Recurrence != nil {
		zone, err := zones.Load(r.Terms.Recurrence.TimeZone)
		if err != nil {
			v.Terms.Recurrence = nil
			return v
		}
		v.Zone = zone
	}
	return v
}

const columns = `id, name, terms, created_at, holds_from, holds_until`

// List are the windows of an organization by name, without those that were over long ago.
func List(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, now time.Time) ([]Row, error) {
	return statement.All[Row](ctx, q, "list maintenance windows", `SELECT `+columns+` FROM maintenance_windows
		WHERE organization_id = $1 AND holds_until IS NULL AND coalesce((terms->>'to')::timestamptz > $2, true) ORDER BY lower(name), id`,
		organization, now.AddDate(0, 0, -listedDays))
}

// Find is a window of the organization; ok is false where it has none of that id.
func Find(ctx context.Context, q sqlx.QueryerContext, organization, id uuid.UUID) (r Row, ok bool, err error) {
	return statement.Find[Row](ctx, q, "look up a maintenance window", `SELECT `+columns+` FROM maintenance_windows
		WHERE organization_id = $1 AND id = $2 AND holds_until IS NULL`, organization, id)
}

// Versions are the terms of an organization's windows that held at some time since an instant, also of
// windows that were removed. With domain's Covered and Lasting, they say how much of a period a server
// was in windows.
func Versions(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, since time.Time) ([]domain.Version, error) {
	rows, err := statement.All[Row](ctx, q, "read maintenance windows", `SELECT `+columns+` FROM maintenance_windows
		WHERE organization_id = $1 AND (holds_until IS NULL OR holds_until > $2) AND coalesce((terms->>'to')::timestamptz > $2, true)
		ORDER BY id, holds_from`, organization, since)
	versions := make([]domain.Version, len(rows))
	for i, r := range rows {
		versions[i] = r.Version()
	}
	return versions, err
}

// Names are what windows are called, also those that were removed.
func Names(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return statement.Map[uuid.UUID, string](ctx, q, "look up the names of maintenance windows", `SELECT DISTINCT ON (id) id, name FROM maintenance_windows
		WHERE organization_id = $1 AND id = ANY ($2) ORDER BY id, holds_from DESC`, organization, statement.IDs(ids))
}

// WindowsNow is the window that servers are in at a time, if all of them are in one; see domain's InAll.
func (w *Windows) WindowsNow(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, servers [][]uuid.UUID, at time.Time) ([]*alert.Window, error) {
	in := make([]*alert.Window, len(servers))
	versions, err := Versions(ctx, q, organization, at)
	if err != nil || len(versions) == 0 {
		return in, err
	}
	var all []uuid.UUID
	for _, of := range servers {
		all = append(all, of...)
	}
	tags, err := w.instances.TagsOf(ctx, organization, all)
	if err != nil {
		return nil, err
	}
	for i, of := range servers {
		in[i] = domain.InAll(versions, of, tags, at)
	}
	return in, nil
}

// OfAlert is the window that an alert was raised in.
type OfAlert struct {
	Alert  uuid.UUID `db:"alert_id"`
	Window uuid.UUID `db:"window_id"`
	Name   string    `db:"name"`
	EndsAt time.Time `db:"ends_at"`
}

// OfAlerts are the windows in which those of some alerts were raised that were raised in one.
func OfAlerts(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, alerts []uuid.UUID) (map[uuid.UUID]OfAlert, error) {
	if len(alerts) == 0 {
		return nil, nil
	}
	rows, err := statement.All[OfAlert](ctx, q, "read which alerts were raised in a maintenance window", `SELECT a.alert_id, a.window_id, a.ends_at,
			coalesce((SELECT w.name FROM maintenance_windows w WHERE w.id = a.window_id AND w.organization_id = a.organization_id
				ORDER BY w.holds_from DESC LIMIT 1), '') AS name
		FROM alert_windows a WHERE a.organization_id = $1 AND a.alert_id = ANY ($2)`, organization, statement.IDs(alerts))
	found := make(map[uuid.UUID]OfAlert, len(rows))
	for _, r := range rows {
		found[r.Alert] = r
	}
	return found, err
}

// Prune deletes what is known of times that are longer ago than reports look back.
func Prune(ctx context.Context, q sqlx.ExtContext, now time.Time) error {
	before := now.AddDate(0, 0, -keptDays)
	if err := statement.Exec(ctx, q, "prune maintenance windows", `DELETE FROM maintenance_windows
		WHERE holds_until < $1 OR (terms->>'to')::timestamptz < $1`, before); err != nil {
		return err
	}
	return statement.Exec(ctx, q, "prune the windows of alerts", `DELETE FROM alert_windows WHERE raised_at < $1`, before)
}
