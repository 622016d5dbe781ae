package failover

import (
	"context"
	_ "embed" // scripts and settings
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"muster/internal/postgres/cluster"
	"muster/internal/process/unixonly"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/porttest"
)

// Settings of the monitor and the nodes, and what ends them all.
var (
	//go:embed monitor.conf
	monitorConf string
	//go:embed node.conf
	nodeConf string
	//go:embed end.sh
	endScript string
)

// tended are a monitor and two nodes, each below a pg_autoctl that looks after it.
type tended struct {
	dir      string // holds a directory, a log and a file with the group of processes for each
	autoctl  string
	pgctl    string // beside which pg_autoctl looks for the others
	install  cluster.Installation
	account  cluster.Account
	monitor  *kept
	nodes    [2]*kept
	replicas string // replication quorum: true, false
}

// kept is a PostgreSQL and its keeper.
type kept struct {
	name string
	port int
	done chan struct{} // the keeper has ended
	pid  int           // the keeper's, and that of the group of both
}

// Start starts a pair that fails over by itself. It skips the test where pg_auto_failover
// is not installed.
func Start(t testing.TB, options ...Option) *Pair {
	t.Helper()
	p := &Pair{}
	for _, option := range options {
		option(p)
	}
	s := prepare(t)
	s.replicas = strconv.FormatBool(!p.asynchronous)
	t.Cleanup(func() { s.tell(t) })

	s.monitor = s.server(t, "monitor")
	s.initialize(t, s.monitor, monitorConf)
	s.launch(t, s.monitor, "create", "monitor", "--pgdata", s.data(s.monitor), "--pgport", strconv.Itoa(s.monitor.port),
		"--pgctl", s.pgctl, "--hostname", "127.0.0.1", "--listen", "127.0.0.1", "--auth", "trust", "--no-ssl", "--run")
	await(t, "the monitor is there", s.registers)
	for i := range s.nodes {
		s.nodes[i] = s.server(t, "node"+strconv.Itoa(i))
		p.addrs[i] = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.nodes[i].port))
	}
	// The second is copied from the first.
	s.initialize(t, s.nodes[0], nodeConf)
	s.create(t, s.nodes[0])
	await(t, "the first node is there", func(ctx context.Context) bool {
		return p.says(ctx, 0, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pgautofailover_replicator')`)
	})
	s.create(t, s.nodes[1])
	p.ways = ways{kill: s.kill, back: s.back, settled: s.settled}
	p.settle(t, 0)
	return p
}

// prepare finds the programs and makes a directory that ends with the test binary.
func prepare(t testing.TB) *tended {
	t.Helper()
	s := &tended{}
	var err error
	if s.autoctl, err = exec.LookPath("pg_autoctl"); err != nil {
		t.Skip("pg_autoctl is missing: install the Debian packages pg-auto-failover-cli and postgresql-15-auto-failover")
	}
	for _, installation := range cluster.Installations(t.Context()) {
		if installation.HasLibrary("pgautofailover") {
			s.install = installation
			break
		}
	}
	if s.install.Dir == "" {
		t.Skip("no PostgreSQL here has the extension pgautofailover: install the Debian package postgresql-15-auto-failover, or that of your version")
	}
	if s.pgctl, err = filepath.EvalSymlinks(s.install.Program("pg_ctl")); err != nil {
		t.Fatal(err)
	}
	if s.account, err = cluster.DefaultAccount(); err != nil {
		t.Fatal(err)
	}
	if s.dir, err = pgtest.MkdirTemp("pgf"); err != nil {
		t.Fatal(err)
	}
	end, err := pgtest.Watch(t.Context(), endScript, s.dir)
	if err != nil {
		_ = os.RemoveAll(s.dir)
		t.Fatal(err)
	}
	t.Cleanup(end)
	if err := s.account.Own(s.dir); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *tended) server(t testing.TB, name string) *kept {
	t.Helper()
	port, err := porttest.Free()
	if err != nil {
		t.Fatal(err)
	}
	return &kept{name: name, port: port}
}

func (s *tended) data(k *kept) string { return filepath.Join(s.dir, k.name) }
func (s *tended) log(k *kept) string  { return filepath.Join(s.dir, k.name+".log") }

