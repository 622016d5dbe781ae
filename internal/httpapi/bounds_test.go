package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"muster/commands/inventory"
	"muster/internal/httpapi/contract"
)

// feeds are the operations under /ingest, by path.
func feeds(t *testing.T) map[string]*contract.Route {
	t.Helper()
	c, err := ourContract()
	must(t, err)
	out := map[string]*contract.Route{}
	for _, r := range c.Routes {
		if r.IsIngest() {
			out[r.Path] = r
		}
	}
	return out
}

// unbounded are the texts, lists and maps of a schema that have no bound, by pointer. A text that
// is one of a list of words has one.
func unbounded(s *openapi3.Schema, at string, within []*openapi3.Schema) (out []string) {
	if slices.Contains(within, s) {
		return nil
	}
	within = append(slices.Clone(within), s)
	if s.Type.Includes(openapi3.TypeString) && s.MaxLength == nil && len(s.Enum) == 0 {
		out = append(out, at+" is a text without maxLength")
	}
	if s.Type.Includes(openapi3.TypeArray) {
		if s.MaxItems == nil {
			out = append(out, at+" is a list without maxItems")
		}
		out = append(out, unbounded(s.Items.Value, at+"/*", within)...)
	}
	closed := s.AdditionalProperties.Has != nil && !*s.AdditionalProperties.Has
	if s.Type.Includes(openapi3.TypeObject) && !closed && s.MaxProps == nil {
		out = append(out, at+" is a map without maxProperties")
	}
	if values := s.AdditionalProperties.Schema; values != nil {
		out = append(out, unbounded(values.Value, at+"/*", within)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, unbounded(s.Properties[name].Value, at+"/"+name, within)...)
	}
	for _, one := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		out = append(out, unbounded(one.Value, at, within)...)
	}
	return out
}

// formsElsewhere are the doors whose bodies openapi.yaml hands on as they came, and the package
// that bounds what it reads of each form.
var formsElsewhere = map[string]string{
	writePath:                               "internal/intake/remotewrite",
	otlpPath:                                "internal/intake/hostmetrics, internal/intake/receivers",
	logsPath:                                "internal/intake/receivers",
	"/ingest/v1/alertmanager/webhook":       "internal/intake/alertmanager",
	"/ingest/v1/alertmanager/api/v2/alerts": "internal/intake/alertmanager",
	"/ingest/v1/grafana/webhook":            "internal/intake/alertmanager",
}

// TestEveryFieldOfAFeedHasABound in openapi.yaml: of each body, parameter and header under /ingest.
func TestEveryFieldOfAFeedHasABound(t *testing.T) {
	t.Parallel()
	described := 0
	for path, route := range feeds(t) {
		for _, p := range route.Operation.Parameters {
			for _, fault := range unbounded(p.Value.Schema.Value, p.Value.Name, nil) {
				t.Errorf("%s: %s", path, fault)
			}
		}
		if route.BodyLimit <= 0 || route.BodyLimit > 32<<20 {
			t.Errorf("%s: a body may have %d bytes", path, route.BodyLimit)
		}
		if route.Raw {
			if formsElsewhere[path] == "" {
				t.Errorf("%s: nothing says what bounds its body", path)
			}
			continue
		}
		described++
		for _, fault := range unbounded(route.Body().Content["application/json"].Schema.Value, "#", nil) {
			t.Errorf("%s: %s", path, fault)
		}
	}
	if described != 6 {
		t.Errorf("%d bodies are described", described)
	}
}

// beyond are copies of a body, each with one bound of its schema broken, by the pointer of what
// breaks it. Left out are what is counted by the thousand and the text of a statement, which
// TestLargeBoundsOfSamples breaks at their door.
func beyond(s *openapi3.Schema, value any, at string, put func(any) any, out map[string]any) {
	for _, one := range s.OneOf {
		if value != nil && one.Value.Type.Permits(openapi3.TypeObject) {
			beyond(one.Value, value, at, put, out)
		}
	}
	if s.MaxLength != nil && s.Format == "" && len(s.Enum) == 0 && *s.MaxLength < 1<<20 {
		out[at] = put(strings.Repeat("x", int(*s.MaxLength)+1))
	}
	switch v := value.(type) {
	case []any:
		if s.MaxItems != nil && *s.MaxItems <= 1000 {
			out[at] = put(slices.Repeat(v[:1], int(*s.MaxItems)+1))
		}
		beyond(s.Items.Value, v[0], at+"/0", func(item any) any { return put(append([]any{item}, v[1:]...)) }, out)
	case map[string]any:
		if s.MaxProps != nil {
			many := map[string]any{}
			for i := range int(*s.MaxProps) + 1 {
				many["k"+strings.Repeat("x", i)] = 1
			}
			out[at] = put(many)
		}
		for name, member := range v {
			if property := s.Properties[name]; property != nil {
				beyond(property.Value, member, at+"/"+name, func(changed any) any {
					copied := maps.Clone(v)
					copied[name] = changed
					return put(copied)
				}, out)
			}
		}
	}
}

