package httpapi

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/snappy"

	"muster/internal/telemetry"
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
		c := &call{requestID: requestID(r, span.SpanContext()), agent: r.UserAgent(), header: w.Header()}
		s.setHeaders(c.header, r, c.requestID)
		ctx = telemetry.WithRequestID(context.WithValue(ctx, callKey{}, c), c.requestID)
		r = r.WithContext(ctx)
		c.request = r
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

// setHeaders sets what every answer has.
func (s *server) setHeaders(h http.Header, r *http.Request, requestID string) {
	h.Set("X-Request-Id", requestID)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Security-Policy", nothingRuns) // a page sets its own
	if beta(r.URL.Path) {
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
	(&problem{Code: "internal_error", Detail: internalDetail}).write(recorder, r, callOf(r.Context()).requestID)
	return false
}

const internalDetail = "The request failed; the log has the reason under this request id."

type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (r *statusRecorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *statusRecorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
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
		p := &problem{Code: "uri_too_long", Detail: "The request line may have at most " + strconv.Itoa(maxRequestLine) + " bytes."}
		if !s.Unlimited {
			host, _, _ := net.SplitHostPort(r.RemoteAddr)
			if refused := s.requests.allow(w.Header(), networkKey(host)); refused != nil {
				p = refused
			}
		}
		p.write(w, r, callOf(r.Context()).requestID)
	})
}

// beta says that the path belongs to the surface that may still change.
func beta(path string) bool {
	return slices.ContainsFunc([]string{"/api/v1/reports", "/api/v1/exports"}, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+"/")
	})
}

// negotiate holds the request's types and size against the row.
func (r *route) negotiate(c *gin.Context) *problem {
	if p := r.acceptable(c.Request.Header.Values("Accept")); p != nil {
		return p
	}
	if c.GetHeader("Idempotency-Key") != "" && !r.idempotent {
		return &problem{Code: "idempotency_not_supported", Detail: "Only POST /api/v1/reports and POST /api/v1/instances take an Idempotency-Key."}
	}
	if c.Request.Method == http.MethodGet {
		return nil
	}
	if p := r.readable(c.Request); p != nil {
		return p
	}
	if c.Request.ContentLength > r.bodyLimit {
		return bodyProblem(&http.MaxBytesError{Limit: r.bodyLimit}, r.bodyLimit)
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, r.bodyLimit)
	return nil
}

// acceptable looks for a type of ours among those the caller takes. JSON can
// always be taken: a refusal is JSON, too.
func (r *route) acceptable(accept []string) *problem {
	types, given := r.types(), strings.Join(accept, ",")
	if r.redirects || strings.TrimSpace(given) == "" || slices.Contains(types, "text/plain") || slices.Contains(types, "application/yaml") {
		return nil
	}
	types = append(types, "application/json")
	for _, entry := range strings.Split(given, ",") {
		wanted, parameters, err := mime.ParseMediaType(entry)
		if err != nil || parameters["q"] == "0" {
			continue
		}
		main, _, _ := strings.Cut(wanted, "/")
		for _, t := range types {
			if wanted == "*/*" || wanted == t || wanted == main+"/*" && strings.HasPrefix(t, main+"/") {
				return nil
			}
		}
	}
	return &problem{Code: "not_acceptable", Detail: "This operation answers with " + strings.Join(slices.Compact(types), " or ") + "."}
}

// readable looks at the body's type and encoding.
func (r *route) readable(req *http.Request) *problem {
	if req.ContentLength == 0 && len(req.TransferEncoding) == 0 {
		return nil
	}
	forms := openapi3.Content{"application/json": nil} // of an operation that takes no body: {} is let be
	if b := r.body(); b != nil {
		forms = b.Content
	}
	got, parameters, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	form, ok := forms[got]
	if err != nil || !ok {
		return &problem{Code: "unsupported_media_type", Detail: "Content-Type must be " + strings.Join(slices.Sorted(maps.Keys(forms)), " or ") + "."}
	}
	if form != nil && form.Extensions["x-protos"] != nil && parameters["proto"] != "" {
		protos, err := words(form.Extensions, "x-protos")
		if err != nil || !slices.Contains(protos, parameters["proto"]) {
			return &problem{Code: "unsupported_media_type", Detail: "proto in Content-Type must be " + strings.Join(protos, " or ") + "."}
		}
	}
	if encoding := encodingOf(req); encoding != "" && !slices.Contains(r.encodings, encoding) {
		return &problem{Code: "unsupported_media_type", Detail: "Content-Encoding " + strconv.Quote(encoding) + " cannot be read here."}
	}
	return nil
}

// encodingOf is what the body is packed with; empty: with nothing.
func encodingOf(req *http.Request) string {
	if encoding := strings.ToLower(strings.TrimSpace(req.Header.Get("Content-Encoding"))); encoding != "identity" {
		return encoding
	}
	return ""
}

// plain is the body without its Content-Encoding, at most limit bytes of it:
// a small body may hide a large one.
func (r *route) plain(req *http.Request) ([]byte, *problem) {
	body, limit := io.Reader(req.Body), r.bodyLimit
	switch encoding := encodingOf(req); {
	case encoding == "gzip":
		unpacked, err := gzip.NewReader(req.Body)
		if errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, &problem{Code: "malformed_json", Detail: "The body is not gzip."}
		}
		if err != nil {
			return nil, bodyProblem(err, limit)
		}
		body = unpacked
	case slices.Contains(r.encodings, "snappy"): // also where it is not said, as Prometheus takes it
		return unsnapped(body, limit)
	}
	text, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, bodyProblem(err, limit)
	}
	if int64(len(text)) > limit {
		return nil, bodyProblem(&http.MaxBytesError{Limit: limit}, limit)
	}
	return text, nil
}

// unsnapped unpacks snappy's block format, which begins with its own length; what
// cannot come to that much is refused before anything is allocated for it.
func unsnapped(body io.Reader, limit int64) ([]byte, *problem) {
	packed, err := io.ReadAll(body)
	if err != nil {
		return nil, bodyProblem(err, limit)
	}
	length, err := snappy.DecodedLen(packed)
	switch {
	case err == nil && int64(length) > limit:
		return nil, bodyProblem(&http.MaxBytesError{Limit: limit}, limit)
	case err == nil && length <= snappyRatio*len(packed):
		if text, err := snappy.Decode(nil, packed); err == nil {
			return text, nil
		}
	}
	return nil, unreadableBody("is not snappy")
}
