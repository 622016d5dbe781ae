package e2e

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/cli/installation"
	"muster/internal/cli/operate"
	"muster/internal/operate/backup"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// elsewhere is a place for an installation where none is yet.
func elsewhere(t testing.TB) installed {
	t.Helper()
	return installed{url: pgtest.EmptyURL(t), dir: filepath.Join(t.TempDir(), "data")}
}

// newBackup is a directory in which a backup can be made.
func newBackup(t testing.TB) string {
	t.Helper()
	pgtest.NeedsDump(t)
	return filepath.Join(t.TempDir(), "backup")
}

// same holds a report of a restored installation against the PDF that the old
// one gave out, and against everything that can prove it.
func (i installed) same(t testing.TB, c client, id uuid.UUID, pdf []byte) {
	t.Helper()
	got, path := c.download(t, id)
	if sum(got.body) != sum(pdf) {
		t.Errorf("the PDF of report %s is another one", id)
	}
	if said := i.must(t, "reports", "rebuild", id.String(), "--verify"); !strings.HasPrefix(said, "identical") {
		t.Errorf("rebuild says %s", said)
	}
	i.must(t, "verify", path)
}

// TestBackupIsRestoredElsewhere makes it while serve runs and is asked for
// reports, and lives on in the restored installation.
func TestBackupIsRestoredElsewhere(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "--job-lease=1s")
	h.ana.assessedAgain(t, h.live)
	h.must(t, "keys", "rotate") // two keys are to be carried over
	first := h.done(t, security(h.live))
	pdf, _ := h.ana.download(t, first)
	for n := range 2 {
		h.ana.request(t, scorecard(h.live, n))
	}
	dir := newBackup(t)
	said := h.must(t, "backup", dir)
	later := h.ana.request(t, scorecard(h.live, 9))
	h.ana.await(t, later, "Ready")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the backup's directory has mode %v, %v", info.Mode(), err)
	}
	h.fail(t, []string{"backup", dir}, "not empty")
	h.server.stop(t)

	there := elsewhere(t)
	restored := there.must(t, "restore", dir)
	for _, word := range []string{"reports: ok", "organization: ok", "fleet: ok", "files: ", "signs in again"} {
		if !strings.Contains(restored, word) {
			t.Errorf("the restore does not say %q:\n%s", word, restored)
		}
	}
	server := servingHere(t, append(there.flags(), "--rate-limits=off")...)
	c := client{base: server.base, token: h.ana.token}
	there.same(t, c, first, pdf.body)
	there.must(t, "events", "verify", "--witness", headLine(t, said, "reports"))
	c.assessedAgain(t, h.live)
	for _, id := range c.history(t, "InstanceScorecard") { // what was queued or being built goes on
		c.await(t, id, "Ready")
	}
	c.await(t, c.request(t, security(h.live)), "Ready")
	if answer, err := c.try(t.Context(), http.MethodGet, "/api/v1/reports/"+later.String(), nil); err != nil || answer.status != http.StatusNotFound {
		t.Errorf("a report that was asked for after the backup answers %d, %v", answer.status, err)
	}
	var audit struct{ Items []struct{ Type string } }
	c.get(t, "/api/v1/audit-events?type=backupRestored", &audit)
	if len(audit.Items) != 1 {
		t.Errorf("the audit list holds %+v", audit)
	}
	there.must(t, "events", "verify")
	there.fail(t, []string{"restore", dir}, "the database holds an installation", "the blob store holds files")
}

