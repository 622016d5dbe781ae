package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"go.opentelemetry.io/otel/trace"

	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/wire"
	"muster/internal/process/telemetry"
)

// maxRequestLine is the longest request line, in bytes: a filter of 500 ids
// fits, and nginx with large_client_header_buffers 4 32k takes the same.
const maxRequestLine = 32 << 10

// outermost gives every request its id, its headers and its end: a panic
// becomes a problem, and what became of the request is observed.
func (s *server) outermost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := s.Now()
		ctx, span := s.traced(r)
		c := &wire.Call{RequestID: requestID(r, span.SpanContext()), UserAgent: r.UserAgent(), Header: w.Header(), Explain: s.explain}
		s.setHeaders(c.Header, r, c.RequestID)
		ctx = telemetry.WithRequestID(context.WithValue(ctx, wire.CallKey{}, c), c.RequestID)
		r = r.WithContext(ctx)
		c.Request = r
		if r.ContentLength != 0 {
			arriveWithin(w, s.arrival.body)
			r.Body = awaited{r.Body, w}
		}
		recorder := &statusRecorder{ResponseWriter: w}
		defer func() {
			v := seen{method: r.Method}
			if cause := recover(); cause != nil && s.cutOff(cause, recorder, r) {
				v.class = aborted
			}
			v.status, v.took = recorder.status, s.Now().Sub(started)
			s.observe(ctx, c, v)
			span.End()
			if v.class == aborted {
				panic(http.ErrAbortHandler) // half an answer must not look whole
			}
		}()
		next.ServeHTTP(recorder, r)
	})
}

// nothingRuns is the policy of what is no page: should a browser show it after
// all, it loads, runs and frames nothing.
const nothingRuns = "default-src 'none'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; form-action 'none'"

func (s *server) setHeaders(h http.Header, r *http.Request, requestID string) {
	h.Set("X-Request-Id", requestID)
	h.Set("Date", s.Now().UTC().Format(http.TimeFormat)) // an agent whose clock is off goes by it, and we by ours
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Security-Policy", nothingRuns) // a page sets its own
	if contract.Beta(r.URL.Path) {
		h.Set("X-Api-Stability", "beta")
	}
	if s.PublicURL.Scheme == "https" {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// cutOff turns a panic into a problem, and says whether it came too late for
// that.
func (s *server) cutOff(cause any, recorder *statusRecorder, r *http.Request) bool {
	if cause == http.ErrAbortHandler { //nolint:errorlint // net/http panics with this very value
		return true
	}
	s.Log.ErrorContext(r.Context(), "panic", "cause", cause, "stack", string(debug.Stack()))
	if recorder.status != 0 {
		return true
	}
	(&wire.Problem{Code: "internal_error", Detail: wire.InternalDetail}).Write(recorder, r)
	return false
}

type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (r *statusRecorder) WriteHeader(status int) {
	r.status = cmp.Or(r.status, status)
	r.ResponseWriter.WriteHeader(status)
}

func (r *statusRecorder) Write(p []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	return r.ResponseWriter.Write(p)
}

func (r *statusRecorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// headAsGet answers HEAD like GET; net/http drops the body.
func headAsGet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			get := *r
			get.Method = http.MethodGet
			r = &get
		}
		next.ServeHTTP(w, r)
	})
}

// shortLine refuses addresses that a proxy in front would not pass on. It counts
// on the peer's: whose the request is behind a proxy is only known further in.
func (s *server) shortLine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Method)+len(r.RequestURI)+len(r.Proto)+2 <= maxRequestLine {
			next.ServeHTTP(w, r)
			return
		}
		p := &wire.Problem{Code: "uri_too_long", Detail: "The request line may have at most " + strconv.Itoa(maxRequestLine) + " bytes."}
		if !s.Unlimited {
			host, _, _ := net.SplitHostPort(r.RemoteAddr)
			if refused := s.requests.allow(w.Header(), networkKey(host)); refused != nil {
				p = refused
			}
		}
		p.Write(w, r)
	})
}

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// requestID takes the caller's id for the request where it has the form, or the
// id of the trace that the request is part of, so that a chain of services
// shares one; otherwise it makes one.
func requestID(r *http.Request, part trace.SpanContext) string {
	if id := r.Header.Get("X-Request-Id"); requestIDForm.MatchString(id) {
		return id
	}
	if part.HasTraceID() {
		return part.TraceID().String()
	}
	return rand.Text()[:16]
}

// arrival is how long the body of a request may take to come (contract, §26). A
// sender of one byte a second would otherwise keep a connection, and whatever the
// server has a bounded number of, for as long as it likes.
type arrival struct {
	body  time.Duration // JSON, and what no route reads
	large time.Duration // what is sent to /ingest or to be verified: megabytes
}

var defaultArrival = arrival{body: 10 * time.Second, large: time.Minute}

// arriveWithin bounds the arrival of a request's body from now on. It holds also where
// nobody reads the body: net/http waits for it before it sends a refusal, and closes
// the connection where it did not come. A recorder in a test has no line to bound.
func arriveWithin(w http.ResponseWriter, patience time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience))
}

// awaited is a body whose arrival is bounded until its end has been read: a deadline
// that passes while a handler works would end the handler's context.
type awaited struct {
	io.ReadCloser
	line http.ResponseWriter
}

func (a awaited) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = http.NewResponseController(a.line).SetReadDeadline(time.Time{})
	}
	return n, err
}

// compressed answers with gzip where the caller takes it and it pays, and notes for
// answers that are packed already whether the caller does. What can be had in ranges is
// never packed: PDF is not worth it, and the other files of reports say so.
func compressed(next http.Handler) (http.Handler, error) {
	pack, err := gzhttp.NewWrapper(gzhttp.MinSize(wire.WorthPacking), gzhttp.ContentTypeFilter(packable),
		gzhttp.EnableZstd(false), gzhttp.SetContentType(false), gzhttp.KeepAcceptRanges())
	if err != nil {
		return nil, err
	}
	return pack(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, wire.CallOf(r.Context()).TakesGzip = w.(*gzhttp.GzipResponseWriter)
		next.ServeHTTP(w, r)
	})), nil
}

func packable(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "yaml") || kind == "image/svg+xml"
}
