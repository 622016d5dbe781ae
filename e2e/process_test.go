package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/internal/cli"
	"muster/internal/postgres/cluster"
	"muster/internal/testing/logtest"
	"muster/internal/testing/pgtest"
)

// patience is how long the slowest thing may take on a machine that does ten
// other things: beside a load of 22 on 2 cores the first start of a demo took more
// than a minute. No test is made to wait for it: all poll.
const patience = 3 * time.Minute

// stopPatience is what serve promises: it ends within 20 s of SIGTERM.
const stopPatience = 20 * time.Second

// eventually polls until something holds, and says what did not.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !within(patience, holds) {
		t.Fatalf("%s: still not after %s", what, patience)
	}
}

// within polls until something holds or the time is up. Whoever is looked at works for
// each look, too: so that they get on, it rests for ten times as long as the look took.
func within(limit time.Duration, holds func() bool) bool {
	for deadline := time.Now().Add(limit); ; {
		began := time.Now()
		if holds() {
			return true
		}
		if began.After(deadline) {
			return false
		}
		time.Sleep(min(max(shortestRest, 10*time.Since(began)), longestRest))
	}
}

// Between two looks, see within.
const (
	shortestRest = 20 * time.Millisecond
	longestRest  = 250 * time.Millisecond
)

// running is the program: in a process of its own, or serve in this one.
type running struct {
	base   string // where it serves, once ready
	pid    int
	cmd    *exec.Cmd          // nil: in this process,
	halt   context.CancelFunc // where this is what SIGTERM is
	said   *logtest.Log       // on standard output
	logged *logtest.Log       // on standard error
	begun  chan struct{}      // main has, or it is over; nil in this process
	ended  chan struct{}
	status int // once it has ended
}

// launch starts the program. Settings in env are MUSTER_NAME=value; of the
// test's own environment it sees no setting.
func launch(t testing.TB, env []string, args ...string) *running {
	t.Helper()
	return start(t, exec.Command(os.Args[0], args...), env)
}

// start starts the program by a command, a shell's say.
func start(t testing.TB, cmd *exec.Cmd, env []string) *running {
	t.Helper()
	r, err := spawn(cmd, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.terminate()
		if !within(stopPatience, r.over) {
			t.Errorf("process %d did not end within %s of SIGTERM", r.pid, stopPatience)
			_ = r.cmd.Process.Kill()
			<-r.ended
		}
		if strings.Contains(r.logged.String(), "DATA RACE") {
			t.Error("a data race")
		}
		r.tell(t, r.cmd.Args[1:])
	})
	return r
}

// spawn is start for whoever sees to the end of the process, and looks at what it said.
func spawn(cmd *exec.Cmd, env []string) (*running, error) {
	r := &running{cmd: cmd, said: &logtest.Log{}, logged: &logtest.Log{}, begun: make(chan struct{}), ended: make(chan struct{})}
	r.cmd.Env = append(programEnvironment(env...), begins+"=yes")
	begun, closes, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r.cmd.ExtraFiles = []*os.File{closes}
	r.cmd.Stdout, r.cmd.Stderr = r.said, r.logged
	stdin, err := r.cmd.StdinPipe() // closed when this process ends, see beMuster
	if err == nil {
		err = r.cmd.Start()
	}
	_ = closes.Close()
	if err != nil {
		_ = begun.Close()
		return nil, err
	}
	go func() {
		_, _ = io.Copy(io.Discard, begun)
		_ = begun.Close()
		close(r.begun)
	}()
	r.pid = r.cmd.Process.Pid
	go func() {
		_ = r.cmd.Wait()
		_ = stdin.Close()
		r.status = r.cmd.ProcessState.ExitCode()
		close(r.ended)
	}()
	return r, nil
}

// programEnvironment makes this test binary the program. Of the tests' own environment
// that sees no setting.
//
// The race detector lets a program sleep a second at its end, so that what it leaves
// running has time to race. Ours has waited for all it started by then, and the races
// it had are reported before.
func programEnvironment(env ...string) []string {
	own := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "MUSTER_") || strings.HasPrefix(pair, "OTEL_")
	})
	return append(append(own, asMuster+"=yes", "GORACE="+os.Getenv("GORACE")+" atexit_sleep_ms=0"), env...)
}

// tell shows what the program said, where the test has failed.
func (r *running) tell(t testing.TB, args []string) {
	if t.Failed() {
		t.Logf("muster %s said\n%s%s", strings.Join(args, " "), r.said, r.logged)
	}
}

// terminate asks the program to end, as an operator would.
func (r *running) terminate() error {
	if r.cmd == nil {
		r.halt()
		return nil
	}
	return r.cmd.Process.Signal(syscall.SIGTERM)
}

func (r *running) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// outcome waits for the process to end by itself.
func (r *running) outcome(t testing.TB) outcome {
	t.Helper()
	eventually(t, "the process ends", r.over)
	return outcome{status: r.status, out: r.said.String(), errors: r.logged.String()}
}

var address = regexp.MustCompile(`(?m)^Muster is at (http://\S+)$`)

