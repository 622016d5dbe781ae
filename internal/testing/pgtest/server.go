package pgtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/internal/postgres/cluster"
	"muster/internal/testing/porttest"
)

// Options says what a server of a test's own is like.
type Options struct {
	Settings map[string]string // lines of postgresql.conf, over the defaults here
	HBA      string            // the whole pg_hba.conf; empty: trust for everybody on this machine
	Major    int               // 0: the newest installed
	Fsync    bool              // survive more than a test needs to; for benchmarks
	Migrated bool              // begin as the shared server does, so that CreateMigrated can be called
}

// Superuser is the name of every test server's first role.
const Superuser = "postgres"

// Server is a running PostgreSQL with a data directory of its own.
type Server struct {
	Major int

	dir     string // short, holds data, socket and log
	port    int
	install cluster.Installation
	account cluster.Account
	process *cluster.Process
	close   func()
}

// majorVariable chooses the major version of servers for which Options do not.
const majorVariable = "TEST_POSTGRES_MAJOR"

// programsVariable lists the directories of further servers' programs, as PATH does.
// They are there for whoever asks for their major version, and for nobody else.
const programsVariable = "TEST_POSTGRES_PROGRAMS"

// Majors are the versions to run a test against that must hold for every server that Muster may
// watch: those of TEST_POSTGRES_PROGRAMS, and without it that of the other tests.
func Majors(t testing.TB) (majors []int) {
	t.Helper()
	for _, further := range furtherInstallations(t.Context()) {
		majors = append(majors, further.Major)
	}
	if len(majors) == 0 {
		wanted, err := majorWanted()
		if err != nil {
			t.Fatal(err)
		}
		usual, err := cluster.Find(t.Context(), wanted)
		if err != nil {
			t.Fatal(err)
		}
		majors = []int{usual.Major}
	}
	slices.Sort(majors)
	return slices.Compact(majors)
}

func furtherInstallations(ctx context.Context) (found []cluster.Installation) {
	for _, dir := range filepath.SplitList(os.Getenv(programsVariable)) {
		if installation, ok := cluster.InstallationIn(ctx, dir); ok {
			found = append(found, installation)
		}
	}
	return found
}

// installations are by what they were looked for, and versions by their program. Each program is asked once
// in a test binary: to be loaded takes it 10 ms of a processor, and a server of a test began with three such questions.
var installations, versions sync.Map

// findOnce is find, and remembers what was found.
func findOnce(ctx context.Context, major int) (cluster.Installation, error) {
	wanted := fmt.Sprint(major, " ", os.Getenv("PATH"), " ", os.Getenv(programsVariable))
	if known, ok := installations.Load(wanted); ok {
		return known.(cluster.Installation), nil
	}
	installation, err := find(ctx, major)
	if err == nil {
		installations.Store(wanted, installation)
	}
	return installation, err
}

func find(ctx context.Context, major int) (cluster.Installation, error) {
	installation, err := cluster.Find(ctx, major)
	if err == nil || major == 0 {
		return installation, err
	}
	for _, further := range furtherInstallations(ctx) {
		if further.Major == major {
			return further, nil
		}
	}
	return cluster.Installation{}, err
}

// startPatience is ample: initdb takes 0.7 s on an idle machine, and the
// machine is not idle while tests run.
const startPatience = 2 * time.Minute

