package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/process/unixonly"
)

// InitOptions says how a new cluster is made.
type InitOptions struct {
	Superuser    string // name of its first role
	PasswordFile string // holds that role's password; empty: none is set
	Auth         string // method in pg_hba.conf: trust, scram-sha-256
	NoSync       bool   // do not wait for the disk: for tests
}

// Init makes a cluster in dir, which must be empty or absent and whose parent
// the account must be able to write or pass.
func Init(ctx context.Context, inst Installation, account Account, dir string, opts InitOptions) error {
	args := []string{
		"--pgdata", dir, "--username", opts.Superuser, "--auth", opts.Auth,
		"--encoding", "UTF8", "--locale", "C", "--data-checksums",
	}
	if opts.PasswordFile != "" {
		args = append(args, "--pwfile", opts.PasswordFile)
	}
	if opts.NoSync {
		args = append(args, "--no-sync")
	}
	// Sorted by code point, so that no upgrade of the system's collations breaks an index. But
	// letters have to be recognized as letters, for searches that ignore case. Not every system
	// has that locale; initdb checks before it writes.
	err := initdb(ctx, inst, account, append(args, "--lc-ctype", "C.UTF-8"))
	if err != nil {
		err = initdb(ctx, inst, account, args)
	}
	if err == nil {
		return nil
	}
	// Containers run under ids that no user has, and only initdb minds.
	if _, unknown := user.LookupId(strconv.Itoa(os.Geteuid())); unknown != nil && !account.other {
		return fmt.Errorf("PostgreSQL makes no database for user id %d, which has no name on this machine: "+
			"add a line to /etc/passwd, or give a server with --database-url: %w", os.Geteuid(), err)
	}
	return fmt.Errorf("initdb in %s: %w", dir, err)
}

func initdb(ctx context.Context, inst Installation, account Account, args []string) error {
	cmd := account.Command(ctx, inst.Program("initdb"), args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, lastLines(out.String(), 5))
	}
	return nil
}

// StartError says why a server did not start, in the server's own words.
type StartError struct {
	Dir string
	Log string // the end of what the server wrote
	Err error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("PostgreSQL in %s did not start: %v: %s", e.Dir, e.Err, e.Log)
}

func (e *StartError) Unwrap() error { return e.Err }

// Process is a server that this process started.
type Process struct {
	PID  int
	done chan struct{}
}

// pollEvery is how often files that PostgreSQL writes are looked at: it has no
// other way to tell that it is ready.
const pollEvery = 10 * time.Millisecond

// Start starts the cluster in dir and returns when it accepts connections.
// What the server prints goes to the file logPath. The server outlives us
// unless Stop is called.
func Start(ctx context.Context, inst Installation, account Account, dir, logPath string, args ...string) (*Process, error) {
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	before, err := log.Seek(0, 2)
	if err != nil {
		return nil, fmt.Errorf("find the end of the server's log: %w", err)
	}
	// The context is about starting, not about living.
	cmd := account.Command(context.WithoutCancel(ctx), inst.Program("postgres"), append([]string{"-D", dir}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p := &Process{PID: cmd.Process.Pid, done: make(chan struct{})}
	var exit error
	go func() {
		exit = supervise.Call(cmd.Wait)
		close(p.done)
	}()
	for {
		if state, err := ReadState(dir); err == nil && state.PID == p.PID && state.Ready {
			return p, nil
		}
		interrupted := pause.Unless(ctx, pollEvery, p.done)
		select {
		case <-p.done:
			if exit == nil {
				exit = errors.New("it stopped at once")
			}
			return nil, &StartError{Dir: dir, Log: logSince(logPath, before), Err: exit}
		default:
		}
		if interrupted != nil {
			_ = p.Stop(context.WithoutCancel(ctx), Immediate)
			return nil, &StartError{Dir: dir, Log: logSince(logPath, before), Err: interrupted}
		}
	}
}

// Mode is how a server is asked to stop.
type Mode syscall.Signal

// The ways to stop: Fast ends sessions and checkpoints, Immediate leaves crash
// recovery to the next start.
const (
	Fast      = Mode(syscall.SIGINT)
	Immediate = Mode(syscall.SIGQUIT)
)

// Stop stops the server and returns when it has gone; a server that has already gone is no
// error.
func (p *Process) Stop(ctx context.Context, mode Mode) error {
	select {
	case <-p.done: // and its number may be another's by now
		return nil
	default:
	}
	if err := unixonly.Kill(p.PID, syscall.Signal(mode)); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop PostgreSQL (process %d): %w", p.PID, err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for PostgreSQL (process %d) to stop: %w", p.PID, ctx.Err())
	}
}

// Environment is ours without what would steer PostgreSQL's programs, in a
// locale that exists everywhere, so that their messages are readable to us.
func Environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return strings.HasPrefix(name, "PG") || strings.HasPrefix(name, "LC_") || name == "LANG" || name == "LANGUAGE" ||
			strings.HasPrefix(name, "MUSTER_") // secrets of ours are no business of a program that stays behind
	})
	return append(env, "LC_ALL=C", "TZ=UTC")
}

func logSince(path string, offset int64) string {
	content, err := os.ReadFile(filepath.Clean(path))
	if err != nil || int64(len(content)) <= offset {
		return "it wrote no log"
	}
	return lastLines(string(content[offset:]), 5)
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "; ")
}

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

// Alive says whether the process that wrote the state still runs. A process that only has the
// same number, after a restart of the machine or of a container, is another one. If that cannot
// be told, it counts as alive: starting a second server is worse than waiting for a dead one.
func (s PostmasterFile) Alive(ctx context.Context) bool {
	if err := unixonly.Kill(s.PID, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	command, err := commandLine(ctx, s.PID)
	return err != nil || strings.Contains(command, s.DataDir)
}

// commandLine is the command line of a process, empty if it has ended. PostgreSQL rewrites that
// of its children, never of the postmaster, which names the data directory.
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

// Disown marks the postmaster.pid of a server that is not Alive as ours. If another process of
// the same user has its number now, PostgreSQL would refuse to start forever; it knows that its
// own parent's number is harmless. The file is kept, because it also names the shared memory by
// which PostgreSQL tells whether children of the dead server still run.
func Disown(dir string) error {
	path := filepath.Join(dir, "postmaster.pid")
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(string(content), "\n")
	return os.WriteFile(path, fmt.Appendf(nil, "%d\n%s", os.Getpid(), rest), 0o600)
}
