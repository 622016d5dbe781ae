package e2e

import (
	"context"
	"encoding/hex"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/internal/cli/installation"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// A value in a statement, as a word and as a number. No part of either is in what
// surrounds it, and no measurement comes near the number.
const (
	plantedWord   = "Zq7kxWvJm"
	plantedNumber = "4815162342481516"
)

// hiddenIn are texts of statements that somebody wrote a value into, by engine: § is the
// word, # the number. What is left of each begins with its keyword.
var hiddenIn = map[string][]string{
	"postgresql": {
		"SELECT 'it''s §', # FROM planted_orders", "SELECT /* § /* # */ § */ 1 -- §", "SELECT $$§$$, $tag$ $$§$$ $tag$", `SELECT E'\'§', e'\\§', U&'§'`,
		"CREATE ROLE r PASSWORD '§'", "ALTER ROLE r SET x TO §", "SET x.y = §", "COPY t FROM PROGRAM 'curl §'", "DO $body$ BEGIN PERFORM '§', #; END $body$",
		"SELECT '§ that does not end", "SELECT $q$ § that does not end", "SELECT /* § that does not end", "ERROR: invalid input syntax for type integer: \"§\"",
	},
	"sqlserver": {
		"SELECT N'§', # FROM planted_orders", "SELECT /* § /* # */ § */ 1 -- §", "EXEC p §", "CREATE LOGIN l WITH PASSWORD = N'§'", "SELECT \"§\"",
		"(@p nvarchar(20))SELECT @p, '§'", "SELECT N'§ that does not end", "Conversion failed when converting the varchar value '§' to data type int.",
	},
	"oracle": {
		"SELECT q'[it's §]', nq'!§!', # FROM planted_orders", "SELECT /*+ § */ 1 FROM dual -- §", "CREATE USER u IDENTIFIED BY §", `ALTER USER u IDENTIFIED BY "§"`,
		"BEGIN p('§'); END;", "SELECT q'[§ that does not end", "ORA-01722: invalid number: §",
	},
}

func withValues(text string) string {
	return strings.NewReplacer("§", plantedWord, "#", plantedNumber).Replace(text)
}

// TestLongNoValueOfAStatementIsKept has an organization keep texts of statements, and sends
// and executes such with values wherever an engine lets one be written. Afterwards they
// are in no table, log, figure, trail, answer and report; what surrounds them is.
//
// In make test, texts are stored without their values (TestPlantedSecrets, in internal/intake/sqltext, and
// TestTextsOfStatements, in internal/intake/feed and internal/httpapi).
func TestLongNoValueOfAStatementIsKept(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	l := &life{
		installed: installed{dir: dataDir(t)}, secrets: map[string]string{},
		watched: pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"shared_preload_libraries": "pg_stat_statements", "track_io_timing": "on"}}),
		env:     []string{"MUSTER_LOG_LEVEL=debug", "MUSTER_LOG_FORMAT=json", "MUSTER_RATE_LIMITS=off"},
	}
	l.server = serving(t, l.env, l.flags()...)
	ana := l.setUp(t)
	ana.header = map[string]string{"If-Match": ana.send(t, "GET", "/api/v1/organization", "").header.Get("ETag")}
	ana.must(t, 200, "PATCH", "/api/v1/organization", map[string]any{"statementTexts": "normalized"})
	ana.header = nil
	answers := l.sendValues(t, ana)
	l.executeValues(t, ana)

	asked := ana.must(t, 202, "POST", "/api/v1/reports", map[string]any{"kind": "Security", "scope": map[string]any{}, "recipientIds": []string{}})
	report := "/api/v1/reports/" + asked["report"].(map[string]any)["id"].(string)
	eventually(t, "the report is ready", func() bool { return ana.must(t, 200, "GET", report, nil)["status"] == "Ready" })
	pdf := ana.send(t, "GET", report+"/download", "").body
	said := map[string]string{"a report's bytes": string(pdf), "answers to what was sent": answers}
	if tool, err := exec.LookPath("pdftotext"); err == nil {
		printed := exec.CommandContext(t.Context(), tool, "-", "-")
		printed.Stdin = strings.NewReader(string(pdf))
		text, err := printed.Output()
		if err != nil || len(text) == 0 {
			t.Fatal("pdftotext: ", err)
		}
		said["a report"] = string(text)
	}
	window := fmt.Sprintf("?from=%s&to=%s", time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), time.Now().UTC().Format(time.RFC3339))
	for _, path := range []string{
		"/api/v1/audit", "/api/v1/instances", "/api/v1/alerts", "/api/v1/findings", "/api/v1/jobs", "/api/v1/statements" + window + "&pageSize=100",
		"/api/v1/metrics/query-performance/contributors" + window + "&series=average&by=statement&limit=100", "/metrics",
	} {
		said[path] = string(ana.send(t, "GET", path, "").body)
	}
	said["the events"] = l.must(t, "events", "list") + l.must(t, "events", "list", "--log", "organization") + l.must(t, "events", "list", "--log", "fleet")
	if n := l.rowsWith(t, plantedWord, plantedNumber); n != 0 {
		t.Errorf("%d rows of the database hold a value", n)
	}
	l.server.stop(t)
	said["standard output"], said["the log"] = l.server.said.String(), l.server.logged.String()
	said["the database's log"] = databaseLog(t, l.dir)
	for where, text := range said {
		for _, value := range []string{plantedWord, plantedNumber} {
			if line := lineWith(strings.ToLower(text), strings.ToLower(value)); line != "" {
				t.Errorf("%s holds a value:\n%s", where, line)
			}
		}
	}
}

