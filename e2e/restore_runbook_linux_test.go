package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/internal/files/blobs/s3test"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// followed is a section of docs/runbooks/restore.md whose lines are run in a shell.
type followed struct {
	lines []string
	env   []string // beside what the section exports
	bin   string   // where muster is
}

// follow takes the lines of a section, with places of the test for those that it names.
func follow(t *testing.T, section string, places map[string]string, env ...string) *followed {
	t.Helper()
	blocks := shellOf(t, "docs/runbooks/restore.md")[section]
	if len(blocks) == 0 {
		t.Fatalf("the runbook has no section %q with commands", section)
	}
	commands := strings.Join(blocks[0], "\n")
	for place, ours := range places {
		if !strings.Contains(commands, place) {
			t.Errorf("%s: the commands do not name %s", section, place)
		}
		commands = strings.ReplaceAll(commands, place, ours)
	}
	f := &followed{lines: strings.Split(commands, "\n"), env: env, bin: t.TempDir()}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(f.bin, "muster"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// next runs all lines up to the next command of muster, which begins so.
func (f *followed) next(t *testing.T, begins string) *running {
	t.Helper()
	for n, line := range f.lines {
		if !strings.HasPrefix(line, "muster ") {
			continue
		}
		if !strings.HasPrefix(line, begins) {
			t.Fatalf("the runbook goes on with %q, and not with %q", line, begins)
		}
		script := strings.Join(f.lines[:n], "\n") + "\nexec " + line
		f.lines = append(f.lines[:n:n], f.lines[n+1:]...) // what was exported stays
		return start(t, exec.Command("sh", "-ec", script), append([]string{
			"PATH=" + f.bin + ":" + os.Getenv("PATH"), "MUSTER_LISTEN=127.0.0.1:0", "MUSTER_RATE_LIMITS=off",
		}, f.env...))
	}
	t.Fatalf("the runbook has no %q", begins)
	return nil
}

// TestLongRestoresByTheRunbook follows its lines: from a directory of files into a bucket,
// with a private server each; from there into another bucket, and into a directory, on
// servers of one's own. In each world the report is the same and can be proven.
func TestLongRestoresByTheRunbook(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	bucket, second := s3test.Start(t), s3test.Start(t)
	home := dataDir(t)
	server := serving(t, nil, "--data-dir", home, "--rate-limits=off")
	made := muster(t, "organization", "create", "--data-dir", home, "--name", "Acme", "--admin-email", "ana@acme.example", "--admin-password-file", passwordFile(t))
	minted := muster(t, "token", "create", "--data-dir", home, "--email", "ana@acme.example")
	if made.status != 0 || minted.status != 0 {
		t.Fatal(made, minted)
	}
	ana := client{base: server.base, token: strings.TrimSpace(minted.out)}
	live := ana.watch(t, "pg-live", pgtest.Watched(t).TCPURL(pgtest.Superuser, "postgres"))
	ana.assessedAgain(t, live)
	id := ana.request(t, security(live))
	pdf, _ := ana.download(t, id)
	holds := func(world string, r *running) {
		t.Helper()
		r.ready(t)
		got, _ := client{base: r.base, token: ana.token}.download(t, id)
		if sum(got.body) != sum(pdf.body) {
			t.Errorf("%s: the PDF is another one", world)
		}
		r.stop(t)
	}

	dir := newBackup(t)
	backUp := follow(t, "Back up", map[string]string{"/backups/muster-2026-11-20": dir}, "MUSTER_DATA_DIR="+home).next(t, "muster backup ")
	backUp.ends(t, "backup in ")
	server.stop(t)
	there := dataDir(t)
	restore := follow(t, "Restore", map[string]string{
		"/backups/muster-2026-11-20": dir, "/var/lib/muster": there, "LOG:POSITION:HASH": "'" + headLine(t, backUp.said.String(), "reports") + "'",
	}, "MUSTER_BLOB_URL="+bucket.URL)
	restore.next(t, "muster restore ").ends(t, "restored")
	restore.next(t, "muster events verify ").ends(t, "ok")
	holds("in a bucket", restore.next(t, "muster serve "))
	if n := len(bucket.Names(t)); n < 3 {
		t.Errorf("the bucket holds %d files", n)
	}

	settings := []string{"MUSTER_DATA_DIR=" + there, "MUSTER_BLOB_URL=" + bucket.URL}
	for _, to := range []string{second.URL, "file://" + filepath.Join(t.TempDir(), "files")} {
		i := elsewhere(t)
		i.blobs = to
		moved := follow(t, "Move the files", map[string]string{
			"/backups/move": newBackup(t), "s3://muster-reports?region=eu-west-1": to, "postgres://muster@db/muster_new": "'" + i.url + "'", "/var/lib/muster-new": i.dir,
		}, settings...)
		moved.next(t, "muster backup ").ends(t, "backup in ")
		moved.next(t, "muster restore ").ends(t, "restored")
		holds("in "+to, moved.next(t, "muster serve "))
		i.proven(t, id)
		settings = []string{"MUSTER_DATABASE_URL=" + i.url, "MUSTER_DATA_DIR=" + i.dir, "MUSTER_BLOB_URL=" + to}
	}
}

// proven has a report built again from its inputs, and the logs verified.
func (i installed) proven(t *testing.T, id uuid.UUID) {
	t.Helper()
	if said := i.must(t, "reports", "rebuild", id.String(), "--verify"); !strings.HasPrefix(said, "identical") {
		t.Errorf("rebuild says %s", said)
	}
	i.must(t, "events", "verify")
}
