package postgres_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/internal/postgres"
	"muster/internal/postgres/cluster"
	"muster/internal/testing/pgtest"
)

// asProcess makes the test binary a process that opens a private server, says
// what became of it, and holds it until its standard input ends.
const asProcess = "TEST_PRIVATE_SERVER"

func TestMain(m *testing.M) {
	if arguments := os.Getenv(asProcess); arguments != "" {
		os.Exit(hold([]byte(arguments)))
	}
	os.Exit(pgtest.Run(m))
}

type holdArguments struct {
	DataDir, SystemDir string
	Exclusive          bool
}

type holdAnswer struct {
	Started, Attached bool
	URL, Monitor      string
	Refused           string // why not
}

func hold(arguments []byte) int {
	var args holdArguments
	if err := json.Unmarshal(arguments, &args); err != nil {
		return 2
	}
	ctx := context.Background()
	var answer holdAnswer
	s, err := postgres.Open(ctx, postgres.Options{
		DataDir: args.DataDir, SystemDir: args.SystemDir, Exclusive: args.Exclusive,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		answer.Refused = err.Error()
		_ = json.NewEncoder(os.Stdout).Encode(answer)
		return 1
	}
	answer.Started, answer.Attached = s.Started, !s.Started
	answer.URL = s.URL()
	if answer.Monitor, err = s.MonitorURL(ctx); err != nil {
		return 3
	}
	_ = json.NewEncoder(os.Stdout).Encode(answer)
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := s.Close(ctx); err != nil {
		return 4
	}
	return 0
}

// scene is a data directory and the user who runs Muster on it.
type scene struct {
	binary    string
	dataDir   string
	systemDir string
	uid       uint32 // 0: as we are
}

// aScene is below a directory that everybody reaches, so that a test decides
// who reaches what.
func aScene(t *testing.T, uid uint32) *scene {
	t.Helper()
	root, err := pgtest.MkdirTemp("muster-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	s := &scene{
		binary: filepath.Join(root, "muster"), dataDir: filepath.Join(root, "user", "muster-data"),
		systemDir: filepath.Join(root, "system"), uid: uid,
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	user := filepath.Dir(s.dataDir)
	for _, err := range []error{
		writeProgram(s.binary, content), os.Mkdir(user, 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if uid != 0 {
		if err := os.Chown(user, int(uid), int(uid)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { s.end(t) })
	return s
}

// begun has, for each user, a data directory whose server was started once.
var begun = struct {
	sync.Mutex
	dirs map[uint32]string
}{dirs: map[uint32]string{}}

// begin gives the scene a data directory whose server was started once, and stopped: a copy of what the first
// such scene has made. To make one takes half a second of a processor, and to copy it a tenth.
func (s *scene) begin(t *testing.T) {
	t.Helper()
	begun.Lock()
	defer begun.Unlock()
	if kept, known := begun.dirs[s.uid]; known {
		copyDir(t, filepath.Join(kept, "data"), s.dataDir)
		return
	}
	s.serve(t).close(t)
	kept, err := pgtest.MkdirTemp("muster-begun-")
	if err != nil {
		t.Fatal(err)
	}
	pgtest.Common(t).Cleanup(func() { _ = os.RemoveAll(kept) })
	copyDir(t, s.dataDir, filepath.Join(kept, "data"))
	if err := os.Remove(filepath.Join(kept, "data", "postgres", "sockets")); err != nil { // each has a place of its own
		t.Fatal(err)
	}
	begun.dirs[s.uid] = kept
}

// copyDir copies a directory with the owners of its files.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copy %s: %v, %s", from, err, out)
	}
}

// writeProgram writes a file that is then run. No goroutine may fork while it is open: the
// child would hold it open for writing until it runs its own program, and until then the kernel
// refuses to run this one (text file busy).
func writeProgram(path string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, 0o755)
}

// end stops whatever a failed test has left running.
func (s *scene) end(t *testing.T) {
	for _, pattern := range []string{s.dataDir + "/postgres/data", s.systemDir + "/*/data"} {
		dirs, _ := filepath.Glob(pattern)
		for _, dir := range dirs {
			if state, err := cluster.ReadState(dir); err == nil && state.Alive(context.Background()) {
				_ = syscall.Kill(state.PID, syscall.SIGQUIT)
				t.Cleanup(func() { waitUntil(t, "the server is gone", func() bool { return !state.Alive(context.Background()) }) })
			}
		}
	}
}

// process is Muster on a data directory.
type process struct {
	holdAnswer
	cmd   *exec.Cmd
	stdin io.Closer
	log   string // file of what it wrote on standard error
}

func (s *scene) launch(t *testing.T, exclusive bool) (*process, *bufio.Reader) {
	t.Helper()
	arguments, err := json.Marshal(holdArguments{DataDir: s.dataDir, SystemDir: s.systemDir, Exclusive: exclusive})
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.CreateTemp(filepath.Dir(s.binary), "log-")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p := &process{cmd: exec.Command(s.binary), log: log.Name()}
	p.cmd.Env = append(os.Environ(), asProcess+"="+string(arguments))
	p.cmd.Dir = "/"
	p.cmd.Stderr = log
	if s.uid != 0 {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: s.uid, Gid: s.uid}}
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p, bufio.NewReader(out)
}

func (p *process) listen(t *testing.T, out *bufio.Reader) *process {
	t.Helper()
	line, err := out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("the process said nothing: %v\n%s", err, p.said(t))
	}
	if err := json.Unmarshal(line, &p.holdAnswer); err != nil {
		t.Fatal(err)
	}
	return p
}

