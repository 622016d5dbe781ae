package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// mutation makes a request wrong in one way. The share is how often it is drawn:
// bodies, queries and headers are read by most of the code, and what spoils the
// path or the framing hides the rest of the request from it.
type mutation struct {
	name  string
	share int
	do    func(g *generator, w *rawRequest)
}

var mutations = []mutation{
	{"JSON", 10, func(g *generator, w *rawRequest) { g.json(w) }},
	{"query", 5, func(g *generator, w *rawRequest) { w.query = g.query(w.query) }},
	{"header", 6, func(g *generator, w *rawRequest) { g.headers(w) }},
	{"path", 3, func(g *generator, w *rawRequest) { w.path = g.path(w.path) }},
	{"id", 2, func(g *generator, w *rawRequest) { w.path = g.segment(w.path, g.foreignID()) }},
	{"body", 3, func(g *generator, w *rawRequest) { g.bytes(w) }},
	{"encoding", 1, func(g *generator, w *rawRequest) { g.encode(w) }},
	{"framing", 1, func(g *generator, w *rawRequest) { g.frame(w) }},
	{"credential", 1, func(g *generator, w *rawRequest) { g.credential(w) }},
	{"method", 1, func(g *generator, w *rawRequest) {
		w.method = pick(g, []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "BREW", "get", "PROPFIND", strings.Repeat("X", 300)})
		w.odd = w.odd || w.method == "CONNECT"
	}},
}

// mutate makes the request wrong in none to three ways.
func (g *generator) mutate(w *rawRequest) {
	for range pick(g, []int{0, 1, 1, 1, 2, 2, 3}) {
		m := g.mutation(len(w.body) > 0)
		m.do(g, w)
		w.done = append(w.done, m.name)
	}
	_, err := url.ParseRequestURI(w.target())
	w.odd = w.odd || err != nil || strings.ContainsAny(w.target(), " \r\n") || w.times("Host") > 1
}

// mutation draws one; those of bodies only where there is one, mostly.
func (g *generator) mutation(body bool) mutation {
	from := mutations
	if !body && g.chance(90) {
		from = slices.DeleteFunc(slices.Clone(mutations), func(m mutation) bool { return slices.Contains([]string{"JSON", "body", "encoding"}, m.name) })
	}
	total := 0
	for _, m := range from {
		total += m.share
	}
	drawn := g.IntN(total)
	for _, m := range from {
		if drawn -= m.share; drawn < 0 {
			return m
		}
	}
	return from[0]
}

// hostile are texts that somebody's code once stumbled over.
var hostile = []string{
	"", " ", "null", "undefined", "NaN", "0", "-1", "1e999", "9223372036854775808", "true", "..", ".", "/", "\\", "%", "%00", "%ff", "%c0%af", "%zz", "%25",
	"%2e%2e%2f", "..%2f..%2fetc%2fpasswd", "'", "'%20OR%201=1--", "%22;DROP%20TABLE%20events;--", "$%7Bjndi:ldap:x%7D", "%3Cscript%3Ealert(1)%3C/script%3E",
	"%F0%9F%92%A9", "\xc3\xbc", "\xff\xfe", "%E2%80%AE", "%0d%0aSet-Cookie:x=y", "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
	"{00000000-0000-7000-8000-000000000000}", "urn:uuid:00000000-0000-7000-8000-000000000000", strings.Repeat("a", 300), strings.Repeat("%41", 3000),
}

