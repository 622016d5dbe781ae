package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// How long an operation stays after it was called deprecated (contract, §15).
const (
	noticeStable = 365 * 24 * time.Hour // v1 stays at least 12 months
	noticeBeta   = 90 * 24 * time.Hour
)

// deprecation is what an operation that will go away says of itself in every
// answer, refusals too: since when nobody should start to use it (RFC 9745),
// when it stops working (RFC 8594), and where to read what to use instead.
type deprecation struct {
	Since, Sunset time.Time
	link          string
}

// deprecationOf reads it from an operation that is `deprecated`; nil for any
// other. A date that breaks the promise of notice is an error: the server does
// not start on it.
func deprecationOf(path string, operation *openapi3.Operation) (*deprecation, error) {
	if !operation.Deprecated {
		return nil, nil
	}
	var (
		d   deprecation
		err error
	)
	if d.Since, err = statedTime(operation, "x-deprecated-at"); err != nil {
		return nil, err
	}
	if d.Sunset, err = statedTime(operation, "x-sunset"); err != nil {
		return nil, err
	}
	if d.link, _ = operation.Extensions["x-deprecation-link"].(string); d.link == "" {
		return nil, fmt.Errorf("deprecated, and x-deprecation-link does not say what to use instead")
	}
	notice := noticeStable
	if Beta(path) {
		notice = noticeBeta
	}
	if got := d.Sunset.Sub(d.Since); got < notice {
		return nil, fmt.Errorf("x-sunset is %d days after x-deprecated-at; %d are promised", int(got.Hours()/24), int(notice.Hours()/24))
	}
	return &d, nil
}

func statedTime(operation *openapi3.Operation, extension string) (time.Time, error) {
	text, _ := operation.Extensions[extension].(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("deprecated, and %s is no RFC 3339 time: %w", extension, err)
	}
	return at, nil
}

// Mark says it in an answer.
func (d *deprecation) Mark(h http.Header) {
	if d == nil {
		return
	}
	h.Set("Deprecation", "@"+strconv.FormatInt(d.Since.Unix(), 10))
	h.Set("Sunset", d.Sunset.UTC().Format(http.TimeFormat))
	h.Add("Link", "<"+d.link+`>; rel="deprecation"`)
}

// Beta says that the path belongs to the surface that may still change.
func Beta(path string) bool {
	return slices.ContainsFunc([]string{"/api/v1/reports", "/api/v1/exports"}, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+"/")
	})
}
