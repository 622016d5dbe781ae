package risks

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot"
)

//go:embed sql/seen.sql
var seenSQL string

// Keep takes a classification of a database into account. It belongs into the transaction that
// records it.
func Keep(ctx context.Context, tx *sqlx.Tx, organization, instance uuid.UUID, database string, run snapshot.Classification, at time.Time) error {
	whole := run.Status == snapshot.ClassificationCompleted
	if run.Own || run.Failure != nil || !whole && run.Status != snapshot.ClassificationPartial {
		return nil
	}
	var ids, schemas, names []string
	known := map[string]bool{}
	for _, t := range run.Tables {
		id := snapshot.RiskID(organization, instance, database, t)
		if known[id] {
			continue
		}
		known[id] = true
		ids, schemas, names = append(ids, id), append(schemas, storable(t.Schema)), append(names, storable(t.Name))
	}
	if err := statement.Exec(ctx, tx, "keep the risks of a database", seenSQL, organization, instance, storable(database), at, ids, schemas, names); err != nil || !whole {
		return err
	}
	return statement.Exec(ctx, tx, "end the risks of tables that are no more", `UPDATE data_risks SET gone_at = $4
		WHERE organization_id = $1 AND instance_id = $2 AND database_name = $3 AND gone_at IS NULL AND id <> ALL (coalesce($5::text[], '{}'))`,
		organization, instance, storable(database), at, ids)
}

// KeepDatabases ends the risks of databases that an instance no longer has.
func KeepDatabases(ctx context.Context, tx *sqlx.Tx, organization, instance uuid.UUID, found []string, at time.Time) error {
	names := make([]string, len(found))
	for i, name := range found {
		names[i] = storable(name)
	}
	return statement.Exec(ctx, tx, "end the risks of databases that are no more", `UPDATE data_risks SET gone_at = $4
		WHERE organization_id = $1 AND instance_id = $2 AND database_name <> ALL ($3::text[]) AND gone_at IS NULL`, organization, instance, names, at)
}

// storable is a name without what PostgreSQL does not store in a text.
func storable(name string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", "\uFFFD"), "\uFFFD")
}

// Of returns what is on record of the risks of some instances that are there now, by id.
func Of(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, instances []uuid.UUID) ([]snapshot.RiskRecord, error) {
	rows, err := statement.All[struct {
		ID    string     `db:"id"`
		First time.Time  `db:"first_seen_at"`
		Ever  *time.Time `db:"ever_first_seen_at"`
		Gone  *time.Time `db:"earlier_gone_at"`
	}](ctx, q, "read the risks on record", `SELECT id, first_seen_at, ever_first_seen_at, earlier_gone_at FROM data_risks
		WHERE organization_id = $1 AND instance_id = ANY ($2) AND gone_at IS NULL ORDER BY id COLLATE "C"`, organization, statement.IDs(instances))
	out := make([]snapshot.RiskRecord, len(rows))
	for i, r := range rows {
		out[i] = snapshot.RiskRecord{ID: r.ID, FirstSeenAt: r.First.UTC(), EverFirstSeenAt: utc(r.Ever), EarlierGoneAt: utc(r.Gone)}
	}
	return out, err
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// Place is the table that a risk is about.
type Place struct {
	Instance uuid.UUID `db:"instance_id"`
	Database string    `db:"database_name"`
	Schema   string    `db:"schema_name"`
	Table    string    `db:"table_name"`
}

// Find returns the table of a risk of an organization, also if it has gone.
func Find(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, id string) (Place, bool, error) {
	return statement.Find[Place](ctx, q, "find a risk", `SELECT instance_id, database_name, schema_name, table_name FROM data_risks
		WHERE organization_id = $1 AND id = $2`, organization, id)
}

// Forget deletes the risks of an instance that is removed.
func Forget(ctx context.Context, q sqlx.ExecerContext, organization, instance uuid.UUID) error {
	return statement.Exec(ctx, q, "forget the risks of instance "+instance.String(),
		`DELETE FROM data_risks WHERE organization_id = $1 AND instance_id = $2`, organization, instance)
}

// Prune deletes risks that have been gone for longer than that.
func Prune(ctx context.Context, q sqlx.ExecerContext, after time.Duration) error {
	return statement.Exec(ctx, q, "prune risks that have gone", `DELETE FROM data_risks WHERE gone_at < now() - make_interval(secs => $1)`, after.Seconds())
}
