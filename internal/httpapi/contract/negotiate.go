package contract

import (
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/snappy"

	"muster/internal/httpapi/wire"
)

// Negotiate holds the request's types and size against the row.
func (r *Route) Negotiate(c *gin.Context) *wire.Problem {
	if p := r.acceptable(c.Request.Header.Values("Accept")); p != nil {
		return p
	}
	if c.GetHeader("Idempotency-Key") != "" && !r.Idempotent {
		return &wire.Problem{Code: "idempotency_not_supported", Detail: "Only POST /api/v1/reports and POST /api/v1/instances take an Idempotency-Key."}
	}
	if c.Request.Method == http.MethodGet {
		return nil
	}
	if p := r.readable(c.Request); p != nil {
		return p
	}
	if c.Request.ContentLength > r.BodyLimit {
		return wire.BodyProblem(&http.MaxBytesError{Limit: r.BodyLimit}, r.BodyLimit)
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, r.BodyLimit)
	return nil
}

// acceptable looks for a type of ours among those the caller takes. JSON can
// always be taken: a refusal is JSON, too.
func (r *Route) acceptable(accept []string) *wire.Problem {
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
	return &wire.Problem{Code: "not_acceptable", Detail: "This operation answers with " + strings.Join(slices.Compact(types), " or ") + "."}
}

func (r *Route) readable(req *http.Request) *wire.Problem {
	if req.ContentLength == 0 && len(req.TransferEncoding) == 0 {
		return nil
	}
	forms := openapi3.Content{"application/json": nil} // of an operation that takes no body: {} is let be
	if b := r.Body(); b != nil {
		forms = b.Content
	}
	got, parameters, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	form, ok := forms[got]
	if err != nil || !ok {
		return &wire.Problem{Code: "unsupported_media_type", Detail: "Content-Type must be " + strings.Join(slices.Sorted(maps.Keys(forms)), " or ") + "."}
	}
	if form != nil && form.Extensions["x-protos"] != nil && parameters["proto"] != "" {
		protos, err := Words(form.Extensions, "x-protos")
		if err != nil || !slices.Contains(protos, parameters["proto"]) {
			return &wire.Problem{Code: "unsupported_media_type", Detail: "proto in Content-Type must be " + strings.Join(protos, " or ") + "."}
		}
	}
	if encoding := EncodingOf(req); encoding != "" && !slices.Contains(r.Encodings, encoding) {
		return &wire.Problem{Code: "unsupported_media_type", Detail: "Content-Encoding " + strconv.Quote(encoding) + " cannot be read here."}
	}
	return nil
}

// EncodingOf is what the body is packed with; empty: with nothing.
func EncodingOf(req *http.Request) string {
	if encoding := strings.ToLower(strings.TrimSpace(req.Header.Get("Content-Encoding"))); encoding != "identity" {
		return encoding
	}
	return ""
}

// plain is the body without its Content-Encoding, at most limit bytes of it:
// a small body may hide a large one.
func (r *Route) plain(req *http.Request) ([]byte, *wire.Problem) {
	body, limit := io.Reader(req.Body), r.BodyLimit
	switch encoding := EncodingOf(req); {
	case encoding == "gzip":
		unpacked, err := gzip.NewReader(req.Body)
		if errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, &wire.Problem{Code: "malformed_json", Detail: "The body is not gzip."}
		}
		if err != nil {
			return nil, wire.BodyProblem(err, limit)
		}
		body = unpacked
	case slices.Contains(r.Encodings, "snappy"): // also where it is not said, as Prometheus takes it
		return unsnapped(body, limit)
	}
	text, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, wire.BodyProblem(err, limit)
	}
	if int64(len(text)) > limit {
		return nil, wire.BodyProblem(&http.MaxBytesError{Limit: limit}, limit)
	}
	return text, nil
}

// unsnapped unpacks snappy's block format, which begins with its own length; what
// cannot come to that much is refused before anything is allocated for it.
func unsnapped(body io.Reader, limit int64) ([]byte, *wire.Problem) {
	packed, err := io.ReadAll(body)
	if err != nil {
		return nil, wire.BodyProblem(err, limit)
	}
	length, err := snappy.DecodedLen(packed)
	switch {
	case err == nil && int64(length) > limit:
		return nil, wire.BodyProblem(&http.MaxBytesError{Limit: limit}, limit)
	case err == nil && length <= SnappyRatio*len(packed):
		if text, err := snappy.Decode(nil, packed); err == nil {
			return text, nil
		}
	}
	return nil, wire.UnreadableBody("is not snappy")
}

// How many times its size a packed body may come to. A copy of snappy's is at most 64
// bytes from 3; deflate's limit is by its authors.
const (
	SnappyRatio = 22
	GzipRatio   = 1032
)
