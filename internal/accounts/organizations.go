package accounts

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/statement"
)

const organizationColumns = `id, name, time_zone, report_retention_days, inputs_retention_days, paper_size,
	watch_silent_minutes, watch_volume_percent, watch_lock_wait_minutes, watch_wraparound_percent, demo, created_at`

// InsertOrganization stores an organization with default settings and returns it.
func (s *Store) InsertOrganization(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, name string, demo bool) (Organization, error) {
	return statement.One[Organization](ctx, tx, "store an organization", `INSERT INTO organizations (id, name, demo, created_at) VALUES ($1, $2, $3, $4)
		RETURNING `+organizationColumns, id, name, demo, s.clock())
}

// Organization returns one.
func (s *Store) Organization(ctx context.Context, id uuid.UUID) (o Organization, ok bool, err error) {
	return statement.Find[Organization](ctx, s.db, "look up an organization", `SELECT `+organizationColumns+` FROM organizations WHERE id = $1`, id)
}

// LockOrganization returns one whose row nobody else writes until tx ends. Whoever
// signs in meanwhile goes on: their session only refers to the row.
func (s *Store) LockOrganization(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) (Organization, error) {
	return statement.One[Organization](ctx, tx, "lock an organization", `SELECT `+organizationColumns+` FROM organizations WHERE id = $1 FOR NO KEY UPDATE`, id)
}

// UpdateSettings stores an organization's settings and returns it.
func (s *Store) UpdateSettings(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, is organization.Settings) (Organization, error) {
	return statement.One[Organization](ctx, tx, "store the settings of an organization", `UPDATE organizations SET name = $2, report_retention_days = $3, inputs_retention_days = $4, paper_size = $5,
			watch_silent_minutes = $6, watch_volume_percent = $7, watch_lock_wait_minutes = $8, watch_wraparound_percent = $9
		WHERE id = $1 RETURNING `+organizationColumns,
		id, is.Name, is.ReportRetentionDays, is.InputsRetentionDays, is.PaperSize,
		is.Watch.SilentMinutes, is.Watch.VolumePercent, is.Watch.LockWaitMinutes, is.Watch.WraparoundPercent)
}

// Organizations returns all, oldest first.
func (s *Store) Organizations(ctx context.Context) ([]Organization, error) {
	return statement.All[Organization](ctx, s.db, "list organizations", `SELECT `+organizationColumns+` FROM organizations ORDER BY created_at, id`)
}

// OrganizationNamed returns the oldest organization of that name, uuid.Nil
// where there is none.
func (s *Store) OrganizationNamed(ctx context.Context, tx *sqlx.Tx, name string) (id uuid.UUID, err error) {
	id, _, err = statement.Find[uuid.UUID](ctx, tx, "look up an organization", `SELECT id FROM organizations WHERE name = $1 ORDER BY created_at, id LIMIT 1`, name)
	return id, err
}