// initialize makes a cluster with settings of ours, which pg_autoctl takes over. Its
// superuser is called as the account is, for so pg_autoctl signs in first.
func (s *tended) initialize(t testing.TB, k *kept, settings string) {
	t.Helper()
	info, err := os.Stat(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	uid, _, _ := unixonly.Owner(info)
	owner, err := user.LookupId(strconv.Itoa(int(uid)))
	if err != nil {
		t.Fatal(err)
	}
	err = cluster.Init(t.Context(), s.install, s.account, s.data(k), cluster.InitOptions{Superuser: owner.Username, Auth: "trust", NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	conf, err := os.OpenFile(filepath.Join(s.data(k), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conf.WriteString("\n" + settings)
	if err := errors.Join(err, conf.Close()); err != nil {
		t.Fatal(err)
	}
}

func (s *tended) create(t testing.TB, k *kept) {
	t.Helper()
	s.launch(t, k, "create", "postgres", "--pgdata", s.data(k), "--pghost", "127.0.0.1", "--pgport", strconv.Itoa(k.port),
		"--listen", "127.0.0.1", "--pgctl", s.pgctl, "--name", k.name, "--hostname", "127.0.0.1",
		"--username", pgtest.Superuser, "--monitor", s.monitorURL(), "--replication-quorum", s.replicas, "--auth", "trust", "--no-ssl", "--run")
}

// registers says whether the monitor takes nodes.
func (s *tended) registers(ctx context.Context) bool {
	return s.says(ctx, `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pgautofailover')`)
}

// settled says whether both nodes have told the monitor that they are what it wants: of a
// primary that dies before, the monitor promotes no standby.
func (s *tended) settled(ctx context.Context) bool {
	return s.says(ctx, `SELECT count(*) = 2 FROM pgautofailover.node
		WHERE health = 1 AND reportedstate = goalstate AND goalstate IN ('primary', 'secondary')`)
}

// says asks the monitor a question.
func (s *tended) says(ctx context.Context, question string) bool {
	conn, err := pgx.Connect(ctx, s.monitorURL())
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close(ctx) }()
	return asks(ctx, conn, question)
}

func (s *tended) monitorURL() string {
	return fmt.Sprintf("postgres://autoctl_node@127.0.0.1:%d/pg_auto_failover?sslmode=disable", s.monitor.port)
}

// launch starts a keeper in a group of its own, and with it its PostgreSQL. Its socket is
// for the crash recovery before pg_rewind, in which it listens nowhere else.
func (s *tended) launch(t testing.TB, k *kept, args ...string) {
	t.Helper()
	log, err := os.OpenFile(s.log(k), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	cmd := s.account.Command(context.WithoutCancel(t.Context()), s.autoctl, args...)
	cmd.Env = append(cmd.Env, "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "XDG_DATA_HOME="+s.dir, "XDG_RUNTIME_DIR="+s.dir,
		"PGHOST=127.0.0.1", "PG_REGRESS_SOCK_DIR="+s.dir)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k.pid, k.done = cmd.Process.Pid, make(chan struct{})
	go func(done chan struct{}) {
		_ = cmd.Wait()
		close(done)
	}(k.done)
	if err := os.WriteFile(s.group(k), []byte(strconv.Itoa(k.pid)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// group is the file that names the group of processes, for end.sh.
func (s *tended) group(k *kept) string { return filepath.Join(s.dir, k.name+".group") }

// kill ends keeper, server and the server's processes, which are groups of their own, at
// the same moment.
func (s *tended) kill(t testing.TB, node int) {
	t.Helper()
	k := s.nodes[node]
	backends := children(s.data(k))
	if err := syscall.Kill(-k.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, pid := range backends {
		_ = syscall.Kill(pid, syscall.SIGKILL) // gone with the server, if not yet before
	}
	<-k.done
	if err := os.Remove(s.group(k)); err != nil {
		t.Fatal(err)
	}
}

// children are the processes of the server in a data directory.
func children(dir string) (pids []int) {
	state, err := cluster.ReadState(dir)
	if err != nil {
		return nil
	}
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", state.PID, state.PID))
	if err != nil {
		return nil
	}
	for field := range strings.FieldsSeq(string(list)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// back starts the keeper again, which finds the server's data and asks the monitor what to
// do with it.
func (s *tended) back(t testing.TB, node int) {
	t.Helper()
	s.launch(t, s.nodes[node], "run", "--pgdata", s.data(s.nodes[node]))
}

// tell shows what the keepers said, where the test has failed.
func (s *tended) tell(t testing.TB) {
	if !t.Failed() {
		return
	}
	for _, k := range []*kept{s.monitor, s.nodes[0], s.nodes[1]} {
		if k == nil {
			continue
		}
		said, err := os.ReadFile(s.log(k))
		lines := strings.Split(string(said), "\n")
		t.Logf("%s said at the end (%v)\n%s", k.name, err, strings.Join(lines[max(0, len(lines)-60):], "\n"))
	}
}
