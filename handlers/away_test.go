package handlers_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/handlers/jobs"
)

// TestAReportFailsWhileItsFileSystemIsUnmounted: in the place of the file system with the files, there is an
// empty directory. A report waits, and at last fails with a sentence that says where to look. Nothing is
// written there.
func TestAReportFailsWhileItsFileSystemIsUnmounted(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	if err := s.blobs.Claim(t.Context(), "ours"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(s.files, s.files+".unmounted"), os.Mkdir(s.files, 0o700)); err != nil {
		t.Fatal(err)
	}
	given := s.request(s.ana)
	s.work("w1", s.builder().Task(1))
	s.until("the attempt failed", func() bool {
		rows := s.jobs(jobs.Build)
		return len(rows) == 1 && strings.Contains(rows[0].LastError, "its file system is not mounted") && rows[0].Status == jobs.StatusQueued
	})
	s.until("the build is given up", func() bool {
		s.due(jobs.Build)
		return s.has(given, "report.failed")
	})
	if failed, _ := last[report.Failed](s, given); failed.Code != report.CodeGenerationFailed || !strings.Contains(failed.Message, "/readyz, check blobs") {
		t.Errorf("it failed with %+v", failed)
	}
	if left, err := os.ReadDir(s.files); err != nil || len(left) > 0 {
		t.Errorf("below the mount were written %v, %v", left, err)
	}
}