// Cluster starts a server that ends with the test. It skips the test where the
// wanted major version is not installed.
func Cluster(t testing.TB, opts Options) *Server {
	t.Helper()
	begin := start
	if opts.Migrated {
		begin = func(opts Options) (*Server, error) { return startSeeded(t.Context(), opts) }
	}
	s, err := begin(opts)
	var missing *cluster.NotInstalledError
	if errors.As(err, &missing) && opts.Major != 0 {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

func start(opts Options) (*Server, error) { return startFilled(opts, (*Server).initEmpty) }

// startFilled starts a server whose data directory somebody fills.
func startFilled(opts Options, fill func(*Server, context.Context) error) (_ *Server, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	s := &Server{}
	if opts.Major == 0 {
		if opts.Major, err = majorWanted(); err != nil {
			return nil, err
		}
	}
	if s.install, err = findOnce(ctx, opts.Major); err != nil {
		return nil, err
	}
	s.Major = s.install.Major
	if s.account, err = cluster.DefaultAccount(); err != nil {
		return nil, err
	}
	mkdir := mkdirTemp
	if opts.Fsync { // on a disk, then
		mkdir = func(pattern string) (string, error) { return os.MkdirTemp("/tmp", pattern) }
	}
	if s.dir, err = mkdir("pgt"); err != nil {
		return nil, err
	}
	if s.close, err = Watch(ctx, watcher, s.dir); err != nil {
		_ = os.RemoveAll(s.dir)
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := s.account.Own(s.dir); err != nil {
		return nil, err
	}
	if err := fill(s, ctx); err != nil {
		return nil, err
	}
	if err := s.configure(opts); err != nil {
		return nil, err
	}
	if s.port, err = porttest.Free(); err != nil {
		return nil, err
	}
	if err = s.launch(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) initdb(ctx context.Context) error {
	return cluster.Init(ctx, s.install, s.account, s.Dir(),
		cluster.InitOptions{Superuser: Superuser, Auth: "trust", NoSync: true})
}

// majorWanted is the major version that the environment asks for; 0: none.
func majorWanted() (int, error) {
	text := os.Getenv(majorVariable)
	if text == "" {
		return 0, nil
	}
	major, err := strconv.Atoi(text)
	if err != nil || major < cluster.OldestMajor {
		return 0, fmt.Errorf("%s is %q, not a major version from %d on", majorVariable, text, cluster.OldestMajor)
	}
	return major, nil
}

// NeedsDump skips a test of dumps where the environment asks for a major version
// of which only the server's programs are here: the packages that
// scripts/test_majors.sh fetches have no pg_dump.
func NeedsDump(t testing.TB) {
	t.Helper()
	major, err := majorWanted()
	if err != nil {
		t.Fatal(err)
	}
	var missing *cluster.NoClientError
	if _, _, err := cluster.FindClient(t.Context(), "pg_dump", major); major > 0 && errors.As(err, &missing) {
		t.Skip(missing)
	}
}

func (s *Server) launch(ctx context.Context) (err error) {
	s.process, err = cluster.Start(ctx, s.install, s.account, s.Dir(), filepath.Join(s.dir, "log"),
		"-p", strconv.Itoa(s.port))
	return err
}

func (s *Server) configure(opts Options) error {
	settings := map[string]string{
		"listen_addresses":           "127.0.0.1",
		"unix_socket_directories":    s.dir,
		"max_connections":            "300",
		"shared_buffers":             "64MB",
		"dynamic_shared_memory_type": "mmap",
		"jit":                        "off", // as on the private server
		"timezone":                   "UTC",
		"log_timezone":               "UTC",
	}
	if !opts.Fsync {
		settings["fsync"] = "off"
		settings["full_page_writes"] = "off"
		settings["synchronous_commit"] = "off"
	}
	maps.Copy(settings, opts.Settings)
	var lines []string
	for name, value := range settings {
		lines = append(lines, fmt.Sprintf("%s = '%s'", name, strings.ReplaceAll(value, "'", "''")))
	}
	slices.Sort(lines)
	conf, err := os.OpenFile(filepath.Join(s.Dir(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = conf.WriteString("\n" + strings.Join(lines, "\n") + "\n")
	if err := errors.Join(err, conf.Close()); err != nil {
		return err
	}
	if opts.HBA == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(s.Dir(), "pg_hba.conf"), []byte(opts.HBA), 0o600)
}

// URL is a connection string over the unix socket.
func (s *Server) URL(user, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(user), Path: "/" + database}
	u.RawQuery = url.Values{"host": {s.dir}, "port": {strconv.Itoa(s.port)}}.Encode()
	return u.String()
}

// TCPURL is a connection string over the loopback interface.
func (s *Server) TCPURL(user, database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.User(user), Host: s.Addr(), Path: "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Addr is host and port on the loopback interface, for a proxy in between.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Superuser is the connection string of the first role in database postgres.
func (s *Server) Superuser() string { return s.URL(Superuser, "postgres") }

// Dir is the data directory.
func (s *Server) Dir() string { return filepath.Join(s.dir, "data") }

// Stop stops the server as an administrator would; Restart starts it again.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	s.stop(t, cluster.Fast)
}

// Crash stops the server without a checkpoint, as a power cut would.
func (s *Server) Crash(t testing.TB) {
	t.Helper()
	s.stop(t, cluster.Immediate)
}

func (s *Server) stop(t testing.TB, mode cluster.Mode) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	if err := s.process.Stop(ctx, mode); err != nil {
		t.Fatal(err)
	}
}

// Restart stops the server if it runs and starts it on the same port.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop(t)
	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()
	if err := s.launch(ctx); err != nil {
		t.Fatal(err)
	}
}

// watcher ends a server when its standard input does.
const watcher = `cat >/dev/null
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
if [ -n "$pid" ]; then
	kill -QUIT "$pid" 2>/dev/null
	while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
fi
rm -rf "$1"`

// Watch has a shell run a script when this process ends, however it ends, or end is
// called, which waits for it. The script's $1 is a directory; it begins by reading its
// standard input to the end.
func Watch(ctx context.Context, script, dir string) (end func(), err error) {
	read, write, err := os.Pipe() // closed in children: only we hold the writing end
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", "-c", script, "sh", dir)
	cmd.Stdin = read
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	_ = read.Close()
	if err != nil {
		_ = write.Close()
		return nil, err
	}
	return sync.OnceFunc(func() {
		_ = write.Close()
		_ = cmd.Wait()
	}), nil
}
