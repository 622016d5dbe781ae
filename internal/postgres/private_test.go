package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"muster/domain/fleet"
	"muster/internal/postgres"
	"muster/internal/postgres/cluster"
	"muster/internal/servers"
	"muster/internal/testing/pgtest"
)

func TestDataLivesOnBetweenStarts(t *testing.T) {
	asEveryAccount(t, func(t *testing.T, s *scene) {
		first := s.serve(t)
		if !first.Started || first.Attached {
			t.Errorf("the first start says %+v", first.holdAnswer)
		}
		write(t, first.db(t), 1)
		pid := s.state(t).PID
		first.close(t)
		if _, err := cluster.ReadState(s.cluster(t)); err == nil {
			t.Error("the server was not stopped with us")
		}
		second := s.serve(t)
		expect(t, second.db(t), 1)
		if second.URL != first.URL || second.Monitor != first.Monitor {
			t.Error("connection strings changed between starts")
		}
		if s.state(t).PID == pid {
			t.Error("it is the same server")
		}
		second.close(t)
	})
}

// TestStatementsAreCounted for the monitoring of the server, also if an older Muster created
// it, which did not count them.
func TestStatementsAreCounted(t *testing.T) {
	t.Parallel()
	s := aScene(t, 0)
	for start := range 2 {
		server, err := postgres.Open(t.Context(), postgres.Options{DataDir: s.dataDir, SystemDir: s.systemDir, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		dsn, err := server.MonitorURL(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		watching, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		watching.Path = "/postgres"
		var all, secrets int
		err = pgtest.Connect(t, watching.String()).QueryRow(`SELECT count(*) FILTER (WHERE queryid IS NOT NULL AND calls > 0),
			count(*) FILTER (WHERE query ILIKE '%password%') FROM public.pg_stat_statements(true)`).Scan(&all, &secrets)
		if err != nil || all == 0 || secrets > 0 {
			t.Errorf("start %d: %v, %d statements, %d of them about passwords", start, err, all, secrets)
		}
		if start == 0 {
			if err := postgres.WithoutStatistics(t.Context(), server); err != nil {
				t.Fatal(err)
			}
		}
		if err := server.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStatementsAreCountedWhereTheyCanBe: a server does not start with a library that is
// not installed.
func TestStatementsAreCountedWhereTheyCanBe(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]bool{
		"15/lib/pg_stat_statements.so": true, "lib/postgresql/pg_stat_statements.dylib": true,
		"15/lib/plpgsql.so": false, "share/pg_stat_statements.so": false,
	} {
		root := t.TempDir()
		path := filepath.Join(root, place)
		programs := filepath.Join(root, "bin")
		if strings.HasPrefix(place, "15/") { // as Debian has them
			programs = filepath.Join(root, "15", "bin")
		}
		linked := filepath.Join(t.TempDir(), "postgres")
		for _, err := range []error{
			os.MkdirAll(programs, 0o755), os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600),
			os.WriteFile(filepath.Join(programs, "postgres"), nil, 0o600), os.Symlink(filepath.Join(programs, "postgres"), linked),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Contains(postgres.ConfigurationWith(t, filepath.Dir(linked)), "shared_preload_libraries"); got != want {
			t.Errorf("%s: loaded %t", place, got)
		}
	}
}

// TestVariablesOfTheEnvironmentAreIgnored: a psql user's settings name another
// server's port, certificate and session.
func TestVariablesOfTheEnvironmentAreIgnored(t *testing.T) {
	for name, value := range map[string]string{
		"PGHOST": "db.example", "PGPORT": "6432", "PGUSER": "x", "PGDATABASE": "x", "PGPASSWORD": "x", "PGPASSFILE": "/nowhere",
		"PGSSLMODE": "verify-full", "PGSSLROOTCERT": "/nowhere", "PGSSLNEGOTIATION": "direct", "PGOPTIONS": "-c default_transaction_read_only=on",
		"PGTARGETSESSIONATTRS": "read-only", "PGREQUIREAUTH": "none", "PGCHANNELBINDING": "require",
	} {
		t.Setenv(name, value)
	}
	s := aScene(t, 0)
	server, err := postgres.Open(t.Context(), postgres.Options{DataDir: s.dataDir, SystemDir: s.systemDir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	write(t, pgtest.Connect(t, server.URL()), 1)
	shop, err := server.DatabaseURL(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	write(t, pgtest.Connect(t, shop), 1)
	monitor, err := server.MonitorURL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := servers.Parse(fleet.PostgreSQL, monitor); err != nil {
		t.Errorf("the monitor's connection cannot be registered: %v", err)
	}
}

// TestConcurrentStartsMakeOneDatabase: replicas that start together, or a start and the server process of one
// that was killed while it created the database.
func TestConcurrentStartsMakeOneDatabase(t *testing.T) {
	t.Parallel()
	s := aScene(t, 0)
	s.begin(t)
	server, err := postgres.Open(t.Context(), postgres.Options{DataDir: s.dataDir, SystemDir: s.systemDir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	var group errgroup.Group
	for range 6 {
		group.Go(func() error {
			_, err := server.DatabaseURL(t.Context(), "shop")
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// TestManyAttachWhileTheMonitorIsGranted: commands beside a serve that has just
// begun to watch its own server.
func TestManyAttachWhileTheMonitorIsGranted(t *testing.T) {
	t.Parallel()
	s := aScene(t, 0)
	attach := func(then func(*postgres.Server) error) error {
		server, err := postgres.Open(t.Context(), postgres.Options{DataDir: s.dataDir, SystemDir: s.systemDir, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		return errors.Join(then(server), server.Close(context.WithoutCancel(t.Context())))
	}
	err := attach(func(serve *postgres.Server) error {
		var group errgroup.Group
		for range 4 {
			group.Go(func() error {
				for range 4 {
					if err := attach(func(*postgres.Server) error { return nil }); err != nil {
						return err
					}
				}
				return nil
			})
			group.Go(func() error {
				for range 4 {
					if _, err := serve.MonitorURL(t.Context()); err != nil {
						return err
					}
				}
				return nil
			})
		}
		return group.Wait()
	})
	if err != nil {
		t.Error(err)
	}
}

func TestServerIsSetUpAsDocumented(t *testing.T) {
	asEveryAccount(t, func(t *testing.T, s *scene) {
		p := s.serve(t)
		db, pool, err := postgres.Connect(t.Context(), p.URL, postgres.PoolOptions{Name: "serve"})
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		for name, want := range map[string]string{
			"fsync": "on", "listen_addresses": "", "dynamic_shared_memory_type": "mmap",
			"password_encryption": "scram-sha-256", "data_checksums": "on", "lock_timeout": "10s",
		} {
			if got := setting(t, db, name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		var super bool
		if err := db.Get(&super, `SELECT rolsuper FROM pg_roles WHERE rolname = current_user`); err != nil || super {
			t.Errorf("Muster is a superuser: %v, %v", super, err)
		}
		owner, _ := os.ReadFile(filepath.Join(s.cluster(t), "pg_hba.conf"))
		if strings.Contains(string(owner), "trust") {
			t.Error("pg_hba.conf trusts somebody")
		}

		ctx := context.Background()
		monitor, err := pgx.Connect(ctx, p.Monitor)
		if err != nil {
			t.Fatal(err)
		}
		defer monitor.Close(ctx)
		var dir string
		if err := monitor.QueryRow(ctx, `SHOW data_directory`).Scan(&dir); err != nil || dir != s.cluster(t) {
			t.Errorf("the monitor sees data_directory %q, %v", dir, err)
		}
		write(t, db, 1)
		if _, err := monitor.Exec(ctx, `SELECT * FROM kept`); err == nil {
			t.Error("the monitor reads Muster's tables")
		}
		var wrong *pgx.ConnConfig
		if wrong, err = pgx.ParseConfig(p.URL); err != nil {
			t.Fatal(err)
		}
		wrong.Password = "guessed"
		if conn, err := pgx.ConnectConfig(ctx, wrong); err == nil {
			conn.Close(ctx)
			t.Error("any password will do")
		}
		p.close(t)
	})
}

func TestBelowADirectoryClosedToOthers(t *testing.T) {
	asEveryAccount(t, func(t *testing.T, s *scene) {
		if err := os.Chmod(filepath.Dir(s.dataDir), 0o700); err != nil {
			t.Fatal(err)
		}
		p := s.serve(t)
		write(t, p.db(t), 1)
		elsewhere := strings.HasPrefix(s.cluster(t), s.systemDir)
		if root := os.Geteuid() == 0 && s.uid == 0; elsewhere != root {
			t.Errorf("the cluster is in %s", s.cluster(t))
		}
		if elsewhere && !strings.Contains(p.said(t), "outside the data directory") {
			t.Errorf("nothing says where the data is:\n%s", p.said(t))
		}
		p.close(t)
		again := s.serve(t)
		expect(t, again.db(t), 1)
		again.close(t)
		if !elsewhere {
			return
		}
		if err := os.RemoveAll(filepath.Dir(s.cluster(t))); err != nil {
			t.Fatal(err)
		}
		if lost := s.run(t, true); !strings.Contains(lost.Refused, "there is none: restore it") {
			t.Errorf("started with an empty database in place of a lost one: %+v", lost.holdAnswer)
		}
	})
}

func TestDeepDataDirectory(t *testing.T) {
	asEveryAccount(t, func(t *testing.T, s *scene) {
		s.dataDir = filepath.Join(s.dataDir, strings.Repeat("deep/", 40), "data")
		if err := os.MkdirAll(filepath.Dir(filepath.Dir(s.dataDir)), 0o755); err != nil {
			t.Fatal(err)
		}
		if s.uid != 0 {
			if err := os.Chown(filepath.Dir(filepath.Dir(s.dataDir)), int(s.uid), int(s.uid)); err != nil {
				t.Fatal(err)
			}
		}
		p := s.serve(t)
		write(t, p.db(t), 1)
		if path := s.state(t).SocketDir + "/.s.PGSQL.5432"; len(path) > 107 {
			t.Errorf("socket path of %d bytes", len(path))
		}
		p.close(t)
	})
}

func TestOrphanIsAdoptedAfterAKill(t *testing.T) {
	asEveryAccount(t, func(t *testing.T, s *scene) {
		s.begin(t)
		killed := s.serve(t)
		write(t, killed.db(t), 1)
		orphan := s.state(t).PID
		killed.kill(t)

		next := s.serve(t)
		if !next.Attached || s.state(t).PID != orphan {
			t.Errorf("not adopted: %+v", next.holdAnswer)
		}
		expect(t, next.db(t), 1)
		next.close(t)
		if _, err := cluster.ReadState(s.cluster(t)); err == nil {
			t.Error("the adopted server was not stopped")
		}
	})
}

func TestAServerAndItsProcessesAreKilled(t *testing.T) {
	asEveryAccount(t, func(t *testing.T, s *scene) {
		s.begin(t)
		killed := s.serve(t)
		write(t, killed.db(t), 1)
		server := s.state(t)
		killed.kill(t)
		if err := syscall.Kill(server.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		waitUntil(t, "the server is gone", func() bool { return !server.Alive(context.Background()) })

		// The worst case: another process of the same user has got the number.
		other := s.impostor(t)
		content, err := os.ReadFile(filepath.Join(s.cluster(t), "postmaster.pid"))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(content), "\n")
		stale := fmt.Sprintf("%d\n%s", other, rest)
		if err := os.WriteFile(filepath.Join(s.cluster(t), "postmaster.pid"), []byte(stale), 0o600); err != nil {
			t.Fatal(err)
		}

		next := s.serve(t)
		if !next.Started {
			t.Errorf("took process %d for the server", other)
		}
		expect(t, next.db(t), 1)
		next.close(t)
	})
}

// TestRootInAnotherUsersDataDirectory: the owner can continue with root's changes.
func TestRootInAnotherUsersDataDirectory(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root runs as others")
	}
	s := aScene(t, ordinary)
	s.begin(t)
	first := s.serve(t)
	write(t, first.db(t), 1)
	first.close(t)
	for n, uid := range []uint32{0, ordinary} {
		s.uid = uid
		next := s.serve(t)
		write(t, next.db(t), n+2)
		next.close(t)
	}
	s.uid = 0
	last := s.serve(t)
	expect(t, last.db(t), 1, 2, 3)
	last.close(t)
}

func TestOneServeADataDirectory(t *testing.T) {
	asEveryAccount(t, func(t *testing.T, s *scene) {
		one, oneOut := s.launch(t, true)
		two, twoOut := s.launch(t, true)
		one.listen(t, oneOut)
		two.listen(t, twoOut)
		winner, loser := one, two
		if one.Refused != "" {
			winner, loser = two, one
		}
		if winner.Refused != "" || loser.Refused == "" {
			t.Fatalf("one is to win: %+v, %+v", one.holdAnswer, two.holdAnswer)
		}
		late := s.run(t, true)
		for _, part := range []string{fmt.Sprintf("process %d", winner.cmd.Process.Pid), s.dataDir, "--data-dir"} {
			if !strings.Contains(late.Refused, part) {
				t.Errorf("%q does not say %q", late.Refused, part)
			}
		}
		write(t, winner.db(t), 1)
		winner.close(t)
	})
}

func TestTheLastProcessStopsTheServer(t *testing.T) {
	asEveryAccount(t, func(t *testing.T, s *scene) {
		s.begin(t)
		command := s.run(t, false)
		if !command.Started {
			t.Errorf("a subcommand alone: %+v", command.holdAnswer)
		}
		serve := s.serve(t)
		another := s.run(t, false)
		if !serve.Attached || !another.Attached {
			t.Errorf("with a running server: %+v, %+v", serve.holdAnswer, another.holdAnswer)
		}
		command.close(t)
		serve.close(t)
		write(t, another.db(t), 1)
		another.close(t)
		if _, err := cluster.ReadState(s.cluster(t)); err == nil {
			t.Error("the last one did not stop the server")
		}
	})
}

func TestSupervisedServerComesBack(t *testing.T) {
	t.Parallel()
	s := aScene(t, 0)
	s.begin(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server, err := postgres.Open(ctx, postgres.Options{
		DataDir: s.dataDir, SystemDir: s.systemDir, Exclusive: true, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	db := pgtest.Connect(t, server.URL())
	write(t, db, 1)
	supervised := make(chan error)
	go func() { supervised <- server.Supervise(ctx) }()
	killed := s.state(t).PID
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "another server is ready", func() bool {
		state, err := cluster.ReadState(s.cluster(t))
		return err == nil && state.PID != killed && state.Ready
	})
	// A pool learns only by use that a connection is dead.
	waitUntil(t, "the pool works again", func() bool { return db.PingContext(ctx) == nil })
	expect(t, db, 1)
	cancel()
	if err := <-supervised; err != nil {
		t.Error(err)
	}
	if err := server.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestMissingProgramsAreNamed(t *testing.T) {
	t.Parallel()
	s := aScene(t, 0)
	s.begin(t)
	version := filepath.Join(s.cluster(t), "PG_VERSION")
	if err := os.WriteFile(version, []byte("14\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := postgres.Open(context.Background(),
		postgres.Options{DataDir: s.dataDir, SystemDir: s.systemDir, Logger: slog.New(slog.DiscardHandler)})
	var unreadable *postgres.ClusterVersionError
	if !errors.As(err, &unreadable) || unreadable.Missing.Major != 14 {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"postgresql-14", "muster backup", "muster restore"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}
