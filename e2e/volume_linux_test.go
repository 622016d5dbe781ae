package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"muster/internal/cli/installation"
	"muster/internal/files/blobs"
	"muster/internal/testing/pgtest"
)

// nobody is an account that owns nothing of the tests.
const nobody = 65534

// asNobody starts the program as that account. It is found by the link that every process
// has to its own program: the tests' directories are closed to others.
func asNobody(t *testing.T, args ...string) *running {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return start(t, cmd, nil)
}

// readOnly mounts a file system anew, to be read only.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

// TestDataDirectoriesThatCannotBeUsed: a start says what is wrong with the place, which
// setting names it and what to do, and leaves nothing there.
func TestDataDirectoriesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	private := func(_ *testing.T, dir string) []string { return []string{"--data-dir", dir} }
	server := func(t *testing.T, dir string) []string {
		return []string{"--data-dir", dir, "--database-url", pgtest.URL(t)}
	}
	for name, test := range map[string]struct {
		spoil func(t *testing.T, disk string)
		args  func(t *testing.T, dir string) []string
		start func(t *testing.T, args ...string) *running
		want  []string
	}{
		"read-only":                            {readOnly, server, here, []string{"mounted to be read only", "--data-dir"}},
		"read-only, with a private PostgreSQL": {readOnly, private, here, []string{"mounted to be read only", "--data-dir"}},
		"another account's": {func(*testing.T, string) {}, private, asNobody,
			[]string{"not this account's (user id 65534)", "chown", "--data-dir"}},
		"full": {func(t *testing.T, disk string) {
			if err := os.Mkdir(filepath.Join(disk, "data"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(fill(t, disk))
		}, server, here, []string{"its disk is full: make room", "--secret-key-file"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := smallDisk(t, "1m")
			test.spoil(t, disk)
			dir := filepath.Join(disk, "data")
			test.start(t, serveArgs(test.args(t, dir))...).outcome(t).refused(t, test.want...)
			if left := files(t, dir); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
}

func here(t *testing.T, args ...string) *running { return launchHere(t, args...) }

// TestAnInstallationOnAReadOnlyDisk does not serve, and can be backed up.
func TestAnInstallationOnAReadOnlyDisk(t *testing.T) {
	t.Parallel()
	pgtest.NeedsDump(t)
	i := installed{url: pgtest.URL(t), dir: smallDisk(t, "4m")}
	i.organization(t, "Acme")
	i.within(t, func(context.Context, *installation.Installation) error { return nil }) // with its files
	readOnly(t, i.dir)
	launchHere(t, serveArgs(i.flags())...).outcome(t).refused(t, "mounted to be read only", "--blob-url")
	i.must(t, "events", "verify")
	i.must(t, "backup", newBackup(t))
}

// TestARestoreIntoTheFilesOfAnother installation is refused, and leaves them as they are.
func TestARestoreIntoTheFilesOfAnother(t *testing.T) {
	t.Parallel()
	i, store := install(t), "file://"+filepath.Join(t.TempDir(), "theirs")
	theirs, err := blobs.Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if err := theirs.Claim(t.Context(), "theirs"); err != nil {
		t.Fatal(err)
	}
	dir, there := newBackup(t), elsewhere(t)
	i.must(t, "backup", dir)
	there.blobs = store
	there.fail(t, []string{"restore", dir}, "belongs to another installation", "name an unused one (--blob-url") // before anything is loaded
	if found, err := theirs.Owner(t.Context()); err != nil || found != "theirs" {
		t.Errorf("it is %q's, %v", found, err)
	}
}
