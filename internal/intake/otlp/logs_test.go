package otlp_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"muster/domain/fleet"
	"muster/internal/intake"
	"muster/internal/intake/otlp"
	"muster/internal/intake/receivers"
	"muster/internal/measurements"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "receivers", name))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// asProtobuf is a body in JSON as protobuf.
func asProtobuf(t testing.TB, body []byte, as proto.Message) []byte {
	t.Helper()
	if err := protojson.Unmarshal(body, as); err != nil {
		t.Fatal(err)
	}
	binary, err := proto.Marshal(as)
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// said is what a message comes to.
type said struct {
	Looks    []*receivers.Look
	Received int
	Dropped  map[intake.Reason]int
}

func (s said) is(t *testing.T, name string, m *receivers.Message) {
	t.Helper()
	if s.Dropped == nil {
		s.Dropped = map[intake.Reason]int{}
	}
	got := said{m.Looks(), m.Received, m.Dropped}
	if diff := cmp.Diff(s, got, cmpopts.IgnoreUnexported(receivers.Look{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// a minute before receipt, at which the fixtures are.
var before = receipt.Add(-time.Minute)

// TestEventsOfReceivers: the documented events of each receiver, as JSON and as protobuf.
func TestEventsOfReceivers(t *testing.T) {
	t.Parallel()
	at := func(address, database string) receivers.Place {
		return receivers.Place{Address: address, Databases: [2]string{database}}
	}
	sqlServer, oracle, pg := fleet.SQLServer, fleet.Oracle, fleet.PostgreSQL
	for name, want := range map[string]said{
		"sqlserver_top_query": {Looks: []*receivers.Look{{Place: at("0.0.0.0", "master"), Engine: sqlServer, At: before, Records: 2, Statements: []measurements.Statement{
			{Key: "307833373834394538373431373145334633", Calls: 6, TotalMs: 503, Text: "SELECT qs. *, SUBSTRING ( st.text, ( stats.statement_start_offset / ? ) + ? ) FROM qstats"}, // of two plans
		}}}, Received: 2},
		"sqlserver_query_sample": {Looks: []*receivers.Look{
			{Place: at("0.0.0.0", "master"), Engine: sqlServer, At: before, Records: 2, Waits: map[string]int64{"LCK_M_S": 1}}, // one of the two is running
			{Place: at("0.0.0.0", "erp"), Engine: sqlServer, At: before, Records: 1, Waits: map[string]int64{"WRITELOG": 1}},
		}, Received: 3},
		"oracledb_top_query": {Looks: []*receivers.Look{{Place: at("oraclehost:1521", ""), Engine: oracle, At: before, Records: 1, Statements: []measurements.Statement{
			{Key: "fxk8aq3nds8aw", Calls: 100000, TotalMs: 61000, Text: "SELECT COUNT ( * ) FROM ADMIN. Employee e JOIN ADMIN. Person p ON e. BusinessEntityID = ?"},
		}}}, Received: 1},
		"oracledb_query_sample": {Looks: []*receivers.Look{ // a session with two cursors, one on CPU, and a background process
			{Place: at("oraclehost:1521", "ERPPDB"), Engine: oracle, At: before, Records: 3, Waits: map[string]int64{"User I/O": 1}},
		}, Received: 4, Dropped: map[intake.Reason]int{intake.NotUsed: 1}},
		"postgresql_top_query": {Received: 1, Dropped: map[intake.Reason]int{intake.Unsupported: 1}},
		"postgresql_query_sample": {Looks: []*receivers.Look{
			{Place: at("localhost:5432", "postgres"), Engine: pg, At: before, Records: 2, Waits: map[string]int64{"Lock": 1}},
		}, Received: 3, Dropped: map[intake.Reason]int{intake.NotUsed: 1}},
	} {
		body := fixture(t, name+".json")
		m, err := otlp.DecodeLogsJSON(body, receipt)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want.is(t, name, m)
		if m, err = otlp.DecodeLogsProtobuf(asProtobuf(t, body, &logs.ExportLogsServiceRequest{}), receipt); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want.is(t, name+" as protobuf", m)
	}
}

// TestConnectionsOfReceivers: points of one scrape are one look, whatever their times.
func TestConnectionsOfReceivers(t *testing.T) {
	t.Parallel()
	want := said{Looks: []*receivers.Look{
		{Place: receivers.Place{Address: "localhost", Databases: [2]string{"otel"}}, Engine: fleet.PostgreSQL, At: before, Records: 1, Counts: &receivers.Counts{Other: 3}},
		{Place: receivers.Place{Address: "0.0.0.0", Databases: [2]string{"", "erp"}}, Engine: fleet.SQLServer, At: before, Records: 1, Counts: &receivers.Counts{Other: 12}},
		{Place: receivers.Place{Address: "oraclehost:1521", Databases: [2]string{"", "ERPPDB"}}, Engine: fleet.Oracle, At: before.Add(3 * time.Microsecond), Records: 3, Counts: &receivers.Counts{Active: 4, Idle: 20, Other: 1}},
	}, Received: 6, Dropped: map[intake.Reason]int{intake.NotUsed: 1}}
	body := fixture(t, "metrics.json")
	m, err := otlp.DecodeJSON(body, receipt)
	if err != nil {
		t.Fatal(err)
	}
	want.is(t, "JSON", m.Databases)
	if m.Received != 1 || m.Dropped[intake.NotUsed] != 1 || len(m.Samples()) != 0 {
		t.Errorf("of hosts there is %+v", m.Receipt)
	}
	if m, err = otlp.DecodeProtobuf(asProtobuf(t, body, &metrics.ExportMetricsServiceRequest{}), receipt); err != nil {
		t.Fatal(err)
	}
	want.is(t, "protobuf", m.Databases)
}