// sendValues sends them by the native door and by an agent's, well and badly made, and
// returns what was answered.
func (l *life) sendValues(t *testing.T, ana visitor) (answers string) {
	t.Helper()
	feed := visitor{base: l.server.base}
	feed.token = ana.must(t, 201, "POST", "/api/v1/ingest-tokens", map[string]any{"name": "feed"})["token"].(string)
	var instances, samples []map[string]any
	at := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	for engine, texts := range hiddenIn {
		instances = append(instances, map[string]any{
			"externalId": engine, "name": engine, "engine": engine, "createdAt": "2026-01-01T00:00:00Z",
			"databases": []map[string]any{{"externalId": "d", "name": "d", "createdAt": "2026-01-01T00:00:00Z"}},
		})
		var statements []map[string]any
		for i, text := range texts {
			statements = append(statements, map[string]any{"key": fmt.Sprint(i), "calls": 1, "totalMs": 2.5, "text": withValues(text)})
		}
		samples = append(samples, map[string]any{"instance": engine, "database": "d", "at": at, "intervalSeconds": 60, "busyMs": 90, "statements": statements})
	}
	feed.must(t, 200, "POST", "/ingest/v1/fleet", map[string]any{"instances": instances})
	send := func(want int, path string, body any) {
		got := feed.send(t, "POST", path, string(encoded(t, body)))
		answers += string(got.body)
		if got.status != want {
			t.Errorf("%s answers %d, want %d: %s", path, got.status, want, got.body)
		}
	}
	send(202, "/ingest/v1/samples", map[string]any{"statements": samples})
	bad := map[string]any{"key": "", "calls": 1, "totalMs": -1, "text": withValues("SELECT '§'")}
	send(422, "/ingest/v1/samples", map[string]any{"statements": []any{map[string]any{"instance": "postgresql", "database": "d", "at": at, "intervalSeconds": 60, "statements": []any{bad}}}})
	answers += string(feed.send(t, "POST", "/ingest/v1/samples", withValues(`{"statements":[{"text":"SELECT '§', #`)).body)
	value := func(key, text string) map[string]any {
		return map[string]any{"key": key, "value": map[string]any{"stringValue": withValues(text)}}
	}
	send(200, "/ingest/v1/otlp/v1/metrics", map[string]any{"resourceMetrics": []any{map[string]any{
		"resource": map[string]any{"attributes": []any{value("host.name", "planted-host"), value("db.statement", "SELECT '§', #")}},
		"scopeMetrics": []any{map[string]any{"metrics": []any{map[string]any{
			"name": "postgresql.query.duration", "description": withValues("SELECT '§'"), "unit": "ms",
			"gauge": map[string]any{"dataPoints": []any{map[string]any{
				"timeUnixNano": fmt.Sprint(time.Now().UnixNano()), "asDouble": 1, "attributes": []any{value("query", "SELECT '§', #")},
			}}},
		}}}},
	}}})
	var records []any
	for i, text := range hiddenIn["sqlserver"] {
		records = append(records, map[string]any{"timeUnixNano": fmt.Sprint(time.Now().UnixNano()), "eventName": "db.server.top_query", "body": map[string]any{"stringValue": withValues(text)}, "attributes": []any{
			value("muster_instance", "sqlserver"), value("db.namespace", "d"), value("sqlserver.query_hash", fmt.Sprint("event ", i)), value("sqlserver.execution_count", "1"),
			value("sqlserver.total_elapsed_time", "0.5"), value("db.query.text", text), value("sqlserver.query_plan", text),
		}})
	}
	send(200, "/ingest/v1/otlp/v1/logs", map[string]any{"resourceLogs": []any{map[string]any{"scopeLogs": []any{map[string]any{"logRecords": records}}}}})
	return answers
}

