package postgresql

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
	"muster/internal/servers"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
)

// TestTheExtensionIsSearchedInEveryDatabase: C8. It is in the last of 25, and then in none.
func TestTheExtensionIsSearchedInEveryDatabase(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"shared_preload_libraries": "pg_stat_statements"}})
	admin := pgtest.Connect(t, server.Superuser())
	admin.MustExec(`CREATE ROLE watcher LOGIN IN ROLE pg_monitor`)
	const databases = 25
	for i := range databases {
		admin.MustExec(fmt.Sprintf(`CREATE DATABASE d%02d STRATEGY file_copy`, i+1))
	}
	last := pgtest.Connect(t, server.URL(pgtest.Superuser, "d25"))
	last.MustExec(`CREATE EXTENSION pg_stat_statements`)
	admin.MustExec(`REVOKE CONNECT ON DATABASE d07 FROM PUBLIC`)

	target, err := new(servers.Reach).Target(fleet.PostgreSQL, server.TCPURL("watcher", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	clock := clocktest.At(time.Now())
	home := &measuretest.Home{To: target}
	engine := Engine(clock.Now)
	one := measure.New(measure.Config{Engine: engine, Home: home, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: clock.Now})
	defer one.Close(t.Context())
	minute := func(want string) {
		t.Helper()
		if err := one.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Minute)
		said := ""
		for _, g := range home.Lacking {
			said += g.Object + " | " + g.Statement
		}
		if said != want {
			t.Errorf("it lacks %q, want %q", said, want)
		}
	}
	const create = " | CREATE EXTENSION pg_stat_statements;"
	minute(searching + create) // where we are, and in twenty more
	minute("")
	admin.MustExec(`SELECT 1`)
	minute("")
	if n := len(home.Batches); n == 0 || len(home.Batches[n-1].Statements) == 0 {
		t.Error("it is found, and no statement is counted")
	}
	ownStatements(t, admin, home)
	roles := map[string]bool{}
	for _, b := range home.Batches {
		for _, sample := range b.Statements {
			for _, s := range sample.Statements {
				roles[s.Role] = true
			}
		}
	}
	if !roles[pgtest.Superuser] || !roles["watcher"] || len(roles) != 2 {
		t.Errorf("the statements are of the roles %v", roles)
	}
	last.MustExec(`DROP EXTENSION pg_stat_statements`)
	_ = one.Round(t.Context()) // it fails on what is gone
	clock.Advance(time.Minute)
	minute(searching + create)
	minute(unseen + create)
	for range 10 { // while it is looked for again
		minute(unseen + create)
	}
	last.MustExec(`CREATE EXTENSION pg_stat_statements`)
	for range 11 {
		if err := one.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Minute)
	}
	minute("")
}

// TestSessionsOfEveryDatabaseAreCounted: C16. A template that takes connections is a
// database like others. Replication and background workers are no clients.
func TestSessionsOfEveryDatabaseAreCounted(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{Settings: map[string]string{"max_wal_senders": "2", "wal_level": "logical"}})
	admin := pgtest.Connect(t, server.Superuser())
	admin.SetMaxOpenConns(1)
	admin.MustExec(`CREATE ROLE watcher LOGIN IN ROLE pg_monitor`)
	admin.MustExec(`CREATE DATABASE golden IS_TEMPLATE true`)
	admin.MustExec(`CREATE DATABASE app`)
	admin.MustExec(`CREATE DATABASE mold IS_TEMPLATE true ALLOW_CONNECTIONS false`)
	for _, where := range []string{"golden", "golden", "app", "template1", "app?replication=database"} {
		name, replication, _ := strings.Cut(where, "?")
		dsn := server.URL(pgtest.Superuser, name)
		if replication != "" {
			dsn += "&" + replication
		}
		conn, err := pgconn.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	}
	target, err := new(servers.Reach).Target(fleet.PostgreSQL, server.TCPURL("watcher", "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	home := &measuretest.Home{To: target}
	one := measure.New(measure.Config{Engine: Engine(time.Now), Home: home, Gate: measure.NewGate(1), Log: slog.New(slog.DiscardHandler), Now: time.Now})
	defer one.Close(t.Context())
	if err := one.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	on := make(map[string]int64)
	for _, s := range home.Batches[0].Sessions {
		for name, id := range home.Known {
			if id == s.Database {
				on[name] = s.Active + s.Waiting + s.Idle + s.IdleInTransaction + s.Other
			}
		}
	}
	if want := map[string]int64{"app": 1, "golden": 2, "postgres": 1}; !maps.Equal(on, want) || len(home.Known) != 3 {
		t.Errorf("sessions %v on %v, want %v", on, home.Known, want)
	}
}

// ownStatements, F25: statements of the monitoring role are Muster's own, and those of others
// are not.
func ownStatements(t *testing.T, admin *sqlx.DB, home *measuretest.Home) {
	t.Helper()
	var watcher string
	if err := admin.Get(&watcher, `SELECT oid FROM pg_roles WHERE rolname = 'watcher'`); err != nil {
		t.Fatal(err)
	}
	own, others := 0, 0
	for _, b := range home.Batches {
		for _, sample := range b.Statements {
			for _, s := range sample.Statements {
				_, role, _ := strings.Cut(s.Key, "/")
				if role, _, _ = strings.Cut(role, "/"); s.Own != (role == watcher) {
					t.Errorf("%s of role %s is own: %t", s.Key, role, s.Own)
				}
				if s.Own {
					own++
				} else {
					others++
				}
			}
		}
	}
	if own == 0 || others == 0 {
		t.Errorf("%d statements of our own, %d of others", own, others)
	}
}
