package clickhousetest

import (
	"context"
	_ "embed" // the configuration
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"muster/internal/concurrency/pause"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/porttest"
)

// Variable of the environment that makes it a failure that the server is not installed.
const Variable = "MUSTER_TEST_CLICKHOUSE"

// What the servers are called in their own configuration, and who may come in.
const (
	ClusterName = "muster"
	User        = "default"
	Password    = "let-me/in"
)

var (
	//go:embed server.xml
	serverXML string
	//go:embed users.xml
	usersXML string
)

// patience is for a machine that others use: a server starts in a second alone.
const (
	patience = time.Minute
	interval = 20 * time.Millisecond // between two looks
)

// Options says what a cluster is like.
type Options struct {
	Shards   int
	Replicas int // of each shard; more than one need ZooKeeper
	// ZooKeeper is the port of one on 127.0.0.1; 0: there is none.
	ZooKeeper int
	Secure    bool // with a port for TLS, too
}

// Cluster is servers that know of each other.
type Cluster struct {
	Servers  []*Server // those of the first shard before those of the next
	dir      string
	endWatch func()
}

// Server is a running ClickHouse.
type Server struct {
	Port    int
	Secure  int    // its port for TLS; 0: it has none
	CA      string // the file of who issued its certificate
	dir     string
	process *exec.Cmd
}

// Addr is host and port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)) }

// Program is where the server's program is; it ends the test where that is nowhere.
func Program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"clickhouse-server", "/usr/sbin/clickhouse-server"} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	if os.Getenv(Variable) == "required" {
		t.Fatal("clickhouse-server is not installed, and " + Variable + " says that it must be")
	}
	t.Skip("clickhouse-server is not installed: Debian has it as clickhouse-server")
	return ""
}

// Start starts a cluster that ends with the test.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, err := start(t.Context(), Program(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

func start(ctx context.Context, program string, o Options) (_ *Cluster, err error) {
	c := &Cluster{}
	if c.dir, err = pgtest.MkdirTemp("clickhouse"); err != nil {
		return nil, err
	}
	if err := c.watch(); err != nil {
		_ = os.RemoveAll(c.dir)
		return nil, err
	}
	ports, err := freePorts(3 * o.Shards * max(1, o.Replicas))
	var shards strings.Builder
	for shard := range o.Shards {
		fmt.Fprintf(&shards, "<shard><internal_replication>true</internal_replication>")
		for range max(1, o.Replicas) {
			n := len(c.Servers)
			s := &Server{dir: filepath.Join(c.dir, strconv.Itoa(n))}
			if err == nil {
				s.Port = ports[3*n]
			}
			c.Servers = append(c.Servers, s)
			fmt.Fprintf(&shards, "<replica><host>127.0.0.1</host><port>%d</port><user>%s</user><password>%s</password></replica>", s.Port, User, Password)
		}
		fmt.Fprintf(&shards, "</shard><!-- %d -->", shard)
	}
	zookeeper := ""
	if o.ZooKeeper != 0 {
		zookeeper = fmt.Sprintf("<zookeeper><node><host>127.0.0.1</host><port>%d</port></node><session_timeout_ms>10000</session_timeout_ms></zookeeper>", o.ZooKeeper)
	}
	for i, s := range c.Servers {
		if err == nil {
			if o.Secure {
				s.Secure = ports[3*i+2]
			}
			err = s.configure(ports[3*i+1], shards.String(), zookeeper)
		}
		if err == nil {
			err = s.launch(program)
		}
	}
	for _, s := range c.Servers {
		if err == nil {
			err = s.wait(ctx)
		}
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (s *Server) configure(interserver int, shards, zookeeper string) error {
	if err := os.MkdirAll(filepath.Join(s.dir, "tmp"), 0o755); err != nil {
		return err
	}
	secure := ""
	if s.Secure != 0 {
		var err error
		if secure, err = s.secure(strconv.Itoa(s.Secure)); err != nil {
			return err
		}
	}
	fill := strings.NewReplacer("{{secure}}", secure, "{{dir}}", s.dir, "{{port}}", strconv.Itoa(s.Port), "{{interserver}}", strconv.Itoa(interserver),
		"{{shards}}", shards, "{{zookeeper}}", zookeeper, "{{password}}", Password)
	if err := os.WriteFile(filepath.Join(s.dir, "config.xml"), []byte(fill.Replace(serverXML)), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, "users.xml"), []byte(fill.Replace(usersXML)), 0o600)
}

func (s *Server) launch(program string) error {
	output, err := os.OpenFile(filepath.Join(s.dir, "output"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = output.Close() }()
	s.process = exec.Command(program, "--config-file="+filepath.Join(s.dir, "config.xml"), "--pid-file="+filepath.Join(s.dir, "pid")) //nolint:noctx // it ends with its watcher
	s.process.Dir, s.process.Stdout, s.process.Stderr = s.dir, output, output
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("start %s: %w", program, err)
	}
	return os.WriteFile(filepath.Join(s.dir, "started"), []byte(strconv.Itoa(s.process.Process.Pid)), 0o600)
}

// wait waits until the server answers.
func (s *Server) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for {
		err := conn.Ping(ctx)
		if err == nil {
			return nil
		}
		if pause.For(ctx, interval) != nil {
			output, _ := os.ReadFile(filepath.Join(s.dir, "output"))
			log, _ := os.ReadFile(filepath.Join(s.dir, "errors"))
			return fmt.Errorf("clickhouse-server does not answer: %w\n%s%s", err, output, log)
		}
	}
}

