package postgresql

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"muster/internal/assessment/inspection"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

func TestAServerOutOfReachIsAnOutcome(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{HBA: "local all postgres,watcher trust\nhost all all 127.0.0.1/32 scram-sha-256\n"})
	run(t, server.Superuser(), "CREATE ROLE shop LOGIN PASSWORD 'right-password';\nCREATE ROLE watcher LOGIN;\nCREATE DATABASE closed;\nREVOKE CONNECT ON DATABASE closed FROM PUBLIC;\n")
	t.Run("one database closed", func(t *testing.T) {
		t.Parallel()
		aClosedDatabase(t, server)
	})
	addr := server.Addr()
	for name, test := range map[string]struct{ dsn, class string }{
		"refused":       {"postgres://shop:right-password@127.0.0.1:1/postgres", servers.ClassRefused},
		"no such host":  {"postgres://shop:right-password@nowhere.invalid/postgres", servers.ClassRefused},
		"no socket":     {"postgres://shop:right-password@/postgres?host=/nonexistent", servers.ClassRefused},
		"password":      {"postgres://shop:wrong-password@" + addr + "/postgres", servers.ClassAuthentication},
		"no password":   {"postgres://shop@" + addr + "/postgres", servers.ClassAuthentication},
		"no role":       {"postgres://nobody:right-password@" + addr + "/postgres", servers.ClassAuthentication},
		"tls":           {"postgres://shop:right-password@" + addr + "/postgres?sslmode=require", servers.ClassTLS},
		"verify":        {"postgres://shop:right-password@" + addr + "/postgres?sslmode=verify-full", servers.ClassTLS},
		"no database":   {"postgres://shop:right-password@" + addr + "/nowhere", servers.ClassDatabase},
		"not admitted":  {"postgres://shop:right-password@" + addr + "/closed", servers.ClassDatabase},
		"no PostgreSQL": {"postgres://shop:right-password@" + listen(t, func(c net.Conn) { _, _ = c.Write([]byte("220 mail\r\n")); _ = c.Close() }) + "/postgres", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := collectorAt(t, today).Assess(context.Background(), targetOf(t, test.dsn))
			if a.Outcome != snapshot.OutcomeUnreachable || len(a.Results) != 0 || a.Error == "" {
				t.Fatalf("%+v", a)
			}
			if test.class != "" && a.ErrorClass != test.class {
				t.Errorf("class %s, want %s: %s", a.ErrorClass, test.class, a.Error)
			}
			for _, secret := range []string{"right-password", "wrong-password", "SQLSTATE", "FATAL", "failed to connect", "pq:", "dial"} {
				if strings.Contains(a.Error, secret) {
					t.Errorf("%q in %q", secret, a.Error)
				}
			}
		})
	}
}

// aClosedDatabase keeps the others going.
func aClosedDatabase(t *testing.T, server *pgtest.Server) {
	t.Helper()
	run(t, server.Superuser(), "CREATE DATABASE \"Closed one\";\nREVOKE CONNECT ON DATABASE \"Closed one\" FROM PUBLIC;\nCREATE DATABASE app;\nCREATE DATABASE shut ALLOW_CONNECTIONS false;\n")
	a := assess(t, server.URL("watcher", "postgres"))
	refused, _ := resultOf(a, "PG-S17", "Closed one")
	if refused.Status != snapshot.StatusNotAssessed || refused.ReasonCode != snapshot.ReasonDatabaseUnreachable {
		t.Errorf("%+v", refused)
	}
	if app, _ := resultOf(a, "PG-S17", "app"); app.Status != snapshot.StatusPass {
		t.Errorf("%+v", app)
	}
	if _, visited := resultOf(a, "PG-S17", "shut"); visited {
		t.Error("a database without connections was visited")
	}
	found := false
	for _, g := range a.MissingGrants {
		found = found || g.Statement == `GRANT CONNECT ON DATABASE "Closed one" TO watcher;`
	}
	if !found {
		t.Errorf("no grant for it among %+v", a.MissingGrants)
	}
}

// listen runs something that is no PostgreSQL server; its connections close with the test.
func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			go serve(c)
		}
	}()
	return l.Addr().String()
}

