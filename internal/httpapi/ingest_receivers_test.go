package httpapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	logs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"muster/commands/inventory"
	domain "muster/domain/fleet"
	"muster/internal/assessment"
)

// eventsOf are two statements and two sessions, as the receiver of SQL Server tells them
// of a time, with an event that nobody reads and one of no database.
func eventsOf(at time.Time) string {
	attributes := func(pairs ...string) string {
		all := []string{`{"key":"server.address","value":{"stringValue":"db01"}}`}
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, pairs[i], pairs[i+1]))
		}
		return strings.Join(all, ",")
	}
	record := func(event string, pairs ...string) string {
		return fmt.Sprintf(`{"timeUnixNano":"%d","eventName":%q,"attributes":[%s]}`, at.UnixNano(), event, attributes(pairs...))
	}
	ran := func(key, calls, seconds string) string {
		return record("db.server.top_query", "db.namespace", "d", "sqlserver.query_hash", key, "sqlserver.execution_count", calls, "sqlserver.total_elapsed_time", seconds, "db.query.text", "SELECT 'x'")
	}
	return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + strings.Join([]string{
		ran("a", "4", "0.1"), ran("b", "1", "0.9"),
		record("db.server.query_sample", "db.namespace", "d", "sqlserver.session_id", "60", "sqlserver.wait_type", "LCK_M_S"),
		record("db.server.query_sample", "db.namespace", "d", "sqlserver.session_id", "61", "sqlserver.wait_type", "WRITELOG"),
		record("db.server.query_sample", "db.namespace", "nobody's", "sqlserver.session_id", "62"),
		record("session.start"),
	}, ",") + `]}]}]}`
}

// TestEventsOfReceivers: JSON and protobuf, packed and not, what is told of bad records,
// and that tiles, lists and contributors say that they are of a part.
func TestEventsOfReceivers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	host := "db01"
	ids := w.fed(w.ours, inventory.Item{ExternalID: "erp", Name: "erp", Host: &host, Engine: domain.SQLServer, Databases: []inventory.Database{database("d", w.ago(day))}},
		inventory.Item{ExternalID: "orders", Name: "orders", Engine: domain.PostgreSQL, Databases: []inventory.Database{database("d", w.ago(day))}})
	hour := w.hour()
	asJSON, packed := map[string]string{"Content-Type": "application/json"}, map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}
	first := hour.Add(time.Minute)
	want := map[string]any{"partialSuccess": map[string]any{"rejectedLogRecords": "1", "errorMessage": "Log records that cannot be used, by reason: no_database: 1"}}
	for range 2 { // again changes nothing
		if diff := cmp.Diff(want, in.send(logsPath, eventsOf(first), asJSON).is(200).object()); diff != "" {
			t.Error(diff)
		}
	}
	in.send(logsPath, zipped(t, []byte(eventsOf(hour.Add(2*time.Minute)))), packed).is(200)
	var request logs.ExportLogsServiceRequest
	must(t, protojson.Unmarshal([]byte(eventsOf(hour.Add(3*time.Minute))), &request))
	binary, err := proto.Marshal(&request)
	must(t, err)
	answer := in.send(logsPath, string(binary), map[string]string{"Content-Type": "application/x-protobuf"}).is(200)
	var told logs.ExportLogsServiceResponse
	if err := proto.Unmarshal(answer.Body.Bytes(), &told); err != nil || told.GetPartialSuccess().GetRejectedLogRecords() != 1 {
		t.Errorf("%v, %v", &told, err)
	}
	if diff := cmp.Diff(map[string]float64{"not_used": 4, "no_database": 4}, w.droppedSamples(logsPath)); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	in.send(samplesPath, members{"statements": []members{w.ofStatements(members{"at": first})}, "sessions": []members{w.ofSessions(members{"at": first})}}).is(202)
	w.roll()

	partial := func(path string) (engines, partial string) {
		got := w.get(w.ours.admin, path).is(200).object()
		return fmt.Sprint(got["engines"]), fmt.Sprint(got["partialEngines"])
	}
	one := "&instanceId=" + ids["erp"].String()
	performance := w.get(w.ours.viewer, metricsPath+"query-performance"+hours(hour, 1)+one)
	if average, most := performance.line("avgLatencyMs"), performance.line("maxLatencyMs"); average != "200" || most != "900" {
		t.Errorf("%s ms and %s ms", average, most)
	}
	if waits := w.get(w.ours.viewer, metricsPath+"wait-events"+hours(hour, 1)+one); waits.line("locks") != "1" || waits.line("io") != "1" {
		t.Errorf("%s", waits.Body)
	}
	for _, path := range []string{metricsPath + "query-performance" + hours(hour, 1), metricsPath + "wait-events" + hours(hour, 1),
		metricsPath + "query-performance/contributors" + spanOf(hour) + "&series=average&by=statement", metricsPath + "wait-events/contributors" + spanOf(hour) + "&series=all&by=instance",
		"/api/v1/statements" + spanOf(hour)} {
		if engines, partial := partial(path); engines != "[postgresql sqlserver]" || partial != "[sqlserver]" {
			t.Errorf("%s: of %s, in part %s", path, engines, partial)
		}
		if engines, partial := partial(path + "&instanceId=" + ids["orders"].String()); engines != "[postgresql]" || partial != "[]" {
			t.Errorf("%s of orders: of %s, in part %s", path, engines, partial)
		}
	}
}

