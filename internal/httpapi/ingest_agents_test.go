package httpapi

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/klauspost/compress/snappy"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"muster/internal/intake/remotewrite"
	"muster/internal/intake/remotewrite/remotewritetest"
)

const (
	writePath = "/ingest/v1/prometheus/write"
	otlpPath  = "/ingest/v1/otlp/v1/metrics"
	logsPath  = "/ingest/v1/otlp/v1/logs"
)

// prometheus are the headers of remote_write, by its version.
var prometheus = map[string]map[string]string{
	"1.0": {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "0.1.0"},
	"2.0": {"Content-Type": "application/x-protobuf;proto=" + remotewrite.V2, "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "2.0.0"},
}

// write sends series by a version of remote_write.
func (s sender) write(version string, series ...remotewritetest.Series) answer {
	s.t.Helper()
	message := remotewritetest.V1(series...)
	if version == "2.0" {
		message = remotewritetest.V2Bytes(series...)
	}
	return s.send(writePath, remotewritetest.Pack(message), prometheus[version])
}

// written is what 2.0 is told of samples, histograms and exemplars.
func (a answer) written() (out []string) {
	for _, of := range []string{"Samples", "Histograms", "Exemplars"} {
		out = append(out, a.Header().Get("X-Prometheus-Remote-Write-"+of+"-Written"))
	}
	return out
}

// droppedSamples is what the figures say that was dropped on a route.
func (w *world) droppedSamples(path string) map[string]float64 {
	w.t.Helper()
	families, err := w.deps.Metrics.Gather()
	must(w.t, err)
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "muster_ingest_dropped_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if n := m.GetCounter().GetValue(); labels["route"] == path && n > 0 {
				out[labels["reason"]] = n
			}
		}
	}
	return out
}

// utilization is the tile of an hour, the last bucket that has a value of each line.
type utilization struct{ CPU, Memory, Disk *float64 }

func (w *world) utilization(as person, from time.Time, filter string) (got utilization, hosts int) {
	w.t.Helper()
	_, err := w.samples.Roll(w.t.Context())
	must(w.t, err)
	var tile struct {
		HostCount int
		Series    struct{ CPUPercent, MemoryPercent, DiskPercent []*float64 }
	}
	w.get(as, "/api/v1/metrics/utilization?bucketSize=1h&from="+from.Format(time.RFC3339)+"&to="+from.Add(time.Hour).Format(time.RFC3339)+filter).is(200).decode(&tile)
	last := func(line []*float64) (v *float64) {
		for _, x := range line {
			if x != nil {
				v = x
			}
		}
		return v
	}
	return utilization{last(tile.Series.CPUPercent), last(tile.Series.MemoryPercent), last(tile.Series.DiskPercent)}, tile.HostCount
}

// hour is a whole hour that has passed.
func (w *world) hour() time.Time { return w.clock.Now().Add(-2 * time.Hour).Truncate(time.Hour) }

// scraped is what an exporter says of a host of one CPU whose counters have seconds busy
// and idle, of which half the memory and 30 of 75 usable bytes are used.
func scraped(host string, at time.Time, busy, idle float64) []remotewritetest.Series {
	one := func(name string, value float64, labels ...string) remotewritetest.Series {
		return remotewritetest.One(name, at, value, append(labels, "instance", host, "job", "node")...)
	}
	disk := []string{"mountpoint", "/", "device", "/dev/sda1", "fstype", "ext4"}
	return []remotewritetest.Series{
		one("go_goroutines", 8),
		one("node_cpu_seconds_total", idle/2, "cpu", "0", "mode", "idle"), one("node_cpu_seconds_total", idle/2, "cpu", "0", "mode", "iowait"),
		one("node_cpu_seconds_total", busy, "cpu", "0", "mode", "user"),
		one("node_memory_MemTotal_bytes", 1000), one("node_memory_MemAvailable_bytes", 500),
		one("node_filesystem_size_bytes", 100, disk...), one("node_filesystem_free_bytes", 70, disk...), one("node_filesystem_avail_bytes", 45, disk...),
		one("node_load1", 1),
	}
}

