package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"muster/internal/httpapi/contract"
)

// withDeprecated is openapi.yaml in which one operation is called deprecated.
func withDeprecated(t *testing.T, operation, lines string) []byte {
	t.Helper()
	mark := "      operationId: " + operation + "\n"
	whole, err := openapiYAML()
	must(t, err)
	text := strings.Replace(string(whole), mark, mark+lines, 1)
	if text == string(whole) {
		t.Fatalf("no operation %s", operation)
	}
	return []byte(text)
}

const migrate = `      deprecated: true
      x-deprecated-at: "2027-01-01T00:00:00Z"
      x-sunset: "2028-01-01T00:00:00Z"
      x-deprecation-link: /docs/migrate-v2
`

// TestDeprecatedOperations: one line in openapi.yaml is all it takes for every
// answer of an operation, refusals too, to say that it will go away.
func TestDeprecatedOperations(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	shown := func() string { return w.get(person{}, "/api/v1/openapi.json").is(200).Body.String() }
	before := strings.Count(shown(), `"deprecated":true`)
	deprecated, err := contract.Load(withDeprecated(t, "listMembers", migrate))
	must(t, err)
	w.handler, w.server, err = build(w.deps.Front, w.deps.groups(), deprecated)
	must(t, err)
	says := func(a answer) []string {
		return append([]string{a.Header().Get("Deprecation"), a.Header().Get("Sunset")}, a.Header().Values("Link")...)
	}
	want := "@1798761600|Sat, 01 Jan 2028 00:00:00 GMT|</docs/migrate-v2>; rel=\"deprecation\""
	for name, a := range map[string]answer{
		"answered":       w.get(w.ours.viewer, "/api/v1/members").is(200),
		"not signed in":  w.get(person{}, "/api/v1/members").is(401),
		"not acceptable": w.do(request{method: "GET", path: "/api/v1/members", as: w.ours.viewer, header: map[string]string{"Accept": "text/html"}}).is(406),
		"unreadable":     w.get(w.ours.viewer, "/api/v1/members?page=0").is(400),
	} {
		if got := strings.Join(says(a), "|"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	paged := says(w.get(w.ours.viewer, "/api/v1/members?pageSize=1").is(200))
	if len(paged) != 4 || !strings.Contains(paged[3], `rel="next"`) {
		t.Errorf("with another link: %q", paged)
	}
	if shown := shown(); strings.Count(shown, `"deprecated":true`) != before+1 || !strings.Contains(shown, `"x-sunset":"2028-01-01`) {
		t.Error("what the viewer reads does not say it")
	}
	for _, a := range []answer{w.get(w.ours.viewer, "/api/v1/organization"), w.post(w.ours.viewer, "/api/v1/members", map[string]string{})} {
		if got := a.Header().Get("Deprecation"); got != "" {
			t.Errorf("an operation that stays says %s", got)
		}
	}
}

// announcing is a contract of one operation of v1 and one of beta, one of which is called
// deprecated. To read all of openapi.yaml takes the race detector a second.
func announcing(operation, lines string) []byte {
	text := "openapi: 3.1.0\ninfo: {title: Muster, version: v1}\npaths:\n"
	for _, o := range []struct{ path, id string }{{"members", "listMembers"}, {"reports", "listReports"}} {
		text += fmt.Sprintf("  /api/v1/%s:\n    get:\n      operationId: %s\n", o.path, o.id)
		if o.id == operation {
			text += lines
		}
		text += "      x-role: [viewer]\n      x-scope: [\"members:read\"]\n      responses: {\"200\": {description: A page.}}\n"
	}
	return []byte(text)
}

// TestDeprecationKeepsItsPromise: a server whose contract announces less than
// was promised does not start.
func TestDeprecationKeepsItsPromise(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ operation, old, new, want string }{
		"half a year of v1":    {"listMembers", "2028-01-01", "2027-07-01", "181 days after x-deprecated-at; 365 are promised"},
		"half a year of beta":  {"listReports", "2028-01-01", "2027-07-01", ""},
		"two months of beta":   {"listReports", "2028-01-01", "2027-03-01", "59 days after x-deprecated-at; 90 are promised"},
		"no date":              {"listMembers", "x-sunset", "x-later", "x-sunset is no RFC 3339 time"},
		"no word what instead": {"listMembers", "x-deprecation-link", "x-link", "x-deprecation-link does not say"},
	} {
		_, err := contract.Load(announcing(c.operation, strings.Replace(migrate, c.old, c.new, 1)))
		if c.want == "" {
			must(t, err)
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