// executeValues has a server execute them while it is measured, until a text of it is
// kept. It is registered four times, so that one of them has its turn in the minute within a
// quarter of it.
func (l *life) executeValues(t *testing.T, ana visitor) {
	t.Helper()
	admin := pgtest.Connect(t, l.watched.Superuser())
	admin.MustExec(`CREATE EXTENSION pg_stat_statements`)
	admin.MustExec(`CREATE ROLE watcher LOGIN IN ROLE pg_monitor`)
	admin.MustExec(`CREATE TABLE planted_orders (n bigint)`)
	for i := range 4 {
		ana.must(t, 201, "POST", "/api/v1/instances", map[string]any{
			"name": fmt.Sprint("watched-", i), "engine": "postgresql", "dsn": l.watched.TCPURL("watcher", "postgres"), "separate": true,
		})
	}
	conn, err := pgx.Connect(t.Context(), l.watched.Superuser())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	kept := 0
	l.within(t, func(ctx context.Context, in *installation.Installation) error {
		for deadline := time.Now().Add(patience); kept == 0; time.Sleep(longestRest) {
			for _, statement := range []string{
				"SELECT '§' AS executed, n + # FROM planted_orders -- §", "SELECT /* § */ $$§$$, N'§', E'\\x§'", "DO $$ BEGIN PERFORM '§', #; END $$",
				"CREATE ROLE planted PASSWORD '§'", "ALTER ROLE planted PASSWORD '§'", "DROP ROLE planted", "SET x.y = '§'", "COPY (SELECT '§') TO STDOUT",
				"PREPARE p AS SELECT '§'", "EXECUTE p", "DEALLOCATE p", "SELECT '§'::int", "SELECT '§",
			} {
				_, _ = conn.Exec(ctx, withValues(statement), pgx.QueryExecModeSimpleProtocol) // some are to fail
			}
			err := in.DB.GetContext(ctx, &kept, `SELECT count(*) FROM measured_statements WHERE text = 'SELECT ? AS executed, n + ? FROM planted_orders'`)
			if err != nil || time.Now().After(deadline) {
				return fmt.Errorf("no text of what the server executed was kept: %w", err)
			}
			time.Sleep(shortestRest)
		}
		return in.DB.GetContext(ctx, &kept, `SELECT count(*) FROM measured_statements WHERE text LIKE 'SELECT ?%, ? FROM planted_orders'`)
	})
	if kept != len(hiddenIn)+1 { // that of SQL Server by a collector, too
		t.Errorf("%d of the texts that were sent are kept", kept)
	}
}

// rowsWith counts the rows of all tables that hold one of some texts in any column, as
// text or as bytes.
func (l *life) rowsWith(t *testing.T, sought ...string) (rows int) {
	t.Helper()
	for _, text := range sought {
		sought = append(sought, hex.EncodeToString([]byte(text)))
	}
	l.within(t, func(ctx context.Context, in *installation.Installation) error {
		var tables []string
		err := in.DB.SelectContext(ctx, &tables, `SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE c.relkind IN ('r', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')`)
		if err != nil || len(tables) < 20 {
			return fmt.Errorf("there are %d tables: %w", len(tables), err)
		}
		for _, table := range tables {
			var n int
			if err := in.DB.GetContext(ctx, &n, `SELECT count(*) FROM `+table+` t WHERE t::text ~* $1`, strings.Join(sought, "|")); err != nil {
				return err
			}
			if n > 0 {
				t.Logf("%d rows of %s hold %s", n, table, sought[0])
			}
			rows += n
		}
		return nil
	})
	return rows
}
