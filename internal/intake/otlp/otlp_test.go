package otlp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"muster/internal/intake"
	"muster/internal/intake/hostmetrics"
	"muster/internal/intake/otlp"
	"muster/internal/measurements"
)

var receipt = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// attributes are names and values in turn; a value is text or a whole number.
func attributes(pairs ...any) (out []*common.KeyValue) {
	for i := 0; i < len(pairs); i += 2 {
		value := &common.AnyValue{}
		switch v := pairs[i+1].(type) {
		case string:
			value.Value = &common.AnyValue_StringValue{StringValue: v}
		case int:
			value.Value = &common.AnyValue_IntValue{IntValue: int64(v)}
		case bool:
			value.Value = &common.AnyValue_BoolValue{BoolValue: v}
		}
		out = append(out, &common.KeyValue{Key: pairs[i].(string), Value: value})
	}
	return out
}

func whole(value int64, pairs ...any) *metrics.NumberDataPoint {
	return &metrics.NumberDataPoint{TimeUnixNano: uint64(receipt.UnixNano()), Value: &metrics.NumberDataPoint_AsInt{AsInt: value}, Attributes: attributes(pairs...)}
}

func fraction(value float64, pairs ...any) *metrics.NumberDataPoint {
	p := whole(0, pairs...)
	p.Value = &metrics.NumberDataPoint_AsDouble{AsDouble: value}
	return p
}

func sum(name string, points ...*metrics.NumberDataPoint) *metrics.Metric {
	return &metrics.Metric{Name: name, Data: &metrics.Metric_Sum{Sum: &metrics.Sum{AggregationTemporality: metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, DataPoints: points}}}
}

func gauge(name string, points ...*metrics.NumberDataPoint) *metrics.Metric {
	return &metrics.Metric{Name: name, Data: &metrics.Metric_Gauge{Gauge: &metrics.Gauge{DataPoints: points}}}
}

// from is a request of one resource.
func from(attributes []*common.KeyValue, items ...*metrics.Metric) *collector.ExportMetricsServiceRequest {
	return &collector.ExportMetricsServiceRequest{ResourceMetrics: []*metrics.ResourceMetrics{{
		Resource: &resource.Resource{Attributes: attributes}, ScopeMetrics: []*metrics.ScopeMetrics{{Metrics: items}},
	}}}
}

// of decodes a request in its three forms, which agree, and returns the result.
func of(t *testing.T, request *collector.ExportMetricsServiceRequest) ([]hostmetrics.Sample, *hostmetrics.Message) {
	t.Helper()
	binary, err := proto.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	numbered, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	named, err := protojson.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	message, err := otlp.DecodeProtobuf(binary, receipt)
	if err != nil {
		t.Fatal(err)
	}
	samples := message.Samples()
	for _, text := range [][]byte{numbered, named} {
		m, err := otlp.DecodeJSON(text, receipt)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(samples, m.Samples()); diff != "" {
			t.Fatalf("protobuf and JSON differ:\n%s", diff)
		}
		if diff := cmp.Diff(message.Dropped, m.Dropped); diff != "" || m.Received != message.Received {
			t.Fatalf("protobuf and JSON drop differently, of %d and %d received:\n%s", message.Received, m.Received, diff)
		}
	}
	return samples, message.Message
}

var db01 = attributes("host.name", "db01", "os.type", "linux")

func ptr(v float64) *float64 { return &v }

