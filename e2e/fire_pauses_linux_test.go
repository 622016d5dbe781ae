package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"muster/internal/concurrency/pause"
)

// pause stops a replica as a machine that is moved stops, and returns what has it go on.
func (r *replica) pause(t *testing.T) (goOn func()) {
	t.Helper()
	p := r.current()
	signalTo(t, syscall.SIGSTOP, p.cmd.Process.Pid)
	return func() { _ = p.cmd.Process.Signal(syscall.SIGCONT) } // it may have been killed meanwhile
}

// pauseEverything stops each process that the test has started, but for who watches, and has all
// go on together.
func (f *fire) pauseEverything(t *testing.T, lasts time.Duration) {
	t.Helper()
	pids := f.processes(t)
	for _, pid := range pids {
		signalTo(t, syscall.SIGSTOP, pid)
	}
	_ = pause.For(t.Context(), lasts)
	for _, pid := range pids {
		signalTo(t, syscall.SIGCONT, pid)
	}
	f.pair.Settle(t)
}

func signalTo(t *testing.T, what syscall.Signal, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, what); err != nil && err != syscall.ESRCH { // it has ended meanwhile
		t.Fatalf("send %s to process %d: %v", what, pid, err)
	}
}

// processes are those of the replicas and their suppliers.
func (f *fire) processes(t *testing.T) (pids []int) {
	t.Helper()
	roots := []int{os.Getpid()}
	for _, server := range f.pair.Addrs() {
		if top := postmaster(t, server); top > 0 {
			roots = append(roots, top)
		}
	}
	parents, names := processTable(t)
	for pid := range parents {
		if slices.Contains(roots[1:], pid) {
			pids = append(pids, pid)
			continue
		}
		for of := parents[pid]; of > 1; of = parents[of] {
			if slices.Contains(roots, of) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return slices.DeleteFunc(pids, func(pid int) bool { return names[pid] == "prometheus" })
}

// processTable has each process of the machine's parent and name.
func processTable(t *testing.T) (parents map[int]int, names map[int]string) {
	t.Helper()
	parents, names = map[int]int{}, map[int]string{}
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		from, to := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
		if err != nil || from < 0 || to < from {
			continue
		}
		var state string
		var parent int
		if _, err := fmt.Sscan(string(text[to+1:]), &state, &parent); err == nil {
			parents[pid], names[pid] = parent, string(text[from+1:to])
		}
	}
	return parents, names
}

// postmaster is the uppermost process of a PostgreSQL that is not init's, such as its keeper; 0:
// it does not run.
func postmaster(t *testing.T, address string) (top int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, "postgres://postgres@"+address+"/postgres?sslmode=disable")
	if err != nil {
		return 0
	}
	defer func() { _ = conn.Close(ctx) }()
	backend := 0
	if err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&backend); err != nil {
		return 0
	}
	parents, names := processTable(t)
	for pid := parents[backend]; names[pid] == "postgres" || names[pid] == "pg_autoctl"; pid = parents[pid] {
		top = pid
	}
	return top
}

// breaks has a background loop of a replica panic.
func (r *replica) breaks(t *testing.T) {
	t.Helper()
	if r.serves() { // else there is none
		signalTo(t, syscall.SIGUSR1, r.current().cmd.Process.Pid)
	}
}
