package channel

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/alerting/people"
	"muster/domain/alert"
	"muster/domain/organization"
)

// Name puts into the titles of events whose sessions they speak of, where that is kept.
func Name(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, notices []Notice) error {
	var ids []uuid.UUID
	for _, n := range notices {
		if n.AlertID != nil {
			ids = append(ids, *n.AlertID)
		}
	}
	kept, err := people.Of(ctx, q, organization, ids)
	for i, n := range notices {
		if n.AlertID != nil {
			notices[i].Title = alert.Named(n.Title, kept[*n.AlertID].All())
		}
	}
	return err
}

// HidesPeople says of a member who is mailed that the pages hide from them whose sessions an alert speaks of: viewers, and
// members with the role team who may act in none of their teams.
func HidesPeople(role organization.Role, acts bool) bool {
	return role == organization.Viewer || role == organization.Team && !acts
}