func TestAHangingServerIsATimeout(t *testing.T) {
	t.Parallel()
	silent := listen(t, func(net.Conn) {})
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	a, _ := collectorAt(t, today).Assess(ctx, targetOf(t, "postgres://u:p@"+silent+"/postgres?sslmode=disable"))
	if a.Outcome != snapshot.OutcomeUnreachable || a.ErrorClass != servers.ClassTimeout {
		t.Errorf("%s %s %s", a.Outcome, a.ErrorClass, a.Error)
	}
}

func TestAStatementThatDoesNotEndIsATimeoutOfThatCheck(t *testing.T) {
	t.Parallel()
	s, err := targetOf(t, pgtest.Shared(t).Superuser()).Open(context.Background(), "postgres", servers.StatementTimeout)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	s.SetTimeout(time.Millisecond)
	_, err = servers.Query(context.Background(), s, 1, "select pg_sleep(60)")
	if code, _ := inspection.Reason(err); code != snapshot.ReasonTimeout {
		t.Errorf("%s: %v", code, err)
	}
	s.SetTimeout(time.Minute)
	if row, err := servers.Row(context.Background(), s, 1, "select 1"); err != nil || row[0] != "1" {
		t.Errorf("the session is not usable afterwards: %v", err)
	}
}

func TestASessionOnlyReads(t *testing.T) {
	t.Parallel()
	s, err := targetOf(t, pgtest.URL(t)).Open(context.Background(), "postgres", servers.StatementTimeout)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	for _, statement := range []string{"create table x (n int)", "select pg_catalog.set_config('transaction_read_only', 'off', true); create table x (n int)"} {
		if _, err := servers.Query(context.Background(), s, 1, statement); err == nil {
			t.Errorf("%s went through", statement)
		}
	}
	row, err := servers.Row(context.Background(), s, 2, "select current_setting('search_path'), current_setting('application_name')")
	if err != nil || row[0] != "pg_catalog" || row[1] != servers.ApplicationName {
		t.Errorf("%v, %v", row, err)
	}
}

func TestADatabaseDroppedDuringALookIsForgotten(t *testing.T) {
	t.Parallel()
	s, err := targetOf(t, pgtest.URL(t)).Open(context.Background(), "postgres", servers.StatementTimeout)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	a := snapshot.Assessment{Databases: []snapshot.DatabaseFact{{Name: "dropped"}, {Name: "postgres"}}}
	results, grants := dropVanished(context.Background(), s, &a,
		[]snapshot.CheckResult{
			{CheckID: "PG-S17", Database: "dropped", ReasonCode: snapshot.ReasonDatabaseUnreachable}, {CheckID: "PG-S17", Database: "postgres"},
		},
		[]snapshot.MissingGrant{{Object: "database dropped"}, {Object: "database postgres"}})
	if len(results) != 1 || results[0].Database != "postgres" || len(grants) != 1 || len(a.Databases) != 1 {
		t.Errorf("%+v, %+v, %+v", results, grants, a.Databases)
	}
}

func TestACancelledLookEndsAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a, _ := collectorAt(t, today).Assess(ctx, targetOf(t, pgtest.Shared(t).Superuser()))
	if a.Outcome != snapshot.OutcomeUnreachable || !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("%+v", a.Outcome)
	}
}

func TestAnAnswerWithoutEndIsCutOff(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{})
	s, err := targetOf(t, server.Superuser()).Open(t.Context(), "postgres", servers.StatementTimeout)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	s.SetTimeout(time.Minute) // its length is to end it, however slow the machine
	block, err := servers.Row(t.Context(), s, 1, "select repeat('x', 1000000)")
	if err != nil || len(block[0]) != 1_000_000 {
		t.Fatal(err)
	}
	rows, err := servers.Query(t.Context(), s, 1, "select repeat('x', 1000000) from generate_series(1, 1000000)")
	if !errors.Is(err, servers.ErrTooMuch) || rows != nil || !s.Closed() {
		t.Errorf("%d rows, %v, connection closed %t", len(rows), err, s.Closed())
	}
}
