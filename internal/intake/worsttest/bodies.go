package worsttest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/encoding/protowire"
)

// Limits of bodies, as openapi.yaml has them.
const (
	small = 4 << 20
	large = 32 << 20
)

// Body is one call.
type Body struct {
	Name, Path, Type, Encoding string
	Packed                     []byte
}

// All are the bodies, several for each door.
func All(now time.Time) []Body {
	at := now.UTC().Format(time.RFC3339)
	var all []Body
	add := func(name, path, kind, encoding string, packed []byte) {
		all = append(all, Body{name, path, kind, encoding, packed})
	}
	asJSON := func(name, path, text string) { add(name, path, "application/json", "gzip", zipped(text)) }
	asProto := func(name, path string, message []byte) {
		add(name, path, "application/x-protobuf", "gzip", zipped(string(message)))
	}
	asWrite := func(name, proto string, message []byte) {
		add(name, "/ingest/v1/prometheus/write", "application/x-protobuf;proto="+proto, "snappy", snappy.Encode(nil, message))
	}

	asJSON("a million empty assessments", assessments, repeat(`{"assessments":[`, `{}`, `]}`, large))
	asJSON("assessments that are texts", assessments, repeat(`{"assessments":[`, `""`, `]}`, large))
	asJSON("privileges without end", assessments, repeat(`{"assessments":[{"instance":"x","at":"`+at+`","accounts":[{"name":"a","canLogin":true,"superuser":true,"privileges":[`, `""`, `]}]}]}`, large))
	asJSON("accounts with all privileges", assessments, repeat(`{"assessments":[{"instance":"x","at":"`+at+`","accounts":[`,
		`{"name":"a","canLogin":true,"superuser":true,"privileges":[`+strings.Repeat(`"",`, 90)+`""]}`, `]}]}`, large))
	asJSON("as many columns as there may be", assessments, counted(`{"assessments":[{"instance":"x","at":"`+at+`","databases":[{"database":"d","classification":{"completedAt":"`+at+`","method":"names","tables":[{"schema":"s","table":"t","columns":[`,
		99_990, func(n int) string {
			return fmt.Sprintf(`{"column":"%0200d","category":"email","confidence":0.95}`, n)
		}, `]}]}}]}]}`))
	asJSON("one text", assessments, `{"assessments":[{"instance":"x","at":"`+at+`","version":"`+strings.Repeat("v", large-200)+`"}]}`)
	asJSON("assessments by two names of the member", assessments, repeat(`{"assessments":[],`, `"assessments":[]`, `}`, large))
	asJSON("a thousand faults below a long name", assessments, counted(`{"`+strings.Repeat("n", large-100_000)+`":{`, 2_000, func(n int) string {
		return fmt.Sprintf(`"%d":0,"%[1]d":0`, n)
	}, `}}`))
	asJSON("objects of many members in each other", assessments, `{"x":`+strings.Repeat(numbered("{", `"%x":0`, `,"x":`, small/90), 90)+`0`+strings.Repeat("}", 91))
	asJSON("deeply nested assessments", assessments, `{"assessments":`+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+`}`)

	asJSON("empty instances", "/ingest/v1/fleet", repeat(`{"instances":[`, `{}`, `]}`, small))
	asJSON("databases without end", "/ingest/v1/fleet", repeat(`{"instances":[{"externalId":"x","name":"x","engine":"none","createdAt":"`+at+`","databases":[`, `{}`, `]}]}`, small))
	asJSON("empty alerts", "/ingest/v1/alerts", repeat(`{"alerts":[`, `{}`, `]}`, small))
	asJSON("alerts of nobody", "/ingest/v1/alerts", counted(`{"alerts":[`, 10_000, func(n int) string {
		return fmt.Sprintf(`{"externalId":"%d","title":"t","severity":"critical","state":"Open","createdAt":"%s","firstTriggeredAt":"%s","lastTriggeredAt":"%s","instance":"nobody"}`, n, at, at, at)
	}, `]}`))
	asJSON("empty samples", samples, repeat(`{"hosts":[`, `{}`, `]}`, small))
	asJSON("a map of a million waits", samples, numbered(`{"sessions":[{"instance":"x","database":"d","at":"`+at+`","active":1,"idle":1,"waiting":1,"idleInTransaction":1,"other":1,"waits":{`, `"%x":1`, `}}]}`, small))
	asJSON("deltas of nobody", samples, numbered(`{"statements":[{"instance":"x","database":"d","at":"`+at+`","intervalSeconds":60,"statements":[`, `{"key":"%x","calls":1,"totalMs":1}`, `]}]}`, small))
	asJSON("a map of a million losses", "/ingest/v1/agents", numbered(`{"name":"x","version":"1","host":"h","at":"`+at+`","servers":[],"buffer":{"bytes":0,"maxBytes":0,"records":0,"oldestAt":null,"facts":0,"refused":0,"dropped":{`, `"%x":1`, `}}}`, small))
	asJSON("signs without end", "/ingest/v1/agents", repeat(`{"name":"x","version":"1","host":"h","at":"`+at+`","servers":[{"instance":"x","error":null,"missingGrants":[],"signs":[`, `{"rule":"lock_wait","value":1,"at":"`+at+`"}`, `]}],"buffer":{"bytes":0,"maxBytes":0,"records":0,"oldestAt":null,"facts":0,"refused":0,"dropped":{}}}`, small))

	for _, door := range []struct{ path, begin, end string }{
		{"/ingest/v1/alertmanager/webhook", `{"version":"4","alerts":[`, `]}`},
		{"/ingest/v1/grafana/webhook", `{"version":"1","orgId":1,"alerts":[`, `]}`},
		{"/ingest/v1/alertmanager/api/v2/alerts", `[`, `]`},
	} {
		asJSON("empty alerts", door.path, repeat(door.begin, `{}`, door.end, large))
		asJSON("a map of a million labels", door.path, numbered(door.begin+`{"status":"firing","labels":{`, `"l%x":"v"`, `}}`+door.end, large))
		asJSON("an alert of one text", door.path, door.begin+`{"status":"firing","labels":{"alertname":"`+strings.Repeat("x", large-200)+`"}}`+door.end)
		asJSON("a member that nobody reads", door.path, repeat(door.begin+`{"status":"firing","labels":{"a":"b"},"x":[`, `{}`, `]}`+door.end, large))
	}

	// Such a body takes its size while it waits for its turn.
	add("an unpacked text", assessments, "application/json", "", []byte(`{"assessments":[{"instance":"x","at":"`+at+`","version":"`+strings.Repeat("v", large-200)+`"}]}`))
	add("unpacked empty alerts", "/ingest/v1/alertmanager/api/v2/alerts", "application/json", "", []byte(repeat(`[`, `{}`, `]`, large)))

	const metrics, logs = "/ingest/v1/otlp/v1/metrics", "/ingest/v1/otlp/v1/logs"
	asJSON("empty resources", metrics, repeat(`{"resourceMetrics":[`, `{}`, `]}`, large))
	asJSON("empty resources", logs, repeat(`{"resourceLogs":[`, `{}`, `]}`, large))
	nanos := fmt.Sprint(now.Add(-time.Minute).UnixNano())
	asJSON("as many hosts as there may be", metrics, numbered(`{"resourceMetrics":[`,
		`{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"h%07x"}}]},"scopeMetrics":[{"metrics":[{"name":"system.memory.limit","sum":{"aggregationTemporality":2,"dataPoints":[{"timeUnixNano":"`+nanos+`","asInt":"34359738368"}]}}]}]}`, `]}`, large))
	asJSON("as many looks as there may be", logs, numbered(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[`,
		`{"eventName":"db.server.query_sample","timeUnixNano":"`+nanos+`","attributes":[{"key":"muster_instance","value":{"stringValue":"i%06x"}},{"key":"sqlserver.wait_type","value":{"stringValue":"LCK_M_X"}}]}`, `]}]}]}`, large))
	asJSON("statements with texts", logs, numbered(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[`,
		`{"eventName":"db.server.top_query","timeUnixNano":"`+nanos+`","attributes":[{"key":"muster_instance","value":{"stringValue":"i"}},{"key":"db.namespace","value":{"stringValue":"d"}},{"key":"sqlserver.query_hash","value":{"stringValue":"%x"}},{"key":"sqlserver.execution_count","value":{"stringValue":"2"}},{"key":"sqlserver.total_elapsed_time","value":{"stringValue":"0.5"}},{"key":"db.query.text","value":{"stringValue":"`+strings.Repeat("SELECT 1 ", 20)+`"}}]}`, `]}]}]}`, large))
	asProto("empty resources", metrics, messages(func(int) []byte { return nil }, 1))
	asProto("empty resources", logs, messages(func(int) []byte { return nil }, 1))
	asProto("attributes without end", metrics, messages(func(n int) []byte {
		return attribute(fmt.Sprintf("a%x", n))
	}, 1, 1, 1))

	const v1, v2 = "prometheus.WriteRequest", "io.prometheus.write.v2.Request"
	asWrite("empty series", v1, messages(func(int) []byte { return nil }, 1))
	asWrite("as many hosts as there may be", v1, messages(func(n int) []byte { return series(n/5, n%5, now) }, 1))
	asWrite("as many volumes as there may be", v1, messages(func(n int) []byte { return volume(n, now) }, 1))
	asWrite("empty symbols", v2, messages(func(int) []byte { return nil }, 4))
	return all
}