func near(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) < 0.0005 }

// TestRemoteWrite: what Prometheus scraped of a host shows in the tile, by either
// version, in parts, and twice at once.
func TestRemoteWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	hour := w.hour()
	first, second := scraped("db01:9100", hour.Add(time.Minute), 100, 1000), scraped("db01:9100", hour.Add(2*time.Minute), 115, 1045)
	if got := in.write("1.0", first...).is(204).written(); !slices.Equal(got, []string{"", "", ""}) {
		t.Errorf("1.0 is told %q", got)
	}
	if got := in.write("2.0", second[:4]...).is(204).written(); !slices.Equal(got, []string{"4", "0", "0"}) { // passed over is accepted
		t.Errorf("2.0 is told %q", got)
	}
	var twice sync.WaitGroup
	for range 4 {
		twice.Go(func() { in.write("2.0", second...).is(204) })
	}
	twice.Wait()
	got, hosts := w.utilization(w.ours.viewer, hour, "")
	if !near(got.CPU, 25) || !near(got.Memory, 50) || !near(got.Disk, 40) || hosts != 1 {
		t.Errorf("%d hosts have %v", hosts, cmp.Diff(utilization{}, got))
	}
	if diff := cmp.Diff(map[string]float64{"not_used": 2 + 1 + 4*2}, w.droppedSamples(writePath)); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	if n := testutil.ToFloat64(w.deps.Metrics.Ingested.WithLabelValues("host_sample")); n != 6 {
		t.Errorf("%v samples are counted", n)
	}
	if _, hosts := w.utilization(w.theirs.viewer, hour, ""); hosts != 0 {
		t.Errorf("the others see %d hosts", hosts)
	}
}

// TestRemoteWriteStale: no interval reaches across the end of a series.
func TestRemoteWriteStale(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	hour := w.hour()
	in.write("1.0", scraped("db01", hour.Add(time.Minute), 100, 1000)...).is(204)
	in.write("1.0", remotewritetest.One("node_cpu_seconds_total", hour.Add(2*time.Minute), remotewritetest.StaleNaN(), "instance", "db01", "cpu", "0", "mode", "user")).is(204)
	in.write("1.0", scraped("db01", hour.Add(3*time.Minute), 200, 1000)...).is(204)
	if got, _ := w.utilization(w.ours.viewer, hour, ""); got.CPU != nil || !near(got.Memory, 50) {
		t.Errorf("CPU is %v", got.CPU)
	}
}

// TestRemoteWriteInParts: what a collector looks at a moment later, or another sender
// tells, is no scrape of the CPU between two others.
func TestRemoteWriteInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	hour := w.hour()
	in.write("1.0", scraped("db01", hour.Add(2*time.Minute), 115, 1045)...).is(204) // out of order
	in.write("1.0", remotewritetest.One("node_memory_MemTotal_bytes", hour.Add(90*time.Second), 1000, "instance", "db01"),
		remotewritetest.One("node_memory_MemAvailable_bytes", hour.Add(90*time.Second), 200, "instance", "db01:9100")).is(204)
	first := scraped("db01", hour.Add(time.Minute), 100, 1000)
	for _, series := range first {
		in.write("2.0", series).is(204)
	}
	if got, hosts := w.utilization(w.ours.viewer, hour, ""); !near(got.CPU, 25) || !near(got.Memory, 60) || !near(got.Disk, 40) || hosts != 1 {
		t.Errorf("%d hosts have %v", hosts, cmp.Diff(utilization{}, got))
	}
}

