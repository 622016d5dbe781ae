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
		"every 10 s; rows of one text, database and role are added; a row is compared with that of the run before; one that was not there then, and one of which any counter fell, is left out"},
	{datadog, "SQL Server", "DataDog/integrations-core 500d54a6, sqlserver/datadog_checks/sqlserver/statements.py",
		"every 60 s; sys.dm_exec_query_stats is added by query_hash, query_plan_hash and database, of which those are taken whose last execution ended since the last run; compared as above, so one that did not run for a minute is unknown when it does"},
	{datadog, "Oracle", "DataDog/datadog-agent 999f087a, pkg/collector/corechecks/oracle/statements.go, and 0e515cf4, statement_metrics_queries.go",
		"every 60 s; V$SQLSTATS is added by container, force_matching_signature and plan, of statements that were active within two minutes; compared as above"},
	{otel, "SQL Server", "open-telemetry/opentelemetry-collector-contrib 1522624a, receiver/sqlserverreceiver/templates/dbQueryAndTextQuery.tmpl and scraper.go (cacheAndDiff)",
		"every 60 s; entries that were executed within two minutes are added by query_hash and query_plan_hash; each sum is compared with the last one that was seen, whenever that was; a sum that fell, or is new, gives nothing"},
	{otel, "Oracle", "open-telemetry/opentelemetry-collector-contrib 008fe35e, receiver/oracledbreceiver/templates/oracleQueryMetricsAndTextCDBSql.tmpl, and 00365eeb, scraper.go (collectTopNMetricData)",
		"every 60 s; cursors of V$SQL that were active since the last run and ten seconds more, by SQL_ID and child number; compared with what was seen last; one of which any counter fell, or that is new, gives nothing"},
	{otel, "what is late or comes twice", "open-telemetry/opentelemetry-collector, exporter/exporterhelper/README.md (max_elapsed_time, 300 s; 0 never stops), and OTLP Specification 1.10.0, Duplicate Data",
		"by default an exporter tries for five minutes and drops; what it sends again after an acknowledgement that was lost is more of the same"},
	{prometheus, "PostgreSQL", "prometheus-community/postgres_exporter 01d4dd1f, collector/pg_stat_statements.go, and prometheus/prometheus 003b9e9d, promql/functions.go (extrapolatedRate)",
		"scraped every 60 s; the hundred dearest entries above the tenth percentile of total time, by role, database and query id; increase() over ten minutes, where a counter that fell began at zero, extrapolated to the window's ends"},
	{dbaDash, "SQL Server", "trimble-oss/dba-dash 6520ddb9, DBADash/SQL/SQLQueryStoreTopQueries.sql",
		"asked for the window when somebody looks; of each database's query store the intervals that the window touches, Σ average × count, the greatest max_duration"},
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
