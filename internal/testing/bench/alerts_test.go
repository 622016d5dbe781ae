package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/eventstore"
	"muster/eventstore/topic"
	"muster/internal/testing/pgtest"
)

const (
	// senders send at once: as many as one process works for at a time.
	senders = 4
	// batch is how many alerts are in a call, half of them repeats.
	batch = 100
	// repeatable is how many of what it sent last a sender repeats from.
	repeatable = 10_000
	// lookEvery is how often the lag of the projections is asked for.
	lookEvery = 250 * time.Millisecond
	// reportEvery is how often a report is appended meanwhile. One at a time without
	// a pause would be a second flood.
	reportEvery = 20 * time.Millisecond
)

// BenchmarkAlertsOverHTTP floods /ingest/v1/alerts for as long as -benchtime says,
// every second of it counted, while events of reports are appended and the lag of
// the projections is watched. Goals: ≥ 5,000 alerts/s, a lag of 2 s at most,
// report appends p95 ≤ 50 ms.
func BenchmarkAlertsOverHTTP(b *testing.B) {
	p := start(b)
	feed := p.agent(p.tokenOf("ingest", admin))
	servers := p.servers(feed)
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	reports := p.reports()
	var alone, beside []time.Duration
	for range 50 {
		alone = append(alone, reports())
	}

	flood := make([]*sender, senders)
	var lag float64
	var group sync.WaitGroup
	begin := time.Now()
	for n := range flood {
		flood[n] = &sender{agent: feed, number: n, servers: servers}
		group.Go(func() {
			if err := flood[n].run(ctx); err != nil {
				b.Error(err)
				stop()
			}
		})
	}
	group.Go(func() { lag = p.watchLag(ctx) })
	for b.Loop() {
		next := time.Now().Add(reportEvery)
		beside = append(beside, reports())
		time.Sleep(time.Until(next))
	}
	took := time.Since(begin)
	stop()
	group.Wait()

	var calls []time.Duration
	lagging := 0
	for _, s := range flood {
		calls, lagging = append(calls, s.calls...), lagging+s.lagging
	}
	b.ReportMetric(float64(batch*len(calls))/took.Seconds(), "alerts/s")
	b.ReportMetric(quantile(calls, 0.5), "call-p50-ms")
	b.ReportMetric(quantile(calls, 0.95), "call-p95-ms")
	b.ReportMetric(float64(lagging), "lagging-answers")
	b.ReportMetric(lag, "lag-s")
	b.ReportMetric(quantile(alone, 0.95), "alone-p95-ms")
	b.ReportMetric(quantile(beside, 0.5), "append-p50-ms")
	b.ReportMetric(quantile(beside, 0.95), "append-p95-ms")
	b.ReportMetric(took.Seconds(), "seconds")
	b.ReportMetric(p.memory(), "memory-MiB")
}

// servers registers what alerts are about: a hundred servers of six databases.
func (p *program) servers(feed agent) (servers []string) {
	p.b.Helper()
	at := time.Now().Add(-time.Hour)
	var items []map[string]any
	for n := range 100 {
		var databases []map[string]any
		for d := range 6 {
			databases = append(databases, map[string]any{"externalId": fmt.Sprint("db-", d), "name": fmt.Sprint("shop_", d), "createdAt": at})
		}
		name := fmt.Sprintf("pg-%03d", n)
		servers = append(servers, name)
		items = append(items, map[string]any{"externalId": name, "name": name, "engine": "postgresql", "createdAt": at, "databases": databases})
	}
	body, err := json.Marshal(map[string]any{"instances": items})
	if err != nil {
		p.b.Fatal(err)
	}
	if _, _, err := feed.ask(p.b.Context(), "/ingest/v1/fleet", body); err != nil {
		p.b.Fatal(err)
	}
	return servers
}

