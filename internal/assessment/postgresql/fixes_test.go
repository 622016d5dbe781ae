package postgresql

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"muster/domain/fleet"
	"muster/domain/report"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/inspection"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/testing/pgtest"
)

//go:embed testdata/fixable_server.sql
var fixableServerSQL string

//go:embed testdata/fixable_database.sql
var fixableDatabaseSQL string

const (
	sales  = `Sales "2026"`
	odd    = `"Odd ""schema"""`
	reload = "\nSELECT pg_reload_conf();"
)

// fixes has for every check the statement printed for the planted fault, or why there is none.
// An object without a statement keeps its finding.
var fixes = []struct{ check, object, statement, none string }{
	{check: "PG-S01", object: "host all all 127.0.0.1 255.255.255.255 trust", none: "pg_hba.conf is no SQL, and roles need passwords first"},
	{check: "PG-S02", object: "host all legacy 127.0.0.1 255.255.255.255 md5", none: "pg_hba.conf is no SQL, and roles need passwords first"},
	{check: "PG-S03", object: "host all all 0.0.0.0 0.0.0.0 scram-sha-256", none: "the subnets are the owner's to choose"},
	{check: "PG-S04", object: "host all all 0.0.0.0 0.0.0.0 scram-sha-256", none: "pg_hba.conf is no SQL"},
	{check: "PG-S05", object: "second", none: "pg_hba.conf is no SQL"},
	{check: "PG-S06", object: "line 5", none: "the line's meaning is the owner's"},
	{check: "PG-S07", object: "ssl", none: "without a certificate the server does not start again"},
	{check: "PG-S08", object: "ssl_min_protocol_version", statement: "ALTER SYSTEM SET ssl_min_protocol_version = 'TLSv1.2';" + reload},
	{check: "PG-S09", none: "the client is to be changed; TestPlantedFaultsAreFound plants one"},
	{check: "PG-S10", object: "password_encryption", statement: "ALTER SYSTEM SET password_encryption = 'scram-sha-256';" + reload},
	{check: "PG-S11", object: "reader", none: "the password is its owner's to choose"},
	{check: "PG-S12", object: "reader", none: "the date is the owner's to choose"},
	{check: "PG-S13", object: "second", none: "the role would no longer see the rows"},
	{check: "PG-S14", object: `Builder 'B'`, statement: `ALTER ROLE "Builder 'B'" NOCREATEROLE NOCREATEDB;`},
	{check: "PG-S14", object: "user", statement: `ALTER ROLE "user" NOCREATEDB;`},
	{check: "PG-S14", object: "copier", none: "a standby may sign in as it"},
	{check: "PG-S14", object: "bypasser", none: "the role would no longer see the rows"},
	{check: "PG-S15", object: "files {x}", statement: `REVOKE pg_execute_server_program, pg_read_server_files FROM "files {x}";`},
	{check: "PG-S15", object: "stranger", none: "a member through a group is closed with the group"},
	{check: "PG-S16", object: "Night shift", statement: `REVOKE pg_signal_backend FROM "Night shift";`},
	{check: "PG-S16", object: "reporter", none: "the role would no longer see the rows"},
	{check: "PG-S17", object: "public", statement: "REVOKE CREATE ON SCHEMA public FROM PUBLIC;"},
	{check: "PG-S17", object: `Odd "schema"`, statement: "REVOKE CREATE ON SCHEMA " + odd + " FROM PUBLIC;"},
	{check: "PG-S18", object: odd + ".open_table", none: "others would no longer see the rows"},
	{check: "PG-S19", object: odd + ".risky()", none: "the schemas are the owner's to choose"},
	{check: "PG-S20", object: odd + ".powerful()", none: "who calls it is the owner's to know"},
	{check: "PG-S21", object: "Rough", statement: `DROP LANGUAGE "Rough";`},
	{check: "PG-S21", object: "bundled", statement: "DROP EXTENSION isn;"},
	{check: "PG-S22", object: "dblink", none: "what uses it in functions and applications is the owner's to know"},
	{check: "PG-S23", object: "hstore", statement: "ALTER EXTENSION hstore UPDATE;"},
	{check: "PG-S24", object: odd + ".veiled", none: "the owner would no longer see the rows"},
	{check: "PG-S24", object: odd + ".governed", none: "the owner would no longer see the rows"},
	{check: "PG-S25", object: "log_connections", statement: "ALTER SYSTEM SET log_connections = on;" + reload},
	{check: "PG-S26", object: "log_disconnections", statement: "ALTER SYSTEM SET log_disconnections = on;" + reload},
	{check: "PG-S27", object: "log_statement", statement: "ALTER SYSTEM SET log_statement = 'ddl';" + reload},
	{check: "PG-S28", object: "log_line_prefix", statement: "ALTER SYSTEM SET log_line_prefix = '%m [%p] %u@%d %h ';" + reload},
	{check: "PG-S29", object: "shared_preload_libraries", none: "the server does not start with a library that is not installed"},
	{check: "PG-S30", none: "an upgrade is no statement"},
	{check: "PG-S31", none: "an upgrade is no statement"},
	{check: "PG-S32", object: "listen_addresses", none: "the addresses are the owner's to choose"},
	{check: "PG-S33", object: "authentication_timeout", statement: "ALTER SYSTEM SET authentication_timeout = '60s';" + reload},
	{check: "PG-S34", object: `Owner "O": tables`, statement: `ALTER DEFAULT PRIVILEGES FOR ROLE "Owner ""O""" REVOKE ALL ON TABLES FROM PUBLIC;`},
	{check: "PG-S34", object: `Owner "O" in Odd "schema": sequences`, statement: `ALTER DEFAULT PRIVILEGES FOR ROLE "Owner ""O""" IN SCHEMA ` + odd + ` REVOKE ALL ON SEQUENCES FROM PUBLIC;`},
	{check: "PG-S35", object: "far: reader", none: "foreign rows would no longer be seen"},
	{check: "PG-S36", object: "reader", none: "the limit is the owner's to choose"},
	{check: "PG-S37", none: "a library that is not installed keeps the server from starting; passwordcheck is loaded here"},
	{check: "PG-S38", object: "log_replication_commands", statement: "ALTER SYSTEM SET log_replication_commands = on;" + reload},
	{check: "PG-S39", object: "shared_preload_libraries", none: "a library that is not installed keeps the server from starting"},
	{check: "PG-S40", none: "the ciphers are the owner's to choose; TestSignInsAreJudgedByTheirMethod plants one"},
	{check: "PG-S41", none: "where the log goes is the owner's to choose; TestPlantedFaultsAreFound plants one"},
	{check: "PG-S42", object: sales, none: "a role without a grant of its own could no longer connect"},
	{check: "PG-S43", object: "log_file_mode", statement: "ALTER SYSTEM SET log_file_mode = '0600';" + reload},
	{check: "PG-S44", object: "log_min_error_statement", none: "how much the log holds is the owner's to choose"},
	{check: "PG-S45", none: "a certificate is no SQL; TestACleanServerPasses plants one"},
	{check: "PG-S46", none: "the name of the files is the owner's to choose; TestLogsCiphersAndLibrariesAreJudgedByTheirValues plants one"},
	{check: "PG-S47", none: "programs that read the log must be ready; TestLogsCiphersAndLibrariesAreJudgedByTheirValues plants one"},
	{check: "PG-S48", none: "programs that read the log must be ready; TestPlantedFaultsAreFound plants one"},
	{check: "PG-S49", object: "host all all 0.0.0.0 0.0.0.0 scram-sha-256", none: "pg_hba.conf is no SQL"},
	{check: "PG-S50", none: "the ciphers are the owner's to choose; TestLogsCiphersAndLibrariesAreJudgedByTheirValues plants one"},
	{check: "PG-S51", none: "the standby is another server; TestFilesNetworksAndStandbysAreJudgedByTheirPlace plants one"},
	{check: "PG-S52", none: "the certificates are the owner's; TestFilesNetworksAndStandbysAreJudgedByTheirPlace plants one"},
	{check: "PG-S53", object: "unix_socket_permissions", none: "the group is the owner's to choose"},
	{check: "PG-F01", object: "fsync", statement: "ALTER SYSTEM SET fsync = on;" + reload},
	{check: "PG-F02", object: "full_page_writes", statement: "ALTER SYSTEM SET full_page_writes = on;" + reload},
	{check: "PG-F03", none: "a program on a stopped server, and version 18 has checksums from the start"},
	{check: "PG-F04", object: "autovacuum", statement: "ALTER SYSTEM SET autovacuum = on;" + reload},
	{check: "PG-F05", object: "archive_mode", none: "without a command that works the disk fills"},
	{check: "PG-F06", object: "max_connections", none: "a restart is no statement"},
	{check: "PG-F07", object: "no_such_setting", none: "the line's meaning is the owner's"},
	{check: "PG-F08", object: "idle_in_transaction_session_timeout", statement: "ALTER SYSTEM SET idle_in_transaction_session_timeout = '10min';" + reload},
	{check: "PG-F09", object: "statement_timeout", none: "roles and time are the owner's to choose"},
	{check: "PG-F10", object: "shared_buffers", none: "how much memory the host has is the owner's to know"},
	{check: "PG-F11", object: "shared_preload_libraries", statement: "ALTER SYSTEM SET shared_preload_libraries = 'auto_explain', '$libdir/passwordcheck', 'pg_stat_statements';"},
	{check: "PG-F12", object: "track_io_timing", statement: "ALTER SYSTEM SET track_io_timing = on;" + reload},
	{check: "PG-F13", object: "synchronous_standby_names", none: "whether commits may go on without the standby is the owner's to choose"},
	{check: "PG-F14", none: "why it is on is the owner's to know; TestPlantedFaultsAreFound plants one"},
	{check: "PG-F15", object: "log_directory", none: "the other volume is the owner's to choose"},
	{check: "PG-M01", object: "doomed", statement: "VACUUM (FREEZE);"},
	{check: "PG-M02", object: odd + `."Läärge"`, statement: "VACUUM (ANALYZE) " + odd + `."Läärge";`},
	{check: "PG-M03", object: odd + `."Läärge"`, statement: "ANALYZE " + odd + `."Läärge";`},
	{check: "PG-M04", object: "lost", none: "the standby of the slot would be lost"},
	{check: "PG-M06", object: "max_slot_wal_keep_size", none: "how much the disk can spare is the owner's to know"},
	{check: "PG-M05", none: "commit or rollback is the owner's to choose; none is as old as an hour in a test"},
	{check: "PG-P01", none: "the client is to be changed; none is as old as an hour in a test"},
	{check: "PG-P02", none: "a pool is no statement"},
	{check: "PG-P03", none: "the memory is the owner's to choose; a million reads are too slow to plant"},
	{check: "PG-P04", none: "the query is to be changed; 10 GB are too slow to plant"},
	{check: "PG-P05", none: "the applications are to be changed; each deadlock takes a second to plant"},
	{check: "PG-C01", object: odd + `."Broken ""index"""`, statement: "REINDEX INDEX CONCURRENTLY " + odd + `."Broken ""index""";`},
	{check: "PG-C01", object: odd + ".left_ccnew", statement: "DROP INDEX CONCURRENTLY " + odd + ".left_ccnew;"},
	{check: "PG-C01", object: odd + ".broken_unique", none: "rows may break it"},
	{check: "PG-C02", object: odd + `."Größe"`, none: "the columns are the owner's to choose"},
	{check: "PG-C03", object: odd + `."Größe".Größe_user_B "b"_fkey`, statement: "CREATE INDEX CONCURRENTLY ON " + odd + `."Größe" ("user", "B ""b""");`},
	{check: "PG-C03", object: odd + ".parted.parted_a_fkey", none: "an index of a partitioned table cannot be built concurrently"},
	{check: "PG-C04", object: odd + `."Twin "" copy"`, statement: "DROP INDEX CONCURRENTLY " + odd + `."Twin "" copy";`},
	{check: "PG-C04", object: odd + ".targets_a_key", none: "a constraint needs it"},
	{check: "PG-C05", none: "what replicas and rare jobs need is the owner's to know"},
	{check: "PG-C06", object: odd + `."Nearly ""full"""`, statement: "ALTER SEQUENCE " + odd + `."Nearly ""full""" AS bigint;`},
	{check: "PG-C06", object: odd + ".narrow", none: "its column cannot hold more"},
	{check: "PG-C07", object: odd + `.counted.Un "proven"`, statement: "ALTER TABLE " + odd + `.counted VALIDATE CONSTRAINT "Un ""proven""";`},
	{check: "PG-C07", object: odd + `."Grade ""g""".not "neg"`, statement: "ALTER DOMAIN " + odd + `."Grade ""g""" VALIDATE CONSTRAINT "not ""neg""";`},
	{check: "PG-C08", object: "doomed", none: "indexes have to be rebuilt first, and duplicates corrected"},
}

