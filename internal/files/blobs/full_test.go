//go:build linux

package blobs_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"muster/internal/files/blobs"
	"muster/internal/files/blobs/s3test"
)

// disk is a small file system. A test that cannot mount one is skipped.
func disk(t *testing.T, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("muster-test", dir, "tmpfs", 0, "size="+size+",mode=0700"); err != nil {
		t.Skipf("no file system of %s here (needs root): %v", size, err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func TestAFullDiskIsNamedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := disk(t, "64k")
	s := open(t, "file://"+dir)
	organization, report := uuid.New(), uuid.New()

	var full *blobs.FullError
	_, err := s.WritePDF(t.Context(), blobs.PDFName(organization, report, 1), bytes.NewReader(make([]byte, 1<<20)))
	if !errors.As(err, &full) {
		t.Fatalf("error %v, want *FullError", err)
	}
	if found := files(t, dir); len(found) != 0 {
		t.Errorf("files %v, want none", found)
	}
	if _, err := s.WritePDF(t.Context(), blobs.PDFName(organization, report, 2), strings.NewReader("fits")); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestAFullObjectStore is a real one, whose disk has no room for the file.
func TestAFullObjectStore(t *testing.T) {
	t.Parallel()
	dir := disk(t, "24m")
	server := s3test.StartOn(t, dir)
	s := open(t, server.URL)
	organization, report := uuid.New(), uuid.New()
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 20<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{5 << 20, 16 << 20} { // at once, and in parts
		var full *blobs.FullError
		if _, err := s.WritePDF(t.Context(), blobs.PDFName(organization, report, 1), bytes.NewReader(make([]byte, size-1))); !errors.As(err, &full) {
			t.Errorf("%d bytes: %v, want *FullError", size, err)
		}
	}
	if names := server.Names(t); len(names) != 0 {
		t.Errorf("it has %v, want nothing", names)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if _, err := s.WritePDF(t.Context(), blobs.PDFName(organization, report, 2), strings.NewReader("fits")); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestADirectoryThatTakesNoFiles is reported before there is a file for it: it is full, or
// read-only.
func TestADirectoryThatTakesNoFiles(t *testing.T) {
	t.Parallel()
	dir := disk(t, "64k")
	s := open(t, "file://"+dir)
	if err := s.Claim(t.Context(), "ours"); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	_ = os.WriteFile(ballast, make([]byte, 1<<20), 0o600) // as much as there is room for
	var full *blobs.FullError
	if err := s.Check(t.Context()); !errors.As(err, &full) {
		t.Errorf("full: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	var away *blobs.UnavailableError
	if err := s.Check(t.Context()); !errors.As(err, &away) || away.Passing() || !errors.Is(err, syscall.EROFS) {
		t.Errorf("read-only: %v", err)
	}
	if found := files(t, dir); len(found) != 1 {
		t.Errorf("it left %v", found)
	}
}
