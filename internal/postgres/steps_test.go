package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"

	"muster/internal/postgres"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
	"muster/migrations"
)

// Three programs, each with the migrations of the one before: a table, then a column of it
// that gets another name in two steps, then a table more.
var (
	firstProgram  = fstest.MapFS{"00001_table.sql": up("CREATE TABLE kept (made int);")}
	secondProgram = also(firstProgram, fstest.MapFS{
		"00002_both_names.sql": step("expand", "ALTER TABLE kept ADD COLUMN makes int;"),
		"00003_one_name.sql":   step("contract", "ALTER TABLE kept DROP COLUMN made;"),
	})
	thirdProgram = also(secondProgram, fstest.MapFS{"00004_more.sql": step("expand", "CREATE TABLE more (n int);")})
)

func step(is, statements string) *fstest.MapFile {
	m := up(statements)
	m.Data = append([]byte("-- Owner: a test.\n-- Step: "+is+"\n"), m.Data...)
	return m
}

func also(before, more fstest.MapFS) fstest.MapFS {
	all := maps.Clone(before)
	maps.Copy(all, more)
	return all
}

// before is a database that the first program has migrated.
func before(t *testing.T) *sqlx.DB {
	t.Helper()
	db := pgtest.Connect(t, pgtest.EmptyURL(t))
	migrates(t, db, firstProgram)
	return db
}

// migrates has a program start, and returns what it logs.
func migrates(t *testing.T, db *sqlx.DB, program fstest.MapFS) string {
	t.Helper()
	var said bytes.Buffer
	if err := postgres.MigrateFiles(t.Context(), db, program, slog.New(slog.NewTextHandler(&said, nil))); err != nil {
		t.Fatalf("a program of %d migrations: %v", len(program), err)
	}
	return said.String()
}

// refuses holds a program to refusing to start, because of a migration that it does not know.
func refuses(t *testing.T, db *sqlx.DB, program fstest.MapFS, version int64) {
	t.Helper()
	err := postgres.MigrateFiles(t.Context(), db, program, quiet)
	var newer *postgres.NewerSchemaError
	if !errors.As(err, &newer) || newer.Database != version || newer.Binary != int64(len(program)) {
		t.Errorf("a program of %d migrations starts with %v, want it refused because of %d", len(program), err, version)
	}
}

