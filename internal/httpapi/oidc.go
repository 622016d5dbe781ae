package httpapi

import (
	"context"

	"muster/internal/httpapi/api"
)

func (s *server) StartOIDC(ctx context.Context, r api.StartOIDCRequestObject) (api.StartOIDCResponseObject, error) {
	panic("not yet")
}

func (s *server) FinishOIDC(ctx context.Context, r api.FinishOIDCRequestObject) (api.FinishOIDCResponseObject, error) {
	panic("not yet")
}