// serving starts `muster serve` on a free port, in a process of its own, and returns
// when it is ready: for what is killed, runs a private server, has settings in its
// environment, or is about processes. All others take servingHere.
func serving(t testing.TB, env []string, args ...string) *running {
	t.Helper()
	return launch(t, env, serveArgs(args)...).ready(t)
}

func serveArgs(args []string) []string {
	return append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
}

// servingHere is serving in this process.
func servingHere(t testing.TB, args ...string) *running {
	t.Helper()
	return launchHere(t, serveArgs(args)...).ready(t)
}

// launchHere is launch in this process, where commands run, too (muster). To start takes
// a fifth of what it takes a process, which begins by reading lists of passwords, the
// contract and the catalogue.
func launchHere(t testing.TB, args ...string) *running {
	t.Helper()
	return launchUnder(context.Background(), t, args...) // the test's own ends before its cleanup begins
}

// launchUnder is launchHere with a context.
func launchUnder(ctx context.Context, t testing.TB, args ...string) *running {
	t.Helper()
	ctx, halt := context.WithCancel(ctx)
	r := &running{said: &logtest.Log{}, logged: &logtest.Log{}, ended: make(chan struct{}), halt: halt}
	go func() {
		r.status = cli.Run(ctx, args, r.said, r.logged)
		close(r.ended)
	}()
	t.Cleanup(func() {
		halt()
		if !within(stopPatience, r.over) {
			t.Errorf("serve did not end within %s", stopPatience)
		}
		r.tell(t, args)
	})
	return r
}

// ready waits until the process says that it is.
func (r *running) ready(t testing.TB) *running {
	t.Helper()
	eventually(t, "serve is ready", func() bool {
		if r.over() {
			t.Fatalf("serve ended with %d", r.status)
		}
		if found := address.FindStringSubmatch(r.said.String()); found != nil {
			r.base = found[1]
		}
		return r.base != "" && r.isReady()
	})
	return r
}

func (r *running) isReady() bool {
	got, err := client{base: r.base}.try(context.Background(), http.MethodGet, "/readyz", nil)
	return err == nil && got.status == http.StatusOK
}

// atWork waits until the process is anywhere in what it does within a time, by chance.
// A test binary with the race detector needs half a second, on a busy machine two, until
// main begins: whoever is killed before has done nothing yet.
func (r *running) atWork(limit time.Duration) {
	<-r.begun
	time.Sleep(rand.N(limit)) // not a wait for anything
}

// kill ends the process as the kernel would.
func (r *running) kill(t testing.TB) {
	t.Helper()
	if err := r.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	<-r.ended
}

// stop ends the process as an operator would, and holds it to its promise.
func (r *running) stop(t testing.TB) {
	t.Helper()
	if err := r.terminate(); err != nil {
		t.Fatal(err)
	}
	if !within(stopPatience, r.over) {
		t.Fatalf("serve did not end within %s of SIGTERM", stopPatience)
	}
	if status := r.status; status != 0 {
		t.Errorf("serve ended with %d after SIGTERM", status)
	}
}

// dataDir is a data directory in which a private PostgreSQL can run: every
// account may pass through its parent, which t.TempDir does not allow. A server
// that a killed process left there is ended with the test.
func dataDir(t testing.TB) string {
	t.Helper()
	parent, err := pgtest.MkdirTemp("muster-test-")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(parent, "data")
	t.Cleanup(func() {
		if state, err := cluster.ReadState(filepath.Join(dir, "postgres", "data")); err == nil && state.Alive(context.Background()) {
			_ = syscall.Kill(state.PID, syscall.SIGQUIT)
			within(patience, func() bool { return !state.Alive(context.Background()) })
		}
		_ = os.RemoveAll(parent)
	})
	return dir
}

// client calls the API, as a token or as nobody.
type client struct{ base, token string }

// answer is what the API said.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// try makes a call that may go wrong on the way.
func (c client) try(ctx context.Context, method, path string, body any) (answer, error) {
	var content io.Reader
	contentType := "application/json"
	switch b := body.(type) {
	case nil:
	case []byte:
		content, contentType = bytes.NewReader(b), "application/pdf"
	default:
		encoded, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		content = bytes.NewReader(encoded)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return answer{}, err
	}
	if content != nil {
		request.Header.Set("Content-Type", contentType)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, header: response.Header, body: read}, err
}

// call makes a call that is to be answered with a status, and reads the answer
// into what is given.
func (c client) call(t testing.TB, want int, method, path string, body, into any) answer {
	t.Helper()
	got, err := c.try(t.Context(), method, path, body)
	if err != nil {
		t.Fatal(err)
	}
	if got.status != want {
		t.Fatalf("%s %s answers %d, want %d: %s", method, path, got.status, want, got.body)
	}
	if into != nil {
		if err := json.Unmarshal(got.body, into); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, got.body)
		}
	}
	return got
}

// get reads.
func (c client) get(t testing.TB, path string, into any) answer {
	t.Helper()
	return c.call(t, http.StatusOK, http.MethodGet, path, nil, into)
}

// code is the error code of a problem.
func (a answer) code() string {
	var problem struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(a.body, &problem)
	return problem.Code
}
