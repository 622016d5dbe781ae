package postgresql

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

// seenWith holds what came of a check: its status, the objects that it names, and a part
// of its reason.
type seenWith struct {
	check, status string
	names, leaves []string
	reason        string
}

func (w seenWith) hold(t *testing.T, a snapshot.Assessment, database string) {
	t.Helper()
	r, ok := resultOf(a, w.check, database)
	if !ok || r.Status != w.status || !strings.Contains(r.Reason, w.reason) {
		t.Errorf("%s on %s is %s %q (%s), want %s %q", w.check, database, r.Status, r.Reason, r.Measured, w.status, w.reason)
	}
	if w.status == snapshot.StatusNotAssessed && r.ReasonCode == snapshot.ReasonQueryFailed {
		t.Errorf("%s on %s: %s", w.check, database, r.Reason)
	}
	for _, object := range w.names {
		if !names(r, object) {
			t.Errorf("%s does not name %s: %+v", w.check, object, r.Violations)
		}
	}
	for _, object := range w.leaves {
		if names(r, object) {
			t.Errorf("%s names %s: %+v", w.check, object, r.Violations)
		}
	}
}

func evidenceOf(a snapshot.Assessment, check, database, object string) string {
	r, _ := resultOf(a, check, database)
	for _, v := range r.Violations {
		if v.Object == object {
			return v.Evidence
		}
	}
	return ""
}

// TestTablesWithoutCountersAreJudgedByTheirPartitions: C9, C32.
func TestTablesWithoutCountersAreJudgedByTheirPartitions(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			tablesWithoutCounters(t, major)
		})
	}
}

func tablesWithoutCounters(t *testing.T, major int) {
	server := pgtest.Cluster(t, pgtest.Options{Major: major, Settings: map[string]string{"autovacuum": "off"}})
	run(t, server.Superuser(), "CREATE ROLE watcher LOGIN;\nCREATE DATABASE app;\nCREATE DATABASE done;\nCREATE DATABASE outside;\nCREATE DATABASE gone;\n")
	in := func(database, script string) { run(t, server.URL(pgtest.Superuser, database), script) }
	in("app", `CREATE TABLE part (id int) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (1000);
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (1000) TO (9000) PARTITION BY RANGE (id);
CREATE TABLE part_2_1 PARTITION OF part_2 FOR VALUES FROM (1000) TO (9000);
INSERT INTO part SELECT * FROM generate_series(0, 8999);
ANALYZE part_1;
ANALYZE part_2_1;
CREATE TABLE parent (id int);
CREATE TABLE child () INHERITS (parent);
INSERT INTO child SELECT * FROM generate_series(1, 5000);
ANALYZE child;
CREATE MATERIALIZED VIEW shown AS SELECT * FROM generate_series(1, 3000) n;
CREATE TABLE small (id int PRIMARY KEY);
INSERT INTO small SELECT * FROM generate_series(1, 100);
`)
	in("done", `CREATE TABLE part (id int) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (9000);
INSERT INTO part SELECT * FROM generate_series(0, 4999);
ANALYZE part;
CREATE TABLE grown (id int) PARTITION BY RANGE (id);
CREATE TABLE grown_1 PARTITION OF grown FOR VALUES FROM (0) TO (9000);
ANALYZE grown;
INSERT INTO grown SELECT * FROM generate_series(0, 4999);
ANALYZE grown_1;
`)
	in("outside", `CREATE FOREIGN DATA WRAPPER elsewhere;
CREATE SERVER far FOREIGN DATA WRAPPER elsewhere;
CREATE FOREIGN TABLE far_away (id int) SERVER far;
`)
	in("gone", `CREATE TABLE lost (id int);
INSERT INTO lost SELECT * FROM generate_series(1, 20000);
ANALYZE lost;
CREATE TABLE raw (id int);
INSERT INTO raw SELECT * FROM generate_series(1, 20000);
`)
	await(t, server.Superuser(), `SELECT count(*) = 0 FROM pg_stat_activity WHERE datname = 'gone'`) // what it counted is told at its end
	in("gone", "SELECT pg_stat_reset();\n")
	await(t, server.URL(pgtest.Superuser, "gone"), `SELECT coalesce(sum(n_live_tup + n_tup_ins), 0) = 0 FROM pg_stat_user_tables`)
	a := assess(t, server.URL("watcher", "postgres"))
	never := []string{"public.part", "public.part_2", "public.parent", "public.shown"}
	reason := ""
	if major == 13 { // it does not say when a partitioned table was analysed
		never, reason = never[2:], "the last ANALYZE of 2 partitioned tables"
	}
	seenWith{"PG-M03", snapshot.StatusFail, never, []string{"public.part_1", "public.part_2_1", "public.child", "public.small"}, reason}.hold(t, a, "app")
	if major > 13 {
		seenWith{"PG-M03", snapshot.StatusFail, []string{"public.grown"}, []string{"public.part", "public.part_1", "public.grown_1"}, ""}.hold(t, a, "done")
		if said := evidenceOf(a, "PG-M03", "app", "public.part"); said != "never analysed, with 3 below it" {
			t.Errorf("the evidence is %q", said)
		}
	} else {
		seenWith{"PG-M03", snapshot.StatusNotAssessed, nil, nil, "2 partitioned tables"}.hold(t, a, "done")
	}
	seenWith{"PG-M03", snapshot.StatusNotAssessed, nil, nil, "the rows of foreign table public.far_away"}.hold(t, a, "outside")
	seenWith{"PG-M03", snapshot.StatusFail, []string{"public.raw"}, []string{"public.lost"}, "the last ANALYZE of public.lost"}.hold(t, a, "gone")
	seenWith{"PG-M02", snapshot.StatusNotAssessed, nil, nil, "the dead rows of public.lost"}.hold(t, a, "gone")
	for object, want := range map[string]string{"public.part": "about 9000 rows", "public.parent": "rows not counted", "public.child": "about 5000 rows"} {
		if said := evidenceOf(a, "PG-C02", "app", object); said != want {
			t.Errorf("PG-C02 says %q of %s, want %q", said, object, want)
		}
	}
}