// run starts a process and returns what it says; it then holds the server.
func (s *scene) run(t *testing.T, exclusive bool) *process {
	t.Helper()
	p, out := s.launch(t, exclusive)
	return p.listen(t, out)
}

// serve is a run that is to succeed, exclusively.
func (s *scene) serve(t *testing.T) *process {
	t.Helper()
	p := s.run(t, true)
	if p.Refused != "" {
		t.Fatal(p.Refused)
	}
	return p
}

// said is what the process has logged so far.
func (p *process) said(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func (p *process) close(t *testing.T) {
	t.Helper()
	_ = p.stdin.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, p.said(t))
	}
}

func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
}

func (p *process) db(t *testing.T) *sqlx.DB {
	t.Helper()
	return pgtest.Connect(t, p.URL)
}

// cluster is where the data is, found as the process found it.
func (s *scene) cluster(t *testing.T) string {
	t.Helper()
	home := filepath.Join(s.dataDir, "postgres")
	if named, err := os.ReadFile(filepath.Join(s.dataDir, "postgres.location")); err == nil {
		home = strings.TrimSpace(string(named))
	}
	return filepath.Join(home, "data")
}

func (s *scene) state(t *testing.T) cluster.PostmasterFile {
	t.Helper()
	state, err := cluster.ReadState(s.cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func waitUntil(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Errorf("waited a minute until %s", what)
}

// ordinary is the user nobody, on every system on which tests run as root.
const ordinary = 65534

// accounts are those who may run Muster here.
func accounts(t *testing.T) map[string]uint32 {
	t.Helper()
	if os.Geteuid() != 0 {
		return map[string]uint32{"ordinary user": 0}
	}
	return map[string]uint32{"root": 0, "ordinary user": ordinary}
}

func asEveryAccount(t *testing.T, test func(t *testing.T, s *scene)) {
	t.Helper()
	t.Parallel()
	for name, uid := range accounts(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, aScene(t, uid))
		})
	}
}

func write(t *testing.T, db *sqlx.DB, n int) {
	t.Helper()
	db.MustExec(`CREATE TABLE IF NOT EXISTS kept (n int)`)
	db.MustExec(`INSERT INTO kept VALUES ($1)`, n)
}

func expect(t *testing.T, db *sqlx.DB, want ...int) {
	t.Helper()
	var got []int
	if err := db.Select(&got, `SELECT n FROM kept ORDER BY n`); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

// impostor is a process of the server's user that is not the server.
func (s *scene) impostor(t *testing.T) int {
	t.Helper()
	owner, err := os.Stat(s.cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/cat")
	stat := owner.Sys().(*syscall.Stat_t)
	if int(stat.Uid) != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stat.Uid, Gid: stat.Gid}}
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}
