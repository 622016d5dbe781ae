package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	// deltasEach are in a sample, one of a database and a minute.
	deltasEach = 400
	// deltasCall are in a call, which has the samples of one server.
	deltasCall = databasesEach * deltasEach
)

// deltaServers are measured once a minute each, at 40,000 deltas a second: 3,000. Where there
// are fewer instances, for a quick look, or more deltas, it is more often.
func deltaServers(pace int) int {
	return min(pace*60/deltasCall, 3*tilesInstances())
}

// BenchmarkStatementsOverHTTP sends 40,000 statement deltas a second, or as many as
// MUSTER_BENCH_DELTAS says, spread evenly and whatever an answer takes, to /ingest/v1/samples for as long as -benchtime says, and watches how far the series
// are behind. Goal: 15 s at most, every delta taken in, and 21 bytes a delta. Before
// that each server is measured once at that pace, which makes every statement known: a
// fleet does that once.
func BenchmarkStatementsOverHTTP(b *testing.B) {
	p := start(b)
	pace := setting(b, "MUSTER_BENCH_DELTAS", 40_000)
	m := newMeasured(p, deltaServers(pace))
	f := &flood{m: m, pace: pace, feed: p.agent(p.tokenOf("ingest", admin))}
	first := f.send(func() bool { return len(f.sent) < len(m.servers) })
	b.ReportMetric(first.rate, "new-deltas/s")
	b.ReportMetric(first.behind.Seconds(), "new-behind-s")
	m.catchUp()
	m.forgetTop()
	steady := f.send(b.Loop)
	begin := time.Now()
	m.catchUp()
	b.ReportMetric(time.Since(begin).Seconds(), "caught-up-s")

	var answered []time.Duration
	for _, c := range f.sent[len(m.servers):] {
		answered = append(answered, c.took)
	}
	b.ReportMetric(float64(pace), "pace/s")
	b.ReportMetric(steady.rate, "deltas/s")
	b.ReportMetric(steady.behind.Seconds(), "behind-s")
	b.ReportMetric(steady.took.Seconds(), "seconds")
	b.ReportMetric(quantile(answered, 0.5), "call-p50-ms")
	b.ReportMetric(quantile(answered, 0.95), "call-p95-ms")
	steady.after.report(b, steady.before, steady.took)
	b.ReportMetric(first.milliseconds(spentBy.ofServe), "new-serve-ms/1000")
	b.ReportMetric(first.milliseconds(spentBy.ofPostgres), "new-postgres-ms/1000")
	b.ReportMetric(steady.milliseconds(spentBy.ofServe), "serve-ms/1000")
	b.ReportMetric(steady.milliseconds(spentBy.ofPostgres), "postgres-ms/1000")
	b.ReportMetric(float64(total(only(disk(b, m.db), rawTables.all())))/float64(len(f.sent)*deltasCall), "open-bytes/delta")
	b.ReportMetric(f.packed(), "bytes/delta")
	b.ReportMetric(steady.after.serve.resident, "memory-MiB")
	b.ReportMetric(steady.after.postgres.resident, "postgres-MiB")
	m.topStatements("Where PostgreSQL's time goes while statement deltas come in")
}

// flood is everything that is sent.
type flood struct {
	m    *measured
	pace int // deltas a second
	feed agent
	sent []*call
}

// spell is a part of a flood.
type spell struct {
	deltas        int
	rate          float64 // of them a second
	took, behind  time.Duration
	before, after spentBy
}

// send sends at the pace while more says so, and ends when all was answered.
func (f *flood) send(more func() bool) (s spell) {
	b := f.m.p.b
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	var watching, sending sync.WaitGroup
	watching.Go(func() { s.behind = f.m.watchBehind(ctx) })
	calls := make(chan *call, 64)
	for range senders {
		sending.Go(func() {
			for c := range calls {
				if err := c.send(b.Context(), f.feed); err != nil {
					b.Error(err)
				}
			}
		})
	}
	var n int
	s.before = f.m.p.spent()
	begin := time.Now()
	for ; more(); n++ {
		c := f.m.deltas(len(f.sent), time.Now())
		f.sent = append(f.sent, c)
		time.Sleep(time.Until(begin.Add(time.Duration(n) * deltasCall * time.Second / time.Duration(f.pace))))
		calls <- c
	}
	close(calls)
	sending.Wait()
	s.took, s.after = time.Since(begin), f.m.p.spent()
	stop()
	watching.Wait()
	s.deltas = n * deltasCall
	s.rate = float64(s.deltas) / s.took.Seconds()
	return s
}

// milliseconds are what one of those who share the machine computed for 1,000 deltas,
// which tells more than a rate where others compute too.
func (s spell) milliseconds(of func(spentBy) spent) float64 {
	return 1e6 * (of(s.after).cpu - of(s.before).cpu).Seconds() / float64(s.deltas)
}

// packedServers are those of which an hour is put into blocks.
const packedServers = 10

// packed is how many bytes a delta takes when its hour is over and in blocks: some servers
// send an hour of the day before.
func (f *flood) packed() float64 {
	b := f.m.p.b
	b.Helper()
	rawBytes := func() int64 { return total(only(disk(b, f.m.db), rawTables.over)) + f.m.p.diskElsewhere() }
	before, hour := rawBytes(), f.m.end.Add(-24*time.Hour)
	for minute := range 60 {
		for n := range packedServers {
			if err := f.m.deltas(n, hour.Add(time.Duration(minute)*time.Minute)).send(b.Context(), f.feed); err != nil {
				b.Fatal(err)
			}
		}
	}
	f.m.catchUp()
	compact(b, f.m.db, f.m.store, f.m.end)
	return float64(rawBytes()-before) / (60 * packedServers * deltasCall)
}

// catchUp waits until serve has rolled up everything.
func (m *measured) catchUp() {
	m.p.b.Helper()
	m.p.until("everything is rolled up", 50*time.Millisecond, 5*time.Minute, func() bool {
		left, err := m.store.Behind(m.p.b.Context())
		return err == nil && left == 0
	})
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

// deltas are the samples of one server, in turn. Written by hand: the sender
// shares the processors with what is measured.
func (m *measured) deltas(i int, at time.Time) *call {
	s := m.servers[i%len(m.servers)]
	body := append(make([]byte, 0, databasesEach*deltasEach*80), `{"statements":[`...)
	for d := range s.databases {
		if d > 0 {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, `{"instance":%q,"database":"%d","at":%q,"intervalSeconds":60,"statements":[`, s.name, d, at.UTC().Format(time.RFC3339Nano))
		body = append(appendDeltas(body, deltasEach), "]}"...)
	}
	return &call{body: append(body, "]}"...)}
}

// appendDeltas writes n statements with calls and durations at random.
func appendDeltas(body []byte, n int) []byte {
	for k := range n {
		if k > 0 {
			body = append(body, ',')
		}
		calls := 1 + rand.IntN(1000)
		body = append(strconv.AppendInt(append(body, `{"key":"10:16384:`...), int64(1_000_003*(k+1)), 10), `:true","calls":`...)
		body = append(strconv.AppendInt(body, int64(calls), 10), `,"totalMs":`...)
		body = append(strconv.AppendFloat(body, float64(calls)*20*rand.Float64(), 'f', -1, 64), '}')
	}
	return body
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