// TestTemporaryTablesOfOtherSessionsAreNoFault: C18. Only its own session can analyze,
// vacuum or index one.
func TestTemporaryTablesOfOtherSessionsAreNoFault(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"autovacuum": "off"}})
	run(t, server.Superuser(), "CREATE DATABASE app;\nCREATE ROLE watcher LOGIN;\n")
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, server.URL(pgtest.Superuser, "app"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, statement := range []string{
		`CREATE TEMPORARY TABLE guilty (id int PRIMARY KEY, text text, CONSTRAINT unproven CHECK (id > 0))`,
		`CREATE INDEX one ON guilty (text)`, `CREATE INDEX two ON guilty (text)`, `CREATE INDEX broken ON guilty (id, text)`,
		`INSERT INTO guilty SELECT g, repeat(md5(g::text), 10) FROM generate_series(1, 40000) g`, `DELETE FROM guilty WHERE id % 2 = 0`,
		`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'broken'::regclass`,
		`UPDATE pg_constraint SET convalidated = false WHERE conname = 'unproven'`,
		`ALTER TABLE guilty ENABLE ROW LEVEL SECURITY`,
		`GRANT SELECT ON guilty TO PUBLIC`,
		`CREATE TEMPORARY TABLE keyless (n int REFERENCES guilty)`,
		`CREATE TEMPORARY SEQUENCE full_one AS smallint`, `SELECT setval('full_one', 32000)`,
		`CREATE FUNCTION pg_temp.risky() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'`,
		`SELECT pg_stat_force_next_flush()`, `SELECT 1`,
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	await(t, server.URL(pgtest.Superuser, "app"), `SELECT n_dead_tup > 10000 FROM pg_stat_user_tables WHERE relname = 'guilty'`)
	for _, dsn := range []string{server.Superuser(), server.URL("watcher", "postgres")} {
		for _, r := range assess(t, dsn).Results {
			for _, v := range r.Violations {
				if strings.Contains(v.Object, "pg_temp") {
					t.Errorf("%s names %s: %s", r.CheckID, v.Object, v.Evidence)
				}
			}
		}
	}
}

// TestDeadRowsOfATOASTTableAreItsTables: C18.
func TestDeadRowsOfATOASTTableAreItsTables(t *testing.T) {
	t.Parallel()
	dsn := pgtest.EmptyURL(t)
	run(t, dsn, `CREATE TABLE documents (id int PRIMARY KEY, body text);
ALTER TABLE documents ALTER body SET STORAGE EXTERNAL;
ALTER TABLE documents SET (autovacuum_enabled = off, toast.autovacuum_enabled = off);
INSERT INTO documents SELECT g, repeat('x', 30000) FROM generate_series(1, 1000) g;
UPDATE documents SET body = repeat('y', 30000);
`)
	await(t, dsn, `SELECT n_dead_tup > 10000 FROM pg_stat_all_tables s JOIN pg_class c ON c.reltoastrelid = s.relid WHERE c.relname = 'documents'`)
	a := assess(t, dsn)
	database := databaseIn(dsn)
	seenWith{"PG-M02", snapshot.StatusFail, []string{"public.documents"}, nil, ""}.hold(t, a, database)
	if said := evidenceOf(a, "PG-M02", database, "public.documents"); !strings.HasPrefix(said, "in its TOAST table ") {
		t.Errorf("the evidence is %q", said)
	}
}

func databaseIn(dsn string) string {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		panic(err)
	}
	return config.Database
}

