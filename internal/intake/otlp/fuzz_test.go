package otlp_test

import (
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"muster/internal/intake/hostmetrics"
	"muster/internal/intake/hostmetrics/hostmetricstest"
	"muster/internal/intake/otlp"
)

// seeds are requests that lead everywhere.
func seeds() []*collector.ExportMetricsServiceRequest {
	stale := whole(1, "cpu", "cpu1", "state", "idle")
	stale.Flags, stale.Value = 1, nil
	return []*collector.ExportMetricsServiceRequest{
		from(db01, sum("system.cpu.time", fraction(1.5, "cpu", "cpu0", "state", "user"), stale), sum("system.memory.usage", whole(1, "state", "used"), whole(2, "state", "free"))),
		from(db01, gauge("system.memory.limit", whole(-1)), sum("system.filesystem.usage", whole(70, "mountpoint", "/", "state", "used"), whole(30, "mountpoint", "/", "state", "free"))),
		from(nil, gauge("x", whole(1)), gauge("system.linux.memory.available", fraction(0))),
		from(attributes("muster_instance", "erp", "server.address", "ora01"), gauge("oracledb.sessions.usage", whole(4, "session_type", "USER", "session_status", "ACTIVE")), sum("postgresql.backends", whole(7, "db.namespace", "shop"))),
	}
}

// hosts is what a decoder makes of hosts; what it makes of databases is looked at apart.
func hosts(decode func() (*otlp.Message, error)) func() (*hostmetrics.Message, error) {
	return func() (*hostmetrics.Message, error) {
		m, err := decode()
		if err != nil {
			return nil, err
		}
		return m.Message, nil
	}
}

// FuzzProtobuf begins with what a collector sends; testdata/fuzz has what was found
// to matter.
func FuzzProtobuf(f *testing.F) {
	for _, request := range seeds() {
		body, err := proto.Marshal(request)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		hostmetricstest.Decode(t, body, receipt, hosts(func() (*otlp.Message, error) { return otlp.DecodeProtobuf(body, receipt) }))
	})
}

// FuzzJSON is the same in JSON.
func FuzzJSON(f *testing.F) {
	for _, request := range seeds() {
		body, err := protojson.Marshal(request)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(body))
	}
	f.Fuzz(func(t *testing.T, body string) {
		hostmetricstest.Decode(t, []byte(body), receipt, hosts(func() (*otlp.Message, error) { return otlp.DecodeJSON([]byte(body), receipt) }))
	})
}
