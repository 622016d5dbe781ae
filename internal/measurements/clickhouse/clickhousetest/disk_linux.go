package clickhousetest

import (
	"path/filepath"
	"syscall"
	"testing"
)

// OnASmallDisk starts a server whose data have a file system of a size of its own, and
// returns the directory of that. The test is skipped where none can be mounted, which
// takes root.
func OnASmallDisk(t testing.TB, size string) (s *Server, data string) {
	t.Helper()
	s = Start(t, Options{Shards: 1}).Servers[0]
	s.Kill(t)
	data = filepath.Join(s.dir, "data")
	if err := syscall.Mount("muster-test", data, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no small file system can be mounted here, which takes root: %v", err)
	}
	s.Restart(t)
	t.Cleanup(func() {
		s.Kill(t)
		_ = syscall.Unmount(data, syscall.MNT_DETACH)
	})
	return s, data
}
