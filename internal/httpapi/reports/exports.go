package reports

import (
	"context"

	"github.com/google/uuid"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

func (s *ReportRoutes) ListExports(ctx context.Context, r api.ListExportsRequestObject) (api.ListExportsResponseObject, error) {
	before := uuid.Nil
	place, err := wire.CursorPlace(r.Params.Cursor, "export")
	if err != nil {
		return nil, err
	}
	if place != "" {
		if before, err = uuid.Parse(place); err != nil {
			return nil, wire.BadCursor()
		}
	}
	who, limit := wire.Caller(ctx), wire.Or(r.Params.Limit, 20)
	rows, unseen, err := s.History.Exports(ctx, who.Organization.ID, who.Member.ID, before, limit+1, s.Now())
	if err != nil {
		return nil, err
	}
	answer := api.ListExports200JSONResponse{UnseenCount: unseen}
	if len(rows) > limit {
		rows = rows[:limit]
		answer.NextCursor = wire.Cursor("export", rows[limit-1].ID.String())
	}
	if answer.Items, err = s.show(ctx, rows); err != nil {
		return nil, err
	}
	return answer, nil
}

func (s *ReportRoutes) MarkExportsSeen(ctx context.Context, r api.MarkExportsSeenRequestObject) (api.MarkExportsSeenResponseObject, error) {
	who := wire.Caller(ctx)
	ok, err := s.History.MarkSeen(ctx, who.Organization.ID, who.Member.ID, r.Body.UpTo)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, wire.NotFound("report")
	}
	return api.MarkExportsSeen204Response{}, nil
}