// whole are bodies that have every member of their schemas, each list with one entry.
func (w *world) whole() map[string]any {
	at := w.ago(10 * time.Minute)
	return map[string]any{
		"/ingest/v1/fleet": members{"instances": []members{{
			"externalId": "orders", "name": "orders", "engine": "oracle", "version": "19", "host": "db01", "active": true, "createdAt": at, "removed": false,
			"databases": []members{{"externalId": "erp", "name": "erp", "createdAt": at, "removed": false}},
		}}},
		"/ingest/v1/alerts": members{"alerts": []members{{
			"externalId": "a", "title": "t", "severity": "critical", "state": "Resolved", "isMuted": false, "createdAt": at, "firstTriggeredAt": at,
			"lastTriggeredAt": at, "resolvedAt": at, "instance": "orders", "database": "erp",
		}}},
		backupsPath: members{"backups": []members{{
			"instance": "orders", "database": "erp", "kind": "full", "startedAt": at, "finishedAt": at, "sizeBytes": 1, "tool": "t",
		}}},
		samplesPath: members{
			"hosts": []members{{"host": "db01", "instances": []string{"orders"}, "at": at, "cpuPercent": 1, "memoryPercent": 1, "volumes": []members{{"mount": "/", "usedPercent": 1}}}},
			"sessions": []members{{
				"instance": "orders", "database": "erp", "at": at, "intervalSeconds": 10, "active": 1, "idle": 1, "waiting": 1, "idleInTransaction": 0, "other": 0, "waits": members{"Lock": 1},
			}},
			"statements": []members{{
				"instance": "orders", "database": "erp", "at": at, "intervalSeconds": 60, "busyMs": 1,
				"statements": []members{{"key": "q", "calls": 1, "totalMs": 1, "maxMs": 1, "own": false, "ranBefore": false, "text": "select"}},
			}},
		},
		agentsPath: w.reportOf("one", members{
			"instance": "orders", "error": members{"class": "c", "detail": "d", "at": at}, "missingGrants": []members{{"object": "o", "statement": "s"}},
			"signs": []members{{"rule": "lock_wait", "value": 1, "at": at, "advisory": true, "details": members{
				"sessions": 1, "kind": "k", "object": "o", "session": "1", "holder": "2", "holderIdle": true, "database": "d", "multixact": false,
			}}},
			"identity": members{"engine": "oracle", "system": "s", "process": "p", "role": "primary", "pooler": ""},
		}).with(members{"loops": []members{{"loop": "l", "falls": 1, "lastAt": at, "inTrouble": true}}}),
		assessmentsPath: members{"assessments": []members{{
			"instance": "orders", "at": at, "version": "19", "edition": "EE",
			"checks": []members{{
				"id": "OR-16", "outcome": "fail", "measured": "m", "reason": "r", "objects": []members{{"database": "erp", "object": "o", "evidence": "e", "severity": "High"}},
				"notAssessedIn": []members{{"database": "erp", "reason": "r"}}, "measuredIn": []members{{"database": "erp", "measured": "m", "failFraction": 1}},
			}},
			"accounts": []members{{"name": "n", "canLogin": true, "superuser": true, "privileges": []string{"p"}, "memberOf": []string{"r"}, "expiresAt": at, "lastSignInAt": at}},
			"settings": []members{{"name": "n", "value": "v", "unit": "u"}},
			"databases": []members{{"database": "erp", "sizeBytes": 1, "encryptedAtRest": true, "classification": members{
				"completedAt": at, "method": "names", "coverage": members{"tables": 1, "tablesRead": 1, "columns": 1, "columnsRead": 1},
				"notRead": []members{{"schema": "s", "table": "t", "columns": []string{"c"}, "reason": "r"}},
				"tables":  []members{{"schema": "s", "table": "t", "rows": 1, "encrypted": true, "readers": []string{"r"}, "columns": []members{{"column": "c", "category": "email", "confidence": 1}}}},
			}}},
		}}},
	}
}

// TestEveryBoundOfAFeedIsHeld: a body that goes beyond one bound of openapi.yaml is told which
// (422), by the door that takes it.
func TestEveryBoundOfAFeedIsHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	w.fed(w.ours, inventory.Item{ExternalID: "orders", Engine: "oracle", Databases: []inventory.Database{{ExternalID: "erp", Name: "erp"}}})
	routes, held := feeds(t), 0
	for path, body := range w.whole() {
		text, err := json.Marshal(body)
		must(t, err)
		var value any
		must(t, json.Unmarshal(text, &value))
		bodies := map[string]any{}
		beyond(routes[path].Body().Content["application/json"].Schema.Value, value, "#", func(v any) any { return v }, bodies)
		for pointer, broken := range bodies {
			a := in.send(path, broken, as("a"))
			held++
			var p shownProblem
			if a.Code == 422 {
				a.decode(&p)
			}
			if !slices.ContainsFunc(p.places(), func(place string) bool {
				return place == "body # too_many_items" || strings.HasPrefix(place, "body "+pointer+" ") || strings.HasPrefix(place, "body "+pointer+"/")
			}) {
				t.Errorf("%s: beyond the bound of %s it is answered %d %.300s", path, pointer, a.Code, a.Body)
			}
		}
	}
	if held < 60 {
		t.Errorf("%d bounds were tried", held)
	}
	var databases []members
	for i := range 10_001 {
		databases = append(databases, members{"externalId": fmt.Sprint(i), "name": "n", "createdAt": w.ago(time.Hour)})
	}
	p := in.send("/ingest/v1/fleet", members{"instances": []members{{"externalId": "orders", "name": "orders", "engine": "oracle", "createdAt": w.ago(time.Hour), "databases": databases}}}).problem(422, "out_of_range")
	if !slices.Equal(p.places(), []string{"body #/instances/0/databases out_of_range"}) {
		t.Errorf("10,001 databases: %v", p.places())
	}
}
