package remotewrite_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	writev2 "github.com/prometheus/client_golang/exp/api/remote/genproto/v2"
	"google.golang.org/protobuf/proto"

	"muster/domain/fleet"
	"muster/internal/intake"
	"muster/internal/intake/hostmetrics"
	"muster/internal/intake/receivers"
	"muster/internal/intake/remotewrite"
	. "muster/internal/intake/remotewrite/remotewritetest"
	"muster/internal/measurements"
)

var receipt = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// versions are both protocols, which say the same.
var versions = map[string]struct {
	encode func(...Series) []byte
	decode func([]byte, time.Time) (*remotewrite.Message, error)
}{
	"1.0": {V1, remotewrite.Decode1},
	"2.0": {V2Bytes, remotewrite.Decode2},
}

// of decodes with both versions, which agree, and returns the result.
func of(t *testing.T, series ...Series) ([]hostmetrics.Sample, *remotewrite.Message) {
	t.Helper()
	var samples [][]hostmetrics.Sample
	var last *remotewrite.Message
	for name, v := range versions {
		r, err := v.decode(v.encode(series...), receipt)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		samples = append(samples, r.Samples())
		if last != nil {
			if diff := cmp.Diff(last.Dropped, r.Dropped); diff != "" || last.Received != r.Received {
				t.Fatalf("1.0 and 2.0 drop differently, of %d and %d received:\n%s", last.Received, r.Received, diff)
			}
		}
		last = r
	}
	if diff := cmp.Diff(samples[0], samples[1]); diff != "" {
		t.Fatalf("1.0 and 2.0 differ:\n%s", diff)
	}
	return samples[0], last
}

// fixture is a scrape of a real node_exporter 1.5.0.
func fixture(t testing.TB, at time.Time, labels map[string]string) []Series {
	t.Helper()
	text, err := os.ReadFile("testdata/node_exporter.txt")
	if err != nil {
		t.Fatal(err)
	}
	series, err := Scrape(bytes.NewReader(text), at, labels)
	if err != nil {
		t.Fatal(err)
	}
	return series
}