func TestEveryPrintedFixMendsItsFaultAndHidesNoRow(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			server := fixable(t, major)
			before := assess(t, server.Superuser())
			comparePrinted(t, before)
			compareVerified(t, server, before, true)
			repairFiles(t, server)
			rows := visibleRows(t, server)
			if rows[`veiled as Owner "O"`] != "200" || rows["veiled as reader"] != "0" || rows["governed as admitted"] != "50" {
				t.Fatalf("the rows are not veiled as planted: %v", rows)
			}
			runPrinted(t, server, before)
			compareMended(t, before, assess(t, server.Superuser()), false)
			server.Restart(t)
			mended := assess(t, server.Superuser())
			compareMended(t, before, mended, true)
			diff := cmp.Diff(rows, visibleRows(t, server))
			if diff != "" {
				t.Errorf("rows that a role sees (-before +after):\n%s", diff)
			}
			compareVerified(t, server, before, false)
			undo(t, server, before)
			server.Restart(t)
			undone := assess(t, server.Superuser())
			compareUndone(t, before, undone)
			t.Log(proven(before, mended, undone, diff == ""))
		})
	}
}

// proven is what came of every statement that was printed, as a table to read with
// go test -v: did its check, or its object, pass after it; do all roles see the rows
// that they saw; and did the way back lead back.
func proven(before, mended, undone snapshot.Assessment, sameRows bool) string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nCheck\tObject\tStatement\tPassed after\tRows as before\tRolled back")
	for _, r := range before.Results {
		for _, v := range r.Violations {
			if v.Fix == nil {
				continue
			}
			now, _ := resultOf(mended, r.CheckID, r.Database)
			back := "no way back"
			if v.Fix.Rollback != "" {
				_, again := violationOf(undone, r.CheckID, v.Object)
				back = yes(again)
			}
			statement := strings.Join(strings.Fields(v.Fix.Statement), " ")
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", r.CheckID, v.Object, statement, yes(!names(now, v.Object)), yes(sameRows), back)
		}
	}
	_ = table.Flush() // into memory
	return out.String()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}

