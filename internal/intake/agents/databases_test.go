package agents_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/intake"
	"muster/internal/intake/agents"
	"muster/internal/intake/remotewrite/remotewritetest"
	"muster/internal/intake/resolve"
	"muster/internal/measurements"
	"muster/internal/watch"
)

var (
	ownServer, ownTenant = uuid.New(), uuid.New() // instances of SQL Server
	erp, stock           = uuid.New(), uuid.New() // databases of the first
	tenantDB             = uuid.New()
)

// shelf is what a collector's databases are kept on: two servers of one host.
type shelf struct {
	house
	batches   []measurements.Batch
	collected []uuid.UUID // that have a connection
	held      []uuid.UUID // an agent sends its statements
	keeps     bool
}

func (s *shelf) doors() agents.Doors {
	return agents.New(agents.Config{
		Places: &resolve.Resolver{Fleet: s, Hosts: s}, Store: s, Commands: s, Now: func() time.Time { return receipt }, Texts: s, Collected: s,
	})
}

func (s *shelf) Called(context.Context, uuid.UUID, []string) ([]fleet.CalledInstance, error) {
	return []fleet.CalledInstance{
		{ID: ownServer, Engine: fleet.SQLServer, Name: "sql-01", Host: "db01"}, {ID: ownTenant, Engine: fleet.SQLServer, Name: "sql-02", Host: "db02"},
		{ID: mine, Engine: fleet.PostgreSQL, Name: "pg-01", Host: "db02"},
	}, nil
}

func (s *shelf) DatabasesCalled(context.Context, uuid.UUID, []uuid.UUID, []string) ([]fleet.CalledDatabase, error) {
	return []fleet.CalledDatabase{{ID: erp, InstanceID: ownServer, Name: "erp"}, {ID: stock, InstanceID: ownServer, Name: "stock"}, {ID: tenantDB, InstanceID: ownTenant, Name: "erp"}}, nil
}

func (s *shelf) Engines(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]fleet.Engine, error) {
	return map[uuid.UUID]fleet.Engine{ownServer: fleet.SQLServer, ownTenant: fleet.SQLServer, mine: fleet.PostgreSQL}, nil
}

func (s *shelf) KeepsTexts(context.Context, uuid.UUID) (bool, error) { return s.keeps, nil }

func (s *shelf) RefuseCollected(_ context.Context, _ sqlx.QueryerContext, _ uuid.UUID, instances []uuid.UUID) error {
	if found := slices.DeleteFunc(slices.Clone(instances), func(id uuid.UUID) bool { return !slices.Contains(s.collected, id) }); len(found) > 0 {
		return &assessment.CollectedError{Instances: found}
	}
	return nil
}

// Record refuses as the store does, within the transaction.
func (s *shelf) Record(ctx context.Context, b measurements.Batch, _ ...watch.Sign) (measurements.Receipt, error) {
	if err := b.Guard(ctx, nil); err != nil {
		return measurements.Receipt{}, err
	}
	for _, one := range b.Statements {
		if slices.Contains(s.held, one.Instance) {
			return measurements.Receipt{}, &measurements.HeldError{Instances: s.held}
		}
	}
	s.batches = append(s.batches, b)
	return measurements.Receipt{Accepted: measurements.SampleCounts{Sessions: len(b.Sessions), Statements: len(b.Statements)}}, nil
}

// reached lists the servers that a source reported as reachable, or as unreachable.
func (s *shelf) reached() (all []string) {
	for _, b := range s.batches {
		for _, r := range b.Reached {
			all = append(all, fmt.Sprint(s.named(r.Instance, uuid.Nil), r.Up, " ", r.By))
		}
	}
	return all
}

// kept are the samples in words: instance, database, and the parts that they have.
func (s *shelf) kept() (all []string) {
	for _, b := range s.batches {
		for _, v := range b.Sessions {
			what := fmt.Sprint(v.Waits)
			if v.Part == measurements.OnlyCounts {
				what = fmt.Sprint(v.Active, v.Idle, v.Other)
			}
			all = append(all, fmt.Sprint(s.named(v.Instance, v.Database), " ", what))
			if !v.Partial {
				all = append(all, "whole")
			}
		}
		for _, v := range b.Statements {
			for _, one := range v.Statements {
				all = append(all, strings.TrimSpace(fmt.Sprint(s.named(v.Instance, v.Database), " ", one.Key, " ", one.Calls, " ", one.TotalMs, " ", one.Text)))
			}
			if !v.Partial || *b.Sender != "" {
				all = append(all, "whole")
			}
		}
	}
	return all
}

