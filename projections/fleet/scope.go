package fleet

import (
	"context"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
)

// Scope resolves a filter, by ids or by names, to the organization's instances.
// Without any it is the whole organization; one that matches nothing is a scope
// with nothing in it.
func (r *Reader) Scope(ctx context.Context, organization uuid.UUID, ids []uuid.UUID, names []string) (domain.Scope, error) {
	panic("not yet")
}

// Counts are how many instances and databases there are, and how many of those
// were there at an earlier time.
type Counts struct {
	Instances, InstancesThen int64
	Databases, DatabasesThen int64
}

// Counts counts what is in scope now, and which of it was created by then.
func (r *Reader) Counts(ctx context.Context, organization uuid.UUID, scope domain.Scope, then time.Time) (Counts, error) {
	panic("not yet")
}

// MonitoringStartedIn is when the earliest instance in scope was registered,
// inactive ones too; nil where there is none.
func (r *Reader) MonitoringStartedIn(ctx context.Context, organization uuid.UUID, scope domain.Scope) (*time.Time, error) {
	panic("not yet")
}

// Named finds the instances of which one of these is the id, the external id,
// the name or the host: what a label of an alert may say. Several may match.
func (r *Reader) Named(ctx context.Context, organization uuid.UUID, references []string) (map[string][]uuid.UUID, error) {
	panic("not yet")
}

// DatabasesNamed finds the databases of instances by name or external id.
func (r *Reader) DatabasesNamed(ctx context.Context, organization uuid.UUID, instances []uuid.UUID, names []string) ([]Database, error) {
	panic("not yet")
}
