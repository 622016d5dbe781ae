package handlers_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"muster/handlers/jobs"
)

func TestAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("muster-test", dir, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		t.Skipf("no small file system here (needs root): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	s := newSceneIn(t, dir)
	ballast := s.fillDisk(dir)
	id := s.request(s.ana)
	s.work("w1", s.builder().Task(1))
	s.until("the attempt failed for want of room", func() bool {
		rows := s.jobs(jobs.Build)
		return len(rows) == 1 && rows[0].LastError != "" && rows[0].Status == jobs.StatusQueued
	})
	if got := s.stored(); len(got) != 0 {
		t.Errorf("files %v, want none", got)
	}
	ballast()
	s.due(jobs.Build)
	s.until("Ready, with room again", func() bool { return s.has(id, "report.ready") })
	s.checkOneReady(id)
}

// fillDisk leaves no room in a directory; the function it returns makes room again.
func (s *scene) fillDisk(dir string) (free func()) {
	s.t.Helper()
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	if err != nil {
		s.t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	_ = f.Close()
	return func() {
		if err := os.Remove(name); err != nil {
			s.t.Error(err)
		}
	}
}
