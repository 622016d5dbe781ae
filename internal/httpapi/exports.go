package httpapi

import (
	"context"

	"github.com/google/uuid"

	"muster/internal/httpapi/api"
)

func (s *server) ListExports(ctx context.Context, r api.ListExportsRequestObject) (api.ListExportsResponseObject, error) {
	before := uuid.Nil
	place, err := placeOf(r.Params.Cursor, "export")
	if err != nil {
		return nil, err
	}
	if place != "" {
		if before, err = uuid.Parse(place); err != nil {
			return nil, badCursor()
		}
	}
	who, limit := caller(ctx), or(r.Params.Limit, 20)
	rows, unseen, err := s.History.Exports(ctx, who.Organization.ID, who.Member.ID, before, limit+1, s.Now())
	if err != nil {
		return nil, err
	}
	answer := api.ListExports200JSONResponse{UnseenCount: unseen}
	if len(rows) > limit {
		rows = rows[:limit]
		answer.NextCursor = cursor("export", rows[limit-1].ID.String())
	}
	if answer.Items, err = s.show(ctx, rows); err != nil {
		return nil, err
	}
	return answer, nil
}

func (s *server) MarkExportsSeen(ctx context.Context, r api.MarkExportsSeenRequestObject) (api.MarkExportsSeenResponseObject, error) {
	who := caller(ctx)
	ok, err := s.History.MarkSeen(ctx, who.Organization.ID, who.Member.ID, r.Body.UpTo)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, notFound("report")
	}
	return api.MarkExportsSeen204Response{}, nil
}
