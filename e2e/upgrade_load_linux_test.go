package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/concurrency/pause"
)

// callers are people and programs who send through the proxy while processes are replaced.
// Each call that fails is sent once more, as the contract has it: after Retry-After, or
// else when the proxy has seen that a process is gone, and with the same Idempotency-Key
// where the route takes one.
type callers struct {
	caller      *http.Client
	base        string
	api, ingest string // tokens
	paper       uuid.UUID

	mu       sync.Mutex
	requests int
	retried  map[string]int // by what made them fail
	failed   []string
	kept     keptWrites
}

// keptWrites are the writes that were answered well.
type keptWrites struct {
	reports   map[string]uuid.UUID // by their Idempotency-Key
	instances []uuid.UUID
	alerts    []string
	hosts     int
}

// begin sends until stop.
func (s *callers) begin(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	each := func(every time.Duration, send func(ctx context.Context, n int)) {
		sending.Go(func() {
			for n := 0; pause.For(ctx, every) == nil; n++ {
				send(context.WithoutCancel(ctx), n) // what was begun is seen to its end
			}
		})
	}
	for range 2 {
		each(30*time.Millisecond, s.read)
	}
	each(700*time.Millisecond, s.requestReport)
	each(300*time.Millisecond, s.recordInstance)
	each(150*time.Millisecond, s.raiseAlert)
	each(100*time.Millisecond, s.sendSample)
	return func() {
		cancel()
		sending.Wait()
	}
}

func (s *callers) read(ctx context.Context, n int) {
	to := time.Now().UTC()
	window := url.Values{"from": {to.Add(-time.Hour).Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}, "bucketSize": {"1m"}}.Encode()
	paths := []string{
		"/api/v1/reports?kind=InstanceScorecard", "/api/v1/instances", "/api/v1/alerts", "/api/v1/session", "/api/v1/exports", "/api/v1/ops/projections",
		"/api/v1/metrics/utilization?" + window, "/api/v1/health-checks/overview", "/api/v1/metrics/connections", "/api/v1/audit-events",
		"/api/v1/instances/" + s.paper.String(),
	}
	s.send(ctx, http.MethodGet, paths[n%len(paths)], s.api, "", nil, nil)
}

func (s *callers) requestReport(ctx context.Context, n int) {
	key := "report-" + strconv.Itoa(n)
	var made struct{ Report row }
	if s.send(ctx, http.MethodPost, "/api/v1/reports", s.api, key, scorecard(s.paper, n), &made) {
		s.keep(func(k *keptWrites) { k.reports[key] = made.Report.ID })
	}
}

func (s *callers) recordInstance(ctx context.Context, n int) {
	var made struct{ Instances []struct{ ID uuid.UUID } }
	name := "pg-" + strconv.Itoa(n)
	body := map[string]any{"instances": []map[string]any{{"externalId": name, "name": name, "engine": "postgresql", "createdAt": "2026-11-01T00:00:00Z"}}}
	if s.send(ctx, http.MethodPost, "/ingest/v1/fleet", s.ingest, "", body, &made) {
		s.keep(func(k *keptWrites) { k.instances = append(k.instances, made.Instances[0].ID) })
	}
}

func alertNamed(name string) map[string]any {
	now := time.Now().UTC()
	return map[string]any{"externalId": name, "title": "Lock waits above 5", "severity": "critical", "state": "Open", "isMuted": false,
		"createdAt": now, "firstTriggeredAt": now, "lastTriggeredAt": now, "resolvedAt": nil, "instance": nil, "database": nil}
}

func (s *callers) raiseAlert(ctx context.Context, n int) {
	var made struct{ Alerts []struct{ ID string } }
	body := map[string]any{"alerts": []any{alertNamed("a-" + strconv.Itoa(n))}}
	if s.send(ctx, http.MethodPost, "/ingest/v1/alerts", s.ingest, "", body, &made) {
		s.keep(func(k *keptWrites) { k.alerts = append(k.alerts, made.Alerts[0].ID) })
	}
}

// sendSample is of another host each time, so that those that are shown can be counted.
func (s *callers) sendSample(ctx context.Context, n int) {
	body := map[string]any{"hosts": []map[string]any{{"host": "up-" + strconv.Itoa(n), "instances": []string{}, "at": time.Now().UTC(), "cpuPercent": 41.5}}}
	if s.send(ctx, http.MethodPost, "/ingest/v1/samples", s.ingest, "", body, nil) {
		s.keep(func(k *keptWrites) { k.hosts++ })
	}
}

func (s *callers) keep(write func(*keptWrites)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	write(&s.kept)
}

// seen is how many calls were answered, and how many reports are kept.
func (s *callers) seen() (requests, reports int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, len(s.kept.reports)
}

// send makes a call, once more where it fails, and notes what came of it.
func (s *callers) send(ctx context.Context, method, path, token, key string, body, into any) bool {
	got, err := s.once(ctx, method, path, token, key, body)
	why := ""
	if !well(got, err) {
		why = reason(got, err)
		for {
			wait := sendsAgain
			if seconds, err := strconv.Atoi(got.header.Get("Retry-After")); err == nil {
				wait = time.Duration(seconds) * time.Second
			}
			_ = pause.For(ctx, wait)
			if got, err = s.once(ctx, method, path, token, key, body); err != nil || got.code() != "idempotency_in_progress" {
				break // else the first one still runs: its answer is the retry's
			}
		}
	}
	if well(got, err) && into != nil {
		err = json.Unmarshal(got.body, into)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if why != "" {
		s.retried[why]++
	}
	if !well(got, err) {
		s.failed = append(s.failed, fmt.Sprintf("%s %s: %s, then %s", method, path, why, reason(got, err)))
	}
	return well(got, err)
}

// sendsAgain is when a call is sent once more: kit/proxy/Caddyfile asks every two seconds.
const sendsAgain = 3 * time.Second

func well(got answer, err error) bool { return err == nil && got.status >= 200 && got.status < 300 }

func reason(got answer, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", got.status, got.code())
}

func (s *callers) once(ctx context.Context, method, path, token, key string, body any) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	content := []byte{}
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return answer{}, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(content))
	if err != nil {
		return answer{}, err
	}
	request.Host = "example.com"
	request.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := s.caller.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	said, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, header: response.Header, body: said}, err
}
