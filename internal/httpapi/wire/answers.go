package wire

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/internal/httpapi/api"
)

// Or is the number p points to, or the default.
func Or[T ~int | ~int32](p *T, otherwise int) int {
	if p == nil {
		return otherwise
	}
	return int(*p)
}

// Value is what p points to, or nothing.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// NeverNull is a list that is never null on the wire.
func NeverNull[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// List shows each row of a list, which is never null on the wire.
func List[Row, Shown any](rows []Row, show func(Row) Shown) []Shown {
	out := make([]Shown, len(rows))
	for i, row := range rows {
		out[i] = show(row)
	}
	return out
}

// Strings are the words of a list of named strings, never null.
func Strings[T ~string](l []T) []string {
	return List(l, func(v T) string { return string(v) })
}

// Words are the strings of a list as words of another kind; nil where there are none.
func Words[To, From ~string](l []From) []To {
	if len(l) == 0 {
		return nil
	}
	return List(l, func(v From) To { return To(v) })
}

// UTC is the time in UTC, or null where there is none.
func UTC(t *time.Time) *time.Time {
	if t == nil || t.IsZero() {
		return nil
	}
	u := t.UTC()
	return &u
}

// Optional is s, or null where there is none.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// DefaultPageSize is how many entries a page has where nobody says how many.
const DefaultPageSize = 20

// Thousandths and Millionths are the parts that numbers and shares are rounded to (contract §1).
const (
	Thousandths = 1e3
	Millionths  = 1e6
)

// Rounded is a number in so many parts; nil: it is none.
func Rounded(v, parts float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	v = math.Round(v*parts)/parts + 0 // no -0
	return &v
}

// Paged fills the page's numbers and the Link header (RFC 8288).
func Paged(ctx context.Context, number, size int, total int64) api.Page {
	pages := (total + int64(size) - 1) / int64(size)
	c := CallOf(ctx)
	var links []string
	if int64(number) < pages {
		links = append(links, pageLink(c.Request.URL, number+1, "next"))
	}
	if number > 1 && pages > 0 {
		links = append(links, pageLink(c.Request.URL, int(min(int64(number-1), pages)), "prev"))
	}
	if len(links) > 0 {
		c.Header.Add("Link", strings.Join(links, ", "))
	}
	return api.Page{Number: number, Size: size, TotalItems: total, TotalPages: pages}
}

func pageLink(u *url.URL, number int, relation string) string {
	q := u.Query()
	q.Set("page", strconv.Itoa(number))
	return fmt.Sprintf(`<%s?%s>; rel=%q`, u.EscapedPath(), q.Encode(), relation)
}

// Cursor is opaque on the wire: a kind, so that one list's cursor is not
// taken by another, and a place.
func Cursor(kind, place string) *string {
	c := base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + place))
	return &c
}

// CursorPlace reads a cursor of that kind; no cursor is no place.
func CursorPlace(c *string, kind string) (string, error) {
	if c == nil {
		return "", nil
	}
	text, err := base64.RawURLEncoding.DecodeString(*c)
	place, ok := strings.CutPrefix(string(text), kind+":")
	if err != nil || !ok || !Storable(place) {
		return "", BadCursor()
	}
	return place, nil
}

// BadCursor refuses a cursor of another list, or of nobody.
func BadCursor() *Problem {
	return BadParameter(api.Query, "cursor", "invalid_cursor", "is not one that this list gave out")
}

// CursorPosition reads a cursor of that kind whose place is a position of a log.
func CursorPosition(c *string, kind string) (int64, error) {
	place, err := CursorPlace(c, kind)
	if err != nil || place == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(place, 10, 64)
	if err != nil || n < 0 {
		return 0, BadCursor()
	}
	return n, nil
}

// MatchesTag says that If-None-Match names the tag, which it compares weakly.
func MatchesTag(given []string, tag string) bool {
	for _, entry := range strings.Split(strings.Join(given, ","), ",") {
		entry = strings.TrimSpace(entry)
		if entry == "*" || strings.TrimPrefix(entry, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// Tagged is a JSON answer with a weak ETag, or 304 where the caller has it already.
// The groups' answers embed it.
type Tagged struct {
	body []byte
	tag  string
	same bool
}

// NewTagged encodes an answer. The tag is over steady, which is what of the answer stays
// as it is while nothing happens, without the instant it was made at; nil: all of it.
func NewTagged(ctx context.Context, answer, steady any) (Tagged, error) {
	body, err := encoded(answer)
	if err != nil {
		return Tagged{}, err
	}
	tagged := body
	if steady != nil {
		if tagged, err = encoded(steady); err != nil {
			return Tagged{}, err
		}
	}
	digest := sha256.Sum256(tagged)
	tag := `W/"r-` + hex.EncodeToString(digest[:8]) + `"`
	return Tagged{body: body, tag: tag, same: MatchesTag(CallOf(ctx).Request.Header.Values("If-None-Match"), tag)}, nil
}

func encoded(answer any) ([]byte, error) {
	var buffer bytes.Buffer
	if err := json.NewEncoder(&buffer).Encode(answer); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return buffer.Bytes(), nil
}

// Write sends the answer, or that the caller has it.
func (t Tagged) Write(w http.ResponseWriter) error {
	h := w.Header()
	h.Set("ETag", t.tag)
	h.Set("Cache-Control", "private, no-cache")
	h.Add("Vary", "Authorization, Cookie")
	if t.same {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_, err := w.Write(t.body)
	return err
}

// Fixed serves bytes that live as long as the process, and only whole: parts of
// them are of no use, and http.ServeContent refuses a wrong range in plain text.
func Fixed(contentType, caching string, body []byte) http.Handler {
	digest := sha256.Sum256(body)
	tag := `W/"` + hex.EncodeToString(digest[:8]) + `"` // weak: the packed form has the same
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", caching)
		w.Header().Set("ETag", tag)
		if MatchesTag(r.Header.Values("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body) // the connection is gone; nobody is left to tell
	})
}

// WorthPacking is the smallest answer that is compressed; below it the headers
// outweigh the gain.
const WorthPacking = 1024