// TestHostMetrics: a collector's metrics of a host, by its own names and by those of the
// semantic conventions.
func TestHostMetrics(t *testing.T) {
	t.Parallel()
	collectors := from(attributes("muster_instance", "pg-orders-01", "host.name", "db01"),
		sum("system.cpu.time", fraction(10.5, "cpu", "cpu0", "state", "user"), fraction(90, "cpu", "cpu0", "state", "idle"), fraction(1, "cpu", "cpu1", "state", "wait"),
			fraction(2, "cpu", "cpu1", "state", "interrupt"), fraction(3, "cpu", "cpu1", "state", "softirq"), fraction(4, "cpu", "cpu1", "state", "steal")),
		sum("system.memory.usage", whole(600, "state", "used"), whole(100, "state", "free"), whole(50, "state", "buffered"), whole(250, "state", "cached"),
			whole(30, "state", "slab_reclaimable"), whole(40, "state", "slab_unreclaimable")),
		gauge("system.linux.memory.available", whole(350)),
		sum("system.memory.limit", whole(1000)),
		sum("system.filesystem.usage", whole(70, "device", "/dev/sda1", "mountpoint", "/", "type", "ext4", "mode", "rw", "state", "used"),
			whole(30, "device", "/dev/sda1", "mountpoint", "/", "type", "ext4", "mode", "rw", "state", "free"),
			whole(5, "device", "/dev/sda1", "mountpoint", "/", "type", "ext4", "mode", "rw", "state", "reserved"),
			whole(9, "device", "/dev/loop0", "mountpoint", "/snap/core/1", "type", "squashfs", "state", "used"),
			whole(0, "device", "/dev/loop0", "mountpoint", "/snap/core/1", "type", "squashfs", "state", "free"),
			whole(0, "device", "proc", "mountpoint", "/proc", "type", "proc", "state", "used"), whole(0, "device", "proc", "mountpoint", "/proc", "type", "proc", "state", "free")),
		gauge("system.cpu.load_average.1m", fraction(0.5)), sum("system.paging.usage", whole(1, "state", "used"), whole(2, "state", "free")),
	)
	conventions := from(attributes("host.name", "db01", "muster_instance", "pg-orders-01"),
		sum("system.cpu.time", fraction(10.5, "cpu.logical_number", 0, "cpu.mode", "user"), fraction(90, "cpu.logical_number", 0, "cpu.mode", "idle"), fraction(1, "cpu.logical_number", 1, "cpu.mode", "iowait"),
			fraction(2, "cpu.logical_number", 1, "cpu.mode", "interrupt"), fraction(3, "cpu.logical_number", 1, "cpu.mode", "softirq"), fraction(4, "cpu.logical_number", 1, "cpu.mode", "steal")),
		sum("system.memory.usage", whole(600, "system.memory.state", "used"), whole(100, "system.memory.state", "free"), whole(50, "system.memory.state", "buffers"), whole(250, "system.memory.state", "cached"),
			whole(10, "system.memory.state", "shared")),
		sum("system.linux.memory.available", whole(350)), sum("system.memory.limit", whole(1000)),
		sum("system.filesystem.usage", whole(70, "system.device", "/dev/sda1", "system.filesystem.mountpoint", "/", "system.filesystem.type", "ext4", "system.filesystem.state", "used"),
			whole(30, "system.device", "/dev/sda1", "system.filesystem.mountpoint", "/", "system.filesystem.type", "ext4", "system.filesystem.state", "free")),
	)
	host := measurements.HostSample{
		Host: "db01", At: receipt,
		CPU:     []measurements.CPUCounter{{Code: 0, Seconds: 10.5}, {Code: 3, Seconds: 90}, {Code: 20, Seconds: 1}, {Code: 21, Seconds: 2}, {Code: 22, Seconds: 3}, {Code: 23, Seconds: 4}},
		Memory:  &measurements.MemoryBytes{Total: 1000, Available: 350, Used: 600},
		Volumes: []measurements.Volume{{Mount: "/", Pool: "/dev/sda1", UsedPercent: ptr(70), Size: -1, Free: -1, Available: -1}},
	}
	for name, c := range map[string]struct {
		request *collector.ExportMetricsServiceRequest
		points  int
		dropped int
	}{"the collector": {collectors, 14, 2 + 1 + 2 + 2 + 1 + 2}, "the conventions": {conventions, 14, 1}} {
		got, m := of(t, c.request)
		want := []hostmetrics.Sample{{HostSample: host, References: []string{"pg-orders-01"}, Points: c.points}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !cmp.Equal(m.Dropped, map[intake.Reason]int{intake.NotUsed: c.dropped}) || m.Received != c.points+c.dropped {
			t.Errorf("%s: of %d points %v are dropped", name, m.Received, m.Dropped)
		}
	}
}

// TestMemory: the result for each set of states.
func TestMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		states map[string]int64
		limit  int64
		want   *measurements.MemoryBytes
	}{
		"Linux":              {map[string]int64{"used": 60, "free": 10, "buffered": 5, "cached": 25}, -1, &measurements.MemoryBytes{Total: 100, Available: -1, Used: 60}},
		"Windows":            {map[string]int64{"used": 60, "free": 40}, -1, &measurements.MemoryBytes{Total: 100, Available: -1, Used: 60}},
		"macOS":              {map[string]int64{"used": 60, "free": 10, "inactive": 30}, -1, &measurements.MemoryBytes{Total: 100, Available: -1, Used: 60}},
		"Go's SDK":           {map[string]int64{"used": 60, "available": 40}, -1, &measurements.MemoryBytes{Total: 100, Available: 40, Used: 60}},
		"with a total":       {map[string]int64{"used": 60, "total": 90}, -1, &measurements.MemoryBytes{Total: 90, Available: -1, Used: 60}},
		"with a limit":       {map[string]int64{"used": 60, "free": 10, "buffered": 5, "cached": 26}, 100, &measurements.MemoryBytes{Total: 100, Available: -1, Used: 60}},
		"cut":                {map[string]int64{"used": 60, "free": 10, "cached": 25}, -1, &measurements.MemoryBytes{Total: -1, Available: -1, Used: 60}},
		"the other part":     {map[string]int64{"buffered": 60}, -1, nil},
		"nothing of its own": {nil, 100, &measurements.MemoryBytes{Total: 100, Available: -1, Used: -1}},
	} {
		usage := sum("system.memory.usage")
		for state, bytes := range c.states {
			usage.GetSum().DataPoints = append(usage.GetSum().DataPoints, whole(bytes, "state", state))
		}
		items := []*metrics.Metric{usage}
		if c.limit >= 0 {
			items = append(items, sum("system.memory.limit", whole(c.limit)))
		}
		got, m := of(t, from(db01, items...))
		if c.want == nil {
			if len(got) != 0 || m.Dropped[intake.Incomplete] != len(c.states) {
				t.Errorf("%s: %+v, dropped %v", name, got, m.Dropped)
			}
			continue
		}
		if len(got) != 1 || len(m.Dropped) != 0 || !cmp.Equal(got[0].Memory, c.want) {
			t.Errorf("%s: %+v, dropped %v", name, got, m.Dropped)
		}
	}
}