func (s *Server) open() (driver.Conn, error) {
	return driver.Open(&driver.Options{Addr: []string{s.Addr()}, Auth: driver.Auth{Username: User, Password: Password}, DialTimeout: patience})
}

// Exec runs a statement on the server, as an administrator would.
func (s *Server) Exec(t testing.TB, statement string) {
	t.Helper()
	if err := s.exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (s *Server) exec(statement string) error {
	conn, err := s.open()
	if err == nil {
		err = conn.Exec(context.Background(), statement)
		_ = conn.Close()
	}
	return err
}

// Number is the only number that a statement answers.
func (s *Server) Number(t testing.TB, statement string) (n uint64) {
	t.Helper()
	conn, err := s.open()
	if err == nil {
		err = conn.QueryRow(context.Background(), statement).Scan(&n)
		_ = conn.Close()
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return n
}

// Stop stops the server as an administrator would.
func (s *Server) Stop(t testing.TB) { s.end(t, syscall.SIGTERM) }

// Kill ends it between two instructions.
func (s *Server) Kill(t testing.TB) { s.end(t, syscall.SIGKILL) }

// Pause makes the server answer nothing, as one behind a broken network; Resume ends that.
func (s *Server) Pause(t testing.TB) { s.signal(t, syscall.SIGSTOP) }

// Resume ends a Pause.
func (s *Server) Resume(t testing.TB) { s.signal(t, syscall.SIGCONT) }

func (s *Server) signal(t testing.TB, is syscall.Signal) {
	t.Helper()
	if err := s.process.Process.Signal(is); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) end(t testing.TB, is syscall.Signal) {
	t.Helper()
	s.signal(t, is)
	_ = s.process.Wait() // of a signal, which is no failure
}

// Restart starts the server that was ended, on the same port.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	err := s.launch(Program(t))
	if err == nil {
		err = s.wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// URL is the address of a database of the cluster's.
func (c *Cluster) URL(database string) string {
	hosts := make([]string, len(c.Servers))
	for i, s := range c.Servers {
		hosts[i] = s.Addr()
	}
	return "clickhouse://" + User + ":" + strings.ReplaceAll(Password, "/", "%2F") + "@" + strings.Join(hosts, ",") + "/" + database + "?cluster=" + ClusterName
}

// URL is the address of a database of the server alone.
func (s *Server) URL(database string) string {
	return "clickhouse://" + User + ":" + strings.ReplaceAll(Password, "/", "%2F") + "@" + s.Addr() + "/" + database
}

// SecureURL is the address of a database of the server alone, by TLS.
func (s *Server) SecureURL(database string) string {
	return strings.Replace(s.URL(database), s.Addr(), net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Secure)), 1) + "?secure=true"
}

// watcher ends the servers of a directory when its standard input ends.
const watcher = `cat >/dev/null
for started in "$1"/*/started; do
	if [ -e "$started" ]; then
		pid=$(cat "$started")
		if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF "$1"; then kill -KILL "$pid"; fi
	fi
done
rm -rf "$1"`

func (c *Cluster) watch() error {
	read, write, err := os.Pipe() // closed in children: only we hold the writing end
	if err != nil {
		return err
	}
	cmd := exec.Command("/bin/sh", "-c", watcher, "sh", c.dir) //nolint:noctx // it ends when we do
	cmd.Stdin, cmd.Dir = read, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	_ = read.Close()
	if err != nil {
		_ = write.Close()
		return err
	}
	c.endWatch = sync.OnceFunc(func() {
		_ = write.Close()
		_ = cmd.Wait()
		for _, s := range c.Servers {
			if s.process != nil && s.process.ProcessState == nil {
				_ = s.process.Wait()
			}
		}
	})
	return nil
}

func (c *Cluster) close() { c.endWatch() }

func freePorts(n int) (ports []int, err error) {
	for range n {
		port, err := porttest.Free()
		if err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	return ports, nil
}

// CPU is how long the servers have computed, as Linux counts it.
func (c *Cluster) CPU(t testing.TB) (sum time.Duration) {
	t.Helper()
	const tick = 10 * time.Millisecond
	for _, s := range c.Servers {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after)
		for _, field := range fields[11:13] { // in user and in kernel mode
			n, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			sum += time.Duration(n) * tick
		}
	}
	return sum
}
