package httpapi

import (
	"compress/gzip"
	"mime"
	"net/http"
	"strings"
)

// compressed answers with gzip where the caller takes it and it pays. What can be
// had in ranges is never packed: it is all PDF.
func compressed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if !takesGzip(r.Header.Get("Accept-Encoding")) {
			next.ServeHTTP(w, r)
			return
		}
		g := &gzipWriter{ResponseWriter: w}
		next.ServeHTTP(g, r)
		g.end()
	})
}

func takesGzip(accept string) bool {
	for entry := range strings.SplitSeq(accept, ",") {
		name, parameters, _ := strings.Cut(strings.TrimSpace(entry), ";")
		if name = strings.TrimSpace(name); name == "gzip" || name == "*" {
			return strings.ReplaceAll(parameters, " ", "") != "q=0"
		}
	}
	return false
}

// worthPacking is the smallest first write that is compressed; below it the
// headers outweigh the gain.
const worthPacking = 1024

// gzipWriter holds the status back until the first write, when type and
// (nearly always) size of the answer are known.
type gzipWriter struct {
	http.ResponseWriter
	status int
	begun  bool
	packer *gzip.Writer
}

func (g *gzipWriter) WriteHeader(status int) {
	if g.status == 0 {
		g.status = status
	}
}

func (g *gzipWriter) Write(p []byte) (int, error) {
	if !g.begun {
		h := g.Header()
		if len(p) >= worthPacking && h.Get("Content-Encoding") == "" && packable(h.Get("Content-Type")) {
			h.Set("Content-Encoding", "gzip")
			h.Del("Content-Length")
			g.packer = gzip.NewWriter(g.ResponseWriter)
		}
		g.begin()
	}
	if g.packer != nil {
		return g.packer.Write(p)
	}
	return g.ResponseWriter.Write(p)
}

func (g *gzipWriter) begin() {
	g.begun = true
	if g.status != 0 {
		g.ResponseWriter.WriteHeader(g.status)
	}
}

func (g *gzipWriter) end() {
	if !g.begun {
		g.begin()
	}
	if g.packer != nil {
		_ = g.packer.Close() // the connection is gone; nobody is left to tell
	}
}

func (g *gzipWriter) Unwrap() http.ResponseWriter { return g.ResponseWriter }

func packable(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || strings.HasSuffix(kind, "yaml") || kind == "image/svg+xml"
}
