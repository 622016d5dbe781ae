package e2e

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/internal/cli/command"
	"muster/internal/concurrency/pause"
)

// replica is one `serve`, which is started again whenever it ends, as systemd does.
type replica struct {
	*fire
	name    string
	at      string // where it listens
	figures string // where it shows its figures without sign-in, for which it needs no database
	behind  string // where nginx finds it
	program string // empty: this test binary
	env     []string
	args    []string
	halt    context.CancelFunc // nobody starts it any more
	kept    sync.WaitGroup

	mu     sync.Mutex
	now    *running // may be over
	victim *running // who was killed last
	errors []string // the first lines of its processes that are over, where they blame themselves
}

// restartPause is how long nobody starts a replica that ended by itself.
const restartPause = 500 * time.Millisecond

// greeting is what a replica says when it serves.
const greeting = "Muster is at "

// begin starts it, and whoever starts it again.
func (r *replica) begin(t *testing.T) {
	t.Helper()
	ctx, halt := context.WithCancel(context.Background())
	r.halt = halt
	r.kept.Go(func() { r.keep(ctx) })
	t.Cleanup(func() {
		halt()
		if p := r.current(); p != nil {
			_ = p.cmd.Process.Kill() // that it ends in order is held before, see stop
		}
		r.kept.Wait()
		if p := r.current(); p != nil && t.Failed() {
			t.Logf("%s said at last\n%s", r.name, tail(p.logged.String(), 40))
			t.Logf("%s named these faults of its own\n%s", r.name, strings.Join(r.errors, "\n"))
		}
	})
}

func (r *replica) keep(ctx context.Context) {
	for ctx.Err() == nil {
		p, err := r.launch()
		if err != nil {
			r.book.wrong("%s cannot be started: %v", r.name, err)
			return
		}
		if ctx.Err() != nil { // halted meanwhile: nobody else would know of it
			_ = p.cmd.Process.Kill()
		}
		<-p.ended
		r.look(ctx, p)
		if !r.wasKilled(p) {
			_ = pause.For(ctx, restartPause)
		}
	}
}

func (r *replica) launch() (*running, error) {
	cmd := exec.Command(cmp.Or(r.program, os.Args[0]), r.args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a program that is not ours does not see its input end
	p, err := spawn(cmd, r.env)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = p
	return p, nil
}

func (r *replica) current() *running {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *replica) wasKilled(p *running) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.victim == p
}

// look judges how a process ended: killed, told to, or for want of its suppliers before it
// served, which it says in one line.
func (r *replica) look(ctx context.Context, p *running) {
	said := p.logged.String()
	for line := range strings.Lines(said) {
		if strings.Contains(line, "level=ERROR") && len(r.errors) < mostWrongs {
			r.errors = append(r.errors, strings.TrimSpace(line))
		}
	}
	for _, bad := range []string{"WARNING: DATA RACE", "\npanic: ", "\nfatal error: "} {
		if at := strings.Index("\n"+said, bad); at >= 0 {
			r.book.wrong("%s said %.3000s", r.name, said[max(0, at-1):])
		}
	}
	switch {
	case r.wasKilled(p), ctx.Err() != nil:
	case strings.Contains(p.said.String(), greeting) || p.status != command.ExitFailed:
		r.book.wrong("%s ended by itself with %d: %s", r.name, p.status, tail(said, 10))
	default:
		r.book.does("a replica could not start, and was started again")
		r.book.why(r.name, tail(said, 1))
	}
}

// tail is the end of what was said.
func tail(said string, lines int) string {
	all := strings.Split(strings.TrimSpace(said), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func (r *replica) runs() bool {
	p := r.current()
	return p != nil && !p.over()
}

// serves says whether the process that runs now has come so far as to greet.
func (r *replica) serves() bool {
	return r.runs() && strings.Contains(r.current().said.String(), greeting)
}

// isReady says whether it has all it needs.
func (r *replica) isReady() bool {
	if !r.serves() {
		return false
	}
	got, err := client{base: "http://" + r.at}.try(context.Background(), "GET", "/readyz", nil)
	return err == nil && got.status == 200 && strings.Contains(string(got.body), `"status":"ready"`)
}

// serveSteps is for how many steps a kill waits for a replica to serve, which without its
// suppliers it never does.
const serveSteps = 20

// kill ends what runs now as the kernel would: once it serves, or, early, as it starts.
func (r *replica) kill(t *testing.T, early bool) {
	t.Helper()
	eventually(t, r.name+" runs", r.runs)
	if !early {
		early = !within(serveSteps*r.size.between, r.serves)
	}
	r.mu.Lock()
	p := r.now
	r.victim = p
	r.mu.Unlock()
	_ = p.cmd.Process.Kill()
	<-p.ended
	if early {
		r.book.does("of those: as it started")
	}
}

// stop ends it as an operator would, and holds it to its promise.
func (r *replica) stop(t *testing.T) {
	t.Helper()
	r.halt()
	r.current().stop(t)
	r.kept.Wait()
}
