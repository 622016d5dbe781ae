package truth

import "time"

// peer is somebody else's published algorithm, reimplemented from its description and
// source, over the rows that the same simulated server shows. What it is written from
// stands in sources.
type peer struct {
	name   string
	every  time.Duration // its default
	poll   func()
	counts tally
	result func() (Figures, string) // nil: counts, and nothing to say
}

// counting says whether what is counted now is of the window.
func (w *world) counting() bool { return w.now() > 0 }

// figures are what a peer shows for the window, and why it shows nothing, where that is
// for want of a publication.
func (p *peer) figures() (Figures, string) {
	if p.result != nil {
		return p.result()
	}
	return p.counts.figures(), ""
}

// source is what a peer's reimplementation was written from.
type source struct{ peer, engine, at, says string }

var sources = []source{
	{datadog, "PostgreSQL", "DataDog/integrations-core 00b0bb28, postgres/datadog_checks/postgres/statements.py, and datadog_checks_base/…/utils/db/statement_metrics.py (the version that merges duplicate rows)",
		"reads every 10 s; adds rows of one text, database and role; compares each row with the previous run; leaves out a row that was missing then, and a row with any counter that fell"},
	{datadog, "SQL Server", "DataDog/integrations-core 500d54a6, sqlserver/datadog_checks/sqlserver/statements.py",
		"reads every 60 s; adds sys.dm_exec_query_stats by query_hash, query_plan_hash and database, for entries whose last execution ended since the last run; compares as above, so a statement that did not run for a minute is unknown when it runs again"},
	{datadog, "Oracle", "DataDog/datadog-agent 999f087a, pkg/collector/corechecks/oracle/statements.go, and 0e515cf4, statement_metrics_queries.go",
		"reads every 60 s; adds V$SQLSTATS by container, force_matching_signature and plan, for statements that were active within two minutes; compares as above"},
	{otel, "SQL Server", "open-telemetry/opentelemetry-collector-contrib 1522624a, receiver/sqlserverreceiver/templates/dbQueryAndTextQuery.tmpl and scraper.go (cacheAndDiff)",
		"reads every 60 s; adds entries that were executed within two minutes by query_hash and query_plan_hash; compares each sum with the last one seen, however old; a sum that fell, or is new, gives nothing"},
	{otel, "Oracle", "open-telemetry/opentelemetry-collector-contrib 008fe35e, receiver/oracledbreceiver/templates/oracleQueryMetricsAndTextCDBSql.tmpl, and 00365eeb, scraper.go (collectTopNMetricData)",
		"reads every 60 s; takes cursors of V$SQL that were active since ten seconds before the last run, by SQL_ID and child number; compares each with its last values; a cursor with any counter that fell, or a new cursor, gives nothing"},
	{otel, "late or repeated data", "open-telemetry/opentelemetry-collector, exporter/exporterhelper/README.md (max_elapsed_time, 300 s; 0 never stops), and OTLP Specification 1.10.0, Duplicate Data",
		"by default an exporter retries for five minutes and then drops the data; data that it sends again after a lost acknowledgment counts again"},
	{prometheus, "PostgreSQL", "prometheus-community/postgres_exporter 01d4dd1f, collector/pg_stat_statements.go, and prometheus/prometheus 003b9e9d, promql/functions.go (extrapolatedRate)",
		"scraped every 60 s; the hundred most expensive entries above the tenth percentile of total time, by role, database and query id; increase() over ten minutes, which assumes that a counter that fell restarted at zero, and extrapolates to the window's ends"},
	{dbaDash, "SQL Server", "trimble-oss/dba-dash 6520ddb9, DBADash/SQL/SQLQueryStoreTopQueries.sql",
		"queried for the window on demand; from each database's query store it takes the intervals that overlap the window, Σ average × count, and the greatest max_duration"},
}

// The peers.
const (
	datadog    = "Datadog"
	otel       = "OpenTelemetry"
	prometheus = "postgres_exporter, Prometheus"
	dbaDash    = "DBA Dash"
)

// counter are two counters of a row.
type counter struct{ calls, ms float64 }

func (c counter) minus(o counter) counter { return counter{c.calls - o.calls, c.ms - o.ms} }
func (c counter) plus(o counter) counter  { return counter{c.calls + o.calls, c.ms + o.ms} }
func (c counter) fell() bool              { return c.calls < 0 || c.ms < 0 }