func (s *shelf) named(instance, database uuid.UUID) string {
	return map[uuid.UUID]string{ownServer: "1", ownTenant: "2", mine: "pg"}[instance] + "/" + map[uuid.UUID]string{erp: "erp", stock: "stock", tenantDB: "erp"}[database]
}

// told is a request with one record of each list of attributes.
func told(event string, records ...map[string]string) []byte {
	var all []string
	for _, r := range records {
		var attributes []string
		for _, name := range slices.Sorted(maps.Keys(r)) {
			attributes = append(attributes, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, name, r[name]))
		}
		all = append(all, fmt.Sprintf(`{"eventName":%q,"timeUnixNano":"%d","attributes":[%s]}`, event, receipt.Add(-time.Minute).UnixNano(), strings.Join(attributes, ",")))
	}
	return []byte(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + strings.Join(all, ",") + `]}]}]}`)
}

func waiting(change map[string]string) map[string]string {
	r := map[string]string{"muster_instance": "sql-01", "db.namespace": "erp", "sqlserver.wait_type": "LCK_M_X"}
	maps.Copy(r, change)
	return r
}

func executed(change map[string]string) map[string]string {
	r := map[string]string{"muster_instance": "sql-01", "db.namespace": "erp", "sqlserver.query_hash": "q", "sqlserver.execution_count": "2", "sqlserver.total_elapsed_time": "0.5", "db.query.text": "SELECT 'secret'"}
	maps.Copy(r, change)
	return r
}

// TestTheServerAndDatabaseOfARecord: by muster_instance, otherwise by an address; in the database that the
// record names, otherwise in the one that the collector's configuration names.
func TestTheServerAndDatabaseOfARecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change map[string]string
		want   string // empty: dropped
		reason intake.Reason
	}{
		"by its name":                {nil, "1/erp map[LCK_M_X:1]", ""},
		"by its address":             {map[string]string{"muster_instance": "", "server.address": "db02"}, "2/erp map[LCK_M_X:1]", ""},
		"with a port":                {map[string]string{"muster_instance": "", "service.instance.id": "db02:1433"}, "2/erp map[LCK_M_X:1]", ""},
		"by the host":                {map[string]string{"muster_instance": "", "host.name": "db02"}, "2/erp map[LCK_M_X:1]", ""},
		"not by the collector's own": {map[string]string{"muster_instance": "", "server.address": "db02", "host.name": "db01"}, "2/erp map[LCK_M_X:1]", ""},
		"a name goes before":         {map[string]string{"server.address": "db02"}, "1/erp map[LCK_M_X:1]", ""},
		"nobody's":                   {map[string]string{"muster_instance": "sql-99"}, "", intake.NoInstance},
		"nothing says it":            {map[string]string{"muster_instance": ""}, "", intake.NoInstance},
		"of another engine":          {map[string]string{"muster_instance": "pg-01"}, "", intake.NoInstance},
		"another database":           {map[string]string{"db.namespace": "stock"}, "1/stock map[LCK_M_X:1]", ""},
		"the configured one":         {map[string]string{"db.namespace": "", "muster_database": "stock"}, "1/stock map[LCK_M_X:1]", ""},
		"one that is not known":      {map[string]string{"db.namespace": "tempdb", "muster_database": "stock"}, "1/stock map[LCK_M_X:1]", ""},
		"the record's goes before":   {map[string]string{"muster_database": "stock"}, "1/erp map[LCK_M_X:1]", ""},
		"no database":                {map[string]string{"db.namespace": "tempdb"}, "", intake.NoDatabase},
	} {
		s := &shelf{}
		got, err := s.doors().OTLPLogsJSON.Take(t.Context(), unlimited, "", told("db.server.query_sample", waiting(c.change)))
		if err != nil || strings.Join(s.kept(), "; ") != c.want || c.reason != "" && got.Dropped[c.reason] != 1 || got.Received != 1 {
			t.Errorf("%s: %q, %+v, %v", name, s.kept(), got, err)
		}
	}
}

