package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/internal/intake/remotewrite/remotewritetest"
)

// scrapesWanted is how many scrapes of each agent are compared, at least: a second apart, so that the
// 10 ms in which a kernel counts are less than a thousandth of all of them.
const scrapesWanted = 15

// TestStandardAgents has real agents tell of this machine, each to an organization of
// its own: Prometheus by remote_write 1.0 and vmagent, which both scrape a
// node_exporter every second; and two senders that are given what Prometheus holds of
// it, by remote_write 2.0 and by OTLP under the names of a collector. The Utilization
// of the hour agrees with what PromQL makes of the same samples:
//
//   - CPU within half a point: Muster weighs the percentage of each interval by its
//     length and books it where it ends, PromQL divides the increase of all modes over
//     the whole range. They would be the same if a second of a CPU always had a
//     second of modes; the kernel's ticks make it 0.98 to 1.02. What increase()
//     extrapolates it does for both terms alike.
//   - Memory within what rounding leaves: both take the mean of the samples.
//   - Disk within a tenth of a point: PromQL's subquery looks once a second, and may
//     miss a scrape at which the volume was fullest.
//
// If an hour begins among the scrapes, the hour with more of them is compared (hourOf).
func TestStandardAgents(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"prometheus", "prometheus-node-exporter", "vmagent"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed (Debian: apt-get install --no-install-recommends prometheus prometheus-node-exporter victoria-metrics)", program)
		}
	}
	i := install(t)
	tokens := map[string]string{}
	for _, way := range []string{"prometheus", "vmagent", "write2", "otlp"} {
		email := way + "@acme.example"
		i.must(t, "organization", "create", "--name", way, "--admin-email", email, "--admin-password-file", passwordFile(t))
		tokens[way] = strings.TrimSpace(i.must(t, "token", "create", "--kind", "ingest", "--email", email))
	}
	server := servingHere(t, append(i.flags(), "--rate-limits=off", "--collect-own-host=off")...) // the test polls
	host := startNodeExporter(t)
	p := startHostAgents(t, server, host, tokens)
	for _, job := range []string{"node", "vmagent"} { // either may begin late
		eventually(t, "the scrapes of "+job+" are there", func() bool {
			return p.query(t, `count_over_time(up{job="`+job+`"}[10m])`, time.Now()) >= scrapesWanted
		})
	}
	host.gone.Store(true)
	for _, job := range []string{"node", "vmagent"} {
		eventually(t, job+" has seen the end", func() bool { return p.query(t, `up{job="`+job+`"}`, time.Now()) == 0 })
	}

	seen := p.raw(t, "node")
	sendRemoteWrite2(t, server, tokens["write2"], seen)
	sendOTLP(t, server, tokens["otlp"], seen)
	for way, job := range map[string]string{"prometheus": "node", "vmagent": "vmagent", "write2": "node", "otlp": "node"} {
		hour := hourOf(p.raw(t, job))
		want := p.utilization(t, job, hour)
		if math.IsNaN(want.CPU) || math.IsNaN(want.Memory) {
			t.Fatalf("%s: Prometheus knows %+v", job, want)
		}
		c := i.as(t, server, way+"@acme.example")
		var got shares
		hosts, asked := 0, 0
		if !within(patience, func() bool {
			asked++
			got, hosts = c.utilization(t, hour.last, asked)
			return hosts == 1 && alike(got.CPU, want.CPU, 0.5) && alike(got.Memory, want.Memory, 0.01) && alike(got.Disk, want.Disk, 0.1)
		}) {
			t.Errorf("%s: %d hosts have %+v, Prometheus has %+v of %s", way, hosts, got, want, hour.last.Sub(hour.first))
		}
		t.Logf("%s: Muster %+v, PromQL %+v of %s", way, got, want, hour.last.Sub(hour.first))
	}
}

// nodeExporter is Debian's, behind a door that the test can close.
type nodeExporter struct {
	address string
	gone    atomic.Bool
}

