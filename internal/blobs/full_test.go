//go:build linux

package blobs_test

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"muster/internal/blobs"
)

func TestAFullDiskIsNamedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("muster-test", dir, "tmpfs", 0, "size=64k,mode=0700"); err != nil {
		t.Skipf("no file system of 64 KiB here (needs root): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
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
