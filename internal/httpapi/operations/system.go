package operations

import (
	"context"
	"fmt"
	"net/http"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/process/readiness"
	"muster/internal/process/zones"
)

// Build says what runs here.
type Build struct {
	Version, Commit, BuiltAt, GoVersion string
	Assistants                          bool // MUSTER_MCP=on
}

// readyRetryAfter is how many seconds later to ask again.
const readyRetryAfter = "5"

func (s *OperatorRoutes) GetHealth(context.Context, api.GetHealthRequestObject) (api.GetHealthResponseObject, error) {
	return api.GetHealth200JSONResponse{Status: "ok"}, nil
}

func (s *OperatorRoutes) GetReadiness(ctx context.Context, _ api.GetReadinessRequestObject) (api.GetReadinessResponseObject, error) {
	shown := showReadiness(s.Ready.Ask(ctx))
	if shown.Status == api.ReadinessStatusUnready {
		wire.CallOf(ctx).Header.Set("Retry-After", readyRetryAfter)
		return api.GetReadiness503JSONResponse(shown), nil
	}
	return api.GetReadiness200JSONResponse(shown), nil
}

// showReadiness holds no error's text, for anyone may ask; the log does.
func showReadiness(status readiness.Status, findings []readiness.Result) api.Readiness {
	shown := api.Readiness{Status: api.ReadinessStatus(status), Checks: []api.ReadinessCheck{}}
	for _, f := range findings {
		took := f.Took.Milliseconds()
		check := api.ReadinessCheck{Name: f.Name, Status: api.ReadinessCheckStatusFailed, Ms: &took}
		if f.OK {
			check.Status = api.ReadinessCheckStatusOk
		}
		if f.Lag != nil {
			seconds := float32(f.Lag.Seconds())
			check.LagSeconds = &seconds
		}
		shown.Checks = append(shown.Checks, check)
	}
	return shown
}

func (s *OperatorRoutes) GetVersion(context.Context, api.GetVersionRequestObject) (api.GetVersionResponseObject, error) {
	shown := api.GetVersion200JSONResponse{
		Version: s.Build.Version, Commit: s.Build.Commit, BuiltAt: s.Build.BuiltAt, GoVersion: s.Build.GoVersion, Go: s.Build.GoVersion,
		Assistants: s.Build.Assistants,
	}
	data := zones.Current()
	shown.TimeZoneData.Release, shown.TimeZoneData.Source = wire.Optional(data.Release), data.Source
	shown.TimeZoneData.Stale = data.Stale(s.Now())
	return shown, nil
}

// handled is an answer that an ordinary handler writes.
type handled struct {
	handler http.Handler
	request *http.Request
}

func (h handled) write(w http.ResponseWriter) error {
	h.handler.ServeHTTP(w, h.request)
	return nil
}

func (h handled) VisitGetMetricsResponse(w http.ResponseWriter) error     { return h.write(w) }
func (h handled) VisitGetOpenapiJsonResponse(w http.ResponseWriter) error { return h.write(w) }
func (h handled) VisitGetOpenapiYamlResponse(w http.ResponseWriter) error { return h.write(w) }

func (s *OperatorRoutes) GetMetrics(ctx context.Context, _ api.GetMetricsRequestObject) (api.GetMetricsResponseObject, error) {
	return handled{handler: s.Metrics.Handler(), request: wire.CallOf(ctx).Request}, nil
}

func (s *OperatorRoutes) GetOpenapiJson(ctx context.Context, _ api.GetOpenapiJsonRequestObject) (api.GetOpenapiJsonResponseObject, error) {
	return described(ctx, "application/json", s.ContractJSON)
}

func (s *OperatorRoutes) GetOpenapiYaml(ctx context.Context, _ api.GetOpenapiYamlRequestObject) (api.GetOpenapiYamlResponseObject, error) {
	return described(ctx, "application/yaml", s.ContractYAML)
}

func described(ctx context.Context, contentType string, contract func() ([]byte, error)) (handled, error) {
	text, err := contract()
	if err != nil {
		return handled{}, fmt.Errorf("write the API's description: %w", err)
	}
	return handled{handler: wire.Fixed(contentType, "public, max-age=300", text), request: wire.CallOf(ctx).Request}, nil
}

// Door answers for one process whether it lives, whether it is ready, and with its
// figures: what a process without the API is seen by. It asks nobody to sign in, so it
// names no tenant, and belongs on an address that operators alone reach.
func Door(ready *readiness.Board, figures http.Handler) http.Handler {
	door := http.NewServeMux()
	door.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_ = api.GetHealth200JSONResponse{Status: "ok"}.VisitGetHealthResponse(w) // the connection is gone; nobody is left to tell
	})
	door.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		shown := showReadiness(ready.Ask(r.Context()))
		if shown.Status == api.ReadinessStatusUnready {
			w.Header().Set("Retry-After", readyRetryAfter)
			_ = api.GetReadiness503JSONResponse(shown).VisitGetReadinessResponse(w)
			return
		}
		_ = api.GetReadiness200JSONResponse(shown).VisitGetReadinessResponse(w)
	})
	door.Handle("GET /metrics", figures)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		door.ServeHTTP(w, r)
	})
}