// TestRemoteWriteLenience: what cannot be used is dropped and counted; the rest of its
// message is taken.
func TestRemoteWriteLenience(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.0", "2.0"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			in := sender{w, w.ingestToken(w.ours.admin)}
			hour := w.hour()
			memory := func(at time.Time, value float64, labels ...string) remotewritetest.Series {
				return remotewritetest.One("node_memory_MemTotal_bytes", at, value, labels...)
			}
			series := append(scraped("db01:9100", hour, 1, 1),
				memory(hour, math.NaN(), "instance", "a"), memory(hour, math.Inf(1), "instance", "a"), memory(hour, -1, "instance", "a"),
				memory(w.clock.Now().Add(time.Hour), 1, "instance", "a"), memory(time.UnixMilli(-5), 1, "instance", "a"),
				memory(hour, 1), memory(hour, 1, "instance", "a\x00b"), memory(hour, 1, "instance", strings.Repeat("x", 1<<20)),
				memory(hour, 1, "instance", "gr\u00f6\u00dfe", "muster_instance", "nobody"),
			)
			got := in.write(version, series...).is(204).written()
			if version == "2.0" && !slices.Equal(got, []string{"11", "0", "0"}) {
				t.Errorf("2.0 is told %q", got)
			}
			want := map[string]float64{"not_used": 2, "not_a_number": 2, "out_of_range": 1, "time_in_future": 1, "invalid_time": 1, "no_host": 1, "malformed": 1, "too_long": 1, "unknown_instance": 1}
			if diff := cmp.Diff(want, w.droppedSamples(writePath)); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
			if got, hosts := w.utilization(w.ours.viewer, hour, ""); hosts != 2 || !near(got.Memory, 50) {
				t.Errorf("%d hosts have %v", hosts, got.Memory)
			}
		})
	}
}

// TestHostsAndInstances: a label says which instance runs on a host, and a limited
// token speaks of its own only.
func TestHostsAndInstances(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, other := w.instance(w.ours, "orders"), w.instance(w.ours, "billing") // both on db01
	hour := w.hour()
	at := func(host, instance string) []remotewritetest.Series {
		series := scraped(host, hour, 1, 1)
		for i := range series {
			if instance != "" {
				series[i].Labels["muster_instance"] = instance
			}
		}
		return series
	}
	all := sender{w, w.ingestToken(w.ours.admin)}
	all.write("1.0", at("elsewhere:9100", "orders")...).is(204)
	all.write("1.0", at("db02:9100", "billing")...).is(204)
	all.write("1.0", at("db01:9100", "")...).is(204)
	limited := sender{w, w.ingestToken(w.ours.admin, mine)}
	for _, instance := range []string{"", mine.String(), "orders"} {
		if got := limited.write("2.0", at("elsewhere", instance)...).is(204).written(); got[0] != "10" {
			t.Errorf("of %s elsewhere 2.0 is told %q", instance, got)
		}
	}
	if n := w.droppedSamples(writePath)["forbidden"]; n != 0 {
		t.Errorf("%v are forbidden that are not", n)
	}
	for _, c := range []struct{ host, instance string }{
		{"db01", "billing"}, {"db05", ""}, {"db06", other.String()}, {"db07", "nobody"}, {"db02", "orders"},
		{"db01", ""}, {"db01", "orders"}, {"db01", "nobody"}, // whose figures would be billing's, too
		{"db03", mine.String()}, {"db04", "orders"}, // it would move there
	} {
		if got := limited.write("2.0", at(c.host, c.instance)...).is(204).written(); got[0] != "2" {
			t.Errorf("of %s at %q 2.0 is told %q", c.host, c.instance, got)
		}
	}
	if n := w.droppedSamples(writePath)["forbidden"]; n != 10*8 {
		t.Errorf("%v are forbidden", n)
	}
	if _, hosts := w.utilization(w.ours.viewer, hour, ""); hosts != 3 {
		t.Errorf("there are %d hosts", hosts)
	}
	for id, want := range map[uuid.UUID]int{mine: 2, other: 2} { // db01 by its name
		if _, hosts := w.utilization(w.ours.viewer, hour, "&instanceId="+id.String()); hosts != want {
			t.Errorf("%s runs on %d hosts, want %d", id, hosts, want)
		}
	}
}

