package postgresql

import (
	"context"
	_ "embed"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

//go:embed testdata/faulty_roles.sql
var faultyRolesSQL string

//go:embed testdata/faulty_app.sql
var faultyAppSQL string

// faulty is a server with everything wrong that can be planted.
func faulty(t *testing.T, major int) *pgtest.Server {
	t.Helper()
	server := pgtest.Cluster(t, pgtest.Options{
		Major: major,
		HBA: "local all all trust\n" +
			"host all all 127.0.0.1/32 trust\n" +
			"host all legacy 127.0.0.1/32 md5\n" +
			"host all all 0.0.0.0/0 trust\n",
		Settings: map[string]string{
			"listen_addresses": "*", "authentication_timeout": "120", "ssl_min_protocol_version": "TLSv1",
			"password_encryption": "md5", "log_line_prefix": "%m ", "log_connections": "off", "log_disconnections": "off",
			"log_statement": "none", "autovacuum": "off", "synchronous_standby_names": "nobody", "log_error_verbosity": "terse",
			"log_timezone": "Europe/Berlin", "trace_sort": "on",
		},
	})
	run(t, server.Superuser(), faultyRolesSQL)
	run(t, server.URL(pgtest.Superuser, "app"), faultyAppSQL)
	run(t, server.Superuser(), "ALTER SYSTEM SET shared_buffers = '65MB';\nSELECT pg_reload_conf();\n")
	// The reload is on its way; once the broken line is in the file it would fail.
	await(t, server.Superuser(), `SELECT pending_restart FROM pg_settings WHERE name = 'shared_buffers'`)
	// The server does not start from broken files, but reads them when asked.
	appendTo(t, filepath.Join(server.Dir(), "pg_hba.conf"), "host all all 10.0.0.0/8 nonsense\n")
	appendTo(t, filepath.Join(server.Dir(), "postgresql.conf"), "no_such_setting = 1\n")
	return server
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0) //nolint:gosec // the test server's own file
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// planted is what faulty has wrong: the check and an object it must name.
// PG-S09 needs a session, PG-S30 and S31 a certain version: they have tests of
// their own.
var planted = []struct{ check, object string }{
	{"PG-S01", "local all all trust"},
	{"PG-S01", "host all all 0.0.0.0 0.0.0.0 trust"},
	{"PG-S02", "host all legacy 127.0.0.1 255.255.255.255 md5"},
	{"PG-S03", "host all all 0.0.0.0 0.0.0.0 trust"},
	{"PG-S04", "host all all 0.0.0.0 0.0.0.0 trust"},
	{"PG-S05", "second"},
	{"PG-S06", "line 5"},
	{"PG-S07", "ssl"},
	{"PG-S08", "ssl_min_protocol_version"},
	{"PG-S10", "password_encryption"},
	{"PG-S11", "legacy"},
	{"PG-S12", "copier"}, // 'infinity' is no end
	{"PG-S13", "second"},
	{"PG-S14", "copier"},
	{"PG-S15", "shop"}, // through a group
	{"PG-S16", "reporter"},
	{"PG-S17", "public"},
	{"PG-S18", "public.open_table"},
	{"PG-S18", "public.open_column"}, // a grant on one column
	{"PG-S19", "public.risky()"},
	{"PG-S20", "public.risky()"},
	{"PG-S21", "rough"},
	{"PG-S22", "dblink"},
	{"PG-S23", "hstore"},
	{"PG-S24", "public.veiled"},
	{"PG-S25", "log_connections"},
	{"PG-S26", "log_disconnections"},
	{"PG-S27", "log_statement"},
	{"PG-S28", "log_line_prefix"},
	{"PG-S29", "shared_preload_libraries"},
	{"PG-S32", "listen_addresses"},
	{"PG-S33", "authentication_timeout"},
	{"PG-S34", "postgres: tables"},
	{"PG-S35", "far: shop"},
	{"PG-S36", "legacy"},
	{"PG-S37", "shared_preload_libraries"},
	{"PG-S38", "log_replication_commands"},
	{"PG-S39", "shared_preload_libraries"},
	{"PG-S41", "logging_collector"},
	{"PG-S42", "app"},
	{"PG-S44", "log_error_verbosity"},
	{"PG-S48", "log_timezone"},
	{"PG-S49", "host all all 0.0.0.0 0.0.0.0 trust"}, // every role to every database
	{"PG-S53", "unix_socket_permissions"},
	{"PG-F01", "fsync"},
	{"PG-F02", "full_page_writes"},
	{"PG-F04", "autovacuum"},
	{"PG-F05", "archive_mode"},
	{"PG-F06", "shared_buffers"},
	{"PG-F07", "no_such_setting"},
	{"PG-F08", "idle_in_transaction_session_timeout"},
	{"PG-F09", "statement_timeout"},
	{"PG-F11", "shared_preload_libraries"},
	{"PG-F12", "track_io_timing"},
	{"PG-F13", "synchronous_standby_names"},
	{"PG-F14", "trace_sort"},
	{"PG-C01", "public.broken_index"},
	{"PG-C02", "public.keyless"},
	{"PG-C03", "public.keyless.keyless_parent_fkey"},
	{"PG-C04", "public.twin_index_copy"},
	{"PG-C05", "public.unused_index"},
	{"PG-C06", "public.nearly_full"},
	{"PG-C06", "public.old_serial"}, // a bigint sequence of an integer column
	{"PG-C07", "public.keyless.unproven"},
	{"PG-C08", "doomed"},
	{"PG-M01", "doomed"},
	{"PG-M01", "shared"}, // by its multixacts
	{"PG-M02", "public.large"},
	{"PG-M03", "public.large"},
	{"PG-M04", "lost"},
	{"PG-M06", "max_slot_wal_keep_size"},
}

func TestPlantedFaultsAreFoundAndHiddenOnesNeverPass(t *testing.T) {
	t.Parallel()
	server := faulty(t, 0)
	seen := assess(t, server.Superuser())
	for _, fault := range planted {
		result, ok := resultOf(seen, fault.check, "app")
		if !ok || result.Status != snapshot.StatusFail || !names(result, fault.object) {
			t.Errorf("%s does not name %s: %+v", fault.check, fault.object, result)
		}
	}
	if trust, _ := resultOf(seen, "PG-S01", ""); trust.Severity != "Critical" {
		t.Errorf("trust over TCP is %q", trust.Severity)
	} else {
		for _, v := range trust.Violations { // each line as bad as it is, not as the worst of them
			if want := map[bool]string{true: "High", false: "Critical"}[strings.HasPrefix(v.Object, "local ")]; v.Severity != want {
				t.Errorf("%s is %q, want %q", v.Object, v.Severity, want)
			}
		}
	}
	if tables, _ := resultOf(seen, "PG-S18", "app"); tables.FailFraction <= 0 || tables.FailFraction >= 1 {
		t.Errorf("two of several tables are %f of them", tables.FailFraction)
	}
	if definers, _ := resultOf(seen, "PG-S19", "app"); names(definers, "public.dblink_connect_u(text)") || names(definers, "dblink_connect_u(text)") {
		t.Error("PG-S19 names a function of an extension, which is compiled")
	}
	if seen.Outcome != snapshot.OutcomeComplete {
		t.Errorf("a superuser's look is %s", seen.Outcome)
	}

	text, err := json.Marshal(seen)
	if err != nil || strings.Contains(string(text), `-password`) || strings.Contains(string(text), `"missingGrants":null`) {
		t.Errorf("the assessment holds a password, or null for an empty list: %v", err)
	}
	t.Run("with a session in the clear", func(t *testing.T) { anUnencryptedSession(t, server) })
	t.Run("by a role without grants", func(t *testing.T) {
		blind := assess(t, server.URL("watcher", "postgres"))
		if blind.Outcome != snapshot.OutcomePartial || len(blind.MissingGrants) == 0 {
			t.Errorf("the look is %s with %d missing grants", blind.Outcome, len(blind.MissingGrants))
		}
		compareLooks(t, seen, blind)
		for _, id := range []string{"PG-S01", "PG-S05", "PG-S09", "PG-S11", "PG-S29", "PG-S35", "PG-F06", "PG-F07", "PG-F13", "PG-P01", "PG-C06"} {
			result, _ := resultOf(blind, id, "app")
			if result.Status != snapshot.StatusNotAssessed || result.ReasonCode != snapshot.ReasonPermissionDenied ||
				!strings.Contains(result.Reason, "watcher") || !strings.Contains(result.Reason, "GRANT") {
				t.Errorf("%s: %+v", id, result)
			}
		}
		if !strings.Contains(blind.RolesNote, "pg_hba_file_rules") || blind.Roles[0].RemoteLogin != "unknown" || blind.Roles[0].PasswordKind != "unknown" {
			t.Errorf("accounts: %q, %+v", blind.RolesNote, blind.Roles[0])
		}
	})
	t.Run("by the role with what it asked for", func(t *testing.T) {
		granted := grantMissing(t, server, "watcher")
		open := assess(t, server.URL("watcher", "postgres"))
		if open.Outcome != snapshot.OutcomeComplete || len(open.MissingGrants) > 0 {
			t.Errorf("still %s, missing %+v", open.Outcome, open.MissingGrants)
		}
		for _, fault := range planted {
			if result, _ := resultOf(open, fault.check, "app"); result.Status != snapshot.StatusFail {
				t.Errorf("%s: %+v", fault.check, result)
			}
		}
		needsEach(t, server, "watcher", granted)
	})
	t.Run("by a role that does not inherit", func(t *testing.T) {
		const shy = `shy "user"`
		run(t, server.Superuser(), `CREATE ROLE "shy ""user""" LOGIN NOINHERIT;`+"\n"+`GRANT pg_read_all_stats TO "shy ""user""";`+"\n")
		grantMissing(t, server, shy)
		if open := assess(t, server.URL(shy, "postgres")); open.Outcome != snapshot.OutcomeComplete || len(open.MissingGrants) > 0 {
			t.Errorf("still %s, missing %+v", open.Outcome, open.MissingGrants)
		}
	})
}

// compareLooks compares a look with few rights with one with all: a check may be not assessed,
// but never pass over a fault.
func compareLooks(t *testing.T, seen, blind snapshot.Assessment) {
	t.Helper()
	if len(blind.Results) != len(seen.Results) {
		t.Errorf("%d results against %d", len(blind.Results), len(seen.Results))
	}
	for _, r := range seen.Results {
		other, _ := resultOf(blind, r.CheckID, r.Database)
		if r.Status == snapshot.StatusFail && other.Status != snapshot.StatusFail && other.Status != snapshot.StatusNotAssessed {
			t.Errorf("%s on %q fails for the superuser and is %s for the blind", r.CheckID, r.Database, other.Status)
		}
	}
}

// grantMissing runs every statement that a role's look asks for, each in the
// database it names, and finds that the next look no longer asks for it. What a
// grant opens may show more, in a further round.
func grantMissing(t *testing.T, server *pgtest.Server, role string) (rounds [][]snapshot.MissingGrant) {
	t.Helper()
	missing := assess(t, server.URL(role, "postgres")).MissingGrants
	for len(missing) > 0 {
		for _, grant := range missing {
			if asksFor(slices.Concat(rounds...), grant) {
				t.Fatalf("%s does not close its gap, %s", grant.Statement, grant.Object)
			}
			run(t, server.URL(pgtest.Superuser, databaseOf(grant)), grant.Statement)
		}
		rounds = append(rounds, missing)
		missing = assess(t, server.URL(role, "postgres")).MissingGrants
	}
	return rounds
}

// needsEach takes each grant away and finds that a check which it is for has no
// whole answer, and that the look asks for it again: none was superfluous. Those that were
// missing together and are for different checks go together, because each look costs processor time.
func needsEach(t *testing.T, server *pgtest.Server, role string, rounds [][]snapshot.MissingGrant) {
	t.Helper()
	for _, round := range rounds {
		for len(round) > 0 {
			var together []snapshot.MissingGrant
			together, round = forDifferentChecks(round)
			for _, grant := range together {
				revoke := strings.Replace(strings.Replace(grant.Statement, "GRANT ", "REVOKE ", 1), " TO "+role, " FROM "+role, 1)
				run(t, server.URL(pgtest.Superuser, databaseOf(grant)), revoke)
			}
			a := assess(t, server.URL(role, "postgres"))
			for _, grant := range together {
				for _, check := range grant.Checks {
					result, _ := resultOf(a, check, databaseOf(grant))
					if result.Reason == "" {
						t.Errorf("%s has its answer without %s", check, grant.Statement)
					}
				}
				if !asksFor(a.MissingGrants, grant) {
					t.Errorf("%s, %s: nobody misses it: %+v", grant.Statement, grant.Object, a.MissingGrants)
				}
				run(t, server.URL(pgtest.Superuser, databaseOf(grant)), grant.Statement)
			}
		}
	}
}

// forDifferentChecks takes grants of which no two are for the same check of a database, and leaves the others.
func forDifferentChecks(of []snapshot.MissingGrant) (taken, left []snapshot.MissingGrant) {
	met := map[[2]string]bool{} // checks and databases
	for _, grant := range of {
		at := func(check string) [2]string { return [2]string{check, databaseOf(grant)} }
		if slices.ContainsFunc(grant.Checks, func(check string) bool { return met[at(check)] }) {
			left = append(left, grant)
			continue
		}
		taken = append(taken, grant)
		for _, check := range grant.Checks {
			met[at(check)] = true
		}
	}
	return taken, left
}

func asksFor(missing []snapshot.MissingGrant, grant snapshot.MissingGrant) bool {
	return slices.ContainsFunc(missing, func(g snapshot.MissingGrant) bool { return g.Statement == grant.Statement && g.Object == grant.Object })
}

// databaseOf is where a missing grant is given.
func databaseOf(grant snapshot.MissingGrant) string {
	if _, in, ok := strings.Cut(grant.Object, " in database "); ok {
		return in
	}
	return "postgres"
}

func names(r snapshot.CheckResult, object string) bool {
	for _, v := range r.Violations {
		if v.Object == object {
			return true
		}
	}
	return false
}

func TestACleanServerPasses(t *testing.T) {
	t.Parallel()
	server, dsn := clean(t)
	// A reader of the clean database, so that the checks have something to count.
	run(t, dsn, "CREATE TABLE fine (id bigint PRIMARY KEY);\nREVOKE ALL ON fine FROM PUBLIC;\n")
	a := assess(t, dsn)
	for _, r := range a.Results {
		switch {
		case r.CheckID == "PG-S31": // whatever version is installed here, the rule is tested by itself
		case r.CheckID == "PG-F01" || r.CheckID == "PG-F02" || r.CheckID == "PG-F03" || r.CheckID == "PG-F05":
			// test servers do without
		case r.CheckID == "PG-S45": // its certificate has an hour, and the session no TLS
		case r.Status != snapshot.StatusPass:
			t.Errorf("%s on %q: %+v", r.CheckID, r.Database, r)
		case r.Measured == "" || r.Measured == "none found":
			t.Errorf("%s on %q passes, and nothing says what was measured", r.CheckID, r.Database)
		}
	}
	if a.Outcome != snapshot.OutcomeComplete {
		t.Errorf("the look is %s", a.Outcome)
	}
	t.Run("with TLS, and a certificate of an hour", func(t *testing.T) {
		run(t, dsn, "CREATE ROLE encrypted LOGIN PASSWORD 'three-grey-herons';\n")
		over := strings.NewReplacer("sslmode=disable", "sslmode=require", "encrypted@", "encrypted:three-grey-herons@").Replace(server.TCPURL("encrypted", "postgres"))
		if ends, _ := resultOf(assess(t, over), "PG-S45", ""); ends.Status != snapshot.StatusFail || !names(ends, "certificate") || ends.Violations[0].Severity != "High" {
			t.Errorf("%+v", ends)
		}
		if none, _ := resultOf(a, "PG-S45", ""); none.Status != snapshot.StatusNotApplicable {
			t.Errorf("without TLS: %+v", none)
		}
	})
	t.Run("with trust on the socket alone", func(t *testing.T) {
		writeHBA(t, server, dsn, "local all all trust\n")
		trust, _ := resultOf(assess(t, dsn), "PG-S01", "")
		if trust.Status != snapshot.StatusFail || trust.Severity != "High" {
			t.Errorf("%+v", trust)
		}
	})
}

// anUnencryptedSession holds a session from another address than the loopback's
// while the server is looked at.
func anUnencryptedSession(t *testing.T, server *pgtest.Server) {
	address := ownAddress(t)
	_, port, err := net.SplitHostPort(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, "postgres://shop@"+net.JoinHostPort(address, port)+"/app?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	a := assess(t, server.Superuser())
	result, _ := resultOf(a, "PG-S09", "")
	if result.Status != snapshot.StatusFail || !names(result, "shop@"+address) {
		t.Errorf("%+v", result)
	}
	if *a.ClientSessions != 1 || *a.TLSSessions != 0 {
		t.Errorf("%d of %d sessions with TLS", *a.TLSSessions, *a.ClientSessions)
	}
}

// ownAddress is an address of this machine that is not the loopback's.
func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() && !ip.IP.IsLinkLocalUnicast() {
			return ip.IP.String()
		}
	}
	t.Skip("this machine has no address but the loopback's")
	return ""
}

// TestEveryMajorRunsTheWholeCatalogue covers what is installed: `make test-all`
// puts the binaries of further majors on the path.
func TestEveryMajorRunsTheWholeCatalogue(t *testing.T) {
	t.Parallel()
	for _, major := range []int{13, 14, 16, 17, 18} {
		t.Run(strconv.Itoa(major), func(t *testing.T) {
			t.Parallel()
			server := pgtest.Cluster(t, pgtest.Options{Major: major})
			run(t, server.Superuser(), "CREATE ROLE watcher LOGIN;\nCREATE DATABASE app;\n")
			for _, dsn := range []string{server.Superuser(), server.URL("watcher", "postgres")} {
				for _, r := range assess(t, dsn).Results {
					if r.ReasonCode == snapshot.ReasonQueryFailed || r.ReasonCode == snapshot.ReasonTimeout || r.ReasonCode == snapshot.ReasonDatabaseUnreachable {
						t.Errorf("%s on %q: %s", r.CheckID, r.Database, r.Reason)
					}
					if r.Status == snapshot.StatusPass && (r.Measured == "" || r.Measured == "none found") {
						t.Errorf("%s on %q: the measure of its pass could not be read", r.CheckID, r.Database)
					}
				}
			}
		})
	}
}
