package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"muster/internal/intake/worsttest"
)

const (
	// attackers send at once, as many as one organization has places for.
	attackers = 16
	// honestEvery is how often the other organization sends.
	honestEvery = 50 * time.Millisecond
)

// BenchmarkTwoOrganizations sends a server and its sample every 50 ms for one organization,
// for half of -benchtime alone, and then while another organization sends the worst bodies of
// every door as fast as it is answered. Goals: p50 and p95 at most twice what they are alone,
// serve below 512 MiB.
func BenchmarkTwoOrganizations(b *testing.B) {
	p := start(b)
	honest := p.tokenOf("ingest", admin)
	p.organization("Hostile", hostileAdmin)
	hostile := p.tokenOf("ingest", hostileAdmin)
	bodies := worsttest.All(time.Now())
	var alone, beside []time.Duration
	for range 20 {
		p.send(b, honest)
	}
	var attack sync.WaitGroup
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	var answered atomic.Int64 // attacks
	for b.Loop() {
		for range 100 {
			alone = append(alone, p.send(b, honest))
		}
		under, end := context.WithCancel(ctx)
		for n := range attackers {
			attack.Go(func() {
				for i := n; under.Err() == nil; i++ {
					if _, _, err := p.post(under, hostile, bodies[i%len(bodies)]); err == nil {
						answered.Add(1)
					}
				}
			})
		}
		for range 300 {
			beside = append(beside, p.send(b, honest))
		}
		end()
		attack.Wait()
	}
	b.ReportMetric(quantile(alone, 0.5), "alone-p50-ms")
	b.ReportMetric(quantile(alone, 0.95), "alone-p95-ms")
	b.ReportMetric(quantile(beside, 0.5), "p50-ms")
	b.ReportMetric(quantile(beside, 0.95), "p95-ms")
	b.ReportMetric(quantile(beside, 0.5)/quantile(alone, 0.5), "p50-ratio")
	b.ReportMetric(quantile(beside, 0.95)/quantile(alone, 0.95), "p95-ratio")
	b.ReportMetric(float64(answered.Load()), "attacks")
	b.ReportMetric(p.peak(), "peak-MiB")
}

// send sends a server and its sample, and says how long that took.
func (p *program) send(b *testing.B, token string) time.Duration {
	b.Helper()
	at := time.Now().UTC()
	time.Sleep(honestEvery)
	began := time.Now()
	for _, call := range []struct {
		path string
		body any
	}{
		{"/ingest/v1/fleet", map[string]any{"instances": []map[string]any{{
			"externalId": "a", "name": "a", "engine": "mysql", "createdAt": "2026-09-01T08:00:00Z",
		}}}},
		{"/ingest/v1/samples", map[string]any{"hosts": []map[string]any{{"host": "a", "instances": []string{"a"}, "at": at, "cpuPercent": 12.5}}}},
	} {
		text, err := json.Marshal(call.body)
		if err != nil {
			b.Fatal(err)
		}
		status, answer, err := p.post(b.Context(), token, worsttest.Body{Path: call.path, Type: "application/json", Packed: text})
		if err != nil || status/100 != 2 {
			b.Fatalf("%s: %d %s %v", call.path, status, answer, err)
		}
	}
	return time.Since(began)
}

func (p *program) post(ctx context.Context, token string, body worsttest.Body) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+body.Path, bytes.NewReader(body.Packed))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", body.Type)
	request.Header.Set("X-Muster-Sender", "bench")
	if body.Encoding != "" {
		request.Header.Set("Content-Encoding", body.Encoding)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// peak is the most memory that serve ever had, in MiB.
func (p *program) peak() float64 {
	p.b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("%s/%d/status", procRoot, p.pid))
	if err != nil {
		p.b.Fatal(err)
	}
	peak := p.mebibytes(status, "VmHWM")
	if peak == 0 {
		p.b.Fatal("no VmHWM")
	}
	return peak
}
