package monitor

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/assessment"
	"muster/internal/concurrency/lease"
	"muster/internal/postgres/statement"
	"muster/internal/report/snapshot"
)

// term is how long a claim, and a process among the others, holds without being
// renewed, by the database's clock.
const term = 20 * time.Second

// claim is the right to measure a server.
type claim struct {
	Organization uuid.UUID `db:"organization_id"`
	Instance     uuid.UUID `db:"instance_id"`
	Token        uuid.UUID `db:"token"`
}

// lost is the sentence of its *lease.LostError: another process measures the server
// now, or none is to.
func (c claim) lost() string {
	return fmt.Sprintf("the claim on measuring instance %s was lost", c.Instance)
}

// CountedError says that statements had been counted until another time than their
// interval begins at: it would be counted in part, or twice.
type CountedError struct{ Instance uuid.UUID }

func (e *CountedError) Error() string {
	return fmt.Sprintf("the statements of instance %s were counted until another time", e.Instance)
}

// leases are the table monitor_leases, and who shares it.
type leases struct{ db *sqlx.DB }

// join says that a process is there, for as long as a lease, and returns how many are, at
// least 1. The process counts itself whatever its entry says: a commit that took longer
// than a term made an entry that had run out before anybody saw it.
func (l leases) join(ctx context.Context, process uuid.UUID) (processes int, err error) {
	const what = "join those who measure servers"
	err = statement.Exec(ctx, l.db, what, `INSERT INTO monitor_processes (process, seen_until)
		VALUES ($1, now() + make_interval(secs => $2))
		ON CONFLICT (process) DO UPDATE SET seen_until = excluded.seen_until`, process, term.Seconds())
	if err != nil {
		return 0, err
	}
	return statement.One[int](ctx, l.db, what, `SELECT 1 + count(*) FROM monitor_processes WHERE seen_until > now() AND process <> $1`, process)
}

// leave is join's opposite. What processes left that died is cleared away with it.
func (l leases) leave(ctx context.Context, process uuid.UUID) error {
	return statement.Exec(ctx, l.db, "leave those who measure servers", `DELETE FROM monitor_processes
		WHERE process = $1 OR seen_until < now() - interval '1 hour'`, process)
}

func (l leases) held(ctx context.Context) (map[uuid.UUID]bool, error) {
	return l.instances(ctx, "read which servers are measured", `SELECT instance_id FROM monitor_leases WHERE leased_until > now()`)
}

func (l leases) instances(ctx context.Context, what, query string, args ...any) (map[uuid.UUID]bool, error) {
	ids, err := statement.All[uuid.UUID](ctx, l.db, what, query, args...)
	set := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set, err
}

//go:embed sql/claim.sql
var claimStatement string

// claim claims the servers without a holder, each with a token of its own.
func (l leases) claim(ctx context.Context, servers []assessment.Registered) ([]claim, error) {
	var organizations, instances, tokens []uuid.UUID
	for _, s := range servers {
		organizations, instances, tokens = append(organizations, s.Organization), append(instances, s.Instance), append(tokens, uuid.New())
	}
	return statement.All[claim](ctx, l.db, fmt.Sprintf("claim %d servers", len(servers)), claimStatement,
		organizations, instances, tokens, term.Seconds())
}

//go:embed sql/renew.sql
var renewStatement string

// renew prolongs claims and returns the instances whose claims still held.
func (l leases) renew(ctx context.Context, claims []claim) (map[uuid.UUID]bool, error) {
	instances, tokens := make([]uuid.UUID, len(claims)), make([]uuid.UUID, len(claims))
	for i, c := range claims {
		instances[i], tokens[i] = c.Instance, c.Token
	}
	return l.instances(ctx, fmt.Sprintf("renew the claims on %d servers", len(claims)), renewStatement, instances, tokens, term.Seconds())
}

// release gives claims back, so that another process may have them at once.
func (l leases) release(ctx context.Context, tokens []uuid.UUID) error {
	return statement.Exec(ctx, l.db, fmt.Sprintf("release the claims on %d servers", len(tokens)),
		`UPDATE monitor_leases SET token = NULL, leased_until = NULL WHERE token = ANY($1)`, tokens)
}

func (l leases) forget(ctx context.Context) error {
	return statement.Exec(ctx, l.db, "forget servers that are not registered", `DELETE FROM monitor_leases l
		WHERE NOT EXISTS (SELECT FROM assessment_targets t
		                  WHERE t.organization_id = l.organization_id AND t.instance_id = l.instance_id)`)
}

// guard holds a claim until the transaction ends; it returns *lease.LostError.
func (c claim) guard(ctx context.Context, tx sqlx.ExtContext) error {
	result, err := tx.ExecContext(ctx, `SELECT FROM monitor_leases
		WHERE organization_id = $1 AND instance_id = $2 AND token = $3 FOR SHARE`, c.Organization, c.Instance, c.Token)
	return lease.Guard(result, err, fmt.Sprintf("hold the claim on measuring instance %s", c.Instance), c.lost())
}

//go:embed sql/count_interval.sql
var countInterval string

// count holds the claim likewise, and says that the statements that were counted until
// since now are until at. It returns *lease.LostError and *CountedError.
func (c claim) count(ctx context.Context, tx sqlx.ExtContext, since *time.Time, at time.Time) error {
	n, err := statement.Affected(ctx, tx, fmt.Sprintf("count the statements of instance %s", c.Instance), countInterval,
		c.Organization, c.Instance, c.Token, at, since)
	if err != nil || n > 0 {
		return err
	}
	if err := c.guard(ctx, tx); err != nil {
		return err
	}
	return &CountedError{Instance: c.Instance}
}

func (l leases) statementsAt(ctx context.Context, c claim) (at *time.Time, err error) {
	at, held, err := statement.Find[*time.Time](ctx, l.db, fmt.Sprintf("read until when statements of instance %s are counted", c.Instance),
		`SELECT statements_at FROM monitor_leases WHERE organization_id = $1 AND instance_id = $2 AND token = $3`,
		c.Organization, c.Instance, c.Token)
	if err == nil && !held {
		err = &lease.LostError{What: c.lost()}
	}
	return at, err
}

func (l leases) lacks(ctx context.Context, c claim, grants []snapshot.MissingGrant) error {
	text, err := json.Marshal(grants)
	if err != nil {
		return fmt.Errorf("encode the missing grants of instance %s: %w", c.Instance, err)
	}
	return statement.Exec(ctx, l.db, fmt.Sprintf("keep the missing grants of instance %s", c.Instance), `UPDATE monitor_leases
		SET missing_grants = $4 WHERE organization_id = $1 AND instance_id = $2 AND token = $3`,
		c.Organization, c.Instance, c.Token, string(text))
}
