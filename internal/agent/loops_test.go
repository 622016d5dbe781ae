package agent

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/inspection"
	"muster/internal/concurrency/supervise/supervisetest"
	"muster/internal/engine/live"
	"muster/internal/httpapi/api"
	"muster/internal/testing/logtest"
)

// TestEveryLoopOfTheAgentPanics, all at once: the agent goes on, starts each again, says so
// in its log and to the server, and reports as before. A loop that is new in Run is broken, too.
func TestEveryLoopOfTheAgentPanics(t *testing.T) {
	t.Parallel()
	reports := make(chan api.AgentReport, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == agentsPath {
			var report api.AgentReport
			body, err := gzip.NewReader(r.Body)
			if err == nil {
				err = json.NewDecoder(body).Decode(&report)
			}
			if err != nil {
				t.Error(err)
			}
			reports <- report
		}
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "token"), []byte("planted-token\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "agent.yaml"), fmt.Appendf(nil, "name: here\ndirectory: %s\nhost: true\nservers:\n"+
		"  - {name: db, engine: postgresql, dsn: \"postgres://u@127.0.0.1:1/d?sslmode=disable\"}\n", filepath.Join(dir, "buffer")), 0o600))
	config, err := ReadConfig(filepath.Join(dir, "agent.yaml"), os.LookupEnv)
	must(t, err)
	u, err := url.Parse(server.URL)
	must(t, err)
	all, err := live.Inspectors(time.Now)
	must(t, err)
	log := &logtest.Log{}
	a, err := Open(Options{
		Config: config, Server: u, TokenFile: filepath.Join(dir, "token"), Version: "1", Engines: live.Measured,
		Inspectors: map[fleet.Engine]inspection.Inspector{fleet.PostgreSQL: all[fleet.PostgreSQL]}, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	saboteur, ctx := supervisetest.New(ctx, time.Millisecond, time.Hour)
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	<-reports                                   // askTheTime
	if first := <-reports; first.Loops != nil { // of the loop
		t.Errorf("nothing fell yet, and it reports %+v", *first.Loops)
	}
	want := []string{"assess db", "measure db", "measure this machine", "say how the agent is", "send"}
	for len(saboteur.Loops()) < len(want) {
		time.Sleep(time.Millisecond)
	}
	loops := saboteur.Loops()
	if !slices.Equal(loops, want) {
		t.Errorf("the loops are %q, want %q", loops, want)
	}
	for _, loop := range loops {
		saboteur.Break(loop)
		saboteur.End(loop)
	}
	for _, loop := range loops {
		for strings.Count(log.String(), "a test broke the loop "+loop) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	if n := strings.Count(log.String(), "supervisetest.(*mined).step"); n < len(loops) {
		t.Errorf("the log has %d stacks of %d panics", n, len(loops))
	}
	// The server db, which is away, has the agent report, too: before the falls and amid them.
	var fell *api.AgentLoop
	for deadline := time.After(20 * time.Second); fell == nil; {
		select {
		case report := <-reports:
			if report.Loops == nil {
				break
			}
			if n := slices.IndexFunc(*report.Loops, func(l api.AgentLoop) bool { return l.Loop == "say how the agent is" }); n >= 0 {
				fell = &(*report.Loops)[n]
			}
		case <-deadline:
			t.Fatal("no report says that the loop fell that reports")
		}
	}
	if fell.Falls == 0 || !fell.InTrouble || time.Since(fell.LastAt) > time.Hour {
		t.Errorf("it reports %+v", *fell)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	must(t, a.Close())
}
