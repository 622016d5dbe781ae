package e2e

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"muster/internal/cli/installation"
	"muster/internal/testing/longtest"
	"muster/internal/testing/porttest"
)

// readyzWithin is what the contract gives an answer of /readyz (§26), 3 s, which package
// readiness holds by a clock of its own, and 5 s for a machine that is busy.
const readyzWithin = 8 * time.Second

// checks are what /readyz says, by check, and the status; it holds the answer to its time.
func (c client) checks(t *testing.T, path string) (status string, passed map[string]bool) {
	t.Helper()
	var shown struct {
		Status string
		Checks []struct{ Name, Status string }
	}
	began := time.Now()
	c.call(t, http.StatusOK, http.MethodGet, path, nil, &shown)
	if took := time.Since(began); took > readyzWithin {
		t.Errorf("%s took %s", path, took)
	}
	passed = map[string]bool{}
	for _, check := range shown.Checks {
		passed[check.Name] = check.Status == "ok"
	}
	return shown.Status, passed
}

// hang puts a pipe where a file was: to open it hangs, as it does on a network file
// system whose server is away.
func hang(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLongAHangingMailServerAndFileStore: first one and then the other takes calls without a word. Requests that
// need them end in time, and the rest goes on.
func TestLongAHangingMailServerAndFileStore(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0") // takes connections, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	h := newHouseApart(t, "--smtp-url=smtp://"+silent.Addr().String())
	id := h.ana.request(t, security(h.live))
	h.ana.signed(t, id)

	if status, passed := h.ana.checks(t, "/readyz"); status != "degraded" || passed["mail"] || !passed["blobs"] || !passed["database"] {
		t.Errorf("with a silent mail server it is %s, %v", status, passed)
	}

	store := filepath.Join(h.dir, "blobs")
	hang(t, filepath.Join(store, "muster-store"))
	stored, err := filepath.Glob(filepath.Join(store, "reports", "*", id.String(), "*.signed.pdf"))
	if err != nil || len(stored) != 1 {
		t.Fatal(stored, err)
	}
	hang(t, stored[0])
	// In the time that the download takes to be given up.
	type outcome struct {
		answer answer
		err    error
		took   time.Duration
	}
	given := make(chan outcome, 1)
	go func() {
		began := time.Now()
		got, err := h.ana.try(t.Context(), http.MethodGet, "/api/v1/reports/"+id.String()+"/download", nil)
		given <- outcome{got, err, time.Since(began)}
	}()
	eventually(t, "the file store's check fails", func() bool {
		status, passed := h.ana.checks(t, "/readyz")
		return status == "degraded" && !passed["blobs"] && passed["database"]
	})
	figures := string(h.ana.get(t, "/metrics", nil).body)
	for _, line := range []string{`muster_check_ok{check="blobs"} 0`, `muster_check_ok{check="mail"} 0`, `muster_check_ok{check="database"} 1`} {
		if !strings.Contains(figures, line) {
			t.Errorf("the figures lack %s", line)
		}
	}
	if got := muster(t, append([]string{"events", "verify"}, h.flags()...)...); got.status != 0 {
		t.Errorf("events verify needs the file store: %d %s", got.status, got.errors)
	}
	got := <-given
	if got.err != nil || got.answer.status != http.StatusServiceUnavailable || got.answer.code() != "unavailable" || got.took > 15*time.Second {
		t.Errorf("the download: %v %d %s after %s", got.err, got.answer.status, got.answer.body, got.took)
	}
	if n := strings.Count(h.server.logged.String(), `msg="a check fails" check=blobs`); n != 1 {
		t.Errorf("the log says %d times that the file store hangs", n)
	}
	h.server.stop(t)
}

// TestAHangingStartIsReported at both ports, at once: the process lives, it is not ready and names what it
// waits for, and all else is to be sent again.
func TestAHangingStartIsReported(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.within(t, func(context.Context, *installation.Installation) error { return nil }) // with its files
	hang(t, filepath.Join(i.dir, "blobs", "muster-store"))
	addresses := []string{porttest.Address(t), porttest.Address(t)}
	r := launchHere(t, append(i.flags(), "serve", "--roles=api", "--listen="+addresses[0], "--ops-listen="+addresses[1])...)
	for _, at := range addresses {
		c := client{base: "http://" + at}
		eventually(t, "it says that it waits for the file store", func() bool {
			got, err := c.try(t.Context(), http.MethodGet, "/readyz", nil)
			return err == nil && got.status == http.StatusServiceUnavailable && strings.Contains(string(got.body), `"blobs"`)
		})
		for path, status := range map[string]int{"/healthz": http.StatusOK, "/metrics": http.StatusServiceUnavailable, "/api/v1/session": http.StatusServiceUnavailable} {
			began := time.Now()
			got, err := c.try(t.Context(), http.MethodGet, path, nil)
			if err != nil || got.status != status || time.Since(began) > 2*time.Second {
				t.Errorf("%s of %s: %d after %s, %v", path, at, got.status, time.Since(began), err)
			}
		}
	}
	eventually(t, "it is ready without the file store", func() bool {
		got, err := client{base: "http://" + addresses[0]}.try(t.Context(), http.MethodGet, "/readyz", nil)
		return err == nil && got.status == http.StatusOK
	})
	r.base = "http://" + addresses[0]
}
