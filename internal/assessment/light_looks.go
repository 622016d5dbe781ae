package assessment

import (
	"context"
	_ "embed" // the statements
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/concurrency/fairslots"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/next_light_look.sql
	nextLightLookSQL string
	//go:embed sql/light_look.sql
	lightLookSQL string
)

// Place is an instance of an organization.
type Place struct {
	Organization uuid.UUID `db:"organization_id"`
	Instance     uuid.UUID `db:"instance_id"`
}

// NextLightLook returns the assessed server of these engines that has waited longest for a
// light look, of the organization whose turn it is; the look is then put off for a while. ok
// is false where none waits.
func (s *Store) NextLightLook(ctx context.Context, engines []fleet.Engine, every time.Duration, order fairslots.Order) (p Place, ok bool, err error) {
	return statement.Find[Place](ctx, s.db, "find who waits for a light look", nextLightLookSQL, every.Seconds(), engines, order.Full, order.Later)
}

// LightLook keeps what a light look saw, as a digest. Where that differs from the last one
// the instance is due for an assessment, at most once in the gap; due says that it is.
func (s *Store) LightLook(ctx context.Context, p Place, digest string, gap time.Duration) (due bool, err error) {
	due, _, err = statement.Find[bool](ctx, s.db, "keep a light look at instance "+p.Instance.String(), lightLookSQL,
		p.Organization, p.Instance, digest, gap.Seconds())
	return due, err
}
