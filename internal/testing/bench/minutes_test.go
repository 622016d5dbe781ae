package bench_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	// minuteDatabases are on a server that is measured every minute, minuteStatements in
	// each of them, and minuteVolumes on its host.
	minuteDatabases, minuteStatements, minuteVolumes = 3, 20, 3
	// minuteSenders send for all agents. Each has its turn for one body after the other.
	minuteSenders = 8
	// lookAtProcesses is how often is looked who takes what.
	lookAtProcesses = 10 * time.Second
	// tileEvery is how often somebody asks for a tile meanwhile.
	tileEvery = 2 * time.Second
)

// minutes is for how long a fleet is measured: MUSTER_BENCH_MINUTES, which may be a part of one.
func minutes(b *testing.B, usual float64) time.Duration {
	b.Helper()
	if set := os.Getenv("MUSTER_BENCH_MINUTES"); set != "" {
		n, err := strconv.ParseFloat(set, 64)
		if err != nil {
			b.Fatal(err)
		}
		usual = n
	}
	return time.Duration(usual * float64(time.Minute))
}

// BenchmarkTenThousand has 10,000 servers send what they measure every minute, for 30
// minutes or as many as MUSTER_BENCH_MINUTES says: a host with 3 volumes, the sessions of 3
// databases and 20 statements of each, 60 of a server and 10,000 a second of all, a call a
// server as its agent packs it, spread over the minute; serve, PostgreSQL and the senders
// share the machine. Meanwhile somebody reads tiles. Goals: nothing behind for more than
// 60 s, no call refused, serve ≤ 400 MiB.
func BenchmarkTenThousand(b *testing.B) {
	for b.Loop() {
		p := start(b)
		l := newLiving(p, 10*tilesInstances())
		l.live(minutes(b, 30))
		l.report()
		l.m.topStatements(fmt.Sprintf("Where PostgreSQL's time goes while %d servers send every minute", len(l.m.servers)))
	}
}

// living is a fleet that is being measured.
type living struct {
	p            *program
	m            *measured
	feed, reader agent

	from, steady state // at the beginning, and when everything was sent once
	to           state

	mu       sync.Mutex
	answered []time.Duration
	refused  []error
	sent     int64         // bytes of bodies, packed
	late     time.Duration // of a body on its way to serve, at most
	behind   time.Duration // of the series, at most
	serve    []float64     // resident, MiB
	postgres []float64
	tiles    map[int][]time.Duration // by how many instances they were asked for
}

// state is what a fleet has cost so far.
type state struct {
	at    time.Time
	by    spentBy
	wal   int64
	disk  int64
	calls int
}

func newLiving(p *program, count int) *living {
	p.b.Helper()
	token := p.tokenOf("ingest", admin)
	return &living{
		p: p, m: newMeasuredWith(p, count, minuteDatabases), tiles: make(map[int][]time.Duration), reader: p.agent(p.token),
		feed: agent{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: minuteSenders}}, base: p.base, token: token},
	}
}

