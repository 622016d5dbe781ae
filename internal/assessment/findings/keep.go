package findings

import (
	"context"
	_ "embed"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/assessment/catalogue"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot"
)

var (
	//go:embed sql/current.sql
	currentSQL string
	//go:embed sql/write.sql
	writeSQL string
)

// Keep takes one more assessment of an instance into account. It belongs into the
// transaction that records it, which has locked the instance's target.
func Keep(ctx context.Context, tx *sqlx.Tx, organization, instance uuid.UUID, a snapshot.Assessment, at time.Time) error {
	if a.Outcome == snapshot.OutcomeUnreachable {
		return nil
	}
	checks, err := catalogue.Load()
	if err != nil {
		return err
	}
	before, err := statement.All[Finding](ctx, tx, "read the findings of instance "+instance.String(), currentSQL, organization, instance)
	if err != nil {
		return err
	}
	return update(ctx, tx, organization, instance, before, after(before, organization, instance, a, checks.Definitions(), at))
}

// update writes what differs from before. Most findings are the same at every assessment, only seen
// once more: writing that alone takes a third of the time, since it touches no index and makes
// nothing anew of the texts that are searched.
func update(ctx context.Context, tx *sqlx.Tx, organization, instance uuid.UUID, before, now []Finding) error {
	was := make(map[uuid.UUID]Finding, len(before))
	for _, f := range before {
		was[f.ID] = f
	}
	var changed []Finding
	seen := map[time.Time][]uuid.UUID{}
	for _, f := range now {
		old, known := was[f.ID]
		at := f.LastSeen
		if old.LastSeen = at; !known || old != f {
			changed = append(changed, f)
		} else if !was[f.ID].LastSeen.Equal(at) {
			seen[at] = append(seen[at], f.ID)
		}
	}
	for at, ids := range seen {
		if err := statement.Exec(ctx, tx, "note that findings are still there", `UPDATE findings SET last_seen_at = $4
			WHERE organization_id = $1 AND instance_id = $2 AND id = ANY ($3)`, organization, instance, statement.IDs(ids), at); err != nil {
			return err
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return write(ctx, tx, changed)
}

// Replay makes the findings of an instance from its stored assessments, instead of
// what there was. The caller's transaction has locked the instance's target.
func Replay(ctx context.Context, tx *sqlx.Tx, organization, instance uuid.UUID) error {
	checks, err := catalogue.Load()
	if err != nil {
		return err
	}
	if err := statement.Exec(ctx, tx, "forget the findings of instance "+instance.String(),
		`DELETE FROM findings WHERE organization_id = $1 AND instance_id = $2`, organization, instance); err != nil {
		return err
	}
	ids, err := statement.All[uuid.UUID](ctx, tx, "list the assessments of instance "+instance.String(), `SELECT id FROM assessments
		WHERE organization_id = $1 AND instance_id = $2 AND outcome <> 'unreachable' ORDER BY recorded_at, id`, organization, instance)
	if err != nil {
		return err
	}
	known := map[uuid.UUID]Finding{} // those that have gone, too
	var current []Finding
	for _, id := range ids { // one at a time: each may be a megabyte
		type recorded struct {
			At    time.Time `db:"recorded_at"`
			Facts []byte    `db:"facts"`
		}
		row, err := statement.One[recorded](ctx, tx, "read assessment "+id.String(), `SELECT recorded_at, facts FROM assessments WHERE id = $1`, id)
		if err != nil {
			return err
		}
		var a snapshot.Assessment
		if json.Unmarshal(row.Facts, &a) != nil {
			continue // it says nothing; what follows must be recorded all the same
		}
		current = after(current, organization, instance, a, checks.Definitions(), row.At)
		for _, f := range current {
			known[f.ID] = f
		}
	}
	all := make([]Finding, 0, len(known))
	for _, f := range known {
		all = append(all, f)
	}
	return write(ctx, tx, all)
}

func write(ctx context.Context, tx *sqlx.Tx, rows []Finding) error {
	return statement.Exec(ctx, tx, "keep findings", writeSQL, statement.Columns(rows)...)
}

// Forget deletes what is known of an instance, on q, for a caller who removes it.
func Forget(ctx context.Context, q sqlx.ExecerContext, organization, instance uuid.UUID) error {
	return statement.Exec(ctx, q, "forget the findings of instance "+instance.String(),
		`DELETE FROM findings WHERE organization_id = $1 AND instance_id = $2`, organization, instance)
}

// Prune deletes those that have been gone for longer than that.
func Prune(ctx context.Context, q sqlx.ExecerContext, after time.Duration) (int64, error) {
	return statement.Affected(ctx, q, "prune findings that have gone",
		`DELETE FROM findings WHERE gone_at < now() - make_interval(secs => $1)`, after.Seconds())
}