// TestLongPrivateServerMoves from one data directory to another, backed up while
// serve runs on it.
func TestLongPrivateServerMoves(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	from, to := []string{"--data-dir", dataDir(t)}, []string{"--data-dir", dataDir(t)}
	must := func(where []string, args ...string) string {
		t.Helper()
		got := muster(t, append(args, where...)...)
		if got.status != 0 {
			t.Fatalf("muster %s ended with %d: %s%s", strings.Join(args, " "), got.status, got.out, got.errors)
		}
		return got.out
	}
	first := serving(t, nil, append(from, "--rate-limits=off")...)
	must(from, "organization", "create", "--name", "Acme", "--admin-email", "ana@acme.example", "--admin-password-file", passwordFile(t))
	ana := client{base: first.base, token: strings.TrimSpace(must(from, "token", "create", "--email", "ana@acme.example"))}
	live := ana.watch(t, "pg-live", pgtest.Watched(t).TCPURL(pgtest.Superuser, "postgres"))
	ana.assessedAgain(t, live)
	id := ana.request(t, security(live))
	ana.await(t, id, "Ready")
	pdf, _ := ana.download(t, id)
	dir := newBackup(t)
	must(from, "backup", dir)
	muster(t, append([]string{"restore", dir}, from...)...).failed(t, "another muster serve")
	first.stop(t)
	muster(t, append([]string{"restore", dir}, from...)...).failed(t, "the database holds an installation")

	must(to, "restore", dir)
	second := serving(t, nil, append(to, "--rate-limits=off")...)
	ana.base = second.base
	if got, _ := ana.download(t, id); sum(got.body) != sum(pdf.body) {
		t.Error("the PDF is another one")
	}
	ana.assessedAgain(t, live)
	if said := must(to, "reports", "rebuild", id.String(), "--verify"); !strings.HasPrefix(said, "identical") {
		t.Errorf("rebuild says %s", said)
	}
	must(to, "events", "verify")
}

// TestWhatHappensBesideABackupAndARestore: a second backup into the directory leaves the first alone. Tables stay until
// they are dumped, because an ended generation of a projection may be due to be dropped at any time. Sessions
// end with a restore: one that was revoked since the backup would be valid again.
func TestWhatHappensBesideABackupAndARestore(t *testing.T) {
	t.Parallel()
	i := install(t)
	email := i.organization(t, "Acme")
	db := pgtest.Connect(t, i.url)
	db.MustExec(`CREATE SCHEMA "Old generation"; CREATE TABLE "Old generation".kept AS SELECT 1 AS n`)
	dir, there := newBackup(t), elsewhere(t)
	var token string
	i.within(t, func(ctx context.Context, in *installation.Installation) (err error) {
		if token, _, err = in.Accounts.SignIn(ctx, email, password, accounts.Client{}); err != nil {
			return err
		}
		source := operate.BackupSource(in, func(string) {}, false)
		sealed := source.Sealed
		source.Sealed = func(ctx context.Context, q sqlx.QueryerContext) (map[string]int, error) {
			if _, err := db.ExecContext(ctx, `SET lock_timeout = '50ms'; DROP TABLE "Old generation".kept`); err == nil {
				t.Error("a table was dropped between the snapshot and the dump")
			}
			return sealed(ctx, q)
		}
		source.Record = func(context.Context, backup.Manifest) error {
			i.fail(t, []string{"backup", dir}, "not empty")
			return nil
		}
		_, err = source.Make(ctx, dir)
		return err
	})
	there.must(t, "restore", dir)
	pgtest.Connect(t, there.url).MustExec(`SELECT n FROM "Old generation".kept`)
	there.within(t, func(ctx context.Context, in *installation.Installation) error {
		if _, err := in.Accounts.SessionPrincipal(ctx, token); err == nil {
			t.Error("the session is valid in the restored installation")
		}
		return nil
	})
	if !there.signsIn(t, email, password) {
		t.Error("the password does not sign in")
	}
}

// TestLongABackupNotesFilesErasedDuringIt, and nobody misses them.
func TestLongABackupNotesFilesErasedDuringIt(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	h := newHouse(t)
	id, other := h.ana.request(t, security(h.live)), h.ana.request(t, scorecard(h.live, 0))
	h.ana.await(t, id, "Ready")
	h.ana.await(t, other, "Ready")
	inputs, dir := h.stored(t, id, theInputs), newBackup(t)
	var made backup.Manifest
	h.within(t, func(ctx context.Context, in *installation.Installation) (err error) {
		made, err = operate.BackupSource(in, func(what string) {
			if strings.HasPrefix(what, "copying file 1 ") { // behind the dump, before its copy
				in.DB.MustExec(`UPDATE jobs SET due_at = now() WHERE kind = 'erase' AND key = 'inputs' AND subject = $1`, id)
				eventually(t, "the inputs are erased", func() bool {
					_, err := os.Stat(inputs)
					return errors.Is(err, fs.ErrNotExist)
				})
			}
		}, false).Make(ctx, dir)
		return err
	})
	if len(made.Absent) != 1 || made.Absent[0].Reason != "erased" || !strings.HasSuffix(inputs, filepath.FromSlash(made.Absent[0].Name)) {
		t.Fatalf("absent are %+v", made.Absent)
	}
	h.server.stop(t)

	there := elsewhere(t)
	if said := there.must(t, "restore", dir); !strings.Contains(said, "(erased)") {
		t.Errorf("the restore does not say what was erased:\n%s", said)
	}
	servingHere(t, there.flags()...)
	// The erasure is done again: the job for it is in the backup.
	pgtest.Connect(t, there.url).MustExec(`UPDATE jobs SET due_at = now() WHERE kind = 'erase' AND key = 'inputs' AND subject = $1`, id)
	eventually(t, "the inputs count as erased", func() bool { return there.rebuild(t, id).status == 4 })
	if got := there.rebuild(t, other); got.status != 0 {
		t.Errorf("the other report: %s%s", got.out, got.errors)
	}
}

