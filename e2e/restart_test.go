package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/internal/postgres/cluster"
	"muster/internal/testing/longtest"
)

// TestLongAStopDuringBuildsLosesNone: SIGTERM in the middle of builds counts none as a failed attempt.
func TestLongAStopDuringBuildsLosesNone(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	h := newHouseApart(t)
	const asked = 4
	for n := range asked {
		h.ana.request(t, scorecard(h.live, n))
	}
	h.server.stop(t)
	h.server = serving(t, nil, h.flags()...)
	if ends := h.wellEnded(t); ends["Ready"] != asked {
		t.Errorf("of %d reports %v ended", asked, ends)
	}
}

// TestAnInterruptedFirstStartDoesNoHarm: it ends serve at any moment of its first start, which makes its
// database, by SIGTERM and then by SIGKILL, and the next start works. In the other order, SIGTERM can come
// before serve has adopted the server that SIGKILL left running, and then that server goes on.
func TestAnInterruptedFirstStartDoesNoHarm(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		r := launch(t, nil, "serve", "--listen", "127.0.0.1:0", "--data-dir", dir)
		r.atWork(1500 * time.Millisecond)
		if err := r.cmd.Process.Signal(signal); err != nil {
			t.Fatalf("serve was over already: %v", err)
		}
		if !within(stopPatience, r.over) {
			t.Fatalf("serve did not end within %s of %s", stopPatience, signal)
		}
		if signal == syscall.SIGTERM {
			endedInOrder(t, r, dir)
		}
	}
	serving(t, nil, "--data-dir", dir).stop(t)
	if got := muster(t, "events", "verify", "--data-dir", dir); got.status != 0 {
		t.Errorf("the log does not verify: %s%s", got.out, got.errors)
	}
	t.Run("a command whose output nobody reads stops its database", func(t *testing.T) { outputNobodyReads(t, dir) })
}

// endedInOrder holds a serve that was stopped while it started to leaving no
// server behind and no complaint.
func endedInOrder(t *testing.T, r *running, dir string) {
	t.Helper()
	if status := r.status; status != 0 && status != -1 { // -1: before it listened for signals
		t.Errorf("serve ended with %d after SIGTERM: %s", status, r.logged)
	}
	state, err := cluster.ReadState(filepath.Join(dir, "postgres", "data"))
	if err == nil && state.Alive(context.Background()) {
		t.Error("PostgreSQL is left running")
	}
	if strings.Contains(r.logged.String(), "panic") {
		t.Error("it panicked")
	}
}
