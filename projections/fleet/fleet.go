package fleet

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/fleet"
)

// Reader answers from the live generation of the fleet projection. Every query
// carries the organization; removed instances and databases are not in it.
type Reader struct{ db *sqlx.DB }

// NewReader returns a reader on db.
func NewReader(db *sqlx.DB) *Reader { return &Reader{db: db} }

// Instance is one server.
type Instance struct {
	ID             uuid.UUID
	OrganizationID uuid.UUID
	ExternalID     string
	Name           string
	Engine         domain.Engine
	Version        string
	Host           string
	Active         bool
	CreatedAt      time.Time
	DatabaseCount  int
}

// Database is one database of an instance.
type Database struct {
	ID         uuid.UUID
	InstanceID uuid.UUID
	ExternalID string
	Name       string
	CreatedAt  time.Time
}

// Query selects a page of instances.
type Query struct {
	Organization uuid.UUID
	IDs          []uuid.UUID // empty: all
	Engines      []domain.Engine
	Active       *bool
	Search       string // substring of name, host or external id, case-insensitive
	Descending   bool   // by name
	Page, Size   int    // 1-based
}

// Instances returns a page by name, then id, and how many there are in all.
func (r *Reader) Instances(ctx context.Context, q Query) ([]Instance, int64, error) {
	panic("not yet")
}

// Instance returns one; ok is false where this organization has none of that id.
func (r *Reader) Instance(ctx context.Context, organization, id uuid.UUID) (i Instance, ok bool, err error) {
	panic("not yet")
}

// Databases returns a page of an instance's databases by name, then id, and how many there are in all.
func (r *Reader) Databases(ctx context.Context, organization, instance uuid.UUID, search string, page, size int) ([]Database, int64, error) {
	panic("not yet")
}

// InstanceNames returns the names of those ids that exist in the organization.
func (r *Reader) InstanceNames(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	panic("not yet")
}

// DatabaseOn returns the name of a database if it is on that instance of the organization.
func (r *Reader) DatabaseOn(ctx context.Context, organization, instance, database uuid.UUID) (name string, ok bool, err error) {
	panic("not yet")
}