// TestFilesThatAreMissingOrDamaged fail a backup that nobody accepts as it is.
func TestFilesThatAreMissingOrDamaged(t *testing.T) {
	t.Parallel()
	h := newReported(t)
	if err := os.Remove(h.stored(t, h.security, thePDF)); err != nil {
		t.Fatal(err)
	}
	damaged := h.stored(t, h.scorecard, theInputs)
	write(t, damaged, flip(read(t, damaged)))
	dir := newBackup(t)
	h.muster(t, "backup", dir).says(t, "2 files", "--accept-findings")
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("a failed backup left %v", left)
	}
	said := h.must(t, "backup", dir, "--accept-findings")
	for _, word := range []string{"(missing)", "(damaged)", filepath.Base(damaged)} {
		if !strings.Contains(said, word) {
			t.Errorf("it does not say %q:\n%s", word, said)
		}
	}
	there := elsewhere(t)
	if said := there.must(t, "restore", dir); !strings.Contains(said, "not in the backup: ") {
		t.Errorf("the restore does not say what is missing:\n%s", said)
	}
	there.must(t, "events", "verify")
}

// TestLongBackupIsKilled: what is left is no backup, and says so.
func TestLongBackupIsKilled(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	h := newHouse(t)
	h.done(t, security(h.live))
	for range 3 {
		dir := newBackup(t)
		r := launch(t, nil, append([]string{"backup", dir}, h.flags()...)...)
		r.atWork(800 * time.Millisecond)
		r.kill(t)
		if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil {
			elsewhere(t).must(t, "restore", dir) // it had come to its end
			continue
		}
		elsewhere(t).muster(t, "restore", dir).failed(t, "is not a backup")
		if len(files(t, dir)) > 0 {
			h.fail(t, []string{"backup", dir}, "not empty")
		}
	}
	h.must(t, "backup", newBackup(t))
}

// headLine is a log's signed head as `backup` and `events head` print it.
func headLine(t testing.TB, said, log string) string {
	t.Helper()
	for line := range strings.Lines(said) {
		if f := strings.Fields(line); len(f) == 5 && f[1] == log {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("no head of log %s in\n%s", log, said)
	return ""
}

// TestEventsThatCannotBeDecoded are a finding like a missing file, and nothing
// that keeps the rest from being saved.
func TestEventsThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	h := newReported(t)
	organization := h.events(t, "--stream", h.security.String())[0].OrganizationID
	h.record(t, organization, uuid.New(),
		eventstore.NewEvent{Type: report.Name(report.Ready{}), SchemaVersion: 1, Data: []byte(`{"pdfKey":7}`)},
		eventstore.NewEvent{Type: report.Name(report.Ready{}), SchemaVersion: 1, Data: []byte(`{"pdfKey":"../../escaped.pdf"}`)})
	dir := newBackup(t)
	h.fail(t, []string{"backup", dir}, "2 files", "(unreadable)", "--accept-findings")
	if said := h.must(t, "backup", dir, "--accept-findings"); strings.Count(said, "(unreadable)") != 2 {
		t.Errorf("it says\n%s", said)
	}
	there := elsewhere(t)
	if said := there.must(t, "restore", dir); !strings.Contains(said, "files: ok, 12 of 2 reports") {
		t.Errorf("the restore says\n%s", said)
	}
}
