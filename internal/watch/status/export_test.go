package status

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Facts are what is kept of an instance.
func Facts(ctx context.Context, q sqlx.QueryerContext, organization, instance uuid.UUID) ([]Fact, error) {
	all, err := factsOf(ctx, q, organization, []uuid.UUID{instance})
	return all[instance], err
}
