package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster/internal/httpapi/api"
)

// or is the number p points to, or the default.
func or[T ~int | ~int32](p *T, otherwise int) int {
	if p == nil {
		return otherwise
	}
	return int(*p)
}

// value is what p points to, or nothing.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// list is what p points to, or nothing.
func list[T any](p *[]T) []T {
	if p == nil {
		return nil
	}
	return *p
}

// filled is a list that is never null on the wire.
func filled[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// texts are the words of a list of named strings.
func texts[T ~string](l []T) []string {
	out := make([]string, len(l))
	for i, v := range l {
		out[i] = string(v)
	}
	return out
}

func utc(t *time.Time) *time.Time {
	if t == nil || t.IsZero() {
		return nil
	}
	u := t.UTC()
	return &u
}

// text is s, or null where there is none.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// paged fills the page's numbers and the Link header (RFC 8288).
func paged(ctx context.Context, number, size int, total int64) api.Page {
	pages := (total + int64(size) - 1) / int64(size)
	c := callOf(ctx)
	var links []string
	if int64(number) < pages {
		links = append(links, pageLink(c.request.URL, number+1, "next"))
	}
	if number > 1 && pages > 0 {
		links = append(links, pageLink(c.request.URL, int(min(int64(number-1), pages)), "prev"))
	}
	if len(links) > 0 {
		c.header.Add("Link", strings.Join(links, ", "))
	}
	return api.Page{Number: number, Size: size, TotalItems: total, TotalPages: pages}
}

func pageLink(u *url.URL, number int, relation string) string {
	q := u.Query()
	q.Set("page", strconv.Itoa(number))
	return fmt.Sprintf(`<%s?%s>; rel=%q`, u.EscapedPath(), q.Encode(), relation)
}

// Cursors are opaque on the wire: a kind, so that one list's cursor is not
// taken by another, and a place.
func cursor(kind, place string) *string {
	c := base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + place))
	return &c
}

// place reads a cursor of that kind; no cursor is no place.
func placeOf(c *string, kind string) (string, error) {
	if c == nil {
		return "", nil
	}
	text, err := base64.RawURLEncoding.DecodeString(*c)
	place, ok := strings.CutPrefix(string(text), kind+":")
	if err != nil || !ok || !storable(place) {
		return "", badCursor()
	}
	return place, nil
}

func badCursor() *problem {
	return badParameter(api.Query, "cursor", "invalid_cursor", "is not one that this list gave out")
}

func positionOf(c *string, kind string) (int64, error) {
	place, err := placeOf(c, kind)
	if err != nil || place == "" {
		return 0, err
	}
	n, err := strconv.ParseInt(place, 10, 64)
	if err != nil || n < 0 {
		return 0, badCursor()
	}
	return n, nil
}

// taggedList is a JSON answer with an ETag over exactly what this caller sees.
type taggedList struct {
	body []byte
	tag  string
	same bool
}

// tagged compares the answer with the caller's If-None-Match.
func (s *server) tagged(ctx context.Context, body any) (taggedList, error) {
	var buffer bytes.Buffer
	if err := json.NewEncoder(&buffer).Encode(body); err != nil {
		return taggedList{}, fmt.Errorf("encode the answer: %w", err)
	}
	digest := sha256.Sum256(buffer.Bytes())
	answer := taggedList{body: buffer.Bytes(), tag: `W/"r-` + hex.EncodeToString(digest[:8]) + `"`}
	answer.same = matches(callOf(ctx).request.Header.Values("If-None-Match"), answer.tag)
	return answer, nil
}

func matches(given []string, tag string) bool {
	for _, entry := range strings.Split(strings.Join(given, ","), ",") {
		entry = strings.TrimSpace(entry)
		if entry == "*" || strings.TrimPrefix(entry, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

func (t taggedList) write(w http.ResponseWriter) error {
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

func (t taggedList) VisitListReportsResponse(w http.ResponseWriter) error { return t.write(w) }

func pointerAt(list string, i int) string { return list + "/" + strconv.Itoa(i) }
