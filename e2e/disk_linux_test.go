package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"muster/internal/cli/installation"
	"muster/internal/cli/operate"
	"muster/internal/operate/backup"
	"muster/internal/testing/pgtest"
)

// TestDiskFull: a report for which there is no room waits for some, and ends
// Failed with a sentence where none comes; nothing half-written stays.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	i := install(t)
	blobs := filepath.Join(i.dir, "blobs")
	if err := os.Mkdir(blobs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("muster-test", blobs, "tmpfs", 0, "size=512k,mode=0700"); err != nil {
		t.Skipf("no small file system can be mounted here, which takes root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(blobs, syscall.MNT_DETACH) })
	h := i.open(t, servingHere)
	db := pgtest.Connect(t, h.url)

	free := fill(t, blobs)
	waits := h.ana.request(t, security(h.live))
	eventually(t, "the build has failed for want of room", func() bool { return waiting(t, db, "build", 1) == 1 })
	h.files(t, nil)
	free()
	dueNow(db, "build")
	h.ana.await(t, waits, "Ready")

	free = fill(t, blobs)
	given := h.ana.request(t, scorecard(h.live, 0))
	eventually(t, "the build is given up", func() bool {
		dueNow(db, "build")
		return h.ana.report(t, given).over()
	})
	r := h.ana.await(t, given, "Failed")
	if r.Error == nil || r.Error.Code != "generation_failed" || !strings.Contains(r.Error.Message, "make room") {
		t.Errorf("the history says %+v", r.Error)
	}
	if dead := h.must(t, "dead", "list"); !strings.Contains(dead, "build job of "+given.String()) {
		t.Errorf("the job is not among the dead:\n%s", dead)
	}
	free()
	if ends := h.wellEnded(t); ends["Ready"] != 1 || ends["Failed"] != 1 {
		t.Errorf("the reports ended %v", ends)
	}
}

// fill leaves no room in a directory; the function it returns makes room again.
func fill(t testing.TB, dir string) (free func()) {
	t.Helper()
	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = ballast.Write(make([]byte, 4096))
	}
	_ = ballast.Close()
	return func() {
		if err := os.Remove(ballast.Name()); err != nil {
			t.Error(err)
		}
	}
}

// TestBackupDiskFull at its last step: what is left is nothing, so that the next
// one can be made there.
func TestBackupDiskFull(t *testing.T) {
	t.Parallel()
	pgtest.NeedsDump(t)
	i := install(t)
	i.organization(t, "Acme")
	disk := t.TempDir()
	if err := syscall.Mount("muster-test", disk, "tmpfs", 0, "size=2m,mode=0700"); err != nil {
		t.Skipf("no small file system can be mounted here, which takes root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	dir := filepath.Join(disk, "backup")
	var free func()
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		source := operate.BackupSource(in, func(string) {}, false)
		source.Record = func(context.Context, backup.Manifest) error {
			free = fill(t, disk)
			return nil
		}
		if _, err := source.Make(ctx, dir); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a backup for which there is no room ends with %v", err)
		}
		return nil
	})
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
	if free == nil {
		t.Fatal("the disk was never filled")
	}
	free()
	i.must(t, "backup", dir)
}