// counters are what a server counts by itself, and may not; lists are what only a primary has.
var (
	counters = regexp.MustCompile(`pg_stat_(user|all)_(tables|indexes)|pg_stat_database`)
	lists    = regexp.MustCompile(`pg_stat_(user|all)_tables|pg_prepared_xacts`)
)

// TestACheckOfHiddenDataNeverPasses: C9. No check passes because it sees nothing: where nothing is counted, and
// on a standby, which has its primary's tables without their counters.
func TestACheckOfHiddenDataNeverPasses(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			untold(t, major)
		})
	}
}

func untold(t *testing.T, major int) {
	primary := pgtest.Cluster(t, pgtest.Options{Major: major, Settings: map[string]string{
		"track_counts": "off", "archive_mode": "on", "archive_command": "", "autovacuum": "off", "max_wal_senders": "2", "wal_level": "replica",
	}})
	run(t, primary.Superuser(), "CREATE ROLE watcher LOGIN;\nGRANT pg_monitor TO watcher;\nCREATE DATABASE app;\nCREATE DATABASE fresh;\nCREATE ROLE quiet LOGIN;\n")
	run(t, primary.URL(pgtest.Superuser, "app"), `CREATE TABLE large (id int PRIMARY KEY, text text);
INSERT INTO large SELECT g, md5(g::text) FROM generate_series(1, 20000) g;
DELETE FROM large WHERE id > 5000;
CREATE EXTENSION hstore;
UPDATE pg_extension SET extname = 'removed' WHERE extname = 'hstore';
`)
	c := collectorAt(t, today)
	never := func(t *testing.T, a snapshot.Assessment, told *regexp.Regexp) {
		t.Helper()
		looked := 0
		for _, r := range a.Results {
			check, _ := c.Catalogue().Check(r.CheckID)
			if !told.MatchString(check.Query) {
				continue
			}
			looked++
			if r.Status == snapshot.StatusPass {
				t.Errorf("%s on %q passes: %s", r.CheckID, r.Database, r.Measured)
			}
			if r.Status == snapshot.StatusNotAssessed && r.ReasonCode == snapshot.ReasonQueryFailed {
				t.Errorf("%s on %q: %s", r.CheckID, r.Database, r.Reason)
			}
		}
		if looked < 3 {
			t.Errorf("%d results of checks that read %s", looked, told)
		}
	}
	a := assess(t, primary.URL("watcher", "postgres"))
	never(t, a, counters)
	seenWith{"PG-M02", snapshot.StatusNotAssessed, nil, nil, "track_counts is off"}.hold(t, a, "app")
	seenWith{"PG-M03", snapshot.StatusFail, []string{"public.large"}, nil, "track_counts is off"}.hold(t, a, "app") // the file is there all the same
	seenWith{"PG-P05", snapshot.StatusNotAssessed, nil, nil, "track_counts is off"}.hold(t, a, "")
	seenWith{"PG-S23", snapshot.StatusNotAssessed, nil, nil, "the version of removed"}.hold(t, a, "app")
	seenWith{"PG-F05", snapshot.StatusFail, []string{"archive_command"}, nil, ""}.hold(t, a, "")

	run(t, primary.Superuser(), "ALTER SYSTEM RESET track_counts;\nALTER SYSTEM SET archive_command = 'test -f %p';\nALTER ROLE quiet SET track_counts = false;\nALTER ROLE quiet SET track_activities = off;\nSELECT pg_reload_conf();\n")
	appendTo(t, filepath.Join(primary.Dir(), "postgresql.conf"), "track_counts = on\n")
	run(t, primary.Superuser(), "SELECT pg_reload_conf();\n")
	await(t, primary.Superuser(), `SELECT current_setting('track_counts') = 'on' AND current_setting('archive_command') <> ''`)
	quiet, err := pgx.Connect(t.Context(), primary.URL("quiet", "fresh"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = quiet.Close(context.WithoutCancel(t.Context())) }()
	a = assess(t, primary.URL("watcher", "postgres"))
	never(t, a, counters)
	seenWith{"PG-M02", snapshot.StatusNotAssessed, nil, nil, "the work of role quiet"}.hold(t, a, "fresh")
	seenWith{"PG-P01", snapshot.StatusNotAssessed, nil, nil, "the transactions of 1 sessions"}.hold(t, a, "")

	run(t, primary.Superuser(), "ALTER ROLE quiet RESET ALL;\n")
	standby := pgtest.Standby(t, primary, pgtest.Options{Major: major, Settings: map[string]string{"archive_mode": "on", "archive_command": "test -f %p"}})
	a = assess(t, standby.URL("watcher", "postgres"))
	if !a.InRecovery {
		t.Fatal("the standby is none")
	}
	never(t, a, lists)
	seenWith{"PG-M02", snapshot.StatusNotAssessed, nil, nil, "only its primary counts"}.hold(t, a, "app")
	seenWith{"PG-M05", snapshot.StatusNotAssessed, nil, nil, "only its primary lists"}.hold(t, a, "")
	seenWith{"PG-F05", snapshot.StatusNotAssessed, nil, nil, "leaves to its primary"}.hold(t, a, "")
}

// TestEventsThatNeverHappenedAreUnknown: no file was archived, and no collation recorded.
func TestEventsThatNeverHappenedAreUnknown(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"archive_mode": "on", "archive_command": "test -f %p"}})
	run(t, server.Superuser(), "CREATE DATABASE app TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en';\nUPDATE pg_database SET datcollversion = NULL;\n")
	a := assess(t, server.Superuser())
	seenWith{"PG-C08", snapshot.StatusNotAssessed, nil, nil, "database app"}.hold(t, a, "")
	seenWith{"PG-F05", snapshot.StatusNotAssessed, nil, nil, "no WAL file has been archived"}.hold(t, a, "")
}

