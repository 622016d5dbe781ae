package wire

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/alerting/people"
	"muster/domain/alert"
	"muster/domain/organization"
)

// HidesPeople says whether the caller may not see whose sessions they are: viewers may not.
func HidesPeople(ctx context.Context) bool { return Caller(ctx).Member.Role == organization.Viewer }

// Titles returns how the titles of alerts are shown to the caller: with whose sessions they speak of, where that is kept
// and the caller may see it. After an error they have the ids of sessions.
func Titles(ctx context.Context, db sqlx.QueryerContext, alerts []uuid.UUID) (shown func(id uuid.UUID, title string) string, err error) {
	var kept map[uuid.UUID]people.Kept
	if !HidesPeople(ctx) {
		kept, err = people.Of(ctx, db, Caller(ctx).Organization.ID, alerts)
	}
	return func(id uuid.UUID, title string) string { return alert.Named(title, kept[id].All()) }, err
}
