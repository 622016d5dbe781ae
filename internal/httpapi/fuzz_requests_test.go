package httpapi

import (
	"bytes"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/exception"
	"muster/domain/fleet"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/internal/httpapi/contract"
)

// rawRequest is a request as it goes over the line. It is not http.Request, which
// refuses to be as wrong as callers are.
type rawRequest struct {
	method, path, query string // path and query as they are sent, escaped or not
	header              [][2]string
	body                []byte
	length              int  // what Content-Length says; -1: the truth
	cut                 bool // the caller stops sending, and waits
	odd                 bool // no HTTP: net/http may refuse it in its own words, or hang up

	done []string // the mutations
}

func (w *rawRequest) set(name, value string) { w.header = append(w.header, [2]string{name, value}) }

func (w *rawRequest) without(name string) {
	w.header = slices.DeleteFunc(w.header, func(h [2]string) bool { return strings.EqualFold(h[0], name) })
}

// times is how often a header is sent.
func (w *rawRequest) times(name string) (n int) {
	for _, h := range w.header {
		if strings.EqualFold(h[0], name) {
			n++
		}
	}
	return n
}

func (w *rawRequest) target() string {
	if w.query == "" {
		return w.path
	}
	return w.path + "?" + w.query
}

// wire is the request's bytes.
func (w *rawRequest) wire() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", w.method, w.target())
	if w.times("Host") == 0 {
		b.WriteString("Host: muster.test\r\n")
	}
	for _, h := range w.header {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	length := w.length
	if length < 0 {
		length = len(w.body)
	}
	if (length > 0 || len(w.body) > 0 || w.length >= 0) && w.times("Transfer-Encoding") == 0 {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", length)
	}
	b.WriteString("Connection: close\r\n\r\n")
	b.Write(w.body)
	return b.Bytes()
}

// subjects are ids of what there is, by the parameter that takes them.
type subjects map[string][]string

// foreign are those of the other organization, under this prefix.
const foreign = "foreign "

// look finds what requests can be about.
func (f *fuzzer) look() subjects {
	f.t.Helper()
	out := subjects{"name": {"report_history", "audit", "fleet", "alerts"}, "provider": {"corp"}, "mailId": {"x.eml"}, "deadLetterId": {uuid.NewString()}}
	const stream = `SELECT stream_id FROM events WHERE organization_id = $1 AND version = 1 AND stream_type = '%s' ORDER BY position DESC LIMIT 12`
	for name, query := range map[string]string{
		"reportId":    fmt.Sprintf(stream, report.StreamType),
		"instanceId":  fmt.Sprintf(stream, fleet.InstanceStream),
		"alertId":     fmt.Sprintf(stream, alert.StreamType),
		"databaseId":  fmt.Sprintf(stream, fleet.DatabaseStream),
		"exceptionId": fmt.Sprintf(stream, exception.StreamType),
		"scheduleId":  fmt.Sprintf(stream, schedule.StreamType),
		"memberId":    `SELECT id FROM members WHERE organization_id = $1 ORDER BY created_at DESC, id DESC LIMIT 20`,
		"tokenId":     `SELECT id FROM tokens WHERE organization_id = $1 AND revoked_at IS NULL ORDER BY id DESC LIMIT 12`,
		"sessionId":   `SELECT id FROM sessions WHERE organization_id = $1 ORDER BY id DESC LIMIT 12`,
	} {
		for prefix, of := range map[string]tenant{"": f.ours, foreign: f.theirs} {
			var ids []string
			must(f.t, f.deps.DB.Select(&ids, query, of.organization.ID))
			out[prefix+name] = ids
		}
	}
	for name, query := range map[string]string{
		"instanceName": `SELECT name FROM fleet_v3.instances WHERE organization_id = $1 ORDER BY id DESC LIMIT 12`,
		"instance":     `SELECT external_id FROM fleet_v3.instances WHERE organization_id = $1 ORDER BY id DESC LIMIT 12`,
		"instances":    `SELECT external_id FROM fleet_v3.instances WHERE organization_id = $1 ORDER BY id DESC LIMIT 12`,
		"database":     `SELECT external_id FROM fleet_v3.databases WHERE organization_id = $1 ORDER BY id DESC LIMIT 12`,
	} {
		var words []string
		must(f.t, f.deps.DB.Select(&words, query, f.ours.organization.ID))
		out[name] = words
	}
	settings := f.get(f.ours.auditor, "/api/v1/organization")
	out["If-Match"] = []string{settings.Header().Get("ETag")}
	return out
}

// generator makes requests of one seed.
type generator struct {
	*mathrand.Rand
	routes   map[string]*contract.Route
	subjects subjects
}

func pick[T any](g *generator, from []T) T { return from[g.IntN(len(from))] }

// chance is true p times of a hundred.
func (g *generator) chance(p int) bool { return g.IntN(100) < p }

// route draws an operation or a page.
func (g *generator) route() *contract.Route {
	keys := slices.Sorted(maps.Keys(g.routes))
	r := g.routes[pick(g, keys)]
	for range 2 { // more often those that change something: there is more to get wrong
		if r.Body() == nil {
			r = g.routes[pick(g, keys)]
		}
	}
	return r
}

// caller draws who sends it: mostly somebody who may.
func (g *generator) caller(r *contract.Route, all []fuzzCaller) fuzzCaller {
	if g.chance(85) {
		if may := slices.DeleteFunc(slices.Clone(all), func(c fuzzCaller) bool { return !c.may(r) }); len(may) > 0 {
			return pick(g, may)
		}
	}
	return pick(g, all)
}