// TestRecordsUnderTwoNamesOfADatabaseAreOneSample: of two with one time the store would keep the first.
func TestRecordsUnderTwoNamesOfADatabaseAreOneSample(t *testing.T) {
	t.Parallel()
	tempdb := map[string]string{"db.namespace": "tempdb", "muster_database": "erp", "sqlserver.wait_type": "WRITELOG"}
	s := &shelf{}
	body := told("db.server.query_sample", waiting(nil), waiting(tempdb), waiting(tempdb))
	if got, err := s.doors().OTLPLogsJSON.Take(t.Context(), unlimited, "", body); err != nil || got.Recorded[intake.SessionSample] != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"1/erp map[LCK_M_X:1 WRITELOG:2]"}, s.kept()); diff != "" {
		t.Error(diff)
	}
	s = &shelf{}
	again := map[string]string{"db.namespace": "tempdb", "muster_database": "erp"}
	if _, err := s.doors().OTLPLogsJSON.Take(t.Context(), unlimited, "", told("db.server.top_query", executed(nil), executed(again))); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"1/erp q 4 1000"}, s.kept()); diff != "" {
		t.Error(diff)
	}
}

// TestRecordsOfMeasuredServersAreDropped and counted, and the rest of the message is kept.
func TestRecordsOfMeasuredServersAreDropped(t *testing.T) {
	t.Parallel()
	second := map[string]string{"muster_instance": "sql-02"}
	for name, c := range map[string]struct {
		shelf shelf
		from  intake.Caller
		want  []string
		drops map[intake.Reason]int
	}{
		"nobody measures it":   {shelf{}, unlimited, []string{"1/erp q 2 500", "2/erp q 2 500"}, nil},
		"a connection does":    {shelf{collected: []uuid.UUID{ownServer}}, unlimited, []string{"2/erp q 2 500"}, map[intake.Reason]int{intake.Held: 1}},
		"an agent does":        {shelf{held: []uuid.UUID{ownTenant}}, unlimited, []string{"1/erp q 2 500"}, map[intake.Reason]int{intake.Held: 1}},
		"both are measured":    {shelf{held: []uuid.UUID{ownTenant}, collected: []uuid.UUID{ownServer}}, unlimited, nil, map[intake.Reason]int{intake.Held: 2}},
		"the token is limited": {shelf{}, intake.Caller{OrganizationID: unlimited.OrganizationID, Limit: fleet.Limit{ownTenant}}, []string{"2/erp q 2 500"}, map[intake.Reason]int{intake.Forbidden: 1}},
	} {
		got, err := c.shelf.doors().OTLPLogsJSON.Take(t.Context(), c.from, "", told("db.server.top_query", executed(nil), executed(second)))
		maps.DeleteFunc(got.Dropped, func(_ intake.Reason, n int) bool { return n == 0 })
		if diff := cmp.Diff(c.want, c.shelf.kept()); err != nil || diff != "" || !maps.Equal(got.Dropped, c.drops) {
			t.Errorf("%s: %+v, %v\n%s", name, got, err, diff)
		}
	}
	s := &shelf{held: []uuid.UUID{ownServer}} // which is about statements
	if _, err := s.doors().OTLPLogsJSON.Take(t.Context(), unlimited, "", told("db.server.query_sample", waiting(nil))); err != nil || len(s.kept()) != 1 {
		t.Errorf("%q, %v", s.kept(), err)
	}
}

// TestTextsOfReceivers are normalized, or dropped where none are kept.
func TestTextsOfReceivers(t *testing.T) {
	t.Parallel()
	for keeps, want := range map[bool]string{true: "1/erp q 2 500 SELECT ?", false: "1/erp q 2 500"} {
		s := &shelf{keeps: keeps}
		if _, err := s.doors().OTLPLogsJSON.Take(t.Context(), unlimited, "", told("db.server.top_query", executed(nil))); err != nil || !slices.Equal(s.kept(), []string{want}) {
			t.Errorf("%q, %v", s.kept(), err)
		}
	}
}