func (l *living) state() (s state) {
	b := l.p.b
	b.Helper()
	s = state{at: time.Now(), by: l.p.spent(), disk: total(disk(b, l.m.db)) + l.p.diskElsewhere()}
	if err := l.m.db.GetContext(b.Context(), &s.wal, `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint`); err != nil {
		b.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.calls = len(l.answered)
	return s
}

// live measures for so long. What is told of a day leaves the first turn out, in which
// all that is ever new is new.
func (l *living) live(duration time.Duration) {
	l.p.b.Helper()
	ctx, stop := context.WithCancel(l.p.b.Context())
	var watching, sending sync.WaitGroup
	watching.Go(func() { l.watch(ctx) })
	watching.Go(func() { l.read(ctx) })
	turns := make(chan turn, len(l.m.servers))
	for range minuteSenders {
		sending.Go(func() { l.send(turns) })
	}
	// What is written ahead in full after a checkpoint is so in the first turn, which does not count.
	l.m.db.MustExec(`CHECKPOINT`)
	l.from = l.state()
	l.steady = l.from
	for sent := 0; time.Since(l.from.at) < duration; sent++ {
		if sent == len(l.m.servers) {
			l.steady = l.state()
		}
		t := turn{l.m.servers[sent%len(l.m.servers)], l.from.at.Add(time.Duration(sent) * time.Minute / time.Duration(len(l.m.servers)))}
		time.Sleep(time.Until(t.at))
		turns <- t
	}
	close(turns)
	sending.Wait()
	l.to = l.state()
	l.m.catchUp()
	stop()
	watching.Wait()
}

// turn is when a server is measured.
type turn struct {
	server measuredServer
	at     time.Time
}

func (l *living) send(turns <-chan turn) {
	var plain []byte
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		l.p.b.Error(err)
		return
	}
	for t := range turns {
		plain = t.server.appendMinute(plain[:0], t.at)
		packed.Reset()
		w.Reset(&packed)
		_, _ = w.Write(plain)
		if err := w.Close(); err != nil {
			l.p.b.Error(err)
			return
		}
		late, begin := time.Since(t.at), time.Now()
		err := l.post(t.server, packed.Bytes())
		took := time.Since(begin)
		l.mu.Lock()
		l.sent += int64(packed.Len())
		l.late, l.answered = max(l.late, late), append(l.answered, took)
		if err != nil {
			l.refused = append(l.refused, err)
		}
		l.mu.Unlock()
	}
}

func (l *living) post(s measuredServer, body []byte) error {
	request, err := http.NewRequestWithContext(l.p.b.Context(), http.MethodPost, l.feed.base+"/ingest/v1/samples", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+l.feed.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Content-Encoding", "gzip")
	// A token has at most 20 senders: an agent each would need a token each.
	request.Header.Set("X-Muster-Sender", fmt.Sprint("agent-", crc32.ChecksumIEEE([]byte(s.name))%20))
	response, err := l.feed.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusAccepted {
		err = errors.New(response.Status + " " + string(content[:min(500, len(content))]))
	}
	return err
}

// appendMinute writes what a server's agent sends of a minute.
func (s measuredServer) appendMinute(to []byte, at time.Time) []byte {
	when := at.UTC().Format(time.RFC3339Nano)
	to = fmt.Appendf(to, `{"hosts":[{"host":%q,"instances":[%q],"at":%q,"cpuPercent":%.2f,"memoryPercent":%.2f,"volumes":[`,
		s.host, s.name, when, 100*rand.Float64(), 100*rand.Float64())
	for n := range minuteVolumes {
		to = fmt.Appendf(to, `%s{"mount":"/volume-%d","usedPercent":%.2f}`, comma(n), n, 60+30*rand.Float64())
	}
	to = append(to, `]}],"sessions":[`...)
	for d := range s.databases {
		waits := s.waits([4]int64{max(0, rand.Int64N(12)-9), max(0, rand.Int64N(8)-6), rand.Int64N(3), rand.Int64N(20)})
		to = fmt.Appendf(to, `%s{"instance":%q,"database":"%d","at":%q,"intervalSeconds":60,"active":%d,"idle":20,"waiting":%d,"idleInTransaction":1,"other":0,"waits":{`,
			comma(d), s.name, d, when, rand.IntN(10), len(waits))
		n := 0
		for name, count := range waits {
			to = fmt.Appendf(to, `%s%q:%d`, comma(n), name, count)
			n++
		}
		to = append(to, "}}"...)
	}
	to = append(to, `],"statements":[`...)
	for d := range s.databases {
		to = fmt.Appendf(to, `%s{"instance":%q,"database":"%d","at":%q,"intervalSeconds":60,"statements":[`, comma(d), s.name, d, when)
		to = append(appendDeltas(to, minuteStatements), "]}"...)
	}
	return append(to, "]}"...)
}

// comma is between the n-th and the one before.
func comma(n int) string {
	if n == 0 {
		return ""
	}
	return ","
}

// watch looks every ten seconds how far behind the series are and what memory is taken.
func (l *living) watch(ctx context.Context) {
	for ticker := time.NewTicker(lookAtProcesses); ; {
		behind, err := l.m.store.Behind(ctx)
		if err != nil && ctx.Err() == nil {
			l.p.b.Error(err)
		}
		by := l.p.spent()
		l.mu.Lock()
		l.behind = max(l.behind, behind)
		l.serve, l.postgres = append(l.serve, by.serve.resident), append(l.postgres, by.postgres.resident)
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			ticker.Stop()
			return
		case <-ticker.C:
		}
	}
}

