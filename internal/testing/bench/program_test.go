package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/testing/pgtest"
)

// program is a running serve with one administrator, who has a token.
type program struct {
	b      *testing.B
	binary string
	data   string // its data directory
	server *pgtest.Server
	url    string // its database's
	base   string // where it listens
	pid    int
	token  string

	measurements string                  // where they are; "": in PostgreSQL
	clickhouse   *clickhousetest.Cluster // where that is one of the benchmark's own
}

const (
	admin    = "ana@bench.example"
	password = "seven-grey-herons-wade" // of nobody; in no list of known ones
)

// untilStopped starts a server, prints its process id, and stops it when
// standard input ends: which it also does when the benchmark is killed.
const untilStopped = `exec 3<&0
"$@" </dev/null 3<&- &
echo "pid $!"
cat <&3 >/dev/null
kill -TERM "$!" 2>/dev/null
wait "$!"`

// start builds and runs serve on an empty installation, without rate limits and budgets.
func start(b *testing.B) *program {
	b.Helper()
	// As the private server has them.
	settings := map[string]string{"shared_buffers": "256MB", "jit": "off"}
	if countsStatements() {
		settings["shared_preload_libraries"] = "pg_stat_statements"
	}
	server := pgtest.Cluster(b, pgtest.Options{Fsync: true, Settings: settings})
	place, clickhouse := measurementsPlace(b)
	p := &program{measurements: place, clickhouse: clickhouse, b: b, binary: filepath.Join(b.TempDir(), "muster"), data: b.TempDir(), server: server, url: server.Superuser()}
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", p.binary, "muster/cmd/muster").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	if err := os.WriteFile(p.secret(), []byte(password), 0o600); err != nil {
		b.Fatal(err)
	}
	p.serve("--listen=127.0.0.1:0", "--rate-limits=off", "--admin-email="+admin, "--admin-password-file="+p.secret())
	p.token = p.tokenOf("api", admin)
	return p
}

// secret is the file with the password of every administrator.
func (p *program) secret() string { return filepath.Join(p.data, "password") }

// organization makes another one.
func (p *program) organization(name, admin string) {
	p.b.Helper()
	p.run("organization", "create", "--name="+name, "--admin-email="+admin, "--admin-password-file="+p.secret())
}

// tokenOf makes a token of somebody.
func (p *program) tokenOf(kind, email string) string {
	p.b.Helper()
	return strings.TrimSpace(p.run("token", "create", "--kind="+kind, "--email="+email))
}

// command is a command line on the installation; the developer's own settings
// do not reach it.
func (p *program) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, append(args, "--database-url="+p.url, "--data-dir="+p.data)...)
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "MUSTER_") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	for _, budget := range []string{"BYTES", "EVENTS", "OPEN_ALERTS"} { // a benchmark sends more than those of a day
		cmd.Env = append(cmd.Env, "MUSTER_BUDGET_"+budget+"="+strconv.Itoa(math.MaxInt64))
	}
	if p.measurements != "" {
		cmd.Env = append(cmd.Env, measurementsURL+"="+p.measurements)
	}
	return cmd
}

// run runs a subcommand and returns what it printed.
func (p *program) run(args ...string) string {
	p.b.Helper()
	out, err := p.command(p.b.Context(), p.binary, args...).Output()
	if err != nil {
		p.b.Fatalf("muster %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// serve starts the server and waits until it says where it is.
func (p *program) serve(args ...string) {
	p.b.Helper()
	log, err := os.Create(filepath.Join(p.data, "log"))
	if err != nil {
		p.b.Fatal(err)
	}
	cmd := p.command(context.WithoutCancel(p.b.Context()), "/bin/sh",
		append([]string{"-c", untilStopped, "sh", p.binary, "serve"}, args...)...)
	cmd.Stderr = log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		p.b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		p.b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.b.Fatal(err)
	}
	drained := make(chan struct{})
	p.b.Cleanup(func() {
		_ = stdin.Close()
		<-drained
		_ = cmd.Wait()
		_ = log.Close()
		if p.b.Failed() {
			said, _ := os.ReadFile(log.Name())
			p.b.Logf("the server said:\n%s", said[max(0, len(said)-4000):])
		}
	})
	ready := make(chan struct{})
	go func() {
		defer close(drained)
		p.listen(stdout, ready)
	}()
	select {
	case <-ready:
	case <-time.After(time.Minute):
		p.b.Fatal("the server does not come up within a minute")
	}
}

var (
	pidLine  = regexp.MustCompile(`^pid (\d+)$`)
	baseLine = regexp.MustCompile(`^Muster is at (http://\S+)$`)
)

// listen takes process id and address from what the server prints.
func (p *program) listen(stdout io.Reader, ready chan<- struct{}) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if m := pidLine.FindStringSubmatch(lines.Text()); m != nil {
			p.pid, _ = strconv.Atoi(m[1])
		}
		if m := baseLine.FindStringSubmatch(lines.Text()); m != nil {
			p.base = m[1]
			close(ready)
		}
	}
}

// call sends a request, ends the benchmark on any answer but the wanted one,
// and decodes that into answer.
func (p *program) call(method, path string, body, answer any, want int) {
	p.b.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		p.b.Fatal(err)
	}
	request, err := http.NewRequestWithContext(p.b.Context(), method, p.base+"/api/v1"+path, bytes.NewReader(sent))
	if err != nil {
		p.b.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+p.token)
	if body == nil {
		request.Body, request.ContentLength = http.NoBody, 0
	} else {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.b.Fatal(err)
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		p.b.Fatal(err)
	}
	if response.StatusCode != want {
		p.b.Fatalf("%s %s: %s\n%s", method, path, response.Status, received)
	}
	if err := json.Unmarshal(received, answer); err != nil {
		p.b.Fatalf("%s %s: %v in %s", method, path, err, received)
	}
}

func (p *program) get(path string, answer any) {
	p.b.Helper()
	p.call(http.MethodGet, path, nil, answer, http.StatusOK)
}

// until polls for what other processes bring about.
func (p *program) until(what string, every, patience time.Duration, holds func() bool) {
	p.b.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(every) {
		if time.Now().After(deadline) {
			p.b.Fatalf("not within %s: %s", patience, what)
		}
	}
}
