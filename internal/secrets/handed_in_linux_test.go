package secrets_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"muster/internal/secrets"
)

// TestAKeyFileOnAReadOnlyFileSystem, which only an orchestrator changes.
func TestAKeyFileOnAReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	v.seal(v.check(), 1)
	dir := t.TempDir()
	if err := syscall.Mount("muster-test", dir, "tmpfs", 0, "size=64k,mode=0700"); err != nil {
		t.Skipf("no file system can be mounted here, which takes root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	orchestrate := func(content string) {
		t.Helper()
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, ""); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "secret.key"), []byte(content), 0o400); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
	}
	first, second := v.content(), strings.Repeat("5a", 32)+"\n"
	v.path = filepath.Join(dir, "secret.key")
	v.head(40)
	orchestrate(first)
	if err := secrets.Create(v.path, v.check().Keys()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a restore that brings the same keys ends with %v", err)
	}
	if _, err := v.rotate(); err == nil || !strings.Contains(err.Error(), "put a new line in front") {
		t.Errorf("a rotation that cannot write the file ends with %v", err)
	}
	orchestrate(second + first)
	if done := v.mustRotate(); !done.Finished || done.Resealed != 1 {
		t.Errorf("the rotation is %+v", done)
	}
	if _, err := secrets.Retire(t.Context(), v.db, v.path, v.reseal, v.retired); err == nil || !strings.Contains(err.Error(), "all lines but the first") {
		t.Errorf("a retirement that cannot write the file ends with %v", err)
	}
	orchestrate(second)
	if retired, err := secrets.Retire(t.Context(), v.db, v.path, v.reseal, v.retired); err != nil || len(retired) > 0 {
		t.Errorf("in the end %v are to be retired, %v", retired, err)
	}
	v.opens(v.check())

	data := t.TempDir()
	for range 2 { // nothing can be written beside the key, so the note of marks lies in the data directory
		v.begin(v.check(), data, false)
		v.db.MustExec(`DELETE FROM marks`)
		v.head(50)
	}
	restarted := v.check()
	v.begin(restarted, data, false)
	if marks := v.marks(restarted); !marks.Before(reports(40)) || marks.Before(reports(41)) {
		t.Error("the note of marks is not kept in the data directory")
	}
}

// TestNothingIsDoneUnrecorded: a rotation that cannot be recorded is not done.
func TestNothingIsDoneUnrecorded(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	v.seal(v.check(), 1)
	full := errors.New("no room for the entry")
	if _, err := secrets.Rotate(t.Context(), v.db, v.path, v.reseal, func(secrets.Rotation) error { return full }); !errors.Is(err, full) {
		t.Errorf("it ends with %v", err)
	}
	if done := v.mustRotate(); !done.Finished {
		t.Errorf("the rotation that was not recorded was done: %+v", done)
	}
	refuse := func([]string) error { return full }
	if _, err := secrets.Retire(t.Context(), v.db, v.path, v.reseal, refuse); !errors.Is(err, full) || strings.Count(v.content(), "\n") != 2 {
		t.Errorf("the retirement ends with %v and leaves %q", err, v.content())
	}
}

// TestFilesBesideTheKeyBelongToItsOwner: root may have rotated first, or noted where marks begin.
func TestFilesBesideTheKeyBelongToItsOwner(t *testing.T) {
	t.Parallel()
	const somebody = 65534
	v := newVault(t)
	if err := os.Chown(v.path, somebody, somebody); err != nil {
		t.Skipf("only root can give a file away: %v", err)
	}
	v.mustRotate()
	v.begin(v.check(), "", false)
	for _, path := range []string{v.path, v.path + ".lock", v.path + ".marks"} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != somebody || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is that of %d, with mode %v", path, owner.Uid, info.Mode())
		}
	}
}
