package e2e

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/cli/operate"
	"muster/internal/config"
	"muster/internal/operate/backup"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// backedUp is an installation with reports, which has stopped, and a backup of it.
type backedUp struct {
	house
	report uuid.UUID
	pdf    []byte
	dir    string
}

func newBackedUp(t testing.TB) backedUp {
	t.Helper()
	dir := newBackup(t) // first: it may skip the test
	r := newReported(t)
	b := backedUp{house: r.house, report: r.security, pdf: read(t, r.stored(t, r.security, theSigned)), dir: dir}
	b.must(t, "backup", b.dir)
	return b
}

// copied is a copy of the backup to do something to.
func (b backedUp) copied(t testing.TB) string {
	t.Helper()
	dir := newBackup(t)
	if err := errors.Join(os.CopyFS(dir, os.DirFS(b.dir)), os.Chmod(filepath.Join(dir, "secret.key"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// files lists what a backup holds below a directory of it.
func files(t testing.TB, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

// tables counts what is in the database of a place.
func (i installed) tables(t testing.TB) (n int) {
	t.Helper()
	if err := pgtest.Connect(t, i.url).Get(&n, `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace`); err != nil {
		t.Fatal(err)
	}
	return n
}

func flip(content []byte) []byte {
	content = slices.Clone(content)
	content[len(content)/2] ^= 1
	return content
}

// TestRestore holds what is restored, and what is refused, against one installation and its
// backup. The cases leave both as they are.
func TestRestore(t *testing.T) {
	t.Parallel()
	b := newBackedUp(t)
	for name, holds := range map[string]func(*testing.T, backedUp){
		"a backup that was changed":          changedBackups,
		"into something else":                restoreIntoSomethingElse,
		"two restores of a backup at a time": twoRestoresAtOnce,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holds(t, b)
		})
	}
}

// changedBackups: each is refused before anything is written.
func changedBackups(t *testing.T, b backedUp) {
	in := func(dir, name string) string { return filepath.Join(dir, name) }
	edit := func(from, to string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			manifest := read(t, in(dir, "manifest.json"))
			changed := bytes.Replace(manifest, []byte(from), []byte(to), 1)
			if bytes.Equal(changed, manifest) {
				t.Fatalf("the manifest does not hold %s:\n%s", from, manifest)
			}
			write(t, in(dir, "manifest.json"), changed)
		}
	}
	there := elsewhere(t)
	for name, test := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string
	}{
		"a byte of the dump": {func(t *testing.T, dir string) {
			write(t, in(dir, "database.dump"), flip(read(t, in(dir, "database.dump"))))
		}, "database.dump was changed"},
		"a dump cut short": {func(t *testing.T, dir string) {
			write(t, in(dir, "database.dump"), read(t, in(dir, "database.dump"))[:1000])
		}, "database.dump was changed"},
		"a byte of a file": {func(t *testing.T, dir string) {
			path := files(t, in(dir, "blobs"))[0]
			write(t, path, flip(read(t, path)))
		}, "was changed"},
		"a file that is missing": {func(t *testing.T, dir string) {
			if err := os.Remove(files(t, in(dir, "blobs"))[1]); err != nil {
				t.Fatal(err)
			}
		}, "is missing"},
		"another key": {func(t *testing.T, dir string) {
			write(t, in(dir, "secret.key"), []byte(strings.Repeat("ab", 32)+"\n"))
		}, "signature does not fit"},
		"no key": {func(t *testing.T, dir string) {
			if err := os.Remove(in(dir, "secret.key")); err != nil {
				t.Fatal(err)
			}
		}, "secret.key is missing"},
		"a number of the manifest": {edit(`"organizations": 1`, `"organizations": 2`), "signature does not fit"},
		"a name of the manifest":   {edit(`"database.dump"`, `"../database.dump"`), "signature does not fit"},
		"a signature":              {edit(`"signature": "`, `"signature": "AAAA`), "signature does not fit"},
		"half a manifest": {func(t *testing.T, dir string) {
			manifest := read(t, in(dir, "manifest.json"))
			write(t, in(dir, "manifest.json"), manifest[:len(manifest)/2])
		}, "is not a backup"},
		"no manifest": {func(t *testing.T, dir string) {
			if err := os.Remove(in(dir, "manifest.json")); err != nil {
				t.Fatal(err)
			}
		}, "not finished"},
		"a key that others can read": {func(t *testing.T, dir string) {
			if err := os.Chmod(in(dir, "secret.key"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "chmod 600"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := b.copied(t)
			test.change(t, dir)
			there.muster(t, "restore", dir).failed(t, test.want)
			if _, err := os.Stat(there.dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the data directory was made: %v", err)
			}
			if n := there.tables(t); n > 0 {
				t.Errorf("%d tables were made", n)
			}
		})
	}
	muster(t, "restore", filepath.Join(t.TempDir(), "nothing")).failed(t, "is not a backup")
}

// restoreIntoSomethingElse: what is there stays as it is.
func restoreIntoSomethingElse(t *testing.T, b backedUp) {
	empty := elsewhere(t)
	empty.muster(t, "restore", b.dir, "--secret-key-file", fileWith(t, "other.key", strings.Repeat("ab", 32))).
		failed(t, "holds other keys", "--secret-key-file")
	stray := filepath.Join(t.TempDir(), "blobs")
	if err := os.MkdirAll(stray, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(stray, "mine"), []byte("precious"))
	empty.muster(t, "restore", b.dir, "--blob-url", "file://"+stray).failed(t, "blob store holds files (mine)", "--blob-url")
	if n := empty.tables(t); n > 0 {
		t.Errorf("a refused restore made %d tables", n)
	}
	before := b.must(t, "events", "head")
	b.fail(t, []string{"restore", b.dir}, "the database holds an installation", "the blob store holds files")
	if after := b.must(t, "events", "head"); after != before {
		t.Error("the installation that was there was changed")
	}
	// The same key in place is no obstacle: it may have been put there first.
	empty.must(t, "restore", b.dir, "--secret-key-file", fileWith(t, "same.key", string(read(t, b.keyFile()))))
}

// restoreUntil restores and gives up at the first report of a step, as if it was
// killed there.
func (i installed) restoreUntil(t *testing.T, dir, step string) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	cfg := config.Bind(flags)
	if err := errors.Join(flags.Parse(i.flags()), cfg.Validate()); err != nil {
		t.Fatal(err)
	}
	b, err := backup.Read(ctx, dir, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cmd.SetOut(&bytes.Buffer{})
	reached := false
	err = operate.Restore(cmd, cfg, b, func(what string) {
		if strings.HasPrefix(what, step) {
			reached = true
			cancel()
		}
	}, false)
	if !reached {
		t.Fatalf("the restore does not %s", step)
	}
	return err
}

// TestLongRestoreIsCutOffAtEveryStep and goes on, each time further, on one target.
func TestLongRestoreIsCutOffAtEveryStep(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	b, there := newBackedUp(t), elsewhere(t)
	for _, step := range []string{
		"loading the database", "migrating the database", "copying file 1 ", "copying file 2 ",
		"verifying log reports", "verifying log fleet", "verifying file 1 ", "verifying file 2 ",
	} {
		if err := there.restoreUntil(t, b.dir, step); err == nil {
			t.Fatalf("it ended well although it was cut off while %s", step)
		}
		for _, command := range []string{"serve --listen 127.0.0.1:0", "events head", "keys rotate", "migrate up"} {
			there.fail(t, strings.Fields(command), "not finished", "muster restore")
		}
	}
	other := newBackup(t)
	b.must(t, "backup", other)
	there.fail(t, []string{"restore", other}, "not finished", "same backup")
	there.must(t, "restore", b.dir)
	server := servingHere(t, append(there.flags(), "--rate-limits=off")...)
	there.same(t, client{base: server.base, token: b.ana.token}, b.report, b.pdf)
	there.must(t, "events", "verify")
}

// TestLongRestoreIsKilled at any moment, on a private server, beside attempts to
// serve.
func TestLongRestoreIsKilled(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	b := newBackedUp(t)
	there := []string{"--data-dir", dataDir(t)}
	for range 4 {
		r := launch(t, nil, append([]string{"restore", b.dir}, there...)...)
		r.atWork(1500 * time.Millisecond)
		r.kill(t)
	}
	got := muster(t, append([]string{"restore", b.dir}, there...)...)
	if got.status != 0 && !strings.Contains(got.errors, "holds an installation") { // the last one had come to its end
		t.Fatalf("it does not go on: %s%s", got.out, got.errors)
	}
	server := serving(t, nil, append(there, "--rate-limits=off")...)
	c := client{base: server.base, token: b.ana.token}
	if got, _ := c.download(t, b.report); sum(got.body) != sum(b.pdf) {
		t.Error("the PDF is another one")
	}
	c.assessedAgain(t, b.live)
	if got := muster(t, append([]string{"events", "verify"}, there...)...); got.status != 0 {
		t.Errorf("the log does not verify: %s%s", got.out, got.errors)
	}
}

// TestBrokenLogIsRestoredOnlyIfAccepted: the source was tampered with before the
// backup was made.
func TestBrokenLogIsRestoredOnlyIfAccepted(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	db := pgtest.Connect(t, i.url)
	pgtest.Unguard(t, db)
	db.MustExec(`UPDATE events SET occurred_at = occurred_at - interval '1 day' WHERE log = 'organization' AND position = 2`)
	dir, there := newBackup(t), elsewhere(t)
	i.muster(t, "backup", dir).says(t, "organization:2", "altered", "--accept-findings")
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("a failed backup left %v", left)
	}
	if said := i.must(t, "backup", dir, "--accept-findings"); !strings.Contains(said, "does not fit: organization:2") {
		t.Errorf("the backup does not say what does not fit:\n%s", said)
	}
	if manifest := string(read(t, filepath.Join(dir, "manifest.json"))); !strings.Contains(manifest, "organization:2") {
		t.Errorf("the manifest does not say what does not fit:\n%s", manifest)
	}
	for range 2 {
		got := there.muster(t, "restore", dir)
		got.failed(t, "do not fit", "--accept-findings")
		if !strings.Contains(got.out, "organization:2") || !strings.Contains(got.out, "altered") {
			t.Errorf("it does not name what does not fit:\n%s", got.out)
		}
		there.fail(t, []string{"events", "head"}, "not finished")
	}
	there.must(t, "restore", dir, "--accept-findings")
	there.must(t, "events", "head")
	var accepted int
	if err := pgtest.Connect(t, there.url).Get(&accepted, `SELECT jsonb_array_length(accepted) FROM log_verifications WHERE log = 'organization'`); err != nil || accepted == 0 {
		t.Errorf("%d findings are accepted: serve would sign nothing (%v)", accepted, err)
	}
	there.must(t, "backup", newBackup(t))
}

// TestAnOlderBackupThanWasSigned: the file beside the key knows of more than the backup has, so
// the restore says what is given up, and serve signs on where that was accepted.
func TestAnOlderBackupThanWasSigned(t *testing.T) {
	t.Parallel()
	b, there := newBackedUp(t), elsewhere(t)
	key := fileWith(t, "secret.key", string(read(t, b.keyFile())))
	must := string(read(t, b.keyFile()+".signed-reports"))
	lines := strings.SplitN(must, "\n", 4)
	write(t, key+".signed-reports", []byte(strings.Join([]string{lines[0], "1000", lines[2], lines[3]}, "\n")))
	got := there.muster(t, "restore", b.dir, "--secret-key-file", key)
	got.failed(t, "is not what was signed last", "--accept-findings")
	if !strings.Contains(got.out, key+".signed-reports is over 1000 events, and the log has") {
		t.Errorf("it does not say what is given up:\n%s", got.out)
	}
	said := there.must(t, "restore", b.dir, "--secret-key-file", key, "--accept-findings")
	if !strings.Contains(said, "it is kept as "+key+".signed-reports.given-up\n") {
		t.Errorf("it does not say what was given up:\n%s", said)
	}
	if said := there.must(t, "events", "verify", "--secret-key-file", key); !strings.Contains(said, "reports: fits what was signed: checkpoints") {
		t.Errorf("events verify says\n%s", said)
	}
}

// twoRestoresAtOnce: one does it.
func twoRestoresAtOnce(t *testing.T, b backedUp) {
	there := elsewhere(t)
	args := append([]string{"restore", b.dir}, there.flags()...)
	two := []outcome{}
	for _, r := range []*running{launch(t, nil, args...), launch(t, nil, args...)} {
		two = append(two, r.outcome(t))
	}
	slices.SortFunc(two, func(a, b outcome) int { return a.status - b.status })
	if two[0].status != 0 {
		t.Fatalf("neither restored: %+v", two)
	}
	two[1].failed(t)
	there.must(t, "events", "verify")
}
