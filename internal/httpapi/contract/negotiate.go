package contract

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
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

// unpacked is a reading of the body without its Content-Encoding, at most limit bytes of it:
// a small body may hide a large one.
func (r *Route) unpacked(req *http.Request) (*reading, *wire.Problem) {
	in := &reading{source: req.Body, limit: r.BodyLimit, values: math.MaxInt}
	held, isHeld := req.Body.(*Held)
	if isHeld {
		if held.unpacked > r.BodyLimit {
			return nil, wire.BodyProblem(&http.MaxBytesError{Limit: in.limit}, in.limit)
		}
		if in.limit = held.limit; in.limit < r.BodyLimit {
			in.beyond = Outgrown
		}
	}
	switch encoding := EncodingOf(req); {
	case encoding == "gzip":
		unpacked, err := gzip.NewReader(req.Body)
		if errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, &wire.Problem{Code: "malformed_json", Detail: "The body is not gzip."}
		}
		if err != nil {
			return nil, wire.BodyProblem(err, in.limit)
		}
		in.source = unpacked
		if isHeld {
			in.says = int(held.unpacked) + 1
		}
	case slices.Contains(r.Encodings, "snappy"): // also where it is not said, as Prometheus takes it
		text, p := unsnapped(req.Body, in.limit)
		in.source, in.text = nil, text
		return in, p
	case isHeld:
		in.source, in.text = nil, held.Bytes()
	}
	return in, nil
}

// Held is a body that has been received.
type Held struct {
	text     []byte
	at       int
	unpacked int64 // how long it is without its encoding, by what it says itself
	limit    int64 // of that
}

// Outgrown is told of a packed body that is longer than it says.
var Outgrown = &wire.Problem{Code: "body_too_large"}

// Hold keeps a body that was received of a request. Unpacked it may have as many bytes as
// its packing says that it has, and at least as many as least; else it is Outgrown. Only the
// last of several parts of gzip says how long it is.
func (r *Route) Hold(req *http.Request, body []byte, least int64) *Held {
	h := &Held{text: body, unpacked: int64(len(body)), limit: r.BodyLimit}
	switch {
	case slices.Contains(r.Encodings, "snappy"):
		if n, err := snappy.DecodedLen(body); err == nil {
			h.unpacked = int64(min(n, SnappyRatio*len(body)))
		}
	case EncodingOf(req) == "gzip" && len(body) >= 4:
		h.unpacked = min(int64(binary.LittleEndian.Uint32(body[len(body)-4:])), GzipRatio*int64(len(body)))
		h.limit = min(h.limit, max(h.unpacked, least))
	}
	return h
}

// Unpacked is how many bytes it has at most without its encoding.
func (h *Held) Unpacked() int64 { return h.unpacked }

// Again has the body read from its beginning, up to the limit of its route.
func (h *Held) Again(r *Route) { h.at, h.unpacked, h.limit = 0, r.BodyLimit, r.BodyLimit }

// Bytes gives the rest of the body away, which is nobody else's then.
func (h *Held) Bytes() []byte {
	text := h.text[h.at:]
	h.text, h.at = nil, 0
	return text
}

func (h *Held) Read(p []byte) (int, error) {
	if h.at == len(h.text) {
		return 0, io.EOF
	}
	n := copy(p, h.text[h.at:])
	h.at += n
	return n, nil
}

// Close has nothing to close.
func (h *Held) Close() error { return nil }

// unsnapped unpacks snappy's block format, which begins with its own length; what
// cannot come to that much is refused before anything is allocated for it.
func unsnapped(body io.Reader, limit int64) ([]byte, *wire.Problem) {
	var packed []byte
	if held, ok := body.(*Held); ok {
		packed = held.Bytes()
	} else if all, err := io.ReadAll(body); err != nil {
		return nil, wire.BodyProblem(err, limit)
	} else {
		packed = all
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
