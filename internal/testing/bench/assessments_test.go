package bench_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
)

const (
	assessedServers = 50
	assessedOnce    = 40 // objects that fail each check
)

// BenchmarkAssessmentsOverHTTP sends one assessment after the other, each a call of its own with
// the outcomes of all checks of PostgreSQL: the time from the request to its answer, by which the
// facts and their event are committed.
func BenchmarkAssessmentsOverHTTP(b *testing.B) {
	p := start(b)
	feed := p.agent(p.tokenOf("ingest", admin))
	post := func(path string, body any, want int) time.Duration {
		text, err := json.Marshal(body)
		if err != nil {
			b.Fatal(err)
		}
		request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, feed.base+path, bytes.NewReader(text))
		if err != nil {
			b.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+feed.token)
		request.Header.Set("Content-Type", "application/json")
		begin := time.Now()
		response, err := feed.client.Do(request)
		if err != nil {
			b.Fatal(err)
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != want {
			b.Fatalf("%s %.500s %v", response.Status, answer, err)
		}
		return time.Since(begin)
	}
	var servers []any
	for i := range assessedServers {
		servers = append(servers, map[string]any{"externalId": fmt.Sprint("pg-", i), "name": fmt.Sprint("pg-", i), "engine": "postgresql", "createdAt": "2026-09-01T08:00:00Z"})
	}
	post("/ingest/v1/fleet", map[string]any{"instances": servers}, http.StatusOK)
	known, err := catalogue.Load()
	if err != nil {
		b.Fatal(err)
	}
	var checks []any
	for i, check := range known.Of(fleet.PostgreSQL) {
		one := map[string]any{"id": check.ID, "outcome": "pass"}
		if i%3 == 0 {
			var objects []any
			for n := range assessedOnce {
				objects = append(objects, map[string]any{"object": fmt.Sprintf("public.table_%d", n), "evidence": "as it was found"})
			}
			one = map[string]any{"id": check.ID, "outcome": "fail", "measured": fmt.Sprint(assessedOnce, " of 100"), "objects": objects}
		}
		checks = append(checks, one)
	}
	begin, sent := time.Now().UTC().Add(-20*time.Hour).Truncate(time.Second), 0
	send := func() time.Duration {
		at := begin.Add(time.Duration(sent/assessedServers) * time.Second)
		body := map[string]any{"assessments": []any{map[string]any{
			"instance": fmt.Sprint("pg-", sent%assessedServers), "at": at, "version": "16.4", "checks": checks,
		}}}
		sent++
		return post("/ingest/v1/assessments", body, http.StatusAccepted)
	}
	p.until("the servers are known", 50*time.Millisecond, time.Minute, func() bool {
		var page struct{ Page struct{ TotalItems int } }
		p.get("/instances", &page)
		return page.Page.TotalItems == assessedServers
	})
	for range assessedServers {
		send()
	}
	var took []time.Duration
	for b.Loop() {
		took = append(took, send())
	}
	b.ReportMetric(quantile(took, 0.5), "p50-ms")
	b.ReportMetric(quantile(took, 0.95), "p95-ms")
	b.ReportMetric(p.memory(), "memory-MiB")
}
