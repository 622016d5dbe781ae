package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

const organizationColumns = `id, name, time_zone, report_retention_days, inputs_retention_days, paper_size, demo, created_at`

// InsertOrganization stores an organization with default settings and returns it.
func (s *Store) InsertOrganization(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, name string, demo bool) (Organization, error) {
	var o Organization
	err := tx.GetContext(ctx, &o, `INSERT INTO organizations (id, name, demo, created_at) VALUES ($1, $2, $3, $4)
		RETURNING `+organizationColumns, id, name, demo, s.clock())
	if err != nil {
		return Organization{}, fmt.Errorf("store an organization: %w", err)
	}
	return o, nil
}

// Organization returns one.
func (s *Store) Organization(ctx context.Context, id uuid.UUID) (o Organization, ok bool, err error) {
	err = s.db.GetContext(ctx, &o, `SELECT `+organizationColumns+` FROM organizations WHERE id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return Organization{}, false, nil
	}
	if err != nil {
		return Organization{}, false, fmt.Errorf("look up an organization: %w", err)
	}
	return o, true, nil
}

// Organizations returns all, oldest first.
func (s *Store) Organizations(ctx context.Context) ([]Organization, error) {
	all := []Organization{}
	if err := s.db.SelectContext(ctx, &all, `SELECT `+organizationColumns+` FROM organizations ORDER BY created_at, id`); err != nil {
		return nil, fmt.Errorf("list organizations: %w", err)
	}
	return all, nil
}

// OrganizationNamed returns the oldest organization of that name, uuid.Nil
// where there is none.
func (s *Store) OrganizationNamed(ctx context.Context, tx *sqlx.Tx, name string) (id uuid.UUID, err error) {
	err = tx.GetContext(ctx, &id, `SELECT id FROM organizations WHERE name = $1 ORDER BY created_at, id LIMIT 1`, name)
	if errors.Is(err, sql.ErrNoRows) {
		return uuid.Nil, nil
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("look up an organization: %w", err)
	}
	return id, nil
}
