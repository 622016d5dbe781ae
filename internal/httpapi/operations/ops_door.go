package operations

import (
	"encoding/json"
	"net/http"

	"muster/internal/httpapi/api"
	"muster/internal/readiness"
)

// Door answers for one process whether it lives, whether it is ready, and with its
// figures: what a process without the API is seen by. It asks nobody to sign in, so it
// names no tenant, and belongs on an address that operators alone reach.
func Door(ready *readiness.Board, figures http.Handler) http.Handler {
	door := http.NewServeMux()
	door.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeAnswer(w, http.StatusOK, api.GetHealth200JSONResponse{Status: "ok"})
	})
	door.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		shown := showReadiness(ready.Ask(r.Context()))
		status := http.StatusOK
		if shown.Status == api.ReadinessStatusUnready {
			w.Header().Set("Retry-After", readyRetryAfter)
			status = http.StatusServiceUnavailable
		}
		writeAnswer(w, status, shown)
	})
	door.Handle("GET /metrics", figures)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		door.ServeHTTP(w, r)
	})
}

func writeAnswer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the connection is gone; nobody is left to tell
}
