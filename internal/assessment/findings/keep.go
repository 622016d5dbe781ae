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
	//go:embed sql/gone.sql
	goneSQL string
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
	return update(ctx, tx, organization, instance, before, after(before, organization, instance, a, checks.Definitions(), at), at)
}

// update writes what differs from before. Most findings are the same at every assessment, only seen
// once more, at: that is written alone, since it touches no index and makes nothing anew of the
// texts that are searched.
func update(ctx context.Context, tx *sqlx.Tx, organization, instance uuid.UUID, before, now []Finding, at time.Time) error {
	was := make(map[uuid.UUID]Finding, len(before))
	for _, f := range before {
		was[f.ID] = f
	}
	var changed []Finding
	var seen []uuid.UUID
	for _, f := range now {
		old, known := was[f.ID]
		if old.LastSeen = f.LastSeen; !known || old != f {
			changed = append(changed, f)
		} else if f.LastSeen.Equal(at) { // else its check was not possible
			seen = append(seen, f.ID)
		}
	}
	if len(seen) > 0 {
		if err := statement.Exec(ctx, tx, "note that findings are still there", `UPDATE findings SET last_seen_at = $4
			WHERE organization_id = $1 AND instance_id = $2 AND id = ANY ($3)`, organization, instance, statement.IDs(seen), at); err != nil {
			return err
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if err := cameBack(ctx, tx, organization, was, changed); err != nil {
		return err
	}
	return write(ctx, tx, changed)
}

// cameBack notes in rows what came back. It looks only for what was not there before, by id.
func cameBack(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, before map[uuid.UUID]Finding, rows []Finding) error {
	var fresh []uuid.UUID
	for _, f := range rows {
		if _, there := before[f.ID]; !there {
			fresh = append(fresh, f.ID)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	type was struct {
		ID        uuid.UUID `db:"id"`
		FirstSeen time.Time `db:"ever_first_seen_at"`
		Gone      time.Time `db:"gone_at"`
	}
	gone, err := statement.All[was](ctx, tx, "look for findings that came back", goneSQL, organization, statement.IDs(fresh))
	if err != nil {
		return err
	}
	known := make(map[uuid.UUID]Finding, len(gone))
	for _, f := range gone {
		known[f.ID] = Finding{FirstSeen: f.FirstSeen, Gone: &f.Gone}
	}
	reopened(rows, func(id uuid.UUID) (Finding, bool) { f, ok := known[id]; return f, ok })
	return nil
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
		reopened(current, func(id uuid.UUID) (Finding, bool) { f, ok := known[id]; return f, ok })
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

// Forget deletes what is known of an instance, on q, for a caller who removes it. Findings go first: whoever assigns
// one holds its row until the assignment is there.
func Forget(ctx context.Context, q sqlx.ExecerContext, organization, instance uuid.UUID) error {
	for _, table := range []string{"findings", "finding_assignments"} {
		if err := statement.Exec(ctx, q, "forget the "+table+" of instance "+instance.String(),
			`DELETE FROM `+table+` WHERE organization_id = $1 AND instance_id = $2`, organization, instance); err != nil {
			return err
		}
	}
	return nil
}

// Prune deletes those that have been gone for longer than that, and who was to close them.
func Prune(ctx context.Context, q sqlx.ExecerContext, after time.Duration) (int64, error) {
	n, err := statement.Affected(ctx, q, "prune findings that have gone",
		`DELETE FROM findings WHERE gone_at < now() - make_interval(secs => $1)`, after.Seconds())
	if err != nil {
		return 0, err
	}
	return n, statement.Exec(ctx, q, "prune the assignments of findings that are no more", `DELETE FROM finding_assignments a
		WHERE NOT EXISTS (SELECT FROM findings f WHERE f.organization_id = a.organization_id AND f.id = a.finding_id)`)
}