// TestBadPoints: each is dropped and counted; the one beside it is kept.
func TestBadPoints(t *testing.T) {
	t.Parallel()
	cpu := []any{"cpu", "cpu0", "state", "user"}
	changed := func(change func(*metrics.NumberDataPoint)) *metrics.Metric {
		p := fraction(1, cpu...)
		change(p)
		return sum("system.cpu.time", p)
	}
	delta := sum("system.cpu.time", fraction(1, cpu...))
	delta.GetSum().AggregationTemporality = metrics.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	unsaid := sum("system.memory.limit", whole(1))
	unsaid.GetSum().AggregationTemporality = 0
	for name, c := range map[string]struct {
		resource []*common.KeyValue
		metric   *metrics.Metric
		want     intake.Reason
	}{
		"a delta":              {db01, delta, intake.Unsupported},
		"no temporality":       {db01, unsaid, intake.Unsupported},
		"a gauge of CPU time":  {db01, gauge("system.cpu.time", fraction(1, cpu...)), intake.Unsupported},
		"a histogram":          {db01, &metrics.Metric{Name: "system.cpu.time", Data: &metrics.Metric_Histogram{Histogram: &metrics.Histogram{DataPoints: []*metrics.HistogramDataPoint{{}}}}}, intake.Unsupported},
		"a summary":            {db01, &metrics.Metric{Name: "system.memory.limit", Data: &metrics.Metric_Summary{Summary: &metrics.Summary{DataPoints: []*metrics.SummaryDataPoint{{}}}}}, intake.Unsupported},
		"another's histogram":  {db01, &metrics.Metric{Name: "x", Data: &metrics.Metric_ExponentialHistogram{ExponentialHistogram: &metrics.ExponentialHistogram{DataPoints: []*metrics.ExponentialHistogramDataPoint{{}}}}}, intake.NotUsed},
		"NaN":                  {db01, changed(func(p *metrics.NumberDataPoint) { p.Value = &metrics.NumberDataPoint_AsDouble{AsDouble: math.NaN()} }), intake.NotANumber},
		"infinite":             {db01, changed(func(p *metrics.NumberDataPoint) { p.Value = &metrics.NumberDataPoint_AsDouble{AsDouble: math.Inf(1)} }), intake.NotANumber},
		"negative":             {db01, changed(func(p *metrics.NumberDataPoint) { p.Value = &metrics.NumberDataPoint_AsInt{AsInt: -1} }), intake.OutOfRange},
		"no value":             {db01, changed(func(p *metrics.NumberDataPoint) { p.Value = nil }), intake.Incomplete},
		"no time":              {db01, changed(func(p *metrics.NumberDataPoint) { p.TimeUnixNano = 0 }), intake.InvalidTime},
		"the end of time":      {db01, changed(func(p *metrics.NumberDataPoint) { p.TimeUnixNano = math.MaxUint64 }), intake.InvalidTime},
		"tomorrow":             {db01, changed(func(p *metrics.NumberDataPoint) { p.TimeUnixNano += uint64(24 * time.Hour) }), intake.TimeInFuture},
		"no host":              {attributes("service.instance.id", "db01", "service.name", "x"), sum("system.cpu.time", fraction(1, cpu...)), intake.NoHost},
		"a host that is true":  {attributes("host.name", true), sum("system.cpu.time", fraction(1, cpu...)), intake.NoHost},
		"a host of a megabyte": {attributes("host.name", strings.Repeat("x", 1<<20)), sum("system.cpu.time", fraction(1, cpu...)), intake.TooLong},
		"no state":             {db01, sum("system.cpu.time", fraction(1, "cpu", "cpu0")), intake.Incomplete},
		"half a file system":   {db01, sum("system.filesystem.usage", whole(1, "mountpoint", "/", "state", "used")), intake.Incomplete},
		"CPU text":             {db01, sum("system.cpu.time", fraction(1, "cpu", "cpu", "state", "user")), intake.Unsupported},
	} {
		request := from(c.resource, c.metric)
		request.ResourceMetrics = append(request.ResourceMetrics, from(attributes("host.name", "good"), sum("system.memory.limit", whole(1))).ResourceMetrics...)
		got, m := of(t, request)
		if len(got) != 1 || got[0].Host != "good" || m.Received != 2 || !cmp.Equal(m.Dropped, map[intake.Reason]int{c.want: 1}) {
			t.Errorf("%s: %v are dropped of %d, kept %+v", name, m.Dropped, m.Received, got)
		}
	}
}