// request is one that openapi.yaml allows.
func (g *generator) request(r *contract.Route, as fuzzCaller) *rawRequest {
	w := &rawRequest{method: r.Method, path: r.Path, length: -1}
	if as.cookie != "" {
		w.set("Cookie", "__Host-muster_session="+as.cookie)
	}
	if as.token != "" {
		w.set("Authorization", "Bearer "+as.token)
	}
	if r.Page {
		return w
	}
	query := url.Values{}
	for _, reference := range r.Operation.Parameters {
		p := reference.Value
		switch p.In {
		case openapi3.ParameterInPath:
			w.path = strings.Replace(w.path, ":"+p.Name, url.PathEscape(g.text(p.Schema.Value, p.Name)), 1)
		case openapi3.ParameterInQuery:
			for range g.times(p) {
				query.Add(p.Name, g.parameter(p))
			}
		case openapi3.ParameterInHeader:
			if g.chance(40) || p.Name == "If-Match" && g.chance(80) {
				w.set(p.Name, g.text(p.Schema.Value, p.Name))
			}
		}
	}
	w.query = query.Encode()
	if b := r.Body(); b != nil {
		w.set("Content-Type", "application/json")
		if media := b.Content["application/json"]; b.Content["application/x-protobuf"] != nil && (media == nil || g.chance(50)) {
			g.protobuf(r, w)
		} else if media == nil {
			w.header[len(w.header)-1][1], w.body = "application/pdf", []byte(pdfText)
		} else if media.Example != nil && (g.chance(20) || media.Schema.Value.Type == nil) { // of a form that others describe
			w.body = []byte(render(media.Example))
		} else {
			w.body = []byte(render(g.value(media.Schema.Value, "")))
		}
	}
	return w
}

// times is how often a query parameter is given.
func (g *generator) times(p *openapi3.Parameter) int {
	switch {
	case p.Schema.Value.Type.Is("array"):
		return g.IntN(3)
	case p.Required || g.chance(30):
		return 1
	}
	return 0
}

func (g *generator) parameter(p *openapi3.Parameter) string {
	schema := p.Schema.Value
	if schema.Type.Is("array") {
		schema = schema.Items.Value
	}
	if schema.Type.Is("integer") {
		return strconv.Itoa(g.integer(schema))
	}
	return g.text(schema, p.Name)
}

func (g *generator) integer(s *openapi3.Schema) int {
	low, high := 0, 400
	if s.Min != nil {
		low = int(*s.Min)
	}
	if s.Max != nil {
		high = int(*s.Max)
	}
	return low + g.IntN(high-low+1)
}

// value is one that the schema admits; name is the member's.
func (g *generator) value(s *openapi3.Schema, name string) any {
	switch {
	case s.Type.Includes("null") && g.chance(20):
		return nil
	case s.Type.Includes("object"):
		out := map[string]any{}
		for _, member := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, member) || g.chance(60) {
				out[member] = g.value(s.Properties[member].Value, member)
			}
		}
		return out
	case s.Type.Includes("array"):
		out := []any{}
		for range max(int(s.MinItems), g.IntN(4)) {
			out = append(out, g.value(s.Items.Value, name))
		}
		return out
	case s.Type.Includes("integer"):
		return g.integer(s)
	case s.Type.Includes("number"):
		return float64(g.IntN(1010)) / 10
	case s.Type.Includes("boolean"):
		return g.chance(50)
	}
	return g.text(s, name)
}

// text is one that the schema admits, and that means something under this name.
func (g *generator) text(s *openapi3.Schema, name string) string {
	if len(s.Enum) > 0 {
		return fmt.Sprint(pick(g, s.Enum))
	}
	switch s.Format {
	case "uuid":
		return g.id(name)
	case "date-time":
		if name == "until" || name == "expiresAt" {
			return time.Now().UTC().Add(time.Duration(1+g.IntN(80*24)) * time.Hour).Format(time.RFC3339)
		}
		return time.Now().UTC().Add(time.Duration(g.IntN(45*24*60)-40*24*60) * time.Minute).Format(time.RFC3339)
	}
	switch name {
	case "email":
		return fmt.Sprintf("p%d@fuzz.example", g.IntN(50))
	case "password", "currentPassword", "newPassword":
		return goodPassword
	case "dsn":
		return "postgres://u:p@127.0.0.1:1/d?sslmode=disable" // nobody listens there
	case "checkId":
		return pick(g, []string{"PG-S01", "PG-C02", "XX-1"})
	case "returnTo":
		return pick(g, []string{"/exports", "//evil.example", "/%2f/evil.example"})
	case "If-Match":
		return pick(g, []string{"*", `"x"`, g.subjects["If-Match"][0], g.subjects["If-Match"][0]})
	case "name", "provider", "mailId", "instanceName", "instance", "instances", "database":
		if known := g.subjects[name]; len(known) > 0 && g.chance(60) {
			return pick(g, known)
		}
	}
	return fmt.Sprintf("x%d", g.IntN(1000))
}

// id is one of something of the kind that the name speaks of; sometimes of the
// other organization or of nobody.
func (g *generator) id(name string) string {
	kind := name
	for part, parameter := range map[string]string{"nstanceId": "instanceId", "ecipient": "memberId", "actor": "memberId", "atabaseId": "databaseId", "upTo": "reportId"} {
		if strings.Contains(name, part) {
			kind = parameter
		}
	}
	if kind == "id" {
		kind = "instanceId"
	}
	if g.chance(15) {
		kind = foreign + kind
	}
	if known := g.subjects[kind]; len(known) > 0 && g.chance(92) {
		return pick(g, known)
	}
	return uuid.UUID{0: byte(g.IntN(256)), 6: 0x70, 8: 0x80, 15: byte(g.IntN(256))}.String()
}
