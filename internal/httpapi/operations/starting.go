package operations

import (
	"context"
	"crypto/rand"
	"net/http"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

// Starting answers for a process that is not ready to answer yet: that it lives, that it
// is not ready and what it waits for, and to all else that it is to be sent again.
// waitsFor is named as the check of /readyz that would fail.
func Starting(waitsFor func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := &wire.Call{RequestID: rand.Text()[:16]}
		h := w.Header()
		h.Set("X-Request-Id", call.RequestID)
		h.Set("Cache-Control", "private, no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch { // of an error of writing nobody is left to tell
		case reads && r.URL.Path == "/healthz":
			_ = api.GetHealth200JSONResponse{Status: "ok"}.VisitGetHealthResponse(w)
		case reads && r.URL.Path == "/readyz":
			h.Set("Retry-After", readyRetryAfter)
			_ = api.GetReadiness503JSONResponse{
				Status: api.ReadinessStatusUnready,
				Checks: []api.ReadinessCheck{{Name: waitsFor(), Status: api.ReadinessCheckStatusFailed}},
			}.VisitGetReadinessResponse(w)
		default:
			p := &wire.Problem{Code: "unavailable", Detail: "The process is starting: /readyz says what it waits for. Try again."}
			p.Write(w, r.WithContext(context.WithValue(r.Context(), wire.CallKey{}, call)))
		}
	})
}