// fixable is a server with a fault for every check whose fix can be shown there.
func fixable(t *testing.T, major int) *pgtest.Server {
	t.Helper()
	server := pgtest.Cluster(t, pgtest.Options{
		Major: major,
		HBA: "local all all trust\n" +
			"host all all 127.0.0.1/32 trust\n" +
			"host all legacy 127.0.0.1/32 md5\n" +
			"host all all 0.0.0.0/0 scram-sha-256\n",
		Settings: map[string]string{
			"listen_addresses": "*", "authentication_timeout": "120", "ssl_min_protocol_version": "TLSv1",
			"password_encryption": "md5", "log_line_prefix": "%m ", "log_connections": "off", "log_disconnections": "off",
			"log_statement": "none", "autovacuum": "off", "synchronous_standby_names": "nobody",
			"shared_preload_libraries": "auto_explain, $libdir/passwordcheck", "shared_buffers": "2MB",
			"logging_collector": "on", "log_file_mode": "0644", "log_min_error_statement": "fatal",
		},
	})
	run(t, server.Superuser(), fixableServerSQL)
	run(t, server.URL(pgtest.Superuser, sales), fixableDatabaseSQL)
	run(t, server.Superuser(), "ALTER SYSTEM SET max_connections = 301;\nSELECT pg_reload_conf();\n")
	await(t, server.Superuser(), `SELECT pending_restart FROM pg_settings WHERE name = 'max_connections'`)
	appendTo(t, filepath.Join(server.Dir(), "pg_hba.conf"), "host all all 10.0.0.0/8 nonsense\n")
	appendTo(t, filepath.Join(server.Dir(), "postgresql.conf"), "no_such_setting = 1\n")
	return server
}