// TestConnectionsOfACollector come with its metrics, beside what it measured of hosts.
func TestConnectionsOfACollector(t *testing.T) {
	t.Parallel()
	body := fmt.Sprintf(`{"resourceMetrics":[{"resource":{"attributes":[{"key":"muster_instance","value":{"stringValue":"sql-01"}},{"key":"muster_database","value":{"stringValue":"erp"}}]},
		"scopeMetrics":[{"metrics":[{"name":"sqlserver.user.connection.count","gauge":{"dataPoints":[{"timeUnixNano":"%d","asInt":"12"}]}},{"name":"sqlserver.deadlock.rate","gauge":{"dataPoints":[{"asDouble":1}]}}]}]}]}`, receipt.UnixNano())
	s := &shelf{}
	got, err := s.doors().OTLPJSON.Take(t.Context(), unlimited, []byte(body))
	if err != nil || !slices.Equal(s.kept(), []string{"1/erp 0 0 12"}) || got.Received != 2 || got.Dropped[intake.NotUsed] != 1 || got.Refused() != 0 {
		t.Errorf("%q, %+v, %v", s.kept(), got, err)
	}
}

// TestTheUpMetricOfExporters is matched by labels, among the servers of its engine, and not taken where Muster
// connects itself. It comes by remote_write and by a collector that scrapes the exporter.
func TestTheUpMetricOfExporters(t *testing.T) {
	t.Parallel()
	const pg, sql1, sql2 = "pg/", "1/", "2/"
	for name, c := range map[string]struct {
		metric  string
		value   float64
		labels  []string
		shelf   shelf
		from    intake.Caller
		want    string
		dropped intake.Reason
	}{
		"by muster_instance":               {"pg_up", 1, []string{"muster_instance", "pg-01", "instance", "db01:9187"}, shelf{}, unlimited, pg + "true pg_up", ""},
		"down, by a name":                  {"mssql_up", 0, []string{"instance", "sql-01"}, shelf{}, unlimited, sql1 + "false mssql_up", ""},
		"two engines on a host, the one":   {"pg_up", 0, []string{"instance", "db02:9187"}, shelf{}, unlimited, pg + "false pg_up", ""},
		"two engines on a host, the other": {"mssql_up", 1, []string{"instance", "db02:9399"}, shelf{}, unlimited, sql2 + "true mssql_up", ""},
		"of another engine":                {"oracledb_up", 1, []string{"instance", "db02:9161"}, shelf{}, unlimited, "", intake.NoInstance},
		"another's":                        {"pg_up", 0, []string{"instance", "db02:9187"}, shelf{}, intake.Caller{OrganizationID: unlimited.OrganizationID, Limit: fleet.Limit{ownServer}}, "", intake.Forbidden},
		"Muster connects itself":           {"pg_up", 0, []string{"instance", "db02:9187"}, shelf{collected: []uuid.UUID{mine}}, unlimited, "", intake.Held},
	} {
		for form, send := range map[string]func(*shelf) (intake.Receipt, error){
			"remote_write": func(s *shelf) (intake.Receipt, error) {
				return s.doors().RemoteWrite1.Take(t.Context(), c.from, remotewritetest.V1(remotewritetest.One(c.metric, receipt, c.value, c.labels...)))
			},
			"OTLP": func(s *shelf) (intake.Receipt, error) {
				var attributes []string
				for pair := range slices.Chunk(c.labels, 2) {
					attributes = append(attributes, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, pair[0], pair[1]))
				}
				return s.doors().OTLPJSON.Take(t.Context(), c.from, fmt.Appendf(nil, `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":%q,
					"gauge":{"dataPoints":[{"timeUnixNano":"%d","asDouble":%v,"attributes":[%s]}]}}]}]}]}`, c.metric, receipt.UnixNano(), c.value, strings.Join(attributes, ",")))
			},
		} {
			s := c.shelf
			got, err := send(&s)
			if err != nil || strings.Join(s.reached(), "; ") != c.want || c.dropped != "" && got.Dropped[c.dropped] != 1 || got.Received != 1 {
				t.Errorf("%s by %s: %q, %+v, %v", name, form, s.reached(), got, err)
			}
		}
	}
	s := &shelf{} // a receiver that sends was connected
	if _, err := s.doors().OTLPLogsJSON.Take(t.Context(), unlimited, "", told("db.server.query_sample", waiting(nil), waiting(map[string]string{"db.namespace": "stock"}))); err != nil || !slices.Equal(s.reached(), []string{"1/true opentelemetry"}) {
		t.Errorf("%q, %v", s.reached(), err)
	}
}
