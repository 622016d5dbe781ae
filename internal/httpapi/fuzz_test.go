package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	domain "muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/httpapi/fleet"
	"muster/internal/servers"
)

// TestFuzz sends mutations of every operation of openapi.yaml to a server that
// runs, over TCP, as everybody who may and may not. Whatever comes, the answer is
// one of the contract's, tells nothing of our insides or of another
// organization, and the next request is answered too.
//
// A request is a function of the seed and its number (and of what earlier ones
// left). To see one again:
//
//	MUSTER_FUZZ_SEED=<the seed printed> go test -run TestFuzz ./internal/httpapi
//
// MUSTER_FUZZ_TIME=5m goes on for so long instead of for a number of requests, and of
// another seed each time, too: what make test finds, it finds again.
func TestFuzz(t *testing.T) {
	t.Parallel()
	seeds, requests, until := []uint64{3}, 600, time.Time{}
	if given := os.Getenv("MUSTER_FUZZ_TIME"); given != "" {
		d, err := time.ParseDuration(given)
		must(t, err)
		seeds, requests, until = append(seeds, randomSeed()), 1<<40, time.Now().Add(d)
	}
	if given := os.Getenv("MUSTER_FUZZ_SEED"); given != "" {
		seed, err := strconv.ParseUint(given, 10, 64)
		must(t, err)
		seeds = []uint64{seed}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("MUSTER_FUZZ_SEED=%d", seed), func(t *testing.T) {
			t.Parallel()
			f := newFuzzer(t, seed)
			for n := 0; n < requests && f.faulty < 5 && (until.IsZero() || time.Now().Before(until)); n++ {
				if n%25 == 0 {
					f.refresh()
				}
				f.one(n)
			}
			f.afterwards()
			t.Logf("%d requests, answered with %v", f.sent, f.statuses)
		})
	}
}

func randomSeed() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:]) >> 16 // short enough to type
}

// fuzzer is a running server and those who send requests to it.
type fuzzer struct {
	*world
	seed     uint64
	address  string
	complain *complaints
	subjects subjects
	callers  []fuzzCaller
	before   int64 // events of the other organization

	sent     int
	faulty   int // requests with a wrong answer; after a few the rest is noise
	statuses map[int]int
}

// hidden is in names of the other organization, and in no answer to ours.
const hidden = "hidden-tooth"

func newFuzzer(t *testing.T, seed uint64) *fuzzer {
	t.Helper()
	f := &fuzzer{seed: seed, statuses: map[int]int{}, complain: &complaints{}}
	f.world = newWorld(t, func(d *Dependencies) {
		d.Log = slog.New(f.complain)
		d.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		d.CORSOrigins = []string{"https://friend.example"}
		d.Connections = loopbackOnly{d.Connections}
	})
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	server := &http.Server{
		Handler: f.handler, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second,
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	f.address = listener.Addr().String()
	f.fill()
	return f
}

func (f *fuzzer) theirEvents() (n int64) {
	f.t.Helper()
	must(f.t, f.deps.DB.Get(&n, `SELECT count(*) FROM events WHERE organization_id = $1`, f.theirs.organization.ID))
	return n
}

// one sends request n and looks at the answer.
func (f *fuzzer) one(n int) {
	f.t.Helper()
	g := &generator{Rand: mathrand.New(mathrand.NewPCG(f.seed, uint64(n))), routes: f.server.routes, subjects: f.subjects}
	route := g.route()
	caller := g.caller(route, f.callers)
	request := g.request(route, caller)
	g.mutate(request)
	f.sent++
	a, err := f.send(request)
	if err == nil {
		f.statuses[a.Code]++
	}
	faults := f.judge(request, a, err)
	if len(faults) > 0 {
		f.faulty++
		f.t.Errorf("request %d as %s, %v:\n%s\n%.2000q", n, caller.name, request.done, strings.Join(faults, "\n"), request.wire())
	}
	if n%20 == 0 {
		alive, err := f.send(&rawRequest{method: "GET", path: "/healthz", length: -1})
		if err != nil || alive.Code != 200 {
			f.t.Errorf("after request %d the server does not answer: %v", n, err)
		}
	}
}

// send sends the request as it is, however wrong, and reads the answer.
func (f *fuzzer) send(w *rawRequest) (*httptest.ResponseRecorder, error) {
	connection, err := new(net.Dialer).DialContext(f.t.Context(), "tcp", f.address)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	must(f.t, connection.SetDeadline(time.Now().Add(time.Minute)))
	written := make(chan struct{})
	go func() { // the server may answer before it has read everything
		defer close(written)
		if _, err := connection.Write(w.wire()); err == nil && w.cut {
			_ = connection.(*net.TCPConn).CloseWrite()
		}
	}()
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: w.method})
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	recorder := httptest.NewRecorder()
	recorder.Code = response.StatusCode
	recorder.HeaderMap = response.Header //nolint:staticcheck // the recorder carries an answer that it did not record
	_, err = io.Copy(recorder.Body, response.Body)
	_ = connection.Close()
	<-written
	return recorder, err
}