const (
	assessments = "/ingest/v1/assessments"
	samples     = "/ingest/v1/samples"
)

// repeat fills a list with the same item, up to a size.
func repeat(begin, item, end string, size int) string {
	n := (size - len(begin) - len(end) - len(item)) / (len(item) + 1)
	return begin + strings.Repeat(item+",", n) + item + end
}

// numbered fills a list with items that have their number in them, up to a size.
func numbered(begin, item, end string, size int) string {
	var b strings.Builder
	b.Grow(size)
	b.WriteString(begin)
	for n := 0; b.Len()+len(item)+len(end)+16 < size; n++ {
		if n > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, item, n)
	}
	b.WriteString(end)
	return b.String()
}

// counted fills a list with so many items.
func counted(begin string, n int, item func(int) string, end string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return begin + strings.Join(items, ",") + end
}

// messages repeats a message of protobuf up to the limit, in a field in a field.
func messages(message func(int) []byte, within ...protowire.Number) []byte {
	last := len(within) - 1
	body := make([]byte, 0, large)
	for n := 0; ; n++ {
		one := message(n)
		if len(body)+len(one)+32 > large {
			break
		}
		body = protowire.AppendBytes(protowire.AppendTag(body, within[last], protowire.BytesType), one)
	}
	for i := last - 1; i >= 0; i-- {
		body = protowire.AppendBytes(protowire.AppendTag(nil, within[i], protowire.BytesType), body)
	}
	return body
}

