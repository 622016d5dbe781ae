package pgtest_test

import (
	"os"
	"testing"

	"muster/internal/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

func TestEachTestHasItsOwnMigratedDatabase(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.DB(t)
			var rows int
			if err := db.Get(&rows, `SELECT count(*) FROM installation`); err != nil {
				t.Fatal(err)
			}
			if rows != 0 {
				t.Fatalf("found %d rows of somebody else", rows)
			}
			db.MustExec(`INSERT INTO installation (name, fingerprint) VALUES ('name', 'mine')`)
			var seen string
			if err := pgtest.DB(t).Get(&seen, `SELECT fingerprint FROM installation`); err != nil || seen != "mine" {
				t.Fatalf("a second pool of the same test sees %q, %v", seen, err)
			}
		})
	}
}

func TestServerSurvivesRestartAndCrash(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"log_statement": "ddl"}})
	db := pgtest.Connect(t, server.Superuser())
	db.MustExec(`CREATE TABLE kept (n int)`)
	server.Restart(t)
	server.Crash(t)
	server.Restart(t)
	again := pgtest.Connect(t, server.TCPURL(pgtest.Superuser, "postgres"))
	again.MustExec(`INSERT INTO kept VALUES (1)`)
	var statement string
	if err := again.Get(&statement, `SHOW log_statement`); err != nil || statement != "ddl" {
		t.Fatalf("log_statement is %q, %v", statement, err)
	}
}
