package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// State is what a running server says of itself in postmaster.pid.
type State struct {
	PID       int
	DataDir   string
	Port      int
	SocketDir string
	Ready     bool // accepts connections
}

// ReadState reads postmaster.pid of the cluster in dir. The file of a server
// that was killed stays behind: see Alive. Absent: fs.ErrNotExist.
func ReadState(dir string) (State, error) {
	content, err := os.ReadFile(filepath.Join(dir, "postmaster.pid"))
	if err != nil {
		return State{}, err
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
		return State{}, fmt.Errorf("postmaster.pid in %s holds no process id: %w", dir, err)
	}
	port, _ := strconv.Atoi(line(3)) // not there yet while the server starts
	return State{PID: pid, DataDir: line(1), Port: port, SocketDir: line(4), Ready: line(7) == "ready"}, nil
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
