package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/postgres"
	"muster/internal/postgres/cluster"
	"muster/internal/testing/pgtest"
)

// awkward is a password with everything that URLs and shells mind.
const awkward = `p@ss/w:o'rd %25+&?=#`

// TestDumpShowsOneSnapshot and is loaded as a whole, with a password that nobody else on the
// machine sees.
func TestDumpShowsOneSnapshot(t *testing.T) {
	t.Parallel()
	pgtest.NeedsDump(t)
	ctx := context.Background()
	server := pgtest.Cluster(t, pgtest.Options{HBA: "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"})
	super := pgtest.Connect(t, server.Superuser())
	super.MustExec(`CREATE ROLE keeper LOGIN PASSWORD '` + strings.ReplaceAll(awkward, "'", "''") + `'`)
	super.MustExec(`CREATE DATABASE "from here" OWNER keeper`)
	super.MustExec(`CREATE DATABASE there OWNER keeper`)
	at := func(name string) postgres.DumpDatabase {
		u := url.URL{
			Scheme: "postgres", User: url.UserPassword("keeper", awkward), Host: server.Addr(), Path: "/" + name,
			RawQuery: "sslmode=disable&pool_max_conns=3&require_auth=scram-sha-256&application_name=a+b",
		}
		return postgres.DumpDatabase{URL: u.String()}
	}
	from := pgtest.Connect(t, server.URL(pgtest.Superuser, "from here"))
	from.MustExec(`SET ROLE keeper; CREATE TABLE kept AS SELECT 1 AS n`)
	tx := from.MustBegin()
	defer func() { _ = tx.Rollback() }()
	var snapshot string
	if err := tx.GetContext(ctx, &snapshot, `SELECT pg_export_snapshot()`); err != nil {
		t.Fatal(err)
	}
	from.MustExec(`INSERT INTO kept VALUES (2)`)

	path := filepath.Join(t.TempDir(), "dump")
	major, err := postgres.Dump(ctx, at("from here"), server.Major, snapshot, path)
	if err != nil || major < server.Major {
		t.Fatalf("dumped by version %d, %v", major, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the dump has mode %v, %v", info.Mode(), err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Half of a dump counts as none.
	var failed *postgres.ToolError
	if err := postgres.Restore(ctx, at("there"), server.Major, bytes.NewReader(content[:len(content)-20])); !errors.As(err, &failed) {
		t.Errorf("half a dump: %v", err)
	}
	there := pgtest.Connect(t, server.URL(pgtest.Superuser, "there"))
	var tables int
	if err := there.Get(&tables, `SELECT count(*) FROM pg_class WHERE relname = 'kept'`); err != nil || tables > 0 {
		t.Errorf("half a dump made %d tables, %v", tables, err)
	}
	if err := postgres.Restore(ctx, at("there"), server.Major, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	var rows []int
	if err := there.Select(&rows, `SELECT n FROM kept`); err != nil || len(rows) != 1 {
		t.Errorf("the dump shows %v, %v", rows, err)
	}
}

func TestToolsDoNotShowThePassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://keeper:hunter2@db.example:5433/muster?sslmode=require&password=other",
		"postgres://keeper:hunter2@/muster?host=%2Ftmp&port=5432",
		"postgres://db.example/muster?user=keeper&password=hunter2",
	} {
		arguments, environment := postgres.ToolOf(t, postgres.DumpDatabase{URL: address})
		if said := strings.Join(arguments, " "); strings.Contains(said, "hunter2") || strings.Contains(said, "other") || !strings.Contains(said, "keeper") {
			t.Errorf("%s is called as %s", address, said)
		}
		if !strings.Contains(strings.Join(environment, "\n"), "PGPASSWORD=") {
			t.Errorf("%s: the password is nowhere", address)
		}
	}
}

// TestToolsReachTheSameServersAsTheDriver, whatever libpq alone would listen to.
func TestToolsReachTheSameServersAsTheDriver(t *testing.T) { // sets variables: not parallel
	for _, name := range []string{"PGHOSTADDR", "PGOPTIONS", "PGCLIENTENCODING", "PGSYSCONFDIR", "MUSTER_SMTP_URL"} {
		t.Setenv(name, "elsewhere")
	}
	t.Setenv("PGSSLROOTCERT", "ours.pem")
	_, environment := postgres.ToolOf(t, postgres.DumpDatabase{URL: "postgres://keeper@db.example/muster"})
	if seen := strings.Join(environment, "\n"); strings.Contains(seen, "elsewhere") || !strings.Contains(seen, "PGSSLROOTCERT=ours.pem") {
		t.Errorf("the tool sees\n%s", seen)
	}
}

func TestClientsThatAreTooOld(t *testing.T) {
	t.Parallel()
	_, _, err := cluster.FindClient(t.Context(), "pg_dump", 99)
	var missing *cluster.NoClientError
	if !errors.As(err, &missing) || missing.Oldest != 99 || len(missing.Found) == 0 || !strings.Contains(err.Error(), "postgresql-client-99") {
		t.Errorf("it says %v", err)
	}
}