// hostileText is for a query: most often what no database keeps, what is no text,
// or a time or number beyond the edge.
func (g *generator) hostileText() string {
	if g.chance(50) {
		return pick(g, hostile)
	}
	return pick(g, []string{"%00", "a%00b", "%ff", "%ed%a0%80", "%F4%90%80%80", "2147483648", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", g.foreignID()})
}

func (g *generator) foreignID() string {
	kinds := slices.Sorted(maps.Keys(g.subjects))
	kinds = slices.DeleteFunc(kinds, func(k string) bool { return !strings.HasPrefix(k, foreign) || len(g.subjects[k]) == 0 })
	return pick(g, g.subjects[pick(g, kinds)])
}

// segment replaces one segment of a path.
func (g *generator) segment(path, by string) string {
	parts := strings.Split(path, "/")
	parts[g.IntN(len(parts))] = by
	return "/" + strings.TrimPrefix(strings.Join(parts, "/"), "/")
}

func (g *generator) path(path string) string {
	switch g.IntN(9) {
	case 0:
		return strings.Replace(path, "/", pick(g, []string{"//", "/./", "/../", "/x/../", "/%2e%2e/", "%2f", "\\", ";/", "/;a=b/"}), 1+g.IntN(3))
	case 1:
		return path + pick(g, []string{"/", ".json", "%20", "/..", "/.", "%00", ";x=1", "//", "/" + pick(g, hostile)})
	case 2:
		return strings.ToUpper(path)
	case 3:
		i := g.IntN(len(path))
		return path[:i] + fmt.Sprintf("%%%02X", path[i]) + path[i+1:]
	case 4:
		return "http://evil.example" + path // the absolute form, as proxies get it
	case 5:
		return g.segment(path, strings.Repeat("a", pick(g, []int{1000, 33_000, 70_000})))
	case 6:
		return g.segment(path, g.id(pick(g, slices.Sorted(maps.Keys(g.subjects)))))
	}
	return g.segment(path, pick(g, hostile))
}

func (g *generator) query(query string) string {
	more := func(text string) string { return strings.TrimPrefix(query+"&"+text, "&") }
	switch g.IntN(9) {
	case 0:
		return more(query)
	case 1:
		return more(pick(g, []string{"unknown=1", "page", "=", "&&&", "a;b=c", "__proto__=1", "kind[]=Security", "page[$gt]=0", "from=2026-11-20T00:00:00+01:00"}))
	case 2:
		return more(strings.Repeat(pick(g, []string{"id=", "instanceId=", "instanceName="})+g.id("instanceId")+"&", pick(g, []int{2, 501, 1000})))
	case 3:
		return more("q=" + strings.Repeat("x", pick(g, []int{201, 5000, 40_000})))
	case 4:
		return query + pick(g, []string{"%", "%zz", "%ff", "\xff", "%00", "%ud800"})
	}
	values, err := url.ParseQuery(query)
	if err != nil || len(values) == 0 {
		return more(pick(g, []string{"page=", "limit=", "cursor=", "q=", "id=", "from=", "to=", "kind=", "status=", "instanceName="}) + g.hostileText())
	}
	name := pick(g, slices.Sorted(maps.Keys(values)))
	values.Del(name)
	return strings.TrimPrefix(values.Encode()+"&"+name+"="+g.hostileText(), "&")
}

// hostileHeaders are values of headers that somebody reads: we, net/http, gin,
// or the standard's machinery for ranges and preconditions.
var hostileHeaders = map[string][]string{
	"Accept":                        {"", "*/*;q=0", "text/html", "application/json;q=2", ",,,", "application/pdf", "a/b;c=\"", strings.Repeat("a/b,", 2000)},
	"Accept-Encoding":               {"gzip", "gzip;q=0", "*;q=0", "br, gzip", strings.Repeat("gzip,", 1000)},
	"Content-Type":                  {"", "text/plain", "application/json; charset=utf-16", "application/xml", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/pdf", "json", "a;b;c=\""},
	"If-Match":                      {"*", `"x"`, `W/"x"`, "x", ",", strings.Repeat(`"a",`, 500)},
	"If-None-Match":                 {"*", `"x"`, ",", "W/", strings.Repeat(`"a",`, 500)},
	"If-Modified-Since":             {"yesterday", "Sat, 01 Jan 2028 00:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"},
	"If-Range":                      {"x", `"x"`, "Thu, 01 Jan 1970 00:00:00 GMT"},
	"Range":                         {"bytes=0-", "bytes=5-2", "bytes=-0", "bytes=-9999", "bytes=99999999999999999999-", "bytes=0-0,1-1", "lines=1-2", "bytes=" + strings.Repeat("0-,", 1000)},
	"Idempotency-Key":               {"", "k", "a b", strings.Repeat("k", 129), "\xc3\xbc", "k,k"},
	"X-Request-Id":                  {"", "a b", strings.Repeat("r", 65), "<script>", "fine-1.x_Y"},
	"Traceparent":                   {"00-00000000000000000000000000000000-0000000000000000-00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "ff-x", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x"},
	"Tracestate":                    {"a=b", strings.Repeat("a=b,", 600), "\xff"},
	"Baggage":                       {"a=b", strings.Repeat("x=y,", 5000)},
	"Origin":                        {"null", "https://evil.example", "https://friend.example", "http://muster.test", "", "file://"},
	"Sec-Fetch-Site":                {"cross-site", "same-origin", "none", "x"},
	"Host":                          {"evil.example", "localhost:99999", "[::1]", "127.0.0.1"},
	"X-Forwarded-For":               {"1.2.3.4", "1.2.3.4, 5.6.7.8", "x", "::1", ",", strings.Repeat("1.1.1.1,", 2000), "\xff"},
	"X-Forwarded-Proto":             {"https", "x"},
	"X-Forwarded-Host":              {"evil.example"},
	"X-HTTP-Method":                 {"DELETE"},
	"User-Agent":                    {"", strings.Repeat("u", 3000), "\xff\xfe", "<script>"},
	"Upgrade":                       {"websocket", "h2c"},
	"Cookie":                        {"", "a", "__Host-muster_session", "__Host-muster_session=", "__Host-muster_session=\"\"", "muster_session=x", strings.Repeat("a=b; ", 3000)},
	"Access-Control-Request-Method": {"POST", "BREW"},
}

func (g *generator) headers(w *rawRequest) {
	if g.chance(5) { // a flood
		for i := range 200 {
			w.set("X-Flood-"+strconv.Itoa(i), strings.Repeat("f", 300))
		}
		return
	}
	name := pick(g, slices.Sorted(maps.Keys(hostileHeaders)))
	if g.chance(80) {
		w.without(name)
	}
	w.set(name, pick(g, hostileHeaders[name]))
}

func (g *generator) credential(w *rawRequest) {
	w.without(pick(g, []string{"Cookie", "Authorization", "none"}))
	w.set("Authorization", pick(g, []string{"", "Bearer", "Bearer ", "Basic eA==", "Bearer \xff", "bearer x", "Bearer mst_pat_", "Bearer mst_ing_" + strings.Repeat("a", 36),
		"Bearer " + strings.Repeat("x", 9000), "Digest a=b", "Bearer  two spaces"}))
}

// raw is a JSON text that no encoder would write.
type raw string

// What stands in for a member of the body, by what was there: a value of the same
// sort gets past the first look, and is what the code behind it has to bear.
var (
	oddTexts = []any{
		raw(`"\u0000"`), raw(`"a\u0000b"`), raw(`"\ud800"`), raw("\"\xff\""), raw("\"\x01\""), raw(`"\u202e"`), "", " ", "x",
		strings.Repeat("y", 201), strings.Repeat("é", 5000), strings.Repeat("z", 70_000), "' OR 1=1 --", "$(id)", "{{7*7}}", "../../etc/passwd", "💩",
		"\u202e", "a\r\nSet-Cookie: x=y", "\u00a0", "\ufeff", "İ", "%00",
	}
	oddTimes = []any{
		"9999-12-31T23:59:60Z", "9999-12-31T23:59:59.999999999Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z", "2026-02-30T00:00:00Z",
		"2026-11-20T10:00:00+99:99", "2026-11-20", "1969-12-31T23:59:59Z", "2999-01-01T00:00:00-12:00", "2026-11-20t10:00:00z",
	}
	oddNumbers = []any{
		0, -1, raw("-0"), raw("1e999"), raw("-1e-999"), raw("NaN"), raw("9223372036854775808"), raw("1.5"), raw("01"), 1e308, 2147483648, 2147483647, -2147483649, raw("1e2"),
	}
	oddIDs = []any{
		"00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "urn:uuid:00000000-0000-7000-8000-000000000000", "x", "",
	}
	oddShapes = []any{
		nil, true, "x", 0, []any{}, map[string]any{}, []any{[]any{[]any{}}}, []any{nil}, map[string]any{"": nil}, map[string]any{"__proto__": map[string]any{}}, raw("undefined"), raw("'x'"),
	}
)

// hostile is a value to put in the place of that one.
func (g *generator) hostile(value any) any {
	if g.chance(20) {
		return pick(g, oddShapes)
	}
	switch v := value.(type) {
	case float64:
		return pick(g, oddNumbers)
	case string:
		if _, err := uuid.Parse(v); err == nil {
			if g.chance(50) {
				return g.foreignID()
			}
			return pick(g, oddIDs)
		}
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return pick(g, oddTimes)
		}
		return pick(g, oddTexts)
	}
	return pick(g, pick(g, [][]any{oddTexts, oddTimes, oddNumbers, oddIDs, oddShapes}))
}

// json replaces, drops, doubles or adds somewhere in the body's tree.
func (g *generator) json(w *rawRequest) {
	var tree any
	if json.Unmarshal(w.body, &tree) != nil {
		w.body = []byte(render(g.hostile(nil)))
		if w.times("Content-Type") == 0 {
			w.set("Content-Type", "application/json")
		}
		return
	}
	w.body = []byte(render(g.bend(tree)))
}

func (g *generator) bend(value any) any {
	switch v := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		drawn := g.IntN(10)
		switch {
		case len(names) == 0 || drawn == 0:
			v[pick(g, []string{"unknown", "", "Kind", "a/b~c", "\u0000", strings.Repeat("n", 500)})] = g.hostile(nil)
		case drawn == 1:
			delete(v, pick(g, names))
		case drawn == 2:
			text := render(v)
			name, _ := json.Marshal(pick(g, names))
			return raw(text[:len(text)-1] + "," + string(name) + ":" + render(g.hostile(nil)) + "}")
		default:
			name := pick(g, names)
			v[name] = g.bend(v[name])
		}
		return v
	case []any:
		if len(v) == 0 || g.chance(30) {
			return append(v, g.hostile(nil))
		}
		if g.chance(10) {
			return slices.Repeat(v, 1+g.IntN(200))
		}
		i := g.IntN(len(v))
		v[i] = g.bend(v[i])
		return v
	}
	return g.hostile(value)
}