// TestRemoteWriteRefusals: what is no message is refused whole.
func TestRemoteWriteRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	good := remotewritetest.Pack(remotewritetest.V1(scraped("db01", w.hour(), 1, 1)...))
	with := func(name, value string) map[string]string {
		h := map[string]string{name: value}
		for n, v := range prometheus["1.0"] {
			if n != name {
				h[n] = v
			}
		}
		return h
	}
	in.send(writePath, good, with("Content-Type", "application/x-protobuf; proto=prometheus.WriteRequest")).is(204)
	in.send(writePath, good, with("Content-Encoding", "")).is(204) // as Prometheus itself takes it
	for name, values := range map[string][]string{
		"Content-Type":     {"", "application/json", "text/plain", "application/x-protobuf;proto=io.prometheus.write.v3.Request", "application/x-protobuf;proto=x;proto=y"},
		"Content-Encoding": {"gzip", "zstd", "snappy, snappy"},
	} {
		for _, value := range values {
			in.send(writePath, good, with(name, value)).problem(415, "unsupported_media_type")
		}
	}
	bomb := binary.AppendUvarint(nil, 32<<20)
	for name, body := range map[string]string{
		"no snappy": "no snappy at all", "nothing": "", "a length only": string(bomb), "less than it says": good[:len(good)-1],
		"no protobuf": string(snappy.Encode(nil, []byte("{}"))), "a frame": string(snappy.Encode(nil, []byte{0x0a, 0xff})),
		"a length of half the memory": string(binary.AppendUvarint(nil, 1<<40)),
	} {
		p := in.send(writePath, body, prometheus["1.0"]).problem(400, "invalid_parameter")
		if !slices.Equal(p.places(), []string{"body # invalid_parameter"}) {
			t.Errorf("%s: %v", name, p.places())
		}
	}
	in.send(writePath, string(snappy.Encode(nil, make([]byte, 32<<20+1))), prometheus["1.0"]).problem(413, "body_too_large")
	in.send(writePath, string(binary.AppendUvarint(nil, 1<<31)), prometheus["1.0"]).problem(413, "body_too_large")
	in.send(writePath, strings.Repeat(" ", 32<<20+1), prometheus["1.0"]).problem(413, "body_too_large")
	w.do(request{method: "POST", path: writePath, body: good, header: prometheus["1.0"]}).problem(401, "unauthenticated")
	w.do(request{method: "POST", path: writePath, body: good, header: prometheus["1.0"], token: w.token(w.ours.member, "metrics:read")}).problem(403, "forbidden")

	leave, ok := w.server.intake.enter(w.ours.organization.ID, uuid.New(), 1)
	for ; ok; leave, ok = w.server.intake.enter(w.ours.organization.ID, uuid.New(), 1) {
		defer leave()
	}
	for path, header := range map[string]map[string]string{writePath: prometheus["1.0"], otlpPath: {"Content-Type": "application/json"}} {
		if after := in.send(path, good, header).problemWith(503, "unavailable").Header().Get("Retry-After"); after != "5" {
			t.Errorf("%s: Retry-After is %q", path, after)
		}
	}
}