// firstEver is the query of a program from before steps at its start.
func firstEver(t *testing.T, db *sqlx.DB) (current, target int64) {
	t.Helper()
	provider, err := goose.NewProvider(goose.DialectPostgres, db.DB, firstProgram, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.Up(t.Context()); err != nil {
		t.Errorf("a program of before there were steps: %v", err)
	}
	if current, target, err = provider.GetVersions(t.Context()); err != nil {
		t.Fatal(err)
	}
	return current, target
}

// statuses are the migrations of a program, with a + where they are applied.
func statuses(t *testing.T, db *sqlx.DB, program fstest.MapFS) string {
	t.Helper()
	list, err := postgres.StatusOfFiles(t.Context(), db, program)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range list {
		mark := "-"
		if m.AppliedAt != nil {
			mark = "+"
		}
		all = append(all, fmt.Sprint(mark, m.Version, " ", m.Step))
	}
	return strings.Join(all, ", ")
}

// TestTheWayBackIsOpenUntilTheSecondStep: after the first one the earlier program starts,
// whether it knows about steps or not; after the second it refuses.
func TestTheWayBackIsOpenUntilTheSecondStep(t *testing.T) {
	t.Parallel()
	db := before(t)
	for range 2 { // the second start finds nothing to do
		migrates(t, db, secondProgram)
	}
	if got := statuses(t, db, secondProgram); got != "+1 alone, +2 expand, -3 contract" {
		t.Errorf("after the first step: %s", got)
	}
	if said := migrates(t, db, firstProgram); !strings.Contains(said, "a newer Muster has migrated the database") || !strings.Contains(said, "schema=2 known=1") {
		t.Errorf("the program from before says %q", said)
	}
	if current, target := firstEver(t, db); current != target {
		t.Errorf("a program of before there were steps finds %d and knows %d", current, target)
	}
	if said := migrates(t, db, secondProgram); strings.Contains(said, "newer") {
		t.Errorf("its own migrations are news to the new program: %s", said)
	}

	if err := postgres.FinishFiles(t.Context(), db, secondProgram, quiet); err != nil {
		t.Fatal(err)
	}
	if got := statuses(t, db, secondProgram); got != "+1 alone, +2 expand, +3 contract" {
		t.Errorf("after the second step: %s", got)
	}
	refuses(t, db, firstProgram, 3)
	if current, _ := firstEver(t, db); current != 3 {
		t.Errorf("a program of before there were steps finds %d", current)
	}
	migrates(t, db, secondProgram)
}

// TestTheNextUpgradeTakesTheSecondStepOfTheLast, which keeps the program before that one
// out, and not the last.
func TestTheNextUpgradeTakesTheSecondStepOfTheLast(t *testing.T) {
	t.Parallel()
	db := before(t)
	migrates(t, db, secondProgram)
	migrates(t, db, thirdProgram)
	if got := statuses(t, db, thirdProgram); got != "+1 alone, +2 expand, +3 contract, +4 expand" {
		t.Errorf("it came to %s", got)
	}
	refuses(t, db, firstProgram, 3)
	migrates(t, db, secondProgram)
	if version, err := postgres.SchemaVersion(t.Context(), db); err != nil || version != 3 {
		t.Errorf("a backup says that a program has to know %d, %v", version, err)
	}
}

// TestTheSecondStepIsRefusedWhileAnOlderProgramRuns, whether it says what it knows or is older
// than that.
func TestTheSecondStepIsRefusedWhileAnOlderProgramRuns(t *testing.T) {
	t.Parallel()
	url := pgtest.EmptyURL(t)
	db := pgtest.Connect(t, url)
	migrates(t, db, firstProgram)
	migrates(t, db, secondProgram)
	for name, older := range map[string]bool{"muster/main": true, "muster/main@2": true, "muster/main@3": false, "muster/main@4": false, "psql": false} {
		other := connectedAs(t, url, name)
		err := postgres.RequireNoOlder(t.Context(), db, 3)
		var refused *postgres.OlderProgramsError
		if errors.As(err, &refused) != older || !older && err != nil {
			t.Errorf("beside %s: %v", name, err)
		}
		if older {
			if err := postgres.FinishFiles(t.Context(), db, secondProgram, quiet); !errors.As(err, &refused) {
				t.Errorf("beside %s it is finished: %v", name, err)
			}
		}
		db.MustExec(`SELECT pg_terminate_backend($1, 10000)`, other) // and waits until it has ended
	}
	if got := statuses(t, db, secondProgram); got != "+1 alone, +2 expand, -3 contract" {
		t.Errorf("what was refused left %s", got)
	}
	if err := postgres.FinishFiles(t.Context(), db, secondProgram, quiet); err != nil {
		t.Errorf("when all have ended: %v", err)
	}
}

// TestNothingIsTakenFromUnderAnOlderProgram by a start either: a migration beside which earlier
// programs cannot run is refused while one is connected, with the programs' addresses and the
// migration. A migration beside which they can run, and an applied one, waits for nothing.
func TestNothingIsTakenFromUnderAnOlderProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		next    fstest.MapFS
		breaks  string
		applied string
	}{
		"alone":               {fstest.MapFS{"00002_second.sql": step("alone", "SELECT 1;")}, "00002_second.sql", "+1 alone, -2 alone"},
		"says nothing":        {fstest.MapFS{"00002_second.sql": up("SELECT 1;")}, "00002_second.sql", "+1 alone, -2 alone"},
		"contract not at end": {fstest.MapFS{"00002_second.sql": step("contract", "SELECT 1;"), "00003_third.sql": step("expand", "SELECT 1;")}, "00002_second.sql", "+1 alone, -2 contract, -3 expand"},
		"alone behind expand": {fstest.MapFS{"00002_second.sql": step("expand", "SELECT 1;"), "00003_third.sql": step("alone", "SELECT 1;")}, "00003_third.sql", "+1 alone, -2 expand, -3 alone"},
		"expand":              {fstest.MapFS{"00002_second.sql": step("expand", "SELECT 1;")}, "", "+1 alone, +2 expand"},
		"contract at end":     {fstest.MapFS{"00002_second.sql": step("contract", "SELECT 1;")}, "", "+1 alone, -2 contract"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.EmptyURL(t)
			db := pgtest.Connect(t, url)
			migrates(t, db, firstProgram)
			older := connectedAs(t, url, "muster/main@1")
			newer := also(firstProgram, c.next)
			err := postgres.MigrateFiles(t.Context(), db, newer, quiet)
			var refused *postgres.OlderProgramsError
			switch {
			case c.breaks == "" && err != nil:
				t.Errorf("beside an older program: %v", err)
			case c.breaks != "" && (!errors.As(err, &refused) || refused.File != c.breaks || len(refused.Where) != 1):
				t.Errorf("beside an older program: %v, want it refused because of %s", err, c.breaks)
			}
			if got := statuses(t, db, newer); got != c.applied {
				t.Errorf("it left %s, want %s", got, c.applied)
			}
			db.MustExec(`SELECT pg_terminate_backend($1, 10000)`, older)
			migrates(t, db, newer)
			connectedAs(t, url, "muster/main@1")
			migrates(t, db, newer) // nothing is left to take
		})
	}
}

// connectedAs connects under a name for as long as the test takes, and returns the process.
func connectedAs(t *testing.T, url, name string) (pid int) {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.RuntimeParams["application_name"] = name
	other, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close(context.WithoutCancel(t.Context())) })
	return int(other.PgConn().PID())
}

