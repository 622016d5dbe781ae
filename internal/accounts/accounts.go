package accounts

import (
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
)

// Organization is one tenant's settings.
type Organization struct {
	ID                  uuid.UUID
	Name                string
	TimeZone            string
	ReportRetentionDays int
	InputsRetentionDays int
	PaperSize           string
	Demo                bool
	CreatedAt           time.Time
}

// Member is a person in one organization.
type Member struct {
	ID             uuid.UUID
	OrganizationID uuid.UUID
	Email          string
	Name           string
	Role           organization.Role
	Status         string // invited, active, disabled
	LastSignInAt   *time.Time
	CreatedAt      time.Time
}

// Principal is who makes a request, and with what.
type Principal struct {
	Member       Member // zero for an ingest token
	Organization Organization
	Method       string               // password, token, ingest
	ID           uuid.UUID            // session or token id
	Scopes       []organization.Scope // nil: a session, everything the role allows
	InstanceIDs  []uuid.UUID          // ingest token: only these; nil: all
	ExpiresAt    time.Time
}

// Store keeps organizations, members, passwords, sessions, tokens, invitations and setup links.
type Store struct {
	db  *sqlx.DB
	now func() time.Time
}

// New returns the store on db with the given clock.
func New(db *sqlx.DB, now func() time.Time) *Store { return &Store{db: db, now: now} }