// TestOTLP: protobuf and JSON, packed and not, and what is told of bad points.
func TestOTLP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	hour := w.hour()
	text := func(at time.Time, busy, idle string) string {
		return strings.NewReplacer("$T", strconv.FormatInt(at.UnixNano(), 10), "$B", busy, "$I", idle).Replace(hostMetrics)
	}
	asJSON := map[string]string{"Content-Type": "application/json; charset=utf-8"}
	packed := map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}
	if got := in.send(otlpPath, text(hour.Add(time.Minute), "100", "1000"), asJSON).is(200).object(); len(got) != 0 {
		t.Errorf("all is well, and the answer %v", got)
	}
	in.send(otlpPath, zipped(t, []byte(text(hour.Add(2*time.Minute), "115", "1045"))), packed).is(200)
	got, hosts := w.utilization(w.ours.viewer, hour, "")
	if !near(got.CPU, 25) || !near(got.Memory, 50) || !near(got.Disk, 40) || hosts != 1 {
		t.Errorf("%d hosts have %v", hosts, cmp.Diff(utilization{}, got))
	}
	bad := in.send(otlpPath, text(w.clock.Now().Add(time.Hour), `"NaN"`, "1"), asJSON).is(200).object()
	want := map[string]any{"partialSuccess": map[string]any{"rejectedDataPoints": "6", "errorMessage": "Data points that cannot be used, by reason: not_a_number: 1, time_in_future: 5"}}
	if diff := cmp.Diff(want, bad); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]float64{"not_used": 3, "not_a_number": 1, "time_in_future": 5}, w.droppedSamples(otlpPath)); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}

	binary := map[string]string{"Content-Type": "application/x-protobuf"}
	if a := in.send(otlpPath, "", binary).is(200); a.Header().Get("Content-Type") != "application/x-protobuf" || a.Body.Len() != 0 {
		t.Errorf("an empty message is answered %q %q", a.Header(), a.Body)
	}
	in.send(otlpPath, zipped(t, nil), map[string]string{"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}).is(200)
	in.send(otlpPath, "\xff", binary).problem(400, "invalid_parameter")
	in.send(otlpPath, "{}", binary).problem(400, "invalid_parameter")
	in.send(otlpPath, "{", asJSON).problem(400, "malformed_json")
	in.send(otlpPath, `{"resourceMetrics":7}`, asJSON).problem(400, "invalid_parameter")
	in.send(otlpPath, "no gzip", packed).problem(400, "malformed_json")
	in.send(otlpPath, "{}", map[string]string{"Content-Type": "text/plain"}).problem(415, "unsupported_media_type")
	in.send(otlpPath, "{}", map[string]string{"Content-Encoding": "zstd"}).problem(415, "unsupported_media_type")
	in.send(otlpPath, bomb(t, " ", 32<<20+1), packed).problem(413, "body_too_large")
}

// hostMetrics is a collector's message at $T of a host whose CPU was busy for $B and
// idle for $I seconds.
const hostMetrics = `{"resourceMetrics":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"db01"}}]},"scopeMetrics":[{"metrics":[
{"name":"system.cpu.time","unit":"s","sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[
 {"timeUnixNano":"$T","asDouble":$B,"attributes":[{"key":"cpu","value":{"stringValue":"cpu0"}},{"key":"state","value":{"stringValue":"user"}}]},
 {"timeUnixNano":"$T","asDouble":$I,"attributes":[{"key":"cpu","value":{"stringValue":"cpu0"}},{"key":"state","value":{"stringValue":"idle"}}]}]}},
{"name":"system.memory.usage","unit":"By","sum":{"aggregationTemporality":2,"dataPoints":[
 {"timeUnixNano":"$T","asInt":"500","attributes":[{"key":"state","value":{"stringValue":"used"}}]},
 {"timeUnixNano":"$T","asInt":"500","attributes":[{"key":"state","value":{"stringValue":"free"}}]}]}},
{"name":"system.filesystem.usage","unit":"By","sum":{"aggregationTemporality":2,"dataPoints":[
 {"timeUnixNano":"$T","asInt":"30","attributes":[{"key":"mountpoint","value":{"stringValue":"/"}},{"key":"state","value":{"stringValue":"used"}}]},
 {"timeUnixNano":"$T","asInt":"45","attributes":[{"key":"mountpoint","value":{"stringValue":"/"}},{"key":"state","value":{"stringValue":"free"}}]}]}},
{"name":"system.cpu.load_average.1m","gauge":{"dataPoints":[{"timeUnixNano":"$T","asDouble":1}]}}]}]}]}`
