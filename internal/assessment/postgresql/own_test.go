package postgresql

import (
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

// Muster's own database is known by what cannot be chosen: another of its name on another
// server is not it, another on its server is not, and it is under another name, too.
func TestMustersOwnDatabaseIsRecognizedWithoutItsName(t *testing.T) {
	t.Parallel()
	const tables = "CREATE TABLE members (email text, name text);\n"
	ours, theirs := pgtest.Cluster(t, pgtest.Options{}), pgtest.Cluster(t, pgtest.Options{})
	for _, server := range []*pgtest.Server{ours, theirs} {
		run(t, server.Superuser(), "CREATE DATABASE muster;\nCREATE DATABASE shop;\n")
		for _, name := range []string{"muster", "shop"} {
			run(t, server.URL(pgtest.Superuser, name), tables)
		}
	}
	db, err := sqlx.Connect("pgx", ours.URL(pgtest.Superuser, "muster"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	own, err := servers.ReadOwnServer(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	c := collectorAt(t, today)
	kept := func(server *pgtest.Server, database string) bool {
		t.Helper()
		target, err := (&servers.Reach{Own: own}).OwnTarget(fleet.PostgreSQL, server.Superuser())
		if err != nil {
			t.Fatal(err)
		}
		found := c.Classify(t.Context(), target, database, assessment.ClassifyNames)
		if len(found.Tables) != 1 {
			t.Fatalf("%s: %+v", database, found)
		}
		return found.Own
	}
	for _, test := range []struct {
		server   *pgtest.Server
		database string
		want     bool
	}{{ours, "muster", true}, {ours, "shop", false}, {theirs, "muster", false}, {theirs, "shop", false}} {
		if got := kept(test.server, test.database); got != test.want {
			t.Errorf("%s, ours %t: own %t", test.database, test.server == ours, got)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	run(t, ours.Superuser(), strings.Join([]string{"ALTER DATABASE muster RENAME TO hr;", "ALTER DATABASE shop RENAME TO muster;"}, "\n")+"\n")
	if db, err = sqlx.Connect("pgx", ours.URL(pgtest.Superuser, "hr")); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if own, err = servers.ReadOwnServer(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if !kept(ours, "hr") || kept(ours, "muster") {
		t.Error("under another name it is not known")
	}
}
