package accounts

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/internal/postgres/statement"
)

// Deletion is an organization that was deleted.
type Deletion struct {
	ID         uuid.UUID
	Name       string     // empty once it is finished
	DeletedAt  time.Time  `db:"deleted_at"`
	FinishedAt *time.Time `db:"finished_at"` // nil: something of it may be left
}

// deletedState is the SQLSTATE of refuse_deleted_organization.
const deletedState = "MU010"

// IsDeleted reports whether a write was refused because its organization was deleted.
func IsDeleted(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == deletedState
}

// Deletions returns the organizations that were deleted, oldest first.
func (s *Store) Deletions(ctx context.Context) ([]Deletion, error) {
	return statement.All[Deletion](ctx, s.db, "list deleted organizations", `SELECT id, name, deleted_at, finished_at FROM deleted_organizations ORDER BY deleted_at, id`)
}

// WasDeleted reports whether an organization was deleted.
func (s *Store) WasDeleted(ctx context.Context, id uuid.UUID) (bool, error) {
	return statement.One[bool](ctx, s.db, "ask whether an organization was deleted", `SELECT EXISTS (SELECT FROM deleted_organizations WHERE id = $1)`, id)
}

// DeleteOrganization erases an organization, its members, and their credentials and those of
// its machines, and records the deletion. From the commit on nobody can sign in, and no insert
// for it is stored.
func (s *Store) DeleteOrganization(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) error {
	if err := statement.Exec(ctx, tx, "note that an organization is deleted", `INSERT INTO deleted_organizations (id, name, deleted_at)
		SELECT id, name, $2 FROM organizations WHERE id = $1 FOR UPDATE`, id, s.clock()); err != nil {
		return err
	}
	members, err := statement.All[uuid.UUID](ctx, tx, "list the members of an organization", `SELECT id FROM members WHERE organization_id = $1 ORDER BY id`, id)
	if err != nil {
		return err
	}
	for _, member := range members {
		if err := s.EraseMember(ctx, tx, id, member); err != nil {
			return err
		}
	}
	for _, step := range []struct{ what, query string }{
		{"forget the answers to members", `DELETE FROM idempotency_keys WHERE member_id IN (SELECT id FROM members WHERE organization_id = $1)`},
		{"forget tokens", `DELETE FROM tokens WHERE organization_id = $1`},
		{"forget setup links", `DELETE FROM setup_links WHERE organization_id = $1`},
		{"forget what was measured on paper", `DELETE FROM demo_measured WHERE organization_id = $1`},
		{"forget members", `DELETE FROM members WHERE organization_id = $1`},
		{"forget an organization", `DELETE FROM organizations WHERE id = $1`},
	} {
		if err := statement.Exec(ctx, tx, step.what, step.query, id); err != nil {
			return err
		}
	}
	return nil
}

// AwaitWriters returns when every transaction has ended that inserted something for an
// organization before it was noted as deleted.
func (s *Store) AwaitWriters(ctx context.Context, id uuid.UUID) error {
	return statement.Exec(ctx, s.db, "wait for who writes for a deleted organization",
		`SELECT pg_advisory_xact_lock(hashtextextended('organization ' || $1::uuid, 0))`, id)
}

// ForgetAddresses empties the addresses in what the security log has of an organization.
func (s *Store) ForgetAddresses(ctx context.Context, id uuid.UUID) error {
	return statement.Exec(ctx, s.db, "forget the addresses of an organization in the security log",
		`UPDATE security_log SET ip = '' WHERE organization_id = $1 AND ip <> ''`, id)
}

// FinishDeletion notes that nothing of an organization is left, and forgets its name.
func (s *Store) FinishDeletion(ctx context.Context, id uuid.UUID) error {
	return statement.Exec(ctx, s.db, "note that nothing of an organization is left",
		`UPDATE deleted_organizations SET name = '', finished_at = coalesce(finished_at, $2) WHERE id = $1`, id, s.clock())
}