// spanOf is the hour as contributors and statements are asked for it.
func spanOf(hour time.Time) string {
	return "?from=" + hour.Format(time.RFC3339) + "&to=" + hour.Add(time.Hour).Format(time.RFC3339)
}

// TestReceiversGiveWayToMustersOwnMeasurements: a connection takes the place of a collector, and an agent that
// of its statements.
func TestReceiversGiveWayToMustersOwnMeasurements(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	host := "db01"
	ids := w.fed(w.ours, inventory.Item{ExternalID: "erp", Name: "erp", Host: &host, Engine: domain.SQLServer, Databases: []inventory.Database{database("d", w.ago(day))}})
	at := func(minutes int) string { return eventsOf(w.clock.Now().Add(-time.Duration(minutes) * time.Minute)) }
	rejected := func(body, sender string) string {
		t.Helper()
		header := map[string]string{"Content-Type": "application/json"}
		if sender != "" {
			header["X-Muster-Sender"] = sender
		}
		partial, _ := in.send(logsPath, body, header).is(200).object()["partialSuccess"].(map[string]any)
		return fmt.Sprint(partial["errorMessage"])
	}
	in.send(samplesPath, members{"statements": []members{w.ofStatements(members{"instance": "erp"})}}, as("agent")).is(202)
	for _, sender := range []string{"", "otelcol-01"} {
		if got := rejected(at(9), sender); !strings.HasSuffix(got, "held: 2, no_database: 1") {
			t.Errorf("%q: %s", sender, got)
		}
	}
	if got := rejected(at(9), "agent"); strings.Contains(got, "held") {
		t.Error(got)
	}
	w.exec(`UPDATE statement_turns SET held_until = now()`)
	if got := rejected(at(0), "otelcol-01"); strings.Contains(got, "held") {
		t.Error(got)
	}
	if got := rejected(at(8), "otelcol-02"); !strings.HasSuffix(got, "held: 2, no_database: 1") { // the sessions are kept
		t.Error(got)
	}
	must(t, w.deps.Servers.SaveCredentials(t.Context(), w.deps.DB, assessment.Credentials{Organization: w.ours.organization.ID, Instance: ids["erp"], Engine: domain.SQLServer, DSN: "sqlserver://u@127.0.0.1/x"}))
	before := w.kept()
	if got := rejected(at(8), "agent"); !strings.HasSuffix(got, "held: 4, no_database: 1") {
		t.Error(got)
	}
	if after := w.kept(); after != before {
		t.Errorf("%s became %s", before, after)
	}
}

// TestConnectionsOfReceivers are one number, and said to be of a part.
func TestConnectionsOfReceivers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	host := "db01"
	w.fed(w.ours, inventory.Item{ExternalID: "erp", Name: "erp", Host: &host, Engine: domain.SQLServer, Databases: []inventory.Database{database("d", w.ago(day))}})
	body := fmt.Sprintf(`{"resourceMetrics":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"db01"}},{"key":"muster_database","value":{"stringValue":"d"}}]},
		"scopeMetrics":[{"metrics":[{"name":"sqlserver.user.connection.count","gauge":{"dataPoints":[{"timeUnixNano":"%d","asInt":"12"}]}}]}]}]}`, w.clock.Now().Add(-10*time.Second).UnixNano())
	if got := in.send(otlpPath, body, map[string]string{"Content-Type": "application/json"}).is(200).object(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	got := w.get(w.ours.viewer, metricsPath+"connections").is(200).object()
	if got["total"] != 12.0 || got["other"] != 12.0 || fmt.Sprint(got["partialEngines"]) != "[sqlserver]" {
		t.Errorf("%v", got)
	}
	waits := w.get(w.ours.viewer, metricsPath+"wait-events"+hours(w.hour(), 1)).is(200).object()
	if fmt.Sprint(waits["engines"]) != "[]" {
		t.Errorf("connections alone are waits of %v", waits["engines"])
	}
}