// TestUnusualPoints: points that look invalid and are valid.
func TestUnusualPoints(t *testing.T) {
	t.Parallel()
	stale := fraction(0, "cpu", "cpu0", "state", "user")
	stale.Value, stale.Flags = nil, 1
	if got, m := of(t, from(db01, sum("system.cpu.time", stale))); len(got) != 1 || !got[0].Stale || len(m.Dropped) != 0 {
		t.Errorf("without a recorded value: %+v, dropped %v", got, m.Dropped)
	}
	// All CPUs as one, with states of their own.
	got, m := of(t, from(db01, sum("system.cpu.time", fraction(1, "state", "user"), fraction(2, "state", "other"), fraction(3, "state", "idle"))))
	if len(got) != 1 || len(m.Dropped) != 0 || !cmp.Equal(got[0].CPU, []measurements.CPUCounter{{Code: 0, Seconds: 1}, {Code: 3, Seconds: 3}, {Code: 8, Seconds: 2}}) {
		t.Errorf("CPUs as one: %+v, dropped %v", got, m.Dropped)
	}
	// Nanoseconds that differ below what is kept are one time.
	late := whole(7)
	late.TimeUnixNano += 999
	if got, _ = of(t, from(db01, sum("system.memory.limit", whole(8)), sum("system.linux.memory.available", late))); len(got) != 1 || got[0].Points != 2 {
		t.Errorf("two parts of one time: %+v", got)
	}
	// The resource and the name may come after their contents, and unknown members are skipped.
	text := `{"more":[1],"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"sum":{"dataPoints":[{"asInt":"8","timeUnixNano":"1763632800000000000","x":{}}],"aggregationTemporality":2,"isMonotonic":false},"name":"system.memory.limit","unit":"By"}]}],
		"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"gr\u00f6\u00dfe"}},{"key":"x","value":{"arrayValue":{"values":[]}}}]}}, {}, {"scopeMetrics":null,"resource":{}}]}`
	message, err := otlp.DecodeJSON([]byte(text), receipt)
	if err != nil || message.Received != 1 || len(message.Samples()) != 1 {
		t.Errorf("%v: %+v", err, message)
	}
	request := from(db01, sum("system.memory.limit", whole(8)))
	binary, err := proto.Marshal(request.ResourceMetrics[0].ScopeMetrics[0].Metrics[0])
	if err != nil {
		t.Fatal(err)
	}
	name := len("system.memory.limit") + 2
	request.ResourceMetrics[0].ScopeMetrics[0].Metrics[0] = &metrics.Metric{}
	request.ResourceMetrics[0].ScopeMetrics[0].Metrics[0].ProtoReflect().SetUnknown(append(bytes.Clone(binary[name:]), binary[:name]...))
	if binary, err = proto.Marshal(request); err != nil {
		t.Fatal(err)
	}
	if message, err = otlp.DecodeProtobuf(binary, receipt); err != nil || len(message.Samples()) != 1 {
		t.Errorf("a name at the end: %v: %+v", err, message)
	}
}