// insides are what no answer may hold. Each is a pattern of its own, whose first letters
// are searched for: to look for all at once in megabytes took a tenth of TestFuzz's time.
var insides = []*regexp.Regexp{
	regexp.MustCompile(`goroutine \d`), regexp.MustCompile(`\.go:\d`), regexp.MustCompile(`panic`), regexp.MustCompile(`SQLSTATE`),
	regexp.MustCompile(`pq: `), regexp.MustCompile(`pgx`), regexp.MustCompile(`runtime error`), regexp.MustCompile(`nil pointer`),
	regexp.MustCompile(`/internal/`), regexp.MustCompile(`0x[0-9a-f]{8}`), regexp.MustCompile(hidden),
}

func (f *fuzzer) judge(w *rawRequest, a *httptest.ResponseRecorder, err error) []string {
	for _, line := range f.complain.take() {
		if !w.cut { // a caller who hangs up may be told so in the log
			return []string{"in the log: " + line}
		}
	}
	if err != nil {
		// What is no HTTP may be hung up on. And whose body nobody wanted to read may
		// lose the answer on the way, when the line is closed with some of it unread:
		// what goes beyond the 4 KiB that net/http reads with the header.
		if w.odd || errors.Is(err, syscall.ECONNRESET) && len(w.wire()) > 4<<10 {
			return nil
		}
		return []string{"no answer: " + err.Error()}
	}
	var out []string
	told := unpacked(a)
	for _, inside := range insides {
		if found := inside.FindString(told); found != "" && !bytes.Contains(w.wire(), []byte(found)) {
			out = append(out, fmt.Sprintf("%d tells %q: %.2000s", a.Code, found, a.Body))
		}
	}
	if a.Code >= 500 && !w.mayFail(a) {
		return append(out, fmt.Sprintf("%d: %.2000s", a.Code, a.Body))
	}
	if a.Header().Get("X-Request-Id") == "" && w.odd { // net/http's own refusal of what is no HTTP
		return out
	}
	if w.method == http.MethodConnect { // net/http reads its target as an authority
		return append(out, f.yardstick.faults(w.method, "", a)...)
	}
	path, _ := url.PathUnescape(w.path)
	if u, err := url.ParseRequestURI(w.path); err == nil {
		path = u.Path // as the server reads it: an absolute form, say
	}
	return append(out, f.yardstick.faults(w.method, path, a)...)
}

// mayFail says that a 5xx is right: net/http's own, for what it does not
// implement of HTTP, and unavailable for a caller who hung up and still listens.
func (w *rawRequest) mayFail(a *httptest.ResponseRecorder) bool {
	switch a.Code {
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return w.odd
	case http.StatusServiceUnavailable:
		return w.cut && a.Header().Get("Retry-After") != ""
	}
	return false
}

// afterwards holds what is left against what must be.
func (f *fuzzer) afterwards() {
	f.t.Helper()
	if now := f.theirEvents(); now != f.before {
		f.t.Errorf("the other organization has %d events, and had %d", now, f.before)
	}
	for _, log := range []eventstore.Log{eventstore.Reports, eventstore.Organization, eventstore.Fleet} {
		if r, err := f.deps.Events.Verify(context.Background(), log, eventstore.VerifyOptions{}); err != nil || r.Misfits > 0 {
			f.t.Errorf("log %s: %d misfits, %v", log, r.Misfits, err)
		}
	}
	var parked int
	must(f.t, f.deps.DB.Get(&parked, `SELECT count(*) FROM dead_letters`))
	if parked > 0 {
		f.t.Errorf("%d events were set aside: the read models cannot apply them", parked)
	}
	if f.sent > 1000 { // otherwise nothing was tried
		for _, status := range []int{200, 201, 204, 400, 401, 403, 404, 405, 415, 422} {
			if f.statuses[status] == 0 {
				f.t.Errorf("no answer was a %d: %v", status, f.statuses)
			}
		}
	}
}

// complaints collects what is logged as an error: a panic that was caught, or
// something that the program did not expect.
type complaints struct {
	mu    sync.Mutex
	lines []string
}

func (c *complaints) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelError
}
func (c *complaints) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c *complaints) WithGroup(string) slog.Handler      { return c }

func (c *complaints) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, line)
	return nil
}

func (c *complaints) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.lines
	c.lines = nil
	return lines
}

// loopbackOnly keeps mutated DSNs from leading out of this machine.
type loopbackOnly struct{ fleet.Connections }

func (l loopbackOnly) Try(ctx context.Context, organization uuid.UUID, engine domain.Engine, dsn string) (servers.Identity, error) {
	if u, err := url.Parse(dsn); err == nil && slices.Contains([]string{"127.0.0.1"}, u.Hostname()) {
		return l.Connections.Try(ctx, organization, engine, dsn)
	}
	return servers.Identity{}, &usecase.RuleError{Code: "connection_failed", Detail: "This test reaches nobody.", Fields: nil}
}
