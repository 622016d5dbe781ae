package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// PostmasterFile is what a running server says of itself in postmaster.pid.
type PostmasterFile struct {
	PID       int
	DataDir   string
	SocketDir string
	Ready     bool // accepts connections
}

// ReadState reads postmaster.pid of the cluster in dir. The file of a server
// that was killed stays behind: see Alive. Absent: fs.ErrNotExist.
func ReadState(dir string) (PostmasterFile, error) {
	content, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err != nil {
		return PostmasterFile{}, err
	}
	// Lines, since PostgreSQL 10: pid, data directory, start time, port, socket
	// directory, listen address, shared memory key, status.
	lines := strings.Split(string(content), "\n")
	line := func(n int) string {
		if n < len(lines) {
			return strings.TrimSpace(lines[n])
		}
		return ""
	}
	pid, err := strconv.Atoi(line(0))
	if err != nil {
		return PostmasterFile{}, fmt.Errorf("postmaster.pid in %s holds no process id: %w", dir, err)
	}
	return PostmasterFile{PID: pid, DataDir: line(1), SocketDir: line(4), Ready: line(7) == "ready"}, nil
}

// Major reads the major version a cluster was made with.
func Major(dir string) (int, error) {
	content, err := os.ReadFile(filepath.Join(dir, "PG_VERSION"))
	if err != nil {
		return 0, err
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0, fmt.Errorf("PG_VERSION in %s: %w", dir, err)
	}
	return major, nil
}

// Alive says whether the process that wrote the state still runs. A process
// that merely has got the same number since, after a restart of the machine or
// of a container, is not it. Where nobody can tell, it counts as alive: to
// start a second server is worse than to wait for a dead one.
func (s PostmasterFile) Alive(ctx context.Context) bool {
	if err := syscall.Kill(s.PID, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	command, err := commandLine(ctx, s.PID)
	return err != nil || strings.Contains(command, s.DataDir)
}

// commandLine is what a process was started with, and empty for one that has
// ended. PostgreSQL rewrites that of its children, never of the postmaster,
// which names the data directory.
func commandLine(ctx context.Context, pid int) (string, error) {
	if content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		return strings.ReplaceAll(string(content), "\x00", " "), nil
	}
	out, err := exec.CommandContext(ctx, "ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return "", nil // no such process
	}
	return string(out), err
}

// Disown marks the postmaster.pid of a server that is not Alive as ours. Where
// its number has gone to another process of the same user PostgreSQL would
// refuse to start for ever; its own parent's number it knows to be harmless.
// The file is kept, because it also names the shared memory by which PostgreSQL
// tells whether children of the dead server still run.
func Disown(dir string) error {
	path := filepath.Join(dir, "postmaster.pid")
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(content), "\n")
	return os.WriteFile(path, fmt.Appendf(nil, "%d\n%s", os.Getpid(), rest), 0o600)
}