// TestNoMessage: a body that is no message is an error.
func TestNoMessage(t *testing.T) {
	t.Parallel()
	binary, err := proto.Marshal(from(db01, sum("system.memory.limit", whole(8))))
	if err != nil {
		t.Fatal(err)
	}
	var bad *intake.UnreadableError
	for _, body := range [][]byte{{0xff}, []byte("{}"), binary[:len(binary)-1]} {
		if _, err := otlp.DecodeProtobuf(body, receipt); !errors.As(err, &bad) {
			t.Errorf("protobuf takes %q: %v", body, err)
		}
	}
	for _, text := range []string{``, `[]`, `7`, `{"resourceMetrics":7}`, `{"resourceMetrics":{}}`, `{"resourceMetrics":[7]}`, `{"resourceMetrics":[]} x`,
		`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"system.memory.limit","gauge":{"dataPoints":[{"asInt":"x"}]}}]}]}]}`,
		`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"system.memory.limit","gauge":{"dataPoints":[{"asInt":[1]}]}}]}]}]}`,
		`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"system.memory.limit","gauge":{"dataPoints":[{"timeUnixNano":"-1"}]}}]}]}]}`,
	} {
		if _, err := otlp.DecodeJSON([]byte(text), receipt); !errors.As(err, &bad) {
			t.Errorf("JSON takes %s: %v", text, err)
		}
	}
}

