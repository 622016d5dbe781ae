package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"muster/domain/fleet"
	"muster/internal/testing/porttest"
)

// promqlStore holds the same samples as the tiles, and answers PromQL; nil where the
// program is not installed.
type promqlStore struct {
	m          *measured
	name, base string
}

// promqlLines are a tile in PromQL: what it shows, line by line, each a query. %[1]s is
// which instances, %[2]s how long a bucket is. A label says which line it is of those
// that one query has.
var promqlLines = map[string][]promqlLine{
	"utilization": {
		{"cpuPercent", "avg(avg_over_time(cpu%[1]s[%[2]s]))"},
		{"memoryPercent", "avg(avg_over_time(memory%[1]s[%[2]s]))"},
		{"diskPercent", "max(max_over_time(disk%[1]s[%[2]s]))"},
	},
	"query-performance": {
		{"avgLatencyMs", "sum(sum_over_time(total%[1]s[%[2]s])) / sum(sum_over_time(calls%[1]s[%[2]s]))"},
		{"maxLatencyMs", "max(sum_over_time(total%[1]s[%[2]s]) / sum_over_time(calls%[1]s[%[2]s]))"},
	},
	"wait-events": {{"", "sum by (line) (avg_over_time(waiting%[1]s[%[2]s]))"}},
}

type promqlLine struct{ name, query string }

// promqlWaits are the lines of wait events, in the order of values.
var promqlWaits = [4]string{"locks", "lightweightLocks", "io", "clientNetwork"}

// beforeEnd is how long before the end of its bucket a query is evaluated. Samples are on
// the minute: so a range of one bucket has all of them and no other, whether the engine
// takes both its ends in (Prometheus 2) or one.
const beforeEnd = 30 * time.Second

// read is how long the lines of a tile take, all at once; the fastest of a few times.
func (s *promqlStore) read(b *testing.B, tile string, w tileWindow, n int) (fastest time.Duration) {
	b.Helper()
	if s == nil {
		return 0
	}
	selector := s.selector(s.m.some(n))
	for range yardstickRuns {
		start := time.Now()
		group, ctx := errgroup.WithContext(b.Context())
		for _, line := range promqlLines[tile] {
			group.Go(func() error {
				_, err := s.query(ctx, fmt.Sprintf(line.query, selector, w.size), s.m.end.Add(-w.long), s.m.end, w.size)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			b.Fatalf("%s: %s", s.name, err)
		}
		if took := time.Since(start); fastest == 0 || took < fastest {
			fastest = took
		}
	}
	return fastest
}

func (s *promqlStore) selector(of []measuredServer) string {
	if len(of) == 0 {
		return ""
	}
	names := make([]string, len(of))
	for i, server := range of {
		names[i] = server.name
	}
	return `{instance=~"` + strings.Join(names, "|") + `"}`
}

// query returns each series' values by when their bucket starts.
func (s *promqlStore) query(ctx context.Context, query string, from, to time.Time, size string) (map[string]map[int64]float64, error) {
	step := map[string]time.Duration{"1m": time.Minute, "1h": time.Hour}[size]
	form := url.Values{
		"query": {query}, "step": {size}, "nocache": {"1"},
		"start": {from.Add(step - beforeEnd).Format(time.RFC3339)}, "end": {to.Add(-beforeEnd).Format(time.RFC3339)},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/api/v1/query_range", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Status string
		Data   struct {
			Result []struct {
				Metric struct{ Line string }
				Values [][2]any
			}
		}
	}
	if err := json.Unmarshal(content, &answer); err != nil || answer.Status != "success" || len(answer.Data.Result) == 0 {
		return nil, fmt.Errorf("%.200s: %w %.500s", query, err, content)
	}
	found := make(map[string]map[int64]float64)
	for _, series := range answer.Data.Result {
		values := make(map[int64]float64)
		for _, v := range series.Values {
			at, _ := v[0].(float64)
			text, _ := v[1].(string)
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("%.200s: %w", query, err)
			}
			values[time.Unix(int64(at), 0).Add(beforeEnd-step).Unix()] = value
		}
		found[series.Metric.Line] = values
	}
	return found, nil
}

// compare holds the tiles' answers against PromQL's, by the minute: of a few servers, for
// Oracle counts a statement from its second sample on.
func (s *promqlStore) compare() {
	if s == nil {
		return
	}
	b := s.m.p.b
	b.Helper()
	var some []measuredServer
	for _, server := range s.m.servers {
		if server.engine != fleet.Oracle && len(some) < 30 {
			some = append(some, server)
		}
	}
	q := url.Values{"bucketSize": {"1m"}}
	for _, server := range some {
		q.Add("instanceId", server.id.String())
	}
	from := s.m.end.Add(-6 * time.Hour)
	q.Set("from", from.Format(time.RFC3339))
	q.Set("to", s.m.end.Format(time.RFC3339))
	for _, tile := range tileNames() {
		var answer struct{ Series map[string][]*float64 }
		s.m.p.get("/metrics/"+tile+"?"+q.Encode(), &answer)
		for _, line := range promqlLines[tile] {
			found, err := s.query(b.Context(), fmt.Sprintf(line.query, s.selector(some), "1m"), from, s.m.end, "1m")
			if err != nil {
				b.Fatalf("%s: %s", s.name, err)
			}
			for name, values := range found {
				s.same(tile, line.name+name, answer.Series[line.name+name], values, from)
			}
		}
	}
}

// rounded is by how much an answer of ours may differ: it has three decimals.
const rounded = 0.00051

// same compares a line's value of each minute.
func (s *promqlStore) same(tile, line string, ours []*float64, theirs map[int64]float64, from time.Time) {
	b := s.m.p.b
	b.Helper()
	if len(ours) == 0 {
		b.Fatalf("%s has no %s", tile, line)
	}
	for minute, value := range ours {
		at := from.Add(time.Duration(minute) * time.Minute)
		other, there := theirs[at.Unix()]
		if value == nil || !there || math.Abs(*value-other) > rounded+1e-6*math.Abs(other) {
			told, _ := json.Marshal(value)
			b.Fatalf("%s, %s at %s: %s, and %v of %s (%t)", tile, line, at, told, other, s.name, there)
		}
	}
}

// serveBeside starts a server of somebody else's that ends with the benchmark, and waits
// until it answers at a path.
func (m *measured) serveBeside(ready, program string, args func(address string) []string) (base string) {
	b := m.p.b
	b.Helper()
	address := porttest.Address(b)
	cmd := exec.CommandContext(context.WithoutCancel(b.Context()), "/bin/sh",
		append([]string{"-c", untilStopped, "sh", program}, args(address)...)...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })
	base = "http://" + address
	m.p.until(program+" is ready", 50*time.Millisecond, time.Minute, func() bool {
		response, err := http.Get(base + ready)
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return base
}

// installed says whether all programs are, and logs which is not.
func installed(b *testing.B, programs ...string) bool {
	b.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			b.Logf("%s is not installed: no PromQL on it beside the tiles", program)
			return false
		}
	}
	return true
}
