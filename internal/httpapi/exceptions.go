package httpapi

import (
	"context"

	"muster/internal/httpapi/api"
)

func (s *server) ListExceptions(ctx context.Context, r api.ListExceptionsRequestObject) (api.ListExceptionsResponseObject, error) {
	panic("not yet")
}

func (s *server) RequestException(ctx context.Context, r api.RequestExceptionRequestObject) (api.RequestExceptionResponseObject, error) {
	panic("not yet")
}

func (s *server) GetException(ctx context.Context, r api.GetExceptionRequestObject) (api.GetExceptionResponseObject, error) {
	panic("not yet")
}

func (s *server) GrantException(ctx context.Context, r api.GrantExceptionRequestObject) (api.GrantExceptionResponseObject, error) {
	panic("not yet")
}

func (s *server) RevokeException(ctx context.Context, r api.RevokeExceptionRequestObject) (api.RevokeExceptionResponseObject, error) {
	panic("not yet")
}