// TestJSON: the forms that JSON allows besides those of protobuf's own encoder.
func TestJSON(t *testing.T) {
	t.Parallel()
	const whole = `{"resourceMetrics":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"db01"}}]},"scopeMetrics":[{"metrics":[{"name":"system.memory.limit","sum":{"aggregationTemporality":2,"dataPoints":[{"timeUnixNano":"1763632800000000000","asInt":"8"}]}}]}]}]}`
	in := func(old, new string) string {
		t.Helper()
		if strings.Count(whole, old) != 1 {
			t.Fatalf("%s is not there once", old)
		}
		return strings.Replace(whole, old, new, 1)
	}
	for name, c := range map[string]struct {
		text string
		want float64
	}{
		"plain":                         {whole, 8},
		"space wherever it may be":      {" \t\r\n" + strings.NewReplacer(":", " : ", ",", "\n,\t", "{", "{ ", "}", " }", "[", "[\r", "]", "\n]").Replace(whole) + "\n", 8},
		"a number of its own":           {in(`"8"`, `8`), 8},
		"a fraction":                    {in(`"asInt":"8"`, `"asDouble":8.5e0`), 8.5},
		"names with escapes":            {in(`"asInt"`, `"\u0061sInt"`), 8},
		"texts with escapes":            {in(`"system.memory.limit"`, `"system.memory.lim\u0069t"`), 8},
		"the temporality by its name":   {in(`"aggregationTemporality":2`, `"aggregationTemporality":"AGGREGATION_TEMPORALITY_CUMULATIVE"`), 8},
		"braces in what is not read":    {in(`"name"`, `"unit":"}]\\\"]}{[","description":{"x":["]","}\\"]},"name"`), 8},
		"nothing for what is not there": {in(`"name"`, `"gauge":null,"histogram":null,"name"`), 8},
		"empty values":                  {in(`"asInt":"8"`, `"asDouble":"","flags":"","asInt":"8","attributes":[{},{"key":"x"},null]`), 8},
	} {
		m, err := otlp.DecodeJSON([]byte(c.text), receipt)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := m.Samples(); len(got) != 1 || got[0].Memory.Total != c.want || got[0].Host != "db01" {
			t.Errorf("%s: %+v, dropped %v", name, got, m.Dropped)
		}
	}
	var bad *intake.UnreadableError
	for _, text := range []string{in(`"host.name"`, `7`), in(`{"stringValue":"db01"}`, `"db01"`), in(`"system.memory.limit"`, `{}`), in(`{"stringValue":"db01"}`, `{"stringValue":[]}`),
		in(`"aggregationTemporality":2`, `"aggregationTemporality":true`), in(`"8"`, `"eight"`), whole + "}", whole[:len(whole)-1]} {
		if _, err := otlp.DecodeJSON([]byte(text), receipt); !errors.As(err, &bad) {
			t.Errorf("JSON takes %s: %v", text, err)
		}
	}
}