// read asks for one tile after the other, of the whole organization, of 200 servers and of
// 10, each up to now and none as somebody asked before.
func (l *living) read(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		of := filters()[n%len(filters())]
		tile := tileNames()[n/len(filters())%len(tileNames())]
		begin := time.Now()
		_, _, err := l.reader.ask(ctx, l.path(tile, n, of), nil)
		took := time.Since(begin)
		if err != nil && ctx.Err() == nil {
			l.p.b.Error(err)
			return
		}
		l.mu.Lock()
		l.tiles[of] = append(l.tiles[of], took)
		l.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(tileEvery):
		}
	}
}

// path is of a day at 1m that ends now.
func (l *living) path(tile string, n, of int) string {
	to := time.Now().UTC().Truncate(time.Minute)
	q := l.m.filter(of)
	for key, value := range map[string]string{
		"from": to.Add(-24*time.Hour - time.Duration(n%600)*time.Minute).Format(time.RFC3339), "to": to.Format(time.RFC3339), "bucketSize": "1m",
	} {
		q.Set(key, value)
	}
	return "/api/v1/metrics/" + tile + "?" + q.Encode()
}

// report says what it came to.
func (l *living) report() {
	b := l.p.b
	b.Helper()
	for n, err := range l.refused {
		if n == 5 {
			break
		}
		b.Logf("refused: %s", err)
	}
	took := l.to.at.Sub(l.from.at)
	calls := float64(l.to.calls) / took.Seconds()
	b.ReportMetric(float64(len(l.m.servers)), "servers")
	b.ReportMetric(took.Seconds(), "seconds")
	b.ReportMetric(calls, "calls/s")
	b.ReportMetric(calls*minuteDatabases*minuteStatements, "deltas/s")
	b.ReportMetric(float64(l.sent)/float64(l.to.calls), "bytes/call")
	b.ReportMetric(float64(len(l.refused)), "refused")
	b.ReportMetric(l.behind.Seconds(), "behind-s")
	b.ReportMetric(l.late.Seconds(), "late-s")
	b.ReportMetric(quantile(l.answered, 0.5), "call-p50-ms")
	b.ReportMetric(quantile(l.answered, 0.95), "call-p95-ms")
	b.ReportMetric(slices.Max(l.serve), "serve-MiB")
	b.ReportMetric(slices.Sorted(slices.Values(l.serve))[len(l.serve)/2], "serve-p50-MiB")
	b.ReportMetric(slices.Max(l.postgres), "postgres-MiB")
	l.to.by.report(b, l.from.by, took)
	for of, tiles := range l.tiles {
		b.ReportMetric(quantile(tiles, 0.5), fmt.Sprintf("tile-%d-p50-ms", of))
		b.ReportMetric(quantile(tiles, 0.95), fmt.Sprintf("tile-%d-p95-ms", of))
	}
	if wal, disk := l.perServerDay(); wal > 0 {
		b.ReportMetric(wal, "wal-MB/server-day")
		b.ReportMetric(disk, "disk-MB/server-day")
	}
}

// perServerDay reckons from the time after the first turn what a server would write
// ahead, and leave on disk, in a day of it, in MB; 0 where there was no such time.
func (l *living) perServerDay() (wal, disk float64) {
	took := l.to.at.Sub(l.steady.at)
	if l.steady.calls == l.from.calls || took <= 0 {
		return 0, 0
	}
	scale := float64(24*time.Hour) / float64(took) / float64(len(l.m.servers)) / 1e6
	return float64(l.to.wal-l.steady.wal) * scale, float64(l.to.disk-l.steady.disk) * scale
}
