package assistant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"muster/internal/httpapi/contract"
	"muster/internal/httpapi/wire"
)

// refusal is why a call got no data, in the words of a problem (RFC 9457).
type refusal struct {
	Code              string          `json:"code"`
	Title             string          `json:"title"`
	Status            int             `json:"status,omitempty"`
	Detail            string          `json:"detail,omitempty"`
	Errors            json.RawMessage `json:"errors,omitempty"`
	RetryAfterSeconds int             `json:"retryAfterSeconds,omitempty"`
	Source            string          `json:"source,omitempty"` // the request that was refused
}

func unfit(format string, args ...any) *refusal {
	return &refusal{Code: "invalid_parameter", Title: "The arguments do not fit", Detail: fmt.Sprintf(format, args...)}
}

// request is an address of a route: the values of its path, and its query.
type request struct {
	route
	operation string
	query     url.Values
	path      map[string]string
}

// address is the request's path and query.
func (q request) address() string {
	path := contract.PathParameter.ReplaceAllStringFunc(q.route.path, func(name string) string {
		return url.PathEscape(q.path[strings.Trim(name, "{}")])
	})
	if len(q.query) == 0 {
		return path
	}
	return path + "?" + q.query.Encode()
}

// requestOf turns the arguments of a call into a request of an operation.
func (s *ToolRoutes) requestOf(t tool, operation string, args map[string]any) (request, *refusal) {
	q := request{route: s.routes[operation], operation: operation, query: url.Values{}, path: map[string]string{}}
	for name, value := range args {
		if name == t.choice {
			continue
		}
		p := q.parameter(name)
		if p == nil || p.In == openapi3.ParameterInHeader || slices.Contains(t.without, name) {
			return q, unfit("This call takes no argument %q.", short(name))
		}
		texts, ok := textsOf(value)
		if !ok || p.In == openapi3.ParameterInPath && len(texts) != 1 {
			return q, unfit("%s must be a text, a number, true or false, or a list of them.", name)
		}
		if p.In == openapi3.ParameterInPath {
			q.path[name] = texts[0]
			continue
		}
		q.query[name] = texts
	}
	for _, reference := range q.Operation.Parameters {
		if p := reference.Value; p.In == openapi3.ParameterInPath && q.path[p.Name] == "" {
			return q, unfit("%s is missing.", p.Name)
		}
	}
	return q, q.complete(s.Now().UTC())
}

// short keeps an answer short that repeats what the caller sent.
func short(text string) string {
	const most = 64
	if len(text) > most {
		return text[:most]
	}
	return text
}

func textsOf(value any) ([]string, bool) {
	switch v := value.(type) {
	case string:
		return []string{v}, true
	case bool:
		return []string{strconv.FormatBool(v)}, true
	case json.Number:
		return []string{v.String()}, true
	case []any:
		var all []string
		for _, item := range v {
			texts, ok := textsOf(item)
			if !ok || len(texts) != 1 {
				return nil, false
			}
			all = append(all, texts...)
		}
		return all, true
	}
	return nil, false
}

// complete adds the window, the width of buckets and the size of a page where the caller left
// them out.
func (q request) complete(now time.Time) *refusal {
	const dayBack = 24 * time.Hour
	now = now.Truncate(time.Second)
	if to := q.parameter("to"); to != nil && to.Required {
		end, err := boundOf(q.query, "to", now)
		if err != nil {
			return err
		}
		begin, err := boundOf(q.query, "from", end.Add(-dayBack))
		if err != nil {
			return err
		}
		if q.parameter("bucketSize") != nil && !q.query.Has("bucketSize") {
			q.query.Set("bucketSize", fittingBucket(end.Sub(begin)))
		}
	}
	if q.parameter("pageSize") == nil {
		return nil
	}
	if !q.query.Has("pageSize") {
		q.query.Set("pageSize", strconv.Itoa(defaultPageSize))
	}
	if n, err := strconv.Atoi(q.query.Get("pageSize")); err == nil && n > maxPageSize {
		return unfit("pageSize must be at most %d.", maxPageSize)
	}
	return nil
}

func boundOf(query url.Values, name string, fallback time.Time) (time.Time, *refusal) {
	if !query.Has(name) {
		query.Set(name, fallback.Format(time.RFC3339))
	}
	at, err := time.Parse(time.RFC3339, query.Get(name))
	if err != nil {
		return at, unfit("%s must be a time such as 2026-11-20T08:00:00Z.", name)
	}
	return at, nil
}

// fittingBucket is a width that makes at most about 180 buckets of a window that is not very
// long.
func fittingBucket(window time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case window <= 2*time.Hour:
		return "1m"
	case window <= 7*day:
		return "1h"
	case window <= 180*day:
		return "1d"
	}
	return "1w"
}

// read makes a request to the routes of this process, as the caller whose call is outer. It
// passes every layer that a request from the network passes.
func (s *ToolRoutes) read(outer *http.Request, q request) (data any, p *refusal) {
	inner, err := http.NewRequestWithContext(outer.Context(), http.MethodGet, q.address(), http.NoBody)
	if err != nil {
		return nil, unfit("The arguments make no address.")
	}
	inner.Host, inner.RemoteAddr, inner.RequestURI = outer.Host, outer.RemoteAddr, q.address()
	for _, name := range []string{"Authorization", "User-Agent", "X-Forwarded-For", "X-Real-Ip", "X-Forwarded-Proto"} {
		if values := outer.Header.Values(name); len(values) > 0 {
			inner.Header[name] = values
		}
	}
	inner.Header.Set("Accept", "application/json")
	inner.Header.Set("X-Request-Id", wire.CallOf(outer.Context()).RequestID)
	recorded := httptest.NewRecorder()
	s.site.ServeHTTP(recorded, inner)
	if recorded.Code != http.StatusOK {
		return nil, refusalOf(recorded)
	}
	reader := json.NewDecoder(recorded.Body)
	reader.UseNumber()
	if err := reader.Decode(&data); err != nil {
		return nil, &refusal{Code: "internal_error", Title: "The answer could not be read", Status: http.StatusInternalServerError}
	}
	return data, nil
}

func refusalOf(recorded *httptest.ResponseRecorder) *refusal {
	var p refusal
	if err := json.Unmarshal(recorded.Body.Bytes(), &p); err != nil || p.Code == "" {
		return &refusal{Code: "internal_error", Title: "The answer could not be read", Status: recorded.Code}
	}
	if wait, err := strconv.Atoi(recorded.Header().Get("Retry-After")); err == nil {
		p.RetryAfterSeconds = wait
	}
	return &p
}

// argumentsOf reads the arguments of a call: an object, whose numbers stay as they are written.
func argumentsOf(raw json.RawMessage) (map[string]any, *refusal) {
	args := map[string]any{}
	if len(raw) == 0 {
		return args, nil
	}
	reader := json.NewDecoder(bytes.NewReader(raw))
	reader.UseNumber()
	if err := reader.Decode(&args); err != nil || args == nil {
		return nil, unfit("The arguments must be an object.")
	}
	for name, value := range args {
		if value == nil { // assistants send null for what they leave out
			delete(args, name)
		}
	}
	return args, nil
}