// render writes JSON that may be none.
func render(value any) string {
	switch v := value.(type) {
	case raw:
		return string(v)
	case map[string]any:
		var members []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, _ := json.Marshal(name)
			members = append(members, string(text)+":"+render(v[name]))
		}
		return "{" + strings.Join(members, ",") + "}"
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, render(item))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	text, _ := json.Marshal(value)
	return string(text)
}

// bytes spoils the body as a whole.
func (g *generator) bytes(w *rawRequest) {
	if len(w.body) == 0 {
		w.body = []byte("{}")
	}
	switch g.IntN(10) {
	case 0:
		w.body = w.body[:g.IntN(len(w.body))]
	case 1:
		w.body = append([]byte("\ufeff"), w.body...)
	case 2:
		w.body = append(w.body, pick(g, []string{"x", "{}", "\x00", ",", "]", "\n\n"})...)
	case 3:
		w.body = []byte("[" + string(w.body) + "]")
	case 4:
		w.body = []byte(strings.Repeat(pick(g, []string{"[", `{"a":`}), pick(g, []int{100, 9000})))
	case 5:
		w.body = []byte(strings.Repeat("[", 9000) + strings.Repeat("]", 9000))
	case 6:
		w.body = bytes.Repeat([]byte(" "), pick(g, []int{65_536, 65_537, 200_000}))
	case 7:
		w.body = []byte("a=b&c=d")
	case 8:
		w.body[g.IntN(len(w.body))] ^= byte(1 + g.IntN(255))
	case 9:
		w.body = []byte{}
	}
}