// repairFiles takes out the broken lines: with them nothing is reloaded.
func repairFiles(t *testing.T, server *pgtest.Server) {
	t.Helper()
	for name, line := range map[string]string{"pg_hba.conf": "host all all 10.0.0.0/8 nonsense\n", "postgresql.conf": "no_such_setting = 1\n"} {
		path := filepath.Join(server.Dir(), name)
		text, err := os.ReadFile(path) //nolint:gosec // the test server's own
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), line, "", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// comparePrinted holds what an assessment found against the table, which has a
// row for every check of the catalogue.
func comparePrinted(t *testing.T, a snapshot.Assessment) {
	t.Helper()
	checks, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	covered, states := map[string]bool{}, map[string]bool{}
	for _, f := range fixes {
		covered[f.check] = true
		if (f.statement == "") == (f.none == "") {
			t.Errorf("%s of %s has a statement, or a reason for none", f.check, f.object)
		}
		states[f.check] = states[f.check] || f.statement != ""
		if f.object == "" {
			continue
		}
		v, found := violationOf(a, f.check, f.object)
		if !found {
			result, _ := resultOf(a, f.check, sales)
			t.Errorf("%s does not name %s: %+v", f.check, f.object, result)
			continue
		}
		got := ""
		if v.Fix != nil {
			got = v.Fix.Statement
		}
		if got != f.statement {
			t.Errorf("%s of %s: %q, want %q", f.check, f.object, got, f.statement)
		}
	}
	for _, check := range checks.Of(fleet.PostgreSQL) {
		if !covered[check.ID] {
			t.Errorf("%s has no row in the table", check.ID)
		}
		if states[check.ID] != (len(check.Statements) > 0) {
			t.Errorf("%s has %d statements, the table another opinion", check.ID, len(check.Statements))
		}
	}
}

func violationOf(a snapshot.Assessment, check, object string) (snapshot.Violation, bool) {
	for _, r := range a.Results {
		for _, v := range r.Violations {
			if r.CheckID == check && v.Object == object {
				return v, true
			}
		}
	}
	return snapshot.Violation{}, false
}

// runPrinted runs what a document on this one server prints, as it says, and
// waits for the last reload that it asked for.
func runPrinted(t *testing.T, server *pgtest.Server, a snapshot.Assessment) {
	t.Helper()
	checks, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	groups := analysis.Findings(snapshot.Document{
		Kind: string(report.InstanceScorecard), Checks: checks.Definitions(),
		Instances: []snapshot.Instance{{ID: uuid.New(), Name: "s", Engine: "postgresql", Active: true, Assessment: &a}},
	})
	reloaded := ""
	for _, g := range groups {
		printed, _ := analysis.Fixes(g)
		for _, fix := range printed {
			database := fix.Database
			if database == "" {
				database = "postgres"
			}
			for _, line := range strings.Split(strings.Join(fix.Statements, "\n"), "\n") {
				if strings.Contains(line, "pg_reload_conf") {
					reloaded = value(t, server.Superuser(), "SELECT clock_timestamp()::text")
				}
				run(t, server.URL(pgtest.Superuser, database), line)
			}
		}
	}
	await(t, server.Superuser(), fmt.Sprintf("SELECT pg_conf_load_time() > '%s'", reloaded))
}

// compareMended checks that findings with a fix are gone, and that a check passes if all its
// findings had one.
func compareMended(t *testing.T, before, after snapshot.Assessment, restarted bool) {
	t.Helper()
	checks, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	mended := 0
	for _, r := range before.Results {
		check, _ := checks.Check(r.CheckID)
		if r.Status != snapshot.StatusFail || check.NeedsRestart && !restarted {
			continue
		}
		now, _ := resultOf(after, r.CheckID, r.Database)
		all := true
		for _, v := range r.Violations {
			all = all && v.Fix != nil
			if v.Fix == nil {
				continue
			}
			mended++
			if names(now, v.Object) {
				t.Errorf("%s still names %s after %s", r.CheckID, v.Object, v.Fix.Statement)
			}
		}
		if all && now.Status != snapshot.StatusPass {
			t.Errorf("%s on %q after its fixes: %+v", r.CheckID, r.Database, now)
		}
	}
	if mended < 30 {
		t.Errorf("only %d findings had a fix", mended)
	}
}

// compareVerified runs what a person runs to see whether a finding exists: it returns a row if
// it does, and none after its fix was run. It does so in an ordinary session, which finds
// objects by their short names.
func compareVerified(t *testing.T, server *pgtest.Server, a snapshot.Assessment, there bool) {
	t.Helper()
	checks, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	verified := map[string]bool{}
	for _, r := range a.Results {
		check, _ := checks.Check(r.CheckID)
		for _, v := range r.Violations {
			statement := check.Verify(v.Object)
			if (statement == "") != (check.Query == "") {
				t.Errorf("%s of %s is verified by %q", r.CheckID, v.Object, statement)
			}
			if statement == "" || !there && v.Fix == nil {
				continue
			}
			verified[r.CheckID] = true
			database := r.Database
			if database == "" {
				database = "postgres"
			}
			if rows := selected(t, server.URL(pgtest.Superuser, database), `SET search_path = public, "Odd ""schema"""; `+statement); (rows > 0) != there {
				t.Errorf("%s of %s: %d rows from\n%s", r.CheckID, v.Object, rows, statement)
			}
		}
	}
	if len(verified) < 25 {
		t.Errorf("only %d checks were verified", len(verified))
	}
}

// selected is how many rows the statements of a text return in all.
func selected(t *testing.T, url, text string) (rows int) {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	answers := conn.Exec(t.Context(), text)
	for answers.NextResult() {
		for reader := answers.ResultReader(); reader.NextRow(); {
			rows++
		}
	}
	if err := answers.Close(); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return rows
}

// undoable are the checks whose fixes can be taken back.
var undoable = strings.Fields(`PG-F01 PG-F02 PG-F04 PG-F08 PG-F11 PG-F12 PG-S08 PG-S10 PG-S14 PG-S15 PG-S16 PG-S17
	PG-S25 PG-S26 PG-S27 PG-S28 PG-S33 PG-S38 PG-S43 PG-C06`)

// wayBack is the undo of some of them: settings that nobody had set are unset again.
var wayBack = map[string]string{
	"PG-F12": "ALTER SYSTEM RESET track_io_timing;" + reload,
	"PG-F11": "ALTER SYSTEM SET shared_preload_libraries = 'auto_explain', '$libdir/passwordcheck';",
	"PG-S33": "ALTER SYSTEM SET authentication_timeout = '120';" + reload,
	"PG-C06": `ALTER SEQUENCE "Odd ""schema""".` + `"Nearly ""full""" AS SMALLINT;`,
	"PG-C04": "", // the definition of what was dropped is not kept
}

// undo takes back every fix that says how, the last one first.
func undo(t *testing.T, server *pgtest.Server, a snapshot.Assessment) {
	t.Helper()
	undone := map[string]bool{}
	for _, r := range slices.Backward(a.Results) {
		for _, v := range r.Violations {
			if v.Fix == nil || v.Fix.Rollback == "" {
				continue
			}
			undone[r.CheckID] = true
			database := v.Fix.Database
			if database == "" {
				database = "postgres"
			}
			for line := range strings.Lines(v.Fix.Rollback) {
				run(t, server.URL(pgtest.Superuser, database), line)
			}
		}
	}
	for check, want := range wayBack {
		for _, r := range a.Results {
			for _, v := range r.Violations {
				if r.CheckID == check && v.Fix != nil && v.Fix.Rollback != want {
					t.Errorf("%s of %s is taken back by %q, want %q", check, v.Object, v.Fix.Rollback, want)
				}
			}
		}
	}
	for _, id := range undoable {
		if !undone[id] {
			t.Errorf("no fix of %s says how it is taken back", id)
		}
		delete(undone, id)
	}
	if len(undone) > 0 {
		t.Errorf("fixes are taken back of checks that are not in the list: %v", undone)
	}
}

// compareUndone finds everything again that was taken back, with what was measured; a
// list may have quotes that it did not have.
func compareUndone(t *testing.T, before, after snapshot.Assessment) {
	t.Helper()
	for _, r := range before.Results {
		now, _ := resultOf(after, r.CheckID, r.Database)
		for _, v := range r.Violations {
			if v.Fix == nil || v.Fix.Rollback == "" {
				continue
			}
			again, found := violationOf(after, r.CheckID, v.Object)
			same := func(a, b string) bool { return strings.ReplaceAll(a, `"`, "") == b }
			if !found || !same(again.Evidence, v.Evidence) || strings.HasPrefix(v.Fix.Statement, "ALTER SYSTEM") && !same(now.Measured, r.Measured) {
				t.Errorf("%s of %s after %s: %+v, %s; it was %+v, %s", r.CheckID, v.Object, v.Fix.Rollback, again, now.Measured, v, r.Measured)
			}
		}
	}
}

// visibleRows counts what each role sees of each table, by the text of the count
// or of the refusal's code.
func visibleRows(t *testing.T, server *pgtest.Server) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, server.URL(pgtest.Superuser, sales))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	seen := map[string]string{}
	for _, role := range []string{"postgres", `Owner "O"`, "reader", "reporter", "admitted", "stranger", "second", "bypasser", "copier", `Builder 'B'`, "files {x}", "Night shift"} {
		for _, table := range []string{"Orders of  the day", "open_table", "veiled", "governed", "Größe", "counted", "Läärge"} {
			var count string
			_, err := conn.Exec(ctx, "SET ROLE "+pgx.Identifier{role}.Sanitize())
			if err == nil {
				err = conn.QueryRow(ctx, "SELECT count(*)::text FROM "+pgx.Identifier{`Odd "schema"`, table}.Sanitize()).Scan(&count)
			}
			if err != nil {
				_, count = inspection.Reason(err)
			}
			seen[table+" as "+role] = count
		}
	}
	return seen
}
