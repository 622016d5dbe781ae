package e2e

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// stall is something that keeps a database from committing.
type stall struct {
	lasts  time.Duration
	begins func(t *testing.T, s *pgtest.Server) (ends func())
	onDisk bool   // it needs a file system that is the database's alone
	brief  bool   // the check of writes need not fail in it
	blocks bool   // PostgreSQL cannot begin a session either, so that what reads may fail, too
	says   string // and why, in /readyz or the log
}

var stalls = map[string]stall{
	"commits take a second":          {lasts: time.Second, begins: standbyAway, brief: true},
	"commits take ten seconds":       {lasts: 10 * time.Second, begins: standbyAway, says: "SyncRep"},
	"commits take a hundred seconds": {lasts: 100 * time.Second, begins: standbyAway, says: "SyncRep"},
	"the disk is frozen":             {lasts: time.Minute, begins: frozen, onDisk: true, blocks: true, says: "commits do not return"},
	"the disk is full":               {lasts: 20 * time.Second, begins: full, onDisk: true, says: "No space left"},
}

// TestLongStallsOfTheDatabase: what readiness, the metric, the doors and the log show while the
// database does not commit. Whatever writes is answered within 15 seconds, what reads goes on
// unless PostgreSQL itself is blocked, nothing that was acknowledged is lost, and all is well
// again by itself.
func TestLongStallsOfTheDatabase(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	for name, c := range stalls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, url := pgtest.Stalling(t)
			if c.onDisk {
				alone(t, server)
			}
			h := installed{url: url, dir: t.TempDir()}.open(t, servingHere, "--collect-own-host=off")
			const check = `muster_check_ok{check="writes"}`
			eventually(t, "it is ready", func() bool { return h.ready(t) == http.StatusOK })
			ends := c.begins(t, server)
			w := &scribe{house: h, acknowledged: map[string]bool{}}
			noted, unready := false, false
			within(c.lasts, func() bool {
				unready = unready || h.ready(t) == http.StatusServiceUnavailable
				w.begin(t)
				for _, path := range []string{"/metrics", "/api/v1/instances"} {
					began := time.Now()
					got, err := h.ana.try(t.Context(), http.MethodGet, path, nil)
					if took := time.Since(began); err != nil || took > 40*time.Second || got.status != http.StatusOK && (got.status != http.StatusServiceUnavailable || !c.blocks) {
						t.Errorf("%s: after %s %d %s, %v", path, took, got.status, got.body, err)
					}
					noted = noted || got.status != http.StatusOK || strings.Contains(string(got.body), check+" 0")
				}
				return false
			})
			ends()
			w.end(t)
			if !c.brief && (!noted || !unready) {
				t.Errorf("the metric noted it: %v, and readiness: %v", noted, unready)
			}
			eventually(t, "it is ready again", func() bool { return h.ready(t) == http.StatusOK && h.ana.series(t)[check] == "1" })
			if said := h.server.logged.String(); !strings.Contains(said, c.says) || strings.Contains(said, "panic") {
				t.Errorf("the log does not say %q, or of a panic:\n%s", c.says, said)
			}
			w.begin(t)
			w.end(t)
			w.kept(t)
		})
	}
}

func (h house) ready(t *testing.T) int {
	t.Helper()
	got, err := client{base: h.server.base}.try(t.Context(), http.MethodGet, "/readyz", nil)
	if err != nil {
		t.Error(err)
	}
	return got.status
}

// scribe creates channels, which is a small write, one after another.
type scribe struct {
	house
	acknowledged map[string]bool
	done         chan struct{}
	n            int
}

// begin sends the next one, where the last was answered.
func (w *scribe) begin(t *testing.T) {
	t.Helper()
	if w.done != nil {
		select {
		case <-w.done:
		default:
			return
		}
	}
	w.n++
	name, done := "channel "+strconv.Itoa(w.n), make(chan struct{})
	w.done = done
	go func() {
		defer close(done)
		began := time.Now()
		got, err := w.ana.try(context.WithoutCancel(t.Context()), http.MethodPost, "/api/v1/channels", map[string]any{"name": name, "kind": "email", "administrators": true})
		took := time.Since(began)
		switch {
		case err != nil || took > 20*time.Second: // 15, and the machine is busy
			t.Errorf("%s: after %s %v", name, took, err)
		case got.status == http.StatusCreated:
			w.acknowledged[name] = true
		case got.status != http.StatusServiceUnavailable:
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}()
}

func (w *scribe) end(t *testing.T) {
	t.Helper()
	<-w.done
}

// kept holds what is there against what was acknowledged.
func (w *scribe) kept(t *testing.T) {
	t.Helper()
	var list struct{ Items []struct{ Name string } }
	w.ana.get(t, "/api/v1/channels", &list)
	there := map[string]int{}
	for _, c := range list.Items {
		there[c.Name]++
	}
	for name := range w.acknowledged {
		if there[name] != 1 {
			t.Errorf("%s was acknowledged, and is there %d times", name, there[name])
		}
	}
	if len(w.acknowledged) == 0 {
		t.Error("nothing was acknowledged")
	}
}

func standbyAway(t *testing.T, s *pgtest.Server) (ends func()) { return s.Stall(t) }

// alone moves a database onto a file system of its own.
func alone(t *testing.T, s *pgtest.Server) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a file system can be mounted by root only")
	}
	image := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 400<<20); err != nil {
		t.Fatal(err)
	}
	s.Stop(t)
	aside := s.Dir() + ".aside"
	for _, line := range [][]string{
		{"mkfs.ext4", "-q", image}, {"mv", s.Dir(), aside}, {"mkdir", s.Dir()}, {"mount", "-o", "loop", image, s.Dir()},
		{"cp", "-a", aside + "/.", s.Dir()}, {"rm", "-rf", aside},
	} {
		if said, err := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput(); err != nil { //nolint:gosec // the lines above
			if line[0] == "mount" || line[0] == "mkfs.ext4" {
				t.Skipf("no file system can be mounted here: %s", said)
			}
			t.Fatalf("%q: %s", line, said)
		}
	}
	t.Cleanup(func() {
		s.Crash(t) // with its files away nobody would find it
		_ = syscall.Unmount(s.Dir(), syscall.MNT_DETACH)
	})
	s.Restart(t)
}

// frozen is a file system that takes no writes, as while its machine takes a snapshot.
func frozen(t *testing.T, s *pgtest.Server) (ends func()) {
	t.Helper()
	freeze := func(how string) error { return exec.Command("fsfreeze", how, s.Dir()).Run() } //nolint:gosec // the directory of a test
	if err := freeze("-f"); err != nil {
		t.Skipf("a file system cannot be frozen here: %v", err)
	}
	t.Cleanup(func() { _ = freeze("-u") })
	return func() {
		if err := freeze("-u"); err != nil {
			t.Error(err)
		}
	}
}

func full(t *testing.T, s *pgtest.Server) (ends func()) { return fill(t, s.Dir()) }