// reports returns an append of a report's first event, and how long it took. It
// goes to the log on a connection of its own: what is measured is what the flood
// does to the log, not to HTTP.
func (p *program) reports() func() time.Duration {
	p.b.Helper()
	var organization struct{ ID uuid.UUID }
	p.get("/organization", &organization)
	queued, err := usecase.Registry().Encode(report.Queued{
		Kind: report.Security, ScopeLabel: "bench", RequesterID: organization.ID, RecipientIDs: []uuid.UUID{organization.ID},
	})
	if err != nil {
		p.b.Fatal(err)
	}
	db := pgtest.Connect(p.b, p.url)
	store := eventstore.New(db)
	return func() time.Duration {
		start := time.Now()
		_, err := store.Append(p.b.Context(), eventstore.Reports, eventstore.Append{
			Organization: organization.ID, StreamType: report.StreamType, Stream: uuid.New(), Events: []eventstore.NewEvent{queued},
			Metadata: eventstore.Metadata{ActorID: organization.ID.String()},
		})
		took := time.Since(start)
		if err == nil { // as whoever appends does, or projections look after a second
			err = topic.Announce(p.b.Context(), db, string(eventstore.Reports))
		}
		if err != nil {
			p.b.Fatal(err)
		}
		return took
	}
}

// watchLag returns the largest lag of any projection, in seconds, until ctx ends.
func (p *program) watchLag(ctx context.Context) (largest float64) {
	ticker, look := time.NewTicker(lookEvery), p.agent(p.token)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return largest
		case <-ticker.C:
		}
		var shown struct {
			Items []struct{ LagSeconds float64 }
		}
		content, _, err := look.ask(ctx, "/api/v1/ops/projections", nil)
		if err == nil {
			err = json.Unmarshal(content, &shown)
		}
		if err != nil && ctx.Err() == nil {
			p.b.Error(err)
			return largest
		}
		for _, projection := range shown.Items {
			largest = max(largest, projection.LagSeconds)
		}
	}
}

// sender sends one batch after the other, half of each new and half what it sent
// before, to the byte. Every fourth alert is closed already.
type sender struct {
	agent
	number  int
	servers []string

	sent    []json.RawMessage
	made    int
	calls   []time.Duration
	lagging int // answers that came before the projections had passed
}

func (s *sender) run(ctx context.Context) error {
	for ctx.Err() == nil {
		body, err := s.next()
		if err != nil {
			return err
		}
		start := time.Now()
		_, lagging, err := s.ask(ctx, "/ingest/v1/alerts", body)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		s.calls = append(s.calls, time.Since(start))
		if lagging {
			s.lagging++
		}
	}
	return nil
}

// next is the body of a batch. The first ones have nothing to repeat.
func (s *sender) next() ([]byte, error) {
	items := make([]json.RawMessage, 0, batch)
	if len(s.sent) > 0 {
		first := rand.IntN(len(s.sent))
		for n := range min(len(s.sent), batch/2) {
			items = append(items, s.sent[(first+n)%len(s.sent)])
		}
	}
	for len(items) < batch {
		item, err := json.Marshal(s.alert())
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		if len(s.sent) < repeatable {
			s.sent = append(s.sent, item)
		} else {
			s.sent[s.made%repeatable] = item
		}
	}
	return json.Marshal(map[string]any{"alerts": items})
}

func (s *sender) alert() map[string]any {
	s.made++
	began := time.Now().Add(-time.Minute).UTC()
	item := map[string]any{
		"externalId": fmt.Sprintf("flood-%d-%d", s.number, s.made), "title": fmt.Sprintf("Lock waits above 5 on shop_%d", s.made%6),
		"severity": []string{"info", "warning", "critical"}[s.made%3], "state": "Open",
		"createdAt": began, "firstTriggeredAt": began, "lastTriggeredAt": began.Add(30 * time.Second),
		"instance": s.servers[s.made%len(s.servers)],
	}
	if s.made%2 == 0 {
		item["database"] = fmt.Sprint("db-", s.made%6)
	}
	if s.made%4 == 0 {
		item["state"], item["resolvedAt"] = "AutoResolved", began.Add(40*time.Second)
	}
	return item
}

// agent asks with a token, from goroutines, which must not end a benchmark.
type agent struct {
	client      *http.Client
	base, token string
}

func (p *program) agent(token string) agent {
	return agent{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}}, base: p.base, token: token}
}

// ask sends a request, a POST where there is a body, and returns what a 200 says.
// lagging: it came before the projections had passed.
func (a agent) ask(ctx context.Context, path string, body []byte) (content []byte, lagging bool, err error) {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := a.client.Do(request)
	if err != nil {
		return nil, false, err
	}
	defer response.Body.Close()
	if content, err = io.ReadAll(response.Body); err != nil {
		return nil, false, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, false, fmt.Errorf("%s: %s\n%.2000s", path, response.Status, content)
	}
	return content, response.Header.Get("X-Muster-Lagging") != "", nil
}