func startNodeExporter(t *testing.T) *nodeExporter {
	t.Helper()
	// Other tests mount small disks meanwhile, and fill them: one that comes and goes between two
	// scrapes is in some of the raw samples, and not at the end of Prometheus' series.
	behind := "http://" + startListening(t, "prometheus-node-exporter", "--web.listen-address=127.0.0.1:0",
		"--collector.filesystem.mount-points-exclude=^(/dev|/proc|/sys|"+regexp.QuoteMeta(os.TempDir())+")($|/)")
	target, err := url.Parse(behind)
	if err != nil {
		t.Fatal(err)
	}
	n, proxy := &nodeExporter{}, httputil.NewSingleHostReverseProxy(target)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.gone.Load() {
			http.Error(w, "gone", http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	n.address = door.Listener.Addr().String()
	return n
}

var listening = regexp.MustCompile(`msg="Listening on" address=(\S+)`)

// startListening runs a program of Prometheus' family on a free port, and returns it.
func startListening(t *testing.T, name string, args ...string) (address string) {
	t.Helper()
	said := startTool(t, name, args...)
	eventually(t, name+" listens", func() bool {
		if found := listening.FindStringSubmatch(said.String()); found != nil {
			address = found[1]
		}
		return address != ""
	})
	return address
}

// promQL is a Prometheus that is asked.
type promQL struct{ base string }

// startHostAgents runs a Prometheus and a vmagent that scrape the exporter. vmagent
// writes to that Prometheus, too, so that PromQL can be asked about its samples.
func startHostAgents(t *testing.T, server *running, n *nodeExporter, tokens map[string]string) promQL {
	t.Helper()
	dir := t.TempDir()
	fill := map[string]string{"exporter": n.address, "muster": server.base, "token": fileWith(t, "prometheus.token", tokens["prometheus"])}
	config := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("testdata", "prometheus", name))
		if err != nil {
			t.Fatal(err)
		}
		return fileWith(t, name, os.Expand(string(text), func(name string) string { return fill[name] }))
	}
	p := promQL{"http://" + startListening(t, "prometheus", "--config.file="+config("hosts.yml"), "--storage.tsdb.path="+filepath.Join(dir, "prometheus"),
		"--web.listen-address=127.0.0.1:0", "--web.enable-remote-write-receiver")}
	eventually(t, "Prometheus answers", func() bool { // it listens before
		answer, err := http.Get(p.base + "/-/ready")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	startTool(t, "vmagent", "-promscrape.config="+config("vmagent.yml"), "-httpListenAddr=", "-remoteWrite.tmpDataPath="+filepath.Join(dir, "vmagent"),
		"-remoteWrite.url="+server.base+"/ingest/v1/prometheus/write", "-remoteWrite.url="+p.base+"/api/v1/write",
		"-remoteWrite.bearerTokenFile="+fileWith(t, "vmagent.token", tokens["vmagent"]))
	return p
}

// ask makes an instant query.
func (p promQL) ask(t *testing.T, query string, at time.Time, into any) {
	t.Helper()
	var answer struct {
		Data struct{ Result json.RawMessage }
	}
	parameters := url.Values{"query": {query}, "time": {strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)}}
	client{base: p.base}.get(t, "/api/v1/query?"+parameters.Encode(), &answer)
	if err := json.Unmarshal(answer.Data.Result, into); err != nil {
		t.Fatalf("%s: %v: %s", query, err, answer.Data.Result)
	}
}

// query returns the only value that a query has; NaN where it has none.
func (p promQL) query(t *testing.T, query string, at time.Time) float64 {
	t.Helper()
	var result []struct{ Value [2]any }
	p.ask(t, query, at, &result)
	if len(result) != 1 {
		return math.NaN()
	}
	value, err := strconv.ParseFloat(result[0].Value[1].(string), 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// raw are a job's samples that Utilization is made of.
func (p promQL) raw(t *testing.T, job string) (series []remotewritetest.Series) {
	t.Helper()
	var result []struct {
		Metric map[string]string
		Values [][2]any
	}
	p.ask(t, `{job="`+job+`",__name__=~"node_cpu_seconds_total|node_memory_Mem(Total|Available)_bytes|node_filesystem_(size|free|avail)_bytes"}[10m]`, time.Now(), &result)
	for _, r := range result {
		s := remotewritetest.Series{Labels: r.Metric}
		for _, v := range r.Values {
			value, err := strconv.ParseFloat(v[1].(string), 64)
			if err != nil {
				t.Fatal(err)
			}
			s.Samples = append(s.Samples, remotewritetest.Sample{At: int64(math.Round(1000 * v[0].(float64))), Value: value})
		}
		series = append(series, s)
	}
	return series
}

// scrapes are those of one hour.
type scrapes struct {
	before      time.Time // the last one of the hour before, at which the first interval of CPU begins; zero: there is none
	first, last time.Time
}

// hourOf is the hour in which most of the scrapes were.
func hourOf(series []remotewritetest.Series) scrapes {
	all := map[int64]bool{}
	for _, s := range series {
		for _, sample := range s.Samples {
			all[sample.At] = true
		}
	}
	var hours []scrapes
	counted := map[time.Time]int{}
	var before time.Time
	for _, ms := range slices.Sorted(maps.Keys(all)) {
		at := time.UnixMilli(ms).UTC()
		hour := at.Truncate(time.Hour)
		if counted[hour]++; counted[hour] == 1 {
			hours = append(hours, scrapes{before: before, first: at})
		}
		hours[len(hours)-1].last, before = at, at
	}
	return slices.MaxFunc(hours, func(a, b scrapes) int {
		return cmp.Compare(counted[a.first.Truncate(time.Hour)], counted[b.first.Truncate(time.Hour)])
	})
}

// TestTheHourOfScrapes is the one with most of them, and knows the scrape before it.
func TestTheHourOfScrapes(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		seconds []int // before and after noon
		want    scrapes
	}{
		"within an hour":         {[]int{1, 2, 3}, scrapes{first: noon.Add(time.Second), last: noon.Add(3 * time.Second)}},
		"more of them before it": {[]int{-3, -2, 0}, scrapes{first: noon.Add(-3 * time.Second), last: noon.Add(-2 * time.Second)}},
		"more of them after it":  {[]int{-2, 0, 1}, scrapes{before: noon.Add(-2 * time.Second), first: noon, last: noon.Add(time.Second)}},
	} {
		var of []remotewritetest.Sample
		for _, second := range c.seconds {
			of = append(of, remotewritetest.Sample{At: noon.Add(time.Duration(second) * time.Second).UnixMilli()})
		}
		if got := hourOf([]remotewritetest.Series{{Samples: of}, {Samples: of[1:]}}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// shares are the three lines of Utilization in percent; NaN where there is no value.
type shares struct{ CPU, Memory, Disk float64 }

// utilization is what PromQL makes of a job's samples of an hour. CPU is of intervals, each of
// which Muster counts where it ends.
func (p promQL) utilization(t *testing.T, job string, of scrapes) shares {
	t.Helper()
	// J is the job, R the range.
	ask := func(from time.Time, query string) float64 {
		span := of.last.Sub(from).Milliseconds() + 500
		return p.query(t, strings.NewReplacer("J", `job="`+job+`"`, "R", fmt.Sprintf("%dms", span)).Replace(query), of.last)
	}
	intervals := of.before
	if intervals.IsZero() {
		intervals = of.first
	}
	return shares{
		CPU:    ask(intervals, `100 * (1 - sum(increase(node_cpu_seconds_total{J,mode=~"idle|iowait"}[R])) / sum(increase(node_cpu_seconds_total{J}[R])))`),
		Memory: ask(of.first, `100 * (1 - sum(avg_over_time(node_memory_MemAvailable_bytes{J}[R])) / sum(avg_over_time(node_memory_MemTotal_bytes{J}[R])))`),
		Disk: ask(of.first, `100 * max(max_over_time(((node_filesystem_size_bytes{J,mountpoint!~"/boot|/boot/efi|/snap/.*"} - node_filesystem_free_bytes) /
			(node_filesystem_size_bytes - node_filesystem_free_bytes + node_filesystem_avail_bytes))[R:1s]))`),
	}
}

// utilization is the tile's bucket of the hour of a time. An answer is kept for 30 s: so
// that the next one is a new one, each asks for a few hours before as well.
func (c client) utilization(t *testing.T, at time.Time, asked int) (got shares, hosts int) {
	t.Helper()
	hour := at.UTC().Truncate(time.Hour)
	window := url.Values{"from": {hour.Add(-time.Duration(asked%300) * time.Hour).Format(time.RFC3339)}, "to": {hour.Add(time.Hour).Format(time.RFC3339)}, "bucketSize": {"1h"}}
	var tile struct {
		HostCount int
		Series    struct{ CPUPercent, MemoryPercent, DiskPercent []*float64 }
	}
	c.get(t, "/api/v1/metrics/utilization?"+window.Encode(), &tile)
	newest := func(line []*float64) float64 {
		if len(line) == 0 || line[len(line)-1] == nil {
			return math.NaN()
		}
		return *line[len(line)-1]
	}
	return shares{newest(tile.Series.CPUPercent), newest(tile.Series.MemoryPercent), newest(tile.Series.DiskPercent)}, tile.HostCount
}

func alike(a, b, tolerance float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tolerance
}