// TestScrape: of a scrape of node_exporter one sample is made, of 22 of its series.
func TestScrape(t *testing.T) {
	t.Parallel()
	got, r := of(t, fixture(t, receipt, map[string]string{"instance": "db01:9100", "job": "node", "muster_instance": "pg-orders-01"})...)
	var cpus []measurements.CPUCounter
	seconds := []float64{252.95, 25.49, 91.2, 859.78, 1.99, 0, 0.65, 1.75, 248.49, 34.74, 104.59, 826.34, 10.77, 0, 4.08, 1.59}
	for cpu := range int32(2) {
		for mode := measurements.ModeUser; mode <= measurements.ModeSteal; mode++ {
			cpus = append(cpus, measurements.CPUCounter{Code: 16*cpu + mode, Seconds: seconds[len(cpus)]})
		}
	}
	want := []hostmetrics.Sample{{
		HostSample: measurements.HostSample{
			Host: "db01", At: receipt,
			CPU:     cpus,
			Memory:  &measurements.MemoryBytes{Total: 25276502016, Available: 23601291264, Used: -1},
			Volumes: []measurements.Volume{{Mount: "/", Pool: "/dev/vda", Size: 270553174016, Free: 248946659328, Available: 76186779648}},
		},
		References: []string{"pg-orders-01"}, Points: 21,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Received != 507 || r.Dropped[intake.NotUsed] != 507-21 || len(r.Dropped) != 1 || r.Refused() != 0 {
		t.Errorf("of %d samples %v are dropped", r.Received, r.Dropped)
	}
}

// TestSamples: one sample a host and time, whatever the order.
func TestSamples(t *testing.T) {
	t.Parallel()
	later := receipt.Add(time.Minute)
	cpu := func(at time.Time, value float64, labels ...string) Series {
		return One("node_cpu_seconds_total", at, value, append([]string{"instance", "a", "cpu", "0", "mode", "user"}, labels...)...)
	}
	several := cpu(receipt, 1)
	several.Samples = append(several.Samples, Sample{At: later.UnixMilli(), Value: 2}, Sample{At: receipt.UnixMilli(), Value: 9})
	got, _ := of(t,
		several, cpu(receipt, 3, "mode", "idle"), cpu(later, 4, "instance", "b:1"),
		cpu(receipt, 7), // again, of another series: the first stays
		One("node_memory_MemTotal_bytes", later, 8, "instance", "a:9100"),
		cpu(later, 5, "muster_instance", "x"), cpu(receipt, 6, "cpu", "1", "muster_instance", "y"), cpu(receipt, 6, "cpu", "2", "muster_instance", "y"),
	)
	sample := func(host string, at time.Time, points int, references []string, cpu []measurements.CPUCounter) hostmetrics.Sample {
		return hostmetrics.Sample{HostSample: measurements.HostSample{Host: host, At: at, CPU: cpu}, References: references, Points: points}
	}
	want := []hostmetrics.Sample{
		sample("a", receipt, 6, []string{"y"}, []measurements.CPUCounter{{Code: 0, Seconds: 1}, {Code: 3, Seconds: 3}, {Code: 16, Seconds: 6}, {Code: 32, Seconds: 6}}),
		sample("a", later, 3, []string{"x"}, []measurements.CPUCounter{{Code: 0, Seconds: 2}}),
		sample("b", later, 1, nil, []measurements.CPUCounter{{Code: 0, Seconds: 4}}),
	}
	want[1].Memory = &measurements.MemoryBytes{Total: 8, Available: -1, Used: -1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestHosts: a host is its address without the port.
func TestHosts(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"db01:9100": "db01", "db01": "db01", "10.0.0.1:9100": "10.0.0.1", "[::1]:9100": "::1", "::1": "::1", "[fe80::1]": "fe80::1",
		"db01.example.org:80": "db01.example.org", "größe:1": "größe", "": "", ":9100": "", "[]": "",
		strings.Repeat("x", 255) + ":9100": strings.Repeat("x", 255),
	} {
		got, r := of(t, One("node_memory_MemTotal_bytes", receipt, 1, "instance", address))
		switch {
		case want == "" && (len(got) != 0 || r.Dropped[intake.NoHost] != 1):
			t.Errorf("%q is somebody", address)
		case want != "" && (len(got) != 1 || got[0].Host != want):
			t.Errorf("%q is %+v", address, got)
		}
	}
}

// TestBadSamples: each is dropped and counted; the one beside it is kept.
func TestBadSamples(t *testing.T) {
	t.Parallel()
	megabyte := strings.Repeat("x", 1<<20)
	node := func(change ...string) Series {
		return One("node_cpu_seconds_total", receipt, 1, append([]string{"instance", "a", "cpu", "0", "mode", "user"}, change...)...)
	}
	disk := func(change ...string) Series {
		return One("node_filesystem_size_bytes", receipt, 1, append([]string{"instance", "a", "mountpoint", "/", "fstype", "ext4", "device", "/dev/sda"}, change...)...)
	}
	at := func(s Series, at time.Time, value float64) Series {
		s.Samples = []Sample{{At: at.UnixMilli(), Value: value}}
		return s
	}
	for name, c := range map[string]struct {
		series Series
		want   intake.Reason
	}{
		"NaN":                        {at(node(), receipt, math.NaN()), intake.NotANumber},
		"infinite":                   {at(node(), receipt, math.Inf(-1)), intake.NotANumber},
		"negative":                   {at(disk(), receipt, -1), intake.OutOfRange},
		"too much":                   {at(disk(), receipt, 1e300), intake.OutOfRange},
		"six minutes ahead":          {at(node(), receipt.Add(6*time.Minute), 1), intake.TimeInFuture},
		"in the year 292278994":      {Series{Labels: node().Labels, Samples: []Sample{{At: math.MaxInt64, Value: 1}}}, intake.TimeInFuture},
		"no time":                    {Series{Labels: node().Labels, Samples: []Sample{{At: 0, Value: 1}}}, intake.InvalidTime},
		"before the calendar":        {Series{Labels: node().Labels, Samples: []Sample{{At: math.MinInt64, Value: 1}}}, intake.InvalidTime},
		"no host":                    {node("instance", ""), intake.NoHost},
		"a host of a megabyte":       {node("instance", megabyte), intake.TooLong},
		"a host of 256 bytes":        {node("instance", strings.Repeat("x", 256)), intake.TooLong},
		"a host with U+0000":         {node("instance", "a\x00"), intake.Malformed},
		"a host that is not UTF-8":   {node("instance", "\xff"), intake.Malformed},
		"a mount of a megabyte":      {disk("mountpoint", megabyte), intake.TooLong},
		"a mount with U+0000":        {disk("mountpoint", "/\x00"), intake.Malformed},
		"a device of a megabyte":     {disk("device", megabyte), intake.TooLong},
		"no mount":                   {disk("mountpoint", ""), intake.Incomplete},
		"no mode":                    {node("mode", ""), intake.Incomplete},
		"a CPU of a megabyte":        {node("cpu", megabyte), intake.Unsupported},
		"a CPU beyond all":           {node("cpu", "65536"), intake.Unsupported},
		"a CPU with a sign":          {node("cpu", "-1"), intake.Unsupported},
		"guest time":                 {node("mode", "guest"), intake.NotUsed},
		"what can only be full":      {disk("fstype", "squashfs"), intake.NotUsed},
		"a CD":                       {disk("fstype", "iso9660"), intake.NotUsed},
		"a file system of no size":   {at(disk("mountpoint", "/proc"), receipt, 0), intake.NotUsed},
		"another name":               {One("node_load1", receipt, 1, "instance", "a"), intake.NotUsed},
		"no name":                    {Series{Labels: map[string]string{"instance": "a"}, Samples: node().Samples}, intake.NotUsed},
		"a name of a megabyte":       {One(megabyte, receipt, 1), intake.NotUsed},
		"a label that is not UTF-8":  {One("node_load1", receipt, 1, "\xff", "\xfe"), intake.NotUsed},
		"the end of a file system":   {at(disk(), receipt, StaleNaN()), intake.NotUsed},
		"the end of what is unknown": {at(node("cpu", "all"), receipt, StaleNaN()), intake.NotUsed},
	} {
		got, r := of(t, One("node_memory_MemTotal_bytes", receipt, 1, "instance", "good"), c.series)
		if len(got) != 1 || got[0].Host != "good" || r.Received != 2 || !cmp.Equal(r.Dropped, map[intake.Reason]int{c.want: 1}) {
			t.Errorf("%s: %v are dropped of %d, %d are kept", name, r.Dropped, r.Received, len(got))
		}
	}
}

// TestUnusualSamples: samples that look invalid and are valid.
func TestUnusualSamples(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		series Series
		want   func(hostmetrics.Sample) bool
	}{
		"a staleness marker": {One("node_cpu_seconds_total", receipt, StaleNaN(), "instance", "a", "cpu", "0", "mode", "idle"),
			func(s hostmetrics.Sample) bool { return s.Stale && s.CPU == nil }},
		"five minutes ahead": {One("node_memory_MemTotal_bytes", receipt.Add(5*time.Minute), 1, "instance", "a"),
			func(s hostmetrics.Sample) bool { return s.At.Equal(receipt.Add(5 * time.Minute)) }},
		"1970": {One("node_memory_MemTotal_bytes", time.UnixMilli(1), 1, "instance", "a"),
			func(s hostmetrics.Sample) bool { return s.At.Equal(time.UnixMilli(1)) }},
		"an instance of a megabyte": {One("node_memory_MemTotal_bytes", receipt, 1, "instance", "a", "muster_instance", strings.Repeat("x", 1<<20)),
			func(s hostmetrics.Sample) bool { return len(s.References) == 0 }},
		"BSD's interrupt": {One("node_cpu_seconds_total", receipt, 1, "instance", "a", "cpu", "0", "mode", "interrupt"),
			func(s hostmetrics.Sample) bool { return s.CPU[0].Code == measurements.ModeIRQ }},
		"a mode nobody knows": {One("node_cpu_seconds_total", receipt, 1, "instance", "a", "cpu", "7", "mode", "dreaming"),
			func(s hostmetrics.Sample) bool { return s.CPU[0].Code == 7*16+measurements.ModeOther }},
		"a part of a file system": {One("node_filesystem_free_bytes", receipt, 0, "instance", "a", "mountpoint", "/", "fstype", "tmpfs"),
			func(s hostmetrics.Sample) bool {
				return cmp.Equal(s.Volumes, []measurements.Volume{{Mount: "/", Size: -1, Free: 0, Available: -1}})
			}},
	} {
		got, r := of(t, c.series)
		if len(got) != 1 || len(r.Dropped) != 0 || !c.want(got[0]) {
			t.Errorf("%s: %+v, dropped %v", name, got, r.Dropped)
		}
	}
}

// TestHiddenMounts: sizes of two file systems at one place are not mixed.
func TestHiddenMounts(t *testing.T) {
	t.Parallel()
	part := func(name, device string, bytes float64) Series {
		return One("node_filesystem_"+name+"_bytes", receipt, bytes, "instance", "a", "mountpoint", "/data", "device", device, "fstype", "ext4")
	}
	got, r := of(t, part("size", "hidden", 1000), part("free", "hidden", 900), part("size", "shown", 10), part("free", "shown", 5), part("avail", "shown", 4))
	if len(got) != 1 || !cmp.Equal(got[0].Volumes, []measurements.Volume{{Mount: "/data", Size: 10, Free: 5, Available: 4}}) || r.Dropped[intake.NotUsed] != 2 {
		t.Errorf("%+v, dropped %v", got, r.Dropped)
	}
}

// TestBounds: one message makes no more than so much.
func TestBounds(t *testing.T) {
	t.Parallel()
	many := One("node_memory_MemTotal_bytes", receipt, 1, "instance", "a")
	for i := range hostmetrics.MaxSamples + 4 {
		many.Samples = append(many.Samples, Sample{At: int64(i + 1), Value: 1})
	}
	r, err := remotewrite.Decode1(V1(many), receipt)
	if err != nil || len(r.Samples()) != hostmetrics.MaxSamples || r.Dropped[intake.TooMany] != 5 {
		t.Errorf("%v: %v", err, r.Dropped)
	}
	var volumes []Series
	for i := range 1002 {
		volumes = append(volumes, One("node_filesystem_size_bytes", receipt, 1, "instance", "a", "mountpoint", strings.Repeat("x", i+1)))
	}
	if r, err = remotewrite.Decode1(V1(volumes...), receipt); err != nil || len(r.Samples()[0].Volumes) != 1000 || r.Dropped[intake.TooMany] != 2 || r.Received != 1002 {
		t.Errorf("%v: %v", err, r.Dropped)
	}
}

// TestNoMessage: a body that is no message is an error, and a message of the other version is
// empty.
func TestNoMessage(t *testing.T) {
	t.Parallel()
	whole := map[string][]byte{}
	for name, v := range versions {
		whole[name] = v.encode(fixture(t, receipt, map[string]string{"instance": "a"})...)
	}
	for name, v := range versions {
		var bad *intake.UnreadableError
		for _, body := range [][]byte{{0xff}, {0x2a, 5, 1}, whole[name][:len(whole[name])-1], []byte("{}"), []byte("snappy?")} {
			if _, err := v.decode(body, receipt); !errors.As(err, &bad) {
				t.Errorf("%s takes %.10q: %v", name, body, err)
			}
		}
		other := "1.0"
		if name == other {
			other = "2.0"
		}
		if r, err := v.decode(whole[other], receipt); err != nil || r.Received != 0 {
			t.Errorf("%s makes %+v of %s: %v", name, r, other, err)
		}
		if r, err := v.decode(nil, receipt); err != nil || r.Received != 0 || len(r.Samples()) != 0 {
			t.Errorf("%s makes %+v of nothing: %v", name, r, err)
		}
	}
}

// TestReferences: one to no symbol, or a name without a value, spoils its series only.
func TestReferences(t *testing.T) {
	t.Parallel()
	good := One("node_memory_MemTotal_bytes", receipt, 1, "instance", "a")
	for _, spoil := range []func(*writev2.TimeSeries){
		func(s *writev2.TimeSeries) { s.LabelsRefs[1] = 1 << 30 },
		func(s *writev2.TimeSeries) { s.LabelsRefs = append(s.LabelsRefs, 1) },
	} {
		message := V2(good, good)
		spoil(message.Timeseries[0])
		body, err := proto.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		r, err := remotewrite.Decode2(body, receipt)
		if err != nil || len(r.Samples()) != 1 || r.Dropped[intake.Malformed] != 1 {
			t.Errorf("%v: dropped %v", err, r)
		}
	}
}

// TestOtherSeriesAreCounted: histograms and exemplars are not a host's.
func TestOtherSeriesAreCounted(t *testing.T) {
	t.Parallel()
	message := V2(One("node_load1", receipt, 1), One("node_memory_MemTotal_bytes", receipt, 1, "instance", "a"))
	for _, s := range message.Timeseries {
		s.Histograms = []*writev2.Histogram{{}, {}}
		s.Exemplars = []*writev2.Exemplar{{Value: 1}}
	}
	body, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := remotewrite.Decode2(body, receipt); err != nil || r.Histograms != 4 || r.Exemplars != 2 || r.Received != 2 {
		t.Errorf("%+v: %v", r, err)
	}
}

// TestSkippedSeriesCostNothing: a skipped series allocates nothing.
func TestSkippedSeriesCostNothing(t *testing.T) { // alone, as counting allocations demands
	var skipped []Series
	for _, s := range fixture(t, receipt, map[string]string{"instance": "a"}) {
		if hostmetrics.NodeExporter([]byte(s.Labels["__name__"])) == 0 {
			skipped = append(skipped, s)
		}
	}
	for name, v := range versions {
		body := v.encode(skipped...)
		if n := testing.AllocsPerRun(10, func() { _, _ = v.decode(body, receipt) }); n > 12 {
			t.Errorf("%s: %v allocations for %d series", name, n, len(skipped))
		}
	}
}

// BenchmarkDecode prints samples/s of full scrapes of node_exporter, unpacked.
func BenchmarkDecode(b *testing.B) {
	series := fixture(b, receipt, map[string]string{"instance": "db01:9100", "job": "node"})
	for name, v := range versions {
		b.Run(name, func(b *testing.B) {
			body := v.encode(series...)
			b.ReportAllocs()
			for b.Loop() {
				r, err := v.decode(body, receipt)
				if err != nil || len(r.Samples()) != 1 {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*len(series))/b.Elapsed().Seconds(), "samples/s")
		})
	}
}

// TestALabelTwice makes the meaning of a series unknown: C24. The series is rejected and
// counted, whichever label it is, and whether or not the labels are sorted.
func TestALabelTwice(t *testing.T) {
	t.Parallel()
	for name, again := range map[string][]string{
		"the host": {"instance", "b"}, "the same host": {"instance", "a"}, "muster_instance": {"muster_instance", "y"},
		"one that is not read": {"job", "other"}, "the name": {"__name__", "node_memory_MemAvailable_bytes"},
		"behind many others": manyLabels("job", "other"),
	} {
		twice := One("node_memory_MemTotal_bytes", receipt, 1, "instance", "a", "job", "node", "muster_instance", "x")
		twice.Again = again
		got, r := of(t, One("node_memory_MemTotal_bytes", receipt, 1, "instance", "good"), twice)
		if len(got) != 1 || got[0].Host != "good" || r.Received != 2 || !cmp.Equal(r.Dropped, map[intake.Reason]int{intake.DuplicateLabel: 1}) {
			t.Errorf("%s: %v are dropped of %d, %d are kept", name, r.Dropped, r.Received, len(got))
		}
	}
}

// manyLabels are fifty, and one more.
func manyLabels(last ...string) (labels []string) {
	for i := range 50 {
		labels = append(labels, fmt.Sprint("z", i), "")
	}
	return append(labels, last...)
}

// TestUpMetrics: an exporter's report about its server is read, for each engine.
func TestUpMetrics(t *testing.T) {
	t.Parallel()
	_, r := of(t, One("pg_up", receipt, 1, "instance", "db7:9187"), One("mssql_up", receipt, 0, "instance", "sql01:9399", "muster_instance", "erp"),
		One("oracledb_up", receipt, 2, "instance", "ora"), One("pg_up", receipt, StaleNaN(), "instance", "gone"), One("pg_up", receipt.Add(time.Hour), 1, "instance", "a"),
		One("up", receipt, 1, "instance", "db7:9187"))
	want := []receivers.Reach{
		{Place: receivers.Place{Address: "db7:9187"}, Engine: fleet.PostgreSQL, At: receipt, Up: true, By: "pg_up"},
		{Place: receivers.Place{Instance: "erp", Address: "sql01:9399"}, Engine: fleet.SQLServer, At: receipt, By: "mssql_up"},
	}
	if diff := cmp.Diff(want, r.Databases.Reaches()); diff != "" {
		t.Error(diff)
	}
	dropped := map[intake.Reason]int{intake.OutOfRange: 1, intake.NotUsed: 1, intake.TimeInFuture: 1}
	if diff := cmp.Diff(dropped, r.Databases.Dropped); diff != "" || r.Databases.Received != 5 || r.Dropped[intake.NotUsed] != 1 {
		t.Errorf("of %d: %s", r.Databases.Received, diff)
	}
}

// TestWindows: windows_exporter's series make the same figures, by the names that it has and
// those that it had. Of its volumes a CD and what is mounted nowhere do not count. C15.
func TestWindows(t *testing.T) {
	t.Parallel()
	for _, names := range [][2]string{
		{"windows_memory_physical_total_bytes", "windows_memory_available_bytes"}, {"windows_cs_physical_memory_bytes", "windows_os_physical_memory_free_bytes"},
		{"windows_os_visible_memory_bytes", "windows_memory_available_bytes"}, {"windows_memory_physical_total_bytes", "windows_memory_physical_free_bytes"},
	} {
		var series []Series
		add := func(name string, value float64, labels ...string) {
			series = append(series, One(name, receipt, value, append(labels, "instance", "SQL01:9182", "job", "windows")...))
		}
		for core, idle := range map[string]float64{"0,0": 50, "0,1": 60, "1,0": 70} {
			for mode, seconds := range map[string]float64{"idle": idle, "user": 20, "privileged": 10, "interrupt": 1, "dpc": 2} {
				add("windows_cpu_time_total", seconds, "core", core, "mode", mode)
			}
		}
		add(names[0], 100)
		add(names[1], 40)
		for volume, room := range map[string]float64{"C:": 30, "HarddiskVolume1": 1, "D:": 0, "E:": 0} {
			add("windows_logical_disk_size_bytes", 100, "volume", volume)
			add("windows_logical_disk_free_bytes", room, "volume", volume)
		}
		add("windows_logical_disk_info", 1, "volume", "D:", "type", "cdrom", "filesystem", "CDFS", "disk", "1")
		add("windows_logical_disk_info", 1, "volume", "C:", "type", "fixed", "filesystem", "NTFS", "disk", "0")
		add("windows_logical_disk_readonly", 1, "volume", "E:")
		add("windows_logical_disk_readonly", 0, "volume", "C:")
		got, r := of(t, series...)
		if len(got) != 1 || got[0].Host != "sql01" || len(got[0].CPU) != 9 || got[0].CPU[8].Code != 16*1024+measurements.ModeIdle {
			t.Fatalf("%+v, dropped %v", got, r.Dropped)
		}
		if diff := cmp.Diff(&measurements.MemoryBytes{Total: 100, Available: 40, Used: -1}, got[0].Memory); diff != "" {
			t.Errorf("%q: %s", names, diff)
		}
		volumes := map[string]measurements.Volume{}
		for _, v := range got[0].Volumes {
			volumes[v.Mount] = v
		}
		want := map[string]measurements.Volume{
			"C:": {Mount: "C:", Size: 100, Free: 30, Available: 30}, "E:": {Mount: "E:", Size: 100, ReadOnly: true},
			"D:": {Mount: "D:", Size: 100, ReadOnly: true},
		}
		if diff := cmp.Diff(want, volumes); diff != "" {
			t.Errorf("%s, dropped %v", diff, r.Dropped)
		}
	}
}
