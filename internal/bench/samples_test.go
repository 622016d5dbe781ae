package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// deltasPerSecond are sent, spread evenly, whatever an answer takes.
	deltasPerSecond = 20_000
	// deltasEach are in a sample, one of a database and a minute.
	deltasEach = 400
	// deltaServers are measured once a minute each, at that rate.
	deltaServers = deltasPerSecond * 60 / deltasEach / databasesEach
)

// BenchmarkStatementsOverHTTP sends 20,000 statement deltas a second to
// /ingest/v1/samples for as long as -benchtime says, and watches how far the series
// are behind. Goal: 15 s at most, and every delta taken in.
func BenchmarkStatementsOverHTTP(b *testing.B) {
	p := start(b)
	m := newMeasured(p, deltaServers)
	feed := p.agent(strings.TrimSpace(p.run("token", "create", "--kind=ingest", "--email="+admin)))
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	var behind time.Duration
	var watching sync.WaitGroup
	watching.Go(func() { behind = m.watchBehind(ctx) })

	calls := make(chan *call, 64)
	var sending sync.WaitGroup
	for range senders {
		sending.Go(func() {
			for c := range calls {
				if err := c.send(b.Context(), feed); err != nil {
					b.Error(err)
				}
			}
		})
	}
	var sent []*call
	begin := time.Now()
	interval := time.Duration(databasesEach*deltasEach) * time.Second / deltasPerSecond
	for b.Loop() {
		c := m.deltas(len(sent))
		sent = append(sent, c)
		time.Sleep(time.Until(begin.Add(time.Duration(len(sent)) * interval)))
		calls <- c
	}
	close(calls)
	sending.Wait()
	took := time.Since(begin)
	m.p.until("everything is rolled up", 50*time.Millisecond, time.Minute, func() bool {
		left, err := m.store.Behind(b.Context())
		return err == nil && left == 0
	})
	caughtUp := time.Since(begin) - took
	stop()
	watching.Wait()

	var answered []time.Duration
	for _, c := range sent {
		answered = append(answered, c.took)
	}
	deltas := float64(len(sent) * databasesEach * deltasEach)
	b.ReportMetric(deltas/took.Seconds(), "deltas/s")
	b.ReportMetric(behind.Seconds(), "behind-s")
	b.ReportMetric(caughtUp.Seconds(), "caught-up-s")
	b.ReportMetric(quantile(answered, 0.5), "call-p50-ms")
	b.ReportMetric(quantile(answered, 0.95), "call-p95-ms")
	var bytes float64
	if err := m.db.Get(&bytes, `SELECT pg_total_relation_size('raw_samples')`); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(bytes/deltas, "bytes/delta")
	b.ReportMetric(took.Seconds(), "seconds")
	b.ReportMetric(p.memory(), "memory-MiB")
}

// watchBehind is how far the series were behind at most until ctx ends.
func (m *measured) watchBehind(ctx context.Context) (most time.Duration) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return most
		case <-ticker.C:
		}
		behind, err := m.store.Behind(ctx)
		if err != nil && ctx.Err() == nil {
			m.p.b.Error(err)
			return most
		}
		most = max(most, behind)
	}
}

// call is a body on its way.
type call struct {
	body []byte
	took time.Duration
}

// deltas are the samples of one server, in turn, as of now.
func (m *measured) deltas(i int) *call {
	s := m.servers[i%len(m.servers)]
	var samples []map[string]any
	for d := range s.databases {
		var statements []map[string]any
		for k := range deltasEach {
			calls := 1 + rand.IntN(1000)
			statements = append(statements, map[string]any{
				"key": fmt.Sprintf("10:16384:%d:true", 1_000_003*(k+1)), "calls": calls, "totalMs": float64(calls) * 20 * rand.Float64(),
			})
		}
		samples = append(samples, map[string]any{
			"instance": s.name, "database": strconv.Itoa(d), "at": time.Now().UTC(), "intervalSeconds": 60, "statements": statements,
		})
	}
	body, err := json.Marshal(map[string]any{"statements": samples})
	if err != nil {
		m.p.b.Fatal(err)
	}
	return &call{body: body}
}

func (c *call) send(ctx context.Context, feed agent) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, feed.base+"/ingest/v1/samples", bytes.NewReader(c.body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+feed.token)
	request.Header.Set("Content-Type", "application/json")
	begin := time.Now()
	response, err := feed.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	c.took = time.Since(begin)
	if err == nil && response.StatusCode != http.StatusAccepted {
		err = fmt.Errorf("%s %.500s", response.Status, content)
	}
	return err
}
