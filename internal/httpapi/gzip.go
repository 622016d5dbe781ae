package httpapi

import (
	"mime"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"

	"muster/internal/httpapi/wire"
)

// compressed answers with gzip where the caller takes it and it pays, and notes for
// answers that are packed already whether the caller does. What can be had in ranges is
// never packed: it is all PDF.
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