// TestEveryCheckIsPlantedOrHasAReason: a check without a planted fault may pass because of
// missing privileges, and no test would notice
// (TestPlantedFaultsAreFoundAndHiddenOnesNeverPass).
func TestEveryCheckIsPlantedOrHasAReason(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]string{
		"PG-S09": "anUnencryptedSession", "PG-S30": "TestRulesOfTheFeed", "PG-S31": "TestRulesOfTheFeed",
		"PG-S40": "settings that everybody sees; TestSignInsAreJudgedByTheirMethod plants one",
		"PG-S45": "TestACertificateIsRenewedInTime",
		"PG-S43": "settings that everybody sees; the table of fixes plants one",
		"PG-S46": "TestLogsCiphersAndLibrariesAreJudgedByTheirValues", "PG-S47": "TestLogsCiphersAndLibrariesAreJudgedByTheirValues",
		"PG-S50": "TestLogsCiphersAndLibrariesAreJudgedByTheirValues", "PG-S51": "TestFilesNetworksAndStandbysAreJudgedByTheirPlace",
		"PG-S52": "TestFilesNetworksAndStandbysAreJudgedByTheirPlace", "PG-F15": "TestFilesNetworksAndStandbysAreJudgedByTheirPlace",
		"PG-F03": "a setting that everybody sees", "PG-F10": "needs a gigabyte; pg_read_all_stats is asked for beforehand",
		"PG-M05": "needs an hour; everybody sees pg_prepared_xacts", "PG-P01": "needs an hour; pg_read_all_stats is asked for beforehand",
		"PG-P02": "pg_read_all_stats is asked for beforehand", "PG-P03": "everybody sees pg_stat_database",
		"PG-P04": "everybody sees pg_stat_database", "PG-P05": "everybody sees pg_stat_database",
	}
	for _, check := range collectorAt(t, today).Catalogue().Of(fleet.PostgreSQL) {
		is := slices.ContainsFunc(planted, func(p struct{ check, object string }) bool { return p.check == check.ID })
		if _, why := elsewhere[check.ID]; is == why {
			t.Errorf("%s is planted: %v, and named here: %v", check.ID, is, why)
		}
	}
}