func attribute(name string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
}

func labelled(labels ...string) (item []byte) {
	for i := 0; i < len(labels); i += 2 {
		var label []byte
		label = protowire.AppendString(protowire.AppendTag(label, 1, protowire.BytesType), labels[i])
		label = protowire.AppendString(protowire.AppendTag(label, 2, protowire.BytesType), labels[i+1])
		item = protowire.AppendBytes(protowire.AppendTag(item, 1, protowire.BytesType), label)
	}
	return item
}

func sampled(item []byte, at time.Time) []byte {
	sample := protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), math.Float64bits(1<<30))
	sample = protowire.AppendVarint(protowire.AppendTag(sample, 2, protowire.VarintType), uint64(at.Add(-time.Minute).UnixMilli()))
	return protowire.AppendBytes(protowire.AppendTag(item, 2, protowire.BytesType), sample)
}

// series is one of a host of its own.
func series(host, cpu int, at time.Time) []byte {
	return sampled(labelled("__name__", "node_cpu_seconds_total", "cpu", fmt.Sprint(cpu), "instance", fmt.Sprintf("h%07d:9100", host), "mode", "idle"), at)
}

// volume is one of a host that has a thousand.
func volume(n int, at time.Time) []byte {
	return sampled(labelled("__name__", "node_filesystem_size_bytes", "device", "/dev/x", "fstype", "ext4", "instance", fmt.Sprintf("h%d:9100", n/1000), "mountpoint", fmt.Sprintf("/%d", n)), at)
}

func zipped(text string) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err) // a buffer takes everything
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return packed.Bytes()
}