// TestANewDatabaseMigratesAtOnce: there is no earlier program.
func TestANewDatabaseMigratesAtOnce(t *testing.T) {
	t.Parallel()
	db := pgtest.Connect(t, pgtest.EmptyURL(t))
	migrates(t, db, secondProgram)
	if got := statuses(t, db, secondProgram); strings.Contains(got, "-") {
		t.Errorf("a new database has %s", got)
	}
}

// TestAMigrationWithoutAStepKeepsEarlierReleasesOut, like one that says so.
func TestAMigrationWithoutAStepKeepsEarlierReleasesOut(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]*fstest.MapFile{"nothing": up("SELECT 1;"), "alone": step("alone", "SELECT 1;")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := before(t)
			migrates(t, db, also(firstProgram, fstest.MapFS{"00002_second.sql": second}))
			refuses(t, db, firstProgram, 2)
		})
	}
	db := before(t)
	err := postgres.MigrateFiles(t.Context(), db, also(firstProgram, fstest.MapFS{"00002_second.sql": step("expnad", "SELECT 1;")}), quiet)
	if err == nil || !strings.Contains(err.Error(), "00002_second.sql") || !strings.Contains(err.Error(), "expnad") {
		t.Errorf("a step that there is not: %v", err)
	}
}

// TestTheStatusDoesNotWaitForAMigration: the processes that serve meanwhile are asked whether they are ready.
func TestTheStatusDoesNotWaitForAMigration(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	migrating, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = migrating.Close() }()
	unlock, err := postgres.LockSession(t.Context(), migrating, postgres.MigrationLockID)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unlock(context.WithoutCancel(t.Context())) }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := postgres.MigrationStatus(ctx, db); err != nil {
		t.Errorf("the status, while somebody migrates: %v", err)
	}
	if err := postgres.CheckSchema(ctx, db); err != nil {
		t.Errorf("the check of the schema, while somebody migrates: %v", err)
	}
}

// TestEachMigrationSaysItsStep, since there are steps, and takes effect as a whole or not at
// all, ever since.
func TestEachMigrationSaysItsStep(t *testing.T) {
	t.Parallel()
	for name, text := range ours(t) {
		head, _, found := strings.Cut(string(text.Data), "-- +goose Up")
		if !found || name >= firstWithStep && !strings.Contains(head, "\n-- Step: ") {
			t.Errorf("the head of %s does not say which step it is (CONTRIBUTING.md, Add a migration)", name)
		}
		if strings.Contains(string(text.Data), "+goose NO TRANSACTION") {
			t.Errorf("%s leaves half of it behind when it is killed", name)
		}
	}
}

// firstWithStep is the first migration whose head had to say its step.
const firstWithStep = "00060"

// ours are the program's own migrations.
func ours(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	return files
}

// TestAMigrationThatIsKilledLeavesNothing at its end, where most would be lost, and the next
// start goes on to the same schema. These are the newest ten.
func TestAMigrationThatIsKilledLeavesNothing(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(ours(t)))
	areKilled(t, names[len(names)-10])
}

// TestLongEachMigrationThatIsKilledLeavesNothing, of those that say their step.
func TestLongEachMigrationThatIsKilledLeavesNothing(t *testing.T) {
	longtest.Only(t)
	areKilled(t, firstWithStep)
}

// areKilled kills all migrations from the first on, each once.
func areKilled(t *testing.T, from string) {
	t.Helper()
	db := pgtest.Connect(t, pgtest.EmptyURL(t))
	all, program := ours(t), fstest.MapFS{}
	names := slices.Sorted(maps.Keys(all))
	first := slices.IndexFunc(names, func(name string) bool { return name >= from })
	for _, name := range names[:first] {
		program[name] = all[name]
	}
	migrates(t, db, program)
	for _, name := range names[first:] {
		left := objects(t, db)
		up, down, found := strings.Cut(string(all[name].Data), "-- +goose Down")
		if !found {
			t.Fatalf("%s has no way down", name)
		}
		program[name] = &fstest.MapFile{Data: []byte(up + "SELECT pg_terminate_backend(pg_backend_pid());\n\n-- +goose Down" + down)}
		if err := postgres.FinishFiles(t.Context(), db, program, quiet); err == nil {
			t.Fatalf("%s was not killed", name)
		}
		if got := statuses(t, db, program); strings.Count(got, "-") != 1 {
			t.Errorf("%s was killed and is noted as applied", name)
		}
		if diff := cmp.Diff(left, objects(t, db)); diff != "" {
			t.Errorf("%s was killed and left (-before +after):\n%s", name, diff)
		}
		program[name] = all[name]
		if err := postgres.FinishFiles(t.Context(), db, program, quiet); err != nil {
			t.Fatalf("%s after it was killed: %v", name, err)
		}
	}
	if diff := cmp.Diff(objects(t, pgtest.DB(t)), objects(t, db)); diff != "" {
		t.Errorf("what was killed at every step came to another schema (-without +with):\n%s", diff)
	}
}