// TestATemplateThatTakesConnectionsIsADatabase: C16.
func TestATemplateThatTakesConnectionsIsADatabase(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{})
	run(t, server.Superuser(), "CREATE DATABASE golden IS_TEMPLATE true;\nCREATE DATABASE mold IS_TEMPLATE true ALLOW_CONNECTIONS false;\n")
	run(t, server.URL(pgtest.Superuser, "golden"), "CREATE TABLE keyless (n int);\n")
	a := assess(t, server.Superuser())
	var names []string
	for _, d := range a.Databases {
		names = append(names, d.Name)
	}
	listed, err := collectorAt(t, today).Databases(t.Context(), targetOf(t, server.Superuser()))
	slices.Sort(listed)
	if want := []string{"golden", "postgres"}; !slices.Equal(names, want) || !slices.Equal(listed, want) || err != nil {
		t.Errorf("the databases are %q and %q, want %q: %v", names, listed, want, err)
	}
	seenWith{"PG-C02", snapshot.StatusFail, []string{"public.keyless"}, nil, ""}.hold(t, a, "golden")
}

// TestUnreadObjectsAreNotCountedAsChecked: C25, and C35: a table that is locked costs itself
// alone.
func TestUnreadObjectsAreNotCountedAsChecked(t *testing.T) {
	t.Parallel()
	for _, major := range pgtest.Majors(t) {
		t.Run(fmt.Sprint(major), func(t *testing.T) {
			t.Parallel()
			unread(t, major)
		})
	}
}

func unread(t *testing.T, major int) {
	server := pgtest.Cluster(t, pgtest.Options{Major: major})
	run(t, server.Superuser(), "CREATE ROLE sampler LOGIN;\nCREATE DATABASE app;\n")
	dsn := server.URL(pgtest.Superuser, "app")
	run(t, dsn, `CREATE TABLE part_of_it (email text, hidden text, doc jsonb);
GRANT SELECT (email, doc) ON part_of_it TO sampler;
INSERT INTO part_of_it VALUES ('planted@example.org', 'x');
CREATE TABLE held (email text);
GRANT SELECT ON held TO sampler;
INSERT INTO held VALUES ('planted@example.org');
CREATE TABLE broken (id int);
GRANT SELECT ON broken TO sampler;
SELECT lo_create(0);
`)
	virtual := ""
	if major >= 18 {
		run(t, dsn, "CREATE TABLE computed (email text, n int, ratio int GENERATED ALWAYS AS (1 / n) VIRTUAL);\nGRANT SELECT ON computed TO sampler;\nINSERT INTO computed VALUES ('planted@example.org', 0);\n")
		virtual = "public.computed (ratio): Their values are computed when they are read, which may fail, so Muster does not.; "
	}
	holder, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Close(context.WithoutCancel(t.Context())) }()
	for _, statement := range []string{`BEGIN`, `LOCK TABLE held`} {
		if _, err := holder.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	got := collectorAt(t, today).Classify(t.Context(), targetOf(t, server.URL("sampler", "postgres")), "app", assessment.ClassifyValues)
	said := ""
	for _, u := range got.UnreadColumns {
		said += fmt.Sprintf("%s.%s (%s): %s; ", u.Schema, u.Table, strings.Join(u.Columns, ", "), u.Reason)
	}
	for _, f := range got.FailedTables {
		said += fmt.Sprintf("%s.%s: %s; ", f.Schema, f.Name, f.Reason)
	}
	want := virtual + "public.part_of_it (hidden): The monitoring role may not SELECT them.; public.held: Another session has locked it.; " +
		"pg_catalog.pg_largeobject: Large objects are not read: no column says what they hold.; "
	if said != want {
		t.Errorf("it says %q, want %q", said, want)
	}
	columns, unread, tables := 5, 2, 4 // held, and hidden
	if major >= 18 {
		columns, unread, tables = 8, 3, 5
	}
	if got.Status != snapshot.ClassificationPartial || got.TablesSeen != tables || got.TablesClassified != tables-2 ||
		got.ColumnsSeen != columns || got.ColumnsClassified != columns-unread || !got.Again {
		t.Errorf("%+v", got)
	}
	if named := collectorAt(t, today).Classify(t.Context(), targetOf(t, server.URL("sampler", "postgres")), "app", assessment.ClassifyNames); named.Status != snapshot.ClassificationCompleted ||
		named.ColumnsClassified != columns || len(named.Tables) < 2 {
		t.Errorf("by names: %+v", named)
	}
}
