package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/intake/worsttest"
	"muster/internal/testing/longtest"
)

// mostMemory is what serve takes at most, whatever is sent to it.
const mostMemory = 512 // MiB

// TestLongWorstBodies sends the worst body of every door, one after the other and then all at
// once, by two organizations.
func TestLongWorstBodies(t *testing.T) {
	longtest.Only(t)
	i := install(t)
	server := serving(t, nil, append(i.flags(), "--budget-bytes=1000000000000")...) // else the last bodies are not read
	var tokens []string
	for _, name := range []string{"Acme", "Other"} {
		email := i.organization(t, name)
		tokens = append(tokens, strings.TrimSpace(i.must(t, "token", "create", "--kind=ingest", "--email", email)))
	}
	bodies := worsttest.All(time.Now())
	for _, b := range bodies {
		server.forgetPeak(t)
		began := time.Now()
		status, size := server.throw(t.Context(), tokens[0], b)
		t.Logf("%-45s %-40s %8d bytes: %d, %d bytes, %.1f s, peak %d MiB, now %d", b.Path, b.Name, len(b.Packed), status, size, time.Since(began).Seconds(), server.memory(t, "VmHWM"), server.memory(t, "VmRSS"))
		if peak := server.memory(t, "VmHWM"); peak > mostMemory {
			t.Errorf("%s at %s: %d MiB", b.Name, b.Path, peak)
		}
	}
	server.forgetPeak(t)
	var senders sync.WaitGroup
	for _, token := range tokens {
		for _, b := range bodies {
			senders.Go(func() { server.throw(t.Context(), token, b) })
		}
	}
	senders.Wait()
	peak := server.memory(t, "VmHWM")
	t.Logf("all at once: %d MiB", peak)
	if peak > mostMemory {
		t.Errorf("all at once: %d MiB", peak)
	}
}

// throw sends a body, and returns what it was answered with; 0: the line broke.
func (r *running) throw(ctx context.Context, token string, b worsttest.Body) (status, size int) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+b.Path, bytes.NewReader(b.Packed))
	if err != nil {
		return 0, 0
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", b.Type)
	if b.Encoding != "" {
		request.Header.Set("Content-Encoding", b.Encoding)
	}
	request.Header.Set("X-Muster-Sender", "worst")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, 0
	}
	defer answer.Body.Close()
	n, _ := io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, int(n)
}

// memory is a figure of the process's memory in MiB.
func (r *running) memory(t testing.TB, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(r.pid), "status"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			var kB int
			if _, err := fmt.Sscan(rest, &kB); err != nil {
				t.Fatal(err)
			}
			return kB >> 10
		}
	}
	t.Fatalf("no %s of process %d", name, r.pid)
	return 0
}

// forgetPeak begins VmHWM anew.
func (r *running) forgetPeak(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(filepath.Join("/proc", strconv.Itoa(r.pid), "clear_refs"), []byte("5"), 0o600); err != nil {
		t.Skip("the kernel does not forget a peak: ", err)
	}
}
