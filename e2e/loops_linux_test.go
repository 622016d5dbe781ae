package e2e

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"muster/internal/concurrency/supervise/supervisetest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// once is the work that is over soon after the start, and cannot be broken any more.
var once = []string{"greet", "begin the demo", "fill the demo"}

// TestLongEveryLoopOfServePanics, all at once: the process goes on, starts each again, counts
// it, says so in /readyz and in the log, and then does what it did before. A loop that is
// new in serve is broken, too. In make test the loops of the agent panic (TestEveryLoopOfTheAgentPanics),
// and each loop of the program has to be one that is started again (TestNoGoroutineIsBare).
func TestLongEveryLoopOfServePanics(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	i := install(t)
	ana := i.organization(t, "Acme")
	_, public, err := note.GenerateKey(rand.Reader, "witness.example/one")
	if err != nil {
		t.Fatal(err)
	}
	breakEveryLoop(t, i, ana, append(i.flags(), "--witnesses", fileWith(t, "witnesses", public+" http://127.0.0.1:1\n"))...)
}

// TestLongEveryLoopOfADemoPanics is that of what only a demo with a private server runs.
func TestLongEveryLoopOfADemoPanics(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	i := installed{dir: dataDir(t)}
	breakEveryLoop(t, i, "", "--demo", "--data-dir", i.dir)
}

func breakEveryLoop(t *testing.T, i installed, email string, args ...string) {
	t.Helper()
	saboteur, ctx := supervisetest.New(context.Background(), 10*time.Millisecond, 2*time.Second)
	r := launchUnder(ctx, t, append(serveArgs(args), "--rate-limits=off", "--job-lease=1s", "--ops-listen=127.0.0.1:0")...).ready(t)
	door := r.door(t)
	build := func(name string) {} // of a demo, whose loops are looked at alone
	if email != "" {
		ana := i.as(t, r, email)
		ana.watch(t, "pg-live", pgtest.Watched(t).TCPURL(pgtest.Superuser, "postgres"))
		build = func(name string) { ana.await(t, ana.request(t, security(ana.paper(t, name))), "Ready") }
	}
	build("pg-1")
	eventually(t, "a server is measured", func() bool {
		return email == "" || slices.Contains(saboteur.Loops(), "measure servers") && slices.Contains(saboteur.Loops(), "assess servers")
	})
	loops := slices.DeleteFunc(saboteur.Loops(), func(loop string) bool { return slices.Contains(once, loop) })
	if len(loops) < 15 {
		t.Fatalf("only these loops ran: %q", loops)
	}
	for _, loop := range loops {
		saboteur.Break(loop)
	}
	// For two seconds after a fall: now, while one loop after another falls.
	eventually(t, "the process is degraded", func() bool {
		status, passed := door.checks(t, "/readyz")
		return status == "degraded" && !passed["loops"]
	})
	whole := func() []string {
		return slices.DeleteFunc(slices.Clone(loops), saboteur.Broken)
	}
	if !within(time.Second, func() bool { return len(whole()) == 0 }) {
		for _, loop := range whole() { // they wait for others, and for the end of their context
			saboteur.End(loop)
		}
	}
	build("pg-2") // for what is done for each job
	if !within(patience, func() bool { return len(whole()) == 0 || r.over() }) || r.over() {
		t.Fatalf("these loops did not panic: %q", whole())
	}
	var uncounted []string // what panics is counted a moment later
	if !within(patience, func() bool {
		counts := door.series(t)
		uncounted = slices.DeleteFunc(slices.Clone(loops), func(loop string) bool {
			n := counts[`muster_loop_restarts_total{loop="`+loop+`"}`]
			return n != "" && n != "0"
		})
		return len(uncounted) == 0
	}) {
		t.Errorf("no restarts are counted of %q", uncounted)
	}
	for _, loop := range loops {
		if !strings.Contains(r.logged.String(), "a test broke the loop "+loop) {
			t.Errorf("the log does not say that %q panicked", loop)
		}
	}
	if n := strings.Count(r.logged.String(), "supervisetest.(*mined).step"); n < len(loops) {
		t.Errorf("the log has %d stacks of %d panics", n, len(loops))
	}
	eventually(t, "the process is ready again", func() bool {
		status, passed := door.checks(t, "/readyz")
		return status == "ready" && passed["loops"]
	})
	build("pg-3")
	if !r.over() {
		r.stop(t)
	}
}
