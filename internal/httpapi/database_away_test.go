package httpapi

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"muster/internal/testing/pgtest"
)

// brittle stands between Muster and its database, and cuts every connection once so
// many bytes of answers have passed.
type brittle struct {
	addr  string
	left  atomic.Int64
	reset atomic.Bool // with a reset, as a machine that lost its power does
}

const unbroken = 1 << 60

func newBrittle(t *testing.T, to string) *brittle {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	b := &brittle{addr: l.Addr().String()}
	b.left.Store(unbroken)
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go b.carry(in.(*net.TCPConn), to)
		}
	}()
	return b
}

func (b *brittle) carry(in *net.TCPConn, to string) {
	defer in.Close()
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	go func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()
	buffer := make([]byte, 4096)
	for {
		n, err := out.Read(buffer)
		left := b.left.Add(int64(-n))
		_, _ = in.Write(buffer[:max(0, min(int64(n), int64(n)+left))])
		if err != nil || left < 0 {
			if b.reset.Load() {
				_ = in.SetLinger(0)
			}
			return
		}
	}
}

// TestALostDatabaseIsReportedAsUnavailable: whatever a server's death or a broken line does to a request, the
// answer is unavailable, with a time to retry, and never an internal error.
func TestALostDatabaseIsReportedAsUnavailable(t *testing.T) {
	t.Parallel()
	server := pgtest.Cluster(t, pgtest.Options{Migrated: true})
	server.CreateMigrated(t, "lost")
	line := newBrittle(t, server.Addr())
	at := url.URL{Scheme: "postgres", User: url.User(pgtest.Superuser), Host: line.addr, Path: "/lost", RawQuery: "sslmode=disable"}
	w := newWorldOn(t, at.String(), unlimited)
	instance := w.instance(w.ours, "orders")
	w.measuredNow(w.ours, instance, uuid.New())
	w.stopProjections() // their connections are not cut in place of a request's

	// Reading is tried with every cut; what writes waits a second for the projections.
	cuts := []int64{0, 1, 7, 60, 250, 900, 2500}
	window := "from=2026-11-20T00:00:00Z&to=2026-11-20T06:00:00Z&bucketSize=1h"
	all := []string{"/api/v1/session", "/api/v1/instances", "/api/v1/instances/" + instance.String(), "/api/v1/alerts?page=1", "/api/v1/reports?kind=Security",
		"/api/v1/audit-events", "/api/v1/members", "/api/v1/health-checks/overview", "/api/v1/metrics/utilization?" + window, "/api/v1/reports!"}
	ask := func(path string) (status int) {
		method, body := http.MethodGet, ""
		if path == "/api/v1/reports!" {
			method, path, body = http.MethodPost, "/api/v1/reports", `{"kind":"Security","scope":{"instanceIds":["`+instance.String()+`"]},"recipientIds":["`+w.ours.viewer.ID.String()+`"]}`
		}
		r := httptest.NewRequestWithContext(context.Background(), method, "http://muster.test"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.AddCookie(&http.Cookie{Name: "__Host-muster_session", Value: w.ours.admin.session})
		a := httptest.NewRecorder()
		w.handler.ServeHTTP(a, r)
		if a.Code == http.StatusServiceUnavailable {
			if a.Header().Get("Retry-After") == "" {
				t.Errorf("%s: 503 without Retry-After", path)
			}
		} else if a.Code >= 400 {
			t.Errorf("%s: %d %s", path, a.Code, a.Body)
		}
		return a.Code
	}
	lost := 0
	for _, path := range all {
		if code := ask(path); code >= 400 {
			t.Fatalf("%s is refused before anything happened: %d", path, code)
		}
		if strings.HasSuffix(path, "!") {
			cuts = cuts[3:4]
		}
		for n, after := range cuts {
			line.reset.Store(n%2 == 1)
			line.left.Store(after)
			if ask(path) == http.StatusServiceUnavailable {
				lost++
			}
			line.left.Store(unbroken)
		}
	}
	if lost < 2*len(all) {
		t.Errorf("only %d requests lost their connection", lost)
	}
	w.crashed(t, server, all, ask)
	if a := w.get(w.ours.admin, "/api/v1/instances").is(200); !strings.Contains(a.Body.String(), "being added up again") {
		t.Errorf("what the crash has taken is not made anew yet, and is shown: %s", a.Body)
	}
	w.roll()
	if a := w.get(w.ours.admin, "/api/v1/instances").is(200); a.saysWhatIsMissing() {
		t.Errorf("what the crash has taken was made anew, and is not shown: %s", a.Body)
	}
}

// crashed kills the server under requests, three times.
func (w *world) crashed(t *testing.T, server *pgtest.Server, paths []string, ask func(string) int) {
	codes := make(chan int, 1<<16) // so that they ask on while the server is killed
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for i := n; ctx.Err() == nil; i++ {
				codes <- ask(paths[i%len(paths)])
			}
		})
	}
	await := func(refused bool) {
		for n := 0; n < 20; {
			if refused == (<-codes == http.StatusServiceUnavailable) {
				n++
			}
		}
	}
	for range 3 {
		await(false)
		server.Crash(t)
		await(true)
		server.Restart(t)
	}
	await(false)
	stop()
	group.Wait()
}