// encode packs the body, or says that it is packed.
func (g *generator) encode(w *rawRequest) {
	w.set("Content-Encoding", pick(g, []string{"gzip", "gzip", "gzip", "br", "deflate", "gzip, gzip", "identity", "x"}))
	if g.chance(30) {
		return
	}
	text := w.body
	if g.chance(30) {
		text = make([]byte, 8<<20) // small on the line
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(text)
	_ = z.Close()
	w.body = packed.Bytes()
	if g.chance(30) {
		w.body = w.body[:g.IntN(len(w.body)+1)]
	}
}

// frame lies about where the body ends, or is no HTTP at all.
func (g *generator) frame(w *rawRequest) {
	w.odd = true
	switch g.IntN(7) {
	case 0:
		w.length, w.cut = len(w.body)+1+g.IntN(100), true
	case 1:
		w.length = g.IntN(len(w.body) + 1)
	case 2:
		w.set("Transfer-Encoding", "chunked")
		w.body = fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(w.body), w.body)
	case 3:
		w.set("Transfer-Encoding", "chunked")
		w.body, w.cut = []byte("ffffff\r\n{"), true
	case 4:
		w.set("Transfer-Encoding", pick(g, []string{"gzip", "x", "chunked, identity"}))
	case 5:
		w.set("Content-Length", strconv.Itoa(len(w.body)+7))
	case 6:
		w.method = pick(g, []string{"GE T", "", "\x00", "G\xc3\x9cT"})
	}
}

// unpacked is an answer's body as text.
func unpacked(a *httptest.ResponseRecorder) string {
	if a.Header().Get("Content-Encoding") == "gzip" {
		if z, err := gzip.NewReader(bytes.NewReader(a.Body.Bytes())); err == nil {
			if text, err := io.ReadAll(z); err == nil {
				return string(text)
			}
		}
	}
	return a.Body.String()
}
