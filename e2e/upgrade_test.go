package e2e

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"muster/internal/cli/command"
	"muster/internal/testing/pgtest"
	"muster/migrations"
)

// TestTheSchemaOfAnotherProgram: serve takes the migrations that an older one lacks, runs
// beside what a newer one has added, and stops being ready, and does not start again, once
// that has taken its second step.
func TestTheSchemaOfAnotherProgram(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	db := pgtest.Connect(t, i.url)
	last := takeBackTheLast(t, db)
	if status := i.must(t, "migrate", "status"); strings.Count(status, "pending") != 1 || !strings.Contains(status, last) {
		t.Fatalf("the last migration was not taken back:\n%s", status)
	}
	i.must(t, "migrate", "up")
	i.must(t, "migrate", "finish", "--yes") // the last one may be a second step
	if status := i.must(t, "migrate", "status"); strings.Contains(status, "pending") {
		t.Errorf("the schema of an older program is left as it was:\n%s", status)
	}

	db.MustExec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (-90001, true)`) // as a newer one notes that older ones may run
	r := servingHere(t, append(i.flags(), "--roles=api,projections")...)
	if line := `msg="a newer Muster has migrated the database; this one may run beside it" schema=90001`; !strings.Contains(r.logged.String(), line) {
		t.Errorf("the log does not say %q:\n%s", line, r.logged)
	}
	if got := i.must(t, "migrate", "finish", "--yes"); !strings.Contains(got, "nothing is left") {
		t.Errorf("there is something to finish: %s", got)
	}

	db.MustExec(`UPDATE goose_db_version SET version_id = 90001 WHERE version_id = -90001`)
	eventually(t, "it is not ready any more", func() bool { return !r.isReady() })
	if !strings.Contains(r.logged.String(), "schema version 90001") {
		t.Errorf("the log does not say why:\n%s", r.logged)
	}
	r.stop(t)
	why := []string{"schema version 90001", "a newer Muster has migrated it", "restore the backup", "docs/runbooks/upgrade.md"}
	i.fail(t, []string{"migrate", "up"}, why...)
	refused := launchHere(t, serveArgs(i.flags())...).outcome(t)
	if refused.status != command.ExitFailed {
		t.Errorf("serve ended with %d", refused.status)
	}
	refused.says(t, why...)
}

// takeBackTheLast takes the last migration back, and returns its file.
func takeBackTheLast(t *testing.T, db *sqlx.DB) string {
	t.Helper()
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	last := slices.Max(names)
	text, err := fs.ReadFile(migrations.FS, last)
	if err != nil {
		t.Fatal(err)
	}
	version, err := strconv.Atoi(last[:5])
	if err != nil {
		t.Fatal(err)
	}
	_, down, _ := strings.Cut(string(text), "-- +goose Down")
	db.MustExec(down)
	db.MustExec(`DELETE FROM goose_db_version WHERE abs(version_id) = $1`, version)
	return last
}
