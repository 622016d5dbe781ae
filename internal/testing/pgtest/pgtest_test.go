package pgtest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/internal/postgres/cluster"
	"muster/internal/testing/pgtest"
)

// asVictim makes the test binary one that is killed in the middle of a test.
const asVictim = "TEST_PGTEST_VICTIM"

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestVictim runs only in the process that TestKilledBinaryLeavesNothing kills.
func TestVictim(t *testing.T) {
	if os.Getenv(asVictim) == "" {
		t.Skip("nobody is going to kill this process")
	}
	fmt.Println(pgtest.Shared(t).Dir())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func TestKilledBinaryLeavesNothing(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestVictim$")
	cmd.Env = append(os.Environ(), asVictim+"=yes")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(line)
	state, err := cluster.ReadState(dir)
	if err != nil || !state.Alive(t.Context()) {
		t.Fatalf("no server runs in %s: %v", dir, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Dir(dir)); errors.Is(err, fs.ErrNotExist) && !state.Alive(t.Context()) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("server or directory is still there a minute later")
		}
	}
}

func TestEachTestHasItsOwnMigratedDatabase(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := pgtest.DB(t)
			var rows int
			if err := db.Get(&rows, `SELECT count(*) FROM installation WHERE name = 'name'`); err != nil {
				t.Fatal(err)
			}
			if rows != 0 {
				t.Fatalf("found %d rows of somebody else", rows)
			}
			db.MustExec(`INSERT INTO installation (name, fingerprint) VALUES ('name', 'mine')`)
			var seen string
			if err := pgtest.DB(t).Get(&seen, `SELECT fingerprint FROM installation WHERE name = 'name'`); err != nil || seen != "mine" {
				t.Fatalf("a second pool of the same test sees %q, %v", seen, err)
			}
		})
	}
}

// TestAFilledTemplateIsFilledOnce, and each test has a copy of its own.
func TestAFilledTemplateIsFilledOnce(t *testing.T) {
	t.Parallel()
	var filled atomic.Int32
	fill := func(url string) error {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			return err
		}
		_, err = conn.Exec(t.Context(), `INSERT INTO installation (name, fingerprint) VALUES ('name', $1)`, fmt.Sprint(filled.Add(1)))
		return errors.Join(err, conn.Close(t.Context()))
	}
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			db := pgtest.Connect(t, pgtest.FilledURL(t, "filled", fill))
			var seen string
			if err := db.Get(&seen, `SELECT fingerprint FROM installation WHERE name = 'name'`); err != nil || seen != "1" {
				t.Errorf("the copy holds %q, %v", seen, err)
			}
			db.MustExec(`UPDATE installation SET fingerprint = 'mine' WHERE name = 'name'`)
			if err := pgtest.DB(t).Get(&seen, `SELECT fingerprint FROM installation WHERE name = 'name'`); err != nil || seen != "mine" {
				t.Errorf("DB is another database, in which is %q, %v", seen, err)
			}
		})
	}
	if _, err := pgx.Connect(t.Context(), pgtest.Shared(t).URL(pgtest.Superuser, "filled")); err == nil {
		t.Error("somebody can connect to the template, which then cannot be copied")
	}
}

func TestTheTemplateTakesNoConnections(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	var template, allowed bool
	err := pgtest.Connect(t, url).QueryRow(`SELECT datistemplate, datallowconn FROM pg_database WHERE datname = 'muster_template'`).Scan(&template, &allowed)
	if err != nil || !template || allowed {
		t.Errorf("template %t, takes connections %t, %v", template, allowed, err)
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

// TestServersHaveDifferentIdentifiers: Muster does not watch a server with the system identifier of its own.
func TestServersHaveDifferentIdentifiers(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for range 3 {
		server := pgtest.Cluster(t, pgtest.Options{})
		var name, sums string
		db := pgtest.Connect(t, server.Superuser())
		if err := db.QueryRow(`SELECT system_identifier::text, current_setting('data_checksums') FROM pg_control_system()`).Scan(&name, &sums); err != nil || sums != "on" {
			t.Errorf("checksums %q, %v", sums, err)
		}
		names[name] = true
		server.Restart(t)
	}
	if len(names) != 3 {
		t.Errorf("three servers are called %v", names)
	}
}