// TestNothingIsBuilt: elements cost no allocation, in either form, wherever they are.
func TestNothingIsBuilt(t *testing.T) { // alone, as counting allocations demands
	const n = 10_000
	empty := strings.Repeat("{},", n-1) + "{}"
	for _, around := range []string{`{"resourceMetrics":[$]}`, `{"resourceMetrics":[{"resource":{"attributes":[$]}}]}`, `{"resourceMetrics":[{"scopeMetrics":[$]}]}`,
		`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[$]}]}]}`, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"x","sum":{"dataPoints":[$]}}]}]}]}`,
		`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"system.memory.limit","gauge":{"dataPoints":[$]}}]}]}]}`,
	} {
		body := []byte(strings.Replace(around, "$", empty, 1))
		if allocated := testing.AllocsPerRun(5, func() { _, _ = otlp.DecodeJSON(body, receipt) }); allocated > 100 {
			t.Errorf("%s: %v allocations for %d elements", around, allocated, n)
		}
	}
	request := from(nil, gauge("system.memory.limit", make([]*metrics.NumberDataPoint, n)...))
	for i := range request.ResourceMetrics[0].ScopeMetrics[0].Metrics[0].GetGauge().DataPoints {
		request.ResourceMetrics[0].ScopeMetrics[0].Metrics[0].GetGauge().DataPoints[i] = &metrics.NumberDataPoint{}
	}
	body, err := proto.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	if allocated := testing.AllocsPerRun(5, func() { _, _ = otlp.DecodeProtobuf(body, receipt) }); allocated > 100 {
		t.Errorf("protobuf: %v allocations for %d points", allocated, n)
	}
}

// TestAnswer: in both forms it is what OTLP's own types read.
func TestAnswer(t *testing.T) {
	t.Parallel()
	_, m := of(t, from(db01, sum("system.memory.limit", whole(-1), whole(-2), fraction(math.NaN())), gauge("x", whole(1))))
	rejected, message := otlp.Rejected(m.Receipt)
	var read collector.ExportMetricsServiceResponse
	if err := proto.Unmarshal(otlp.Answer(rejected, message), &read); err != nil {
		t.Fatal(err)
	}
	partial := read.GetPartialSuccess()
	if partial.GetRejectedDataPoints() != 3 || !strings.HasSuffix(partial.GetErrorMessage(), "not_a_number: 1, out_of_range: 2") {
		t.Errorf("got %v", &read)
	}
	text, err := json.Marshal(map[string]any{"partialSuccess": map[string]string{"rejectedDataPoints": strconv.Itoa(rejected), "errorMessage": message}})
	if err != nil {
		t.Fatal(err)
	}
	var fromJSON collector.ExportMetricsServiceResponse
	if err := protojson.Unmarshal(text, &fromJSON); err != nil || !proto.Equal(&read, &fromJSON) {
		t.Errorf("%v: %v and %v", err, &read, &fromJSON)
	}
	_, m = of(t, from(db01, gauge("x", whole(1))))
	if rejected, message := otlp.Rejected(m.Receipt); rejected != 0 || message != "" || otlp.Answer(rejected, message) != nil {
		t.Error("names that are not read are told to the sender")
	}
}

// TestAnAttributeTwice spoils its point, in a resource all of the resource's points: C24.
func TestAnAttributeTwice(t *testing.T) {
	t.Parallel()
	good := whole(1)
	for name, c := range map[string]struct {
		resource []*common.KeyValue
		point    *metrics.NumberDataPoint
		kept     int
	}{
		"of a point":               {attributes("host.name", "a"), whole(1, "state", "used", "state", "free"), 1},
		"one that is not read":     {attributes("host.name", "a"), whole(1, "state", "used", "x", "1", "x", "2"), 1},
		"of the resource":          {attributes("host.name", "a", "host.name", "b"), whole(1), 0},
		"a resource's, not read":   {attributes("host.name", "a", "os.type", "linux", "os.type", "windows"), whole(1), 0},
		"muster_instance, as such": {attributes("host.name", "a", "muster_instance", "x", "muster_instance", "y"), whole(1), 0},
	} {
		got, r := of(t, from(c.resource, gauge("system.memory.limit", good), gauge("system.linux.memory.available", c.point)))
		if r.Dropped[intake.DuplicateLabel] != 2-c.kept || len(got) != c.kept || r.Received != 2 {
			t.Errorf("%s: %d kept, dropped %v", name, len(got), r.Dropped)
		}
	}
}

// TestAMemberTwice: of a point it is counted, and what has no points is no message. C24.
func TestAMemberTwice(t *testing.T) {
	t.Parallel()
	body := func(resource, point string) []byte {
		return []byte(`{"resourceMetrics":[{"resource":{"attributes":[` + resource + `]},"scopeMetrics":[{"metrics":[{"name":"system.memory.limit","gauge":{"dataPoints":[` + point + `]}}]}]}]}`)
	}
	const host, point = `{"key":"host.name","value":{"stringValue":"a"}}`, `{"timeUnixNano":"1764000000000000000","asInt":"1"}`
	for name, sent := range map[string][]byte{
		"a value":               body(host, `{"timeUnixNano":"1","asInt":"1","asInt":"2"}`),
		"a time":                body(host, `{"timeUnixNano":"1","timeUnixNano":"2","asInt":"1"}`),
		"the key, of one":       body(`{"key":"host.name","key":"x","value":{"stringValue":"a"}}`, point),
		"the value of a text":   body(`{"key":"host.name","value":{"stringValue":"a","stringValue":"b"}}`, point),
		"the list, of a point":  body(host, `{"timeUnixNano":"1","asInt":"1","attributes":[],"attributes":[]}`),
		"an attribute's, of it": body(host, `{"timeUnixNano":"1","asInt":"1","attributes":[{"key":"a","key":"b"}]}`),
	} {
		if r, err := otlp.DecodeJSON(sent, receipt); err != nil || r.Dropped[intake.DuplicateLabel] != 1 || len(r.Samples()) != 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if _, err := otlp.DecodeJSON([]byte(`{"resourceMetrics":[],"resourceMetrics":[]}`), receipt); err == nil {
		t.Error("a request with its resources twice is taken")
	}
}
