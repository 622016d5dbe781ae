package pgtest

import (
	"os"
	"syscall"
)

// inMemory is where Linux has a file system in memory. To make and drop a database
// there takes the kernel 0.04 s; on ext4, which journals its 400 files, 0.4 s.
const inMemory = "/dev/shm"

// roomInMemory is what has to be free there: a test binary's servers take 0.2 GB, and
// several run at once. Containers often have no more than 64 MB.
const roomInMemory = 2 << 30

// noExec is Linux's mark of a file system whose programs nobody may run.
const noExec = 0x8

// MkdirTemp makes a directory for a server of a test, in memory where there is room and
// programs may run. It is the caller's to remove. Every account may pass through it,
// unlike what is below t.TempDir: as root PostgreSQL runs as user postgres.
func MkdirTemp(pattern string) (string, error) {
	dir, err := mkdirTemp(pattern)
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// mkdirTemp's paths are short: that of a socket must fit into 107 bytes.
func mkdirTemp(pattern string) (string, error) {
	var memory syscall.Statfs_t
	if err := syscall.Statfs(inMemory, &memory); err == nil && uint64(memory.Flags)&noExec == 0 &&
		memory.Bavail*uint64(memory.Bsize) >= roomInMemory {
		return os.MkdirTemp(inMemory, pattern)
	}
	return os.MkdirTemp("/tmp", pattern)
}
