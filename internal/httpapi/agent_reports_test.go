package httpapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	domain "muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/watch"
)

const agentsPath = "/ingest/v1/agents"

// reportOf is what an agent says of itself and its servers.
func (w *world) reportOf(name string, servers ...members) members {
	return members{
		"name": name, "version": "1.2", "host": "db01", "at": w.clock.Now(),
		"buffer":  members{"bytes": 10, "maxBytes": 100, "records": 1, "oldestAt": w.ago(time.Hour), "facts": 2, "refused": 1, "dropped": members{"buffer_full": 3}},
		"servers": append([]members{}, servers...),
	}
}

// reported is one of them, with nothing to say.
func reported(instance string) members {
	return members{"instance": instance, "error": (*int)(nil), "missingGrants": []members{}, "signs": []members{}}
}

// agentOf is what an instance shows of its agent.
func (w *world) agentOf(as person, id uuid.UUID) (agent map[string]any, rest map[string]any) {
	w.t.Helper()
	rest = w.get(as, "/api/v1/instances/"+id.String()).is(200).object()
	agent, _ = rest["agent"].(map[string]any)
	return agent, rest
}

// TestAnAgentIsShownOnItsInstances, as its last report has it, to everybody who sees the
// instance, and on no other: of another organization's instance, of one that there is not
// and of one that its token does not have, nothing is kept, and the answer is the same.
func TestAnAgentIsShownOnItsInstances(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	ids := w.fed(w.ours, inventory.Item{ExternalID: "orders"}, inventory.Item{ExternalID: "billing"}, inventory.Item{ExternalID: "own"})
	theirs := w.fed(w.theirs, inventory.Item{ExternalID: "foreign"}, inventory.Item{ExternalID: "orders"})
	lacking := members{"instance": "billing", "error": members{"class": "refused", "detail": "db02 refuses connections.", "at": w.ago(time.Minute)}, "signs": []members{},
		"missingGrants": []members{{"object": "V$SESSION", "statement": "GRANT SELECT ON V_$SESSION TO muster"}}} // of PostgreSQL, whose lists do not have it
	fell := []members{
		{"loop": "measure orders", "falls": 1, "lastAt": w.ago(time.Hour), "inTrouble": false},
		{"loop": "send", "falls": 3, "lastAt": w.ago(2 * time.Hour), "inTrouble": true},
	}
	in.send(agentsPath, w.reportOf("one", reported("orders"), lacking, reported("foreign"), reported("nobody")).with(members{"loops": fell}), as("a")).is(204)
	want := map[string]any{
		"name": "one", "version": "1.2", "host": "db01", "bufferedBytes": 10.0, "maxBytes": 100.0, "facts": 2.0, "refused": 1.0,
		"dropped": map[string]any{"buffer_full": 3.0}, "oldestBufferedAt": w.ago(time.Hour).Format(time.RFC3339), "takeover": nil,
		"loops": []any{
			map[string]any{"loop": "send", "falls": 3.0, "lastAt": w.ago(2 * time.Hour).Format(time.RFC3339), "inTrouble": true},
			map[string]any{"loop": "measure orders", "falls": 1.0, "lastAt": w.ago(time.Hour).Format(time.RFC3339), "inTrouble": false},
		},
	}
	for _, who := range []person{w.ours.admin, w.ours.member, w.ours.auditor, w.ours.viewer} {
		shown, rest := w.agentOf(who, ids["orders"])
		delete(shown, "seenAt")
		if diff := cmp.Diff(want, shown); diff != "" || rest["lastError"] != nil || rest["lastErrorAt"] != nil || len(rest["missingGrants"].([]any)) != 0 {
			t.Errorf("%v\n%s", rest, diff)
		}
		_, rest = w.agentOf(who, ids["billing"])
		if rest["lastError"] != "db02 refuses connections." || rest["lastErrorAt"] != w.ago(time.Minute).Format(time.RFC3339) || !strings.Contains(fmt.Sprint(rest["missingGrants"]), "checks:[] database:<nil> declinable:true needed:true object:V$SESSION reveals:<nil> statement:]") {
			t.Errorf("it shows %v", rest)
		}
	}
	for name, id := range theirs {
		if shown, _ := w.agentOf(w.theirs.admin, id); shown != nil {
			t.Errorf("their %s is measured by %v", name, shown)
		}
	}

	// Another agent takes over one of them; a limited token speaks of its own alone.
	limited := sender{w, w.ingestToken(w.ours.admin, ids["billing"])}
	limited.send(agentsPath, w.reportOf("two", reported("orders"), reported("billing")), as("b")).is(204)
	names := func() (out []any) {
		for _, name := range []string{"orders", "billing", "own"} {
			shown, _ := w.agentOf(w.ours.admin, ids[name])
			out = append(out, shown["name"])
		}
		return out
	}
	if got := names(); !slices.Equal(got, []any{"one", "two", nil}) {
		t.Errorf("they are measured by %v", got)
	}
	if _, rest := w.agentOf(w.ours.admin, ids["billing"]); rest["lastError"] != nil || len(rest["missingGrants"].([]any)) != 0 {
		t.Errorf("what the first found is shown of %v", rest)
	}

	// Muster's own connection is what counts where there is one.
	in.send(agentsPath, w.reportOf("one", reported("own")), as("a")).is(204)
	must(t, w.deps.Servers.SaveCredentials(t.Context(), w.deps.DB, assessment.Credentials{Organization: w.ours.organization.ID, Instance: ids["own"], Engine: domain.PostgreSQL, DSN: "postgres://u@127.0.0.1/x"}))
	if got := names(); !slices.Equal(got, []any{"one", "two", nil}) {
		t.Errorf("they are measured by %v", got)
	}

	// One that has not reported for thirty days is forgotten, when anybody reports.
	_, err := w.deps.DB.Exec(`UPDATE agents SET received_at = received_at - interval '31 days' WHERE sender = 'a'`)
	must(t, err)
	_, err = w.deps.DB.Exec(`UPDATE agent_servers SET received_at = received_at - interval '31 days' WHERE sender = 'a'`)
	must(t, err)
	(sender{w, w.ingestToken(w.theirs.admin)}).send(agentsPath, w.reportOf("theirs"), as("a")).is(204)
	if got := names(); !slices.Equal(got, []any{"one", "two", nil}) {
		t.Errorf("another organization's report left %v", got)
	}
	limited.send(agentsPath, w.reportOf("two", reported("billing")), as("b")).is(204)
	if got := names(); !slices.Equal(got, []any{nil, "two", nil}) || w.count(`SELECT count(*) FROM agents`) != 2 {
		t.Errorf("thirty days later they are measured by %v", got)
	}
}

// C10. Servers that agents met are told apart like those that Muster connects to. Of what it
// has a connection to, Muster's own word counts.
func TestServersThatAgentsMeetAreKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	ids := w.fed(w.ours, inventory.Item{ExternalID: "orders"}, inventory.Item{ExternalID: "twin"}, inventory.Item{ExternalID: "follower"}, inventory.Item{ExternalID: "own"})
	must(t, w.deps.Servers.SaveCredentials(t.Context(), w.deps.DB, assessment.Credentials{Organization: w.ours.organization.ID, Instance: ids["own"], Engine: domain.PostgreSQL, DSN: "postgres://u@127.0.0.1/x"}))
	met := func(instance, process, role, pooler string) members {
		return reported(instance).with(members{"identity": members{"engine": "postgresql", "system": "7", "process": process, "role": role, "pooler": pooler}})
	}
	in.send(agentsPath, w.reportOf("one", met("orders", "1000", "primary", ""), met("twin", "1000", "primary", "transaction"), met("follower", "2000", "standby", ""), met("own", "1000", "", "")), as("a")).is(204)
	server := func(id uuid.UUID) string {
		t.Helper()
		shown, known := w.get(w.ours.admin, "/api/v1/instances/"+id.String()).is(200).object()["server"].(map[string]any)
		if !known {
			return "unknown"
		}
		said := fmt.Sprint(shown["role"], " ", shown["pooler"])
		for _, list := range []string{"sameAs", "related"} {
			for _, one := range shown[list].([]any) {
				said += " " + list + " " + one.(map[string]any)["name"].(string)
			}
		}
		return said
	}
	for id, want := range map[string]string{
		"orders": "primary <nil> sameAs twin related follower", "twin": "primary transaction sameAs orders related follower",
		"follower": "standby <nil> related orders related twin", "own": "unknown",
	} {
		if got := server(ids[id]); got != want {
			t.Errorf("the server of %s is %q, want %q", id, got, want)
		}
	}
	// The word of a limited token counts for its own instances alone.
	liar := sender{w, w.ingestToken(w.ours.admin, w.fed(w.ours, inventory.Item{ExternalID: "x"})["x"])}
	liar.send(agentsPath, w.reportOf("two", met("x", "1000", "primary", "")), as("b")).is(204)
	listed := w.get(w.ours.admin, "/api/v1/instances").is(200).Body.String()
	if got := server(ids["orders"]); got != "primary <nil> sameAs twin related follower" || strings.Count(listed, `"name":"x"`) != 1 {
		t.Errorf("a limited token makes of it %q, and of the list %s", got, listed)
	}
	in.send(agentsPath, w.reportOf("one", met("orders", "", "primary", "")), as("a")).problem(422, "out_of_range")
	in.send(agentsPath, w.reportOf("one", met("orders", "1", "leader", "")), as("a")).is(400)
}

// TestBadReportsOfAgents are told of all at once, and change nothing.
func TestBadReportsOfAgents(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	id := w.fed(w.ours, inventory.Item{ExternalID: "orders"})["orders"]
	in.send(agentsPath, w.reportOf("good", reported("orders")), as("a")).is(204)
	long := strings.Repeat("日", 201)
	ahead := w.clock.Now().Add(6 * time.Minute)
	grants := slices.Repeat([]members{{"object": "o", "statement": ""}}, 101)
	for name, c := range map[string]struct {
		body   members
		header map[string]string
		status int
		places []string
	}{
		"everything": {
			w.reportOf("a\nb", members{"instance": "orders", "error": members{"class": "", "detail": "\u202e", "at": ahead}, "signs": []members{{"rule": "lock_wait", "value": 1, "at": ahead}},
				"missingGrants": []members{{"object": "", "statement": strings.Repeat("x", 4001)}}}, reported("orders")).with(members{"version": long, "host": strings.Repeat("x", 256), "at": ahead}),
			as("a"), 422, []string{
				"body #/name invalid_name", "body #/version out_of_range", "body #/host out_of_range", "body #/at time_in_future", "body #/servers/0/error/class out_of_range",
				"body #/servers/0/error/detail invalid_name", "body #/servers/0/error/at time_in_future", "body #/servers/0/missingGrants/0/object out_of_range",
				"body #/servers/0/missingGrants/0/statement out_of_range", "body #/servers/0/signs/0/at time_in_future", "body #/servers/1/instance duplicate_key",
			},
		},
		"too many grants":  {w.reportOf("x", reported("orders").with(members{"missingGrants": grants})), as("a"), 422, []string{"body #/servers/0/missingGrants out_of_range"}},
		"too many servers": {w.reportOf("x", slices.Repeat([]members{reported("orders")}, 1001)...), as("a"), 422, []string{"body # too_many_items"}},
		"nobody":           {w.reportOf("x"), nil, 400, []string{"header X-Muster-Sender missing_parameter"}},
		"another type": {
			w.reportOf("x", reported("orders").with(members{"signs": []members{{"rule": "silent", "value": -1, "at": "noon"}}})).with(members{"host": 1}), as("a"), 400,
			[]string{"body #/host invalid_parameter", "body #/servers/0/signs/0/at invalid_parameter", "body #/servers/0/signs/0/rule invalid_parameter", "body #/servers/0/signs/0/value invalid_parameter"},
		},
		"a loop twice, and none": {w.reportOf("x").with(members{"loops": []members{
			{"loop": "a", "falls": 1, "lastAt": w.ago(0), "inTrouble": false}, {"loop": "a", "falls": 1, "lastAt": w.ago(-time.Hour), "inTrouble": false},
			{"loop": "", "falls": 1, "lastAt": w.ago(0), "inTrouble": false},
		}}), as("a"), 422, []string{"body #/loops/1/lastAt time_in_future", "body #/loops/1/loop duplicate_key", "body #/loops/2/loop out_of_range"}},
		"a member too many": {w.reportOf("x").with(members{"password": "x"}), as("a"), 400, []string{"body #/password unknown_field"}},
	} {
		a := in.send(agentsPath, c.body, c.header).is(c.status)
		var p shownProblem
		a.decode(&p)
		got := p.places()
		slices.Sort(got)
		slices.Sort(c.places)
		if !slices.Equal(got, c.places) {
			t.Errorf("%s: %q, want %q", name, got, c.places)
		}
	}
	if shown, _ := w.agentOf(w.ours.admin, id); shown["name"] != "good" {
		t.Errorf("it is measured by %v", shown)
	}
	w.do(request{method: "POST", path: agentsPath, token: w.token(w.ours.admin, "metrics:read"), json: w.reportOf("x"), header: as("a")}).problem(403, "forbidden")
	w.do(request{method: "POST", path: agentsPath, json: w.reportOf("x"), header: as("a")}).is(401)
}

// TestTheWatchJudgesFindingsOfAgents beside their samples: a lock that is waited for raises an alert, and the
// next report ends it. A token raises no alert for servers that it may not write.
func TestTheWatchJudgesFindingsOfAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	guard := &watch.Watch{
		DB: w.deps.DB, Events: w.deps.Events, Organizations: w.deps.Accounts, Fleet: w.deps.Fleet, Waiter: w.deps.Waiter, Alerts: w.deps.Commands, Now: w.clock.Now, Log: w.deps.Log,
		Recorded: func(_ context.Context, m usecase.Mark) { w.settle(m) },
	}
	ids := w.fed(w.ours, inventory.Item{ExternalID: "orders"}, inventory.Item{ExternalID: "billing"})
	w.fed(w.theirs, inventory.Item{ExternalID: "foreign"})
	in := sender{w, w.ingestToken(w.ours.admin, ids["orders"])}
	judged := func(lock, wraparound float64, want ...string) {
		t.Helper()
		found := func(instance string) members {
			return reported(instance).with(members{"signs": []members{{"rule": "lock_wait", "value": lock, "at": w.clock.Now()}, {"rule": "wraparound", "value": wraparound, "at": w.clock.Now()}}})
		}
		in.send(agentsPath, w.reportOf("one", found("orders"), found("billing"), found("foreign")), as("a")).is(204)
		_, err := guard.Judge(t.Context())
		must(t, err)
		if diff := cmp.Diff(want, w.alertsOf()); diff != "" {
			t.Errorf("alerts (-want +got):\n%s", diff)
		}
		w.clock.Advance(time.Minute)
	}
	judged(4, 10, []string{}...)
	judged(12, 10, "orders: a session has waited 12 min for a lock: Open")
	judged(0, 10, "orders: a session has waited 12 min for a lock: AutoResolved")
}

// TestServersShowTheViewOfTheirAgents: a server that one agent cannot reach, a server that two agents disagree
// on, and a server whose agents are gone.
func TestServersShowTheViewOfTheirAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.fed(w.ours, inventory.Item{ExternalID: "orders", Databases: []inventory.Database{{ExternalID: "d", Name: "d"}}})["orders"]
	in := sender{w, w.ingestToken(w.ours.admin)}
	listening := func() {
		t.Helper()
		_, err := w.deps.DB.Exec(`UPDATE watch_state SET listening_since = $1, listened_at = $2`, w.ago(time.Hour), w.clock.Now())
		must(t, err)
	}
	measures := func(agent string) {
		t.Helper()
		in.send(samplesPath, members{"sessions": []members{w.ofSessions(members{"at": w.clock.Now()})}}, as(agent)).is(202)
	}
	refused := func(agent string, since time.Duration) {
		t.Helper()
		in.send(agentsPath, w.reportOf(agent, reported("orders").with(members{
			"error": members{"class": "refused", "detail": "Connection refused at db01:5432.", "at": w.ago(since)},
		})), as(agent)).is(204)
	}
	want := func(status, code string, since time.Duration) {
		t.Helper()
		listening()
		is := w.get(w.ours.admin, "/api/v1/instances/"+id.String()).is(200).object()
		got := ""
		if reason, ok := is["statusReason"].(map[string]any); ok {
			got = reason["code"].(string)
		}
		if is["status"] != status || got != code || is["statusSince"] != w.ago(since).Format(time.RFC3339) {
			t.Errorf("it is %v since %v because of %v, want %s since %s because of %s", is["status"], is["statusSince"], is["statusReason"], status, w.ago(since), code)
		}
	}
	later := func(d time.Duration) { w.clock.Advance(d) }
	measures("a")
	want("up", "", 0)
	later(10 * time.Second)
	refused("a", 4*time.Second) // the agent is up, and the server down
	want("down", "refused", 4*time.Second)
	later(20 * time.Second)
	measures("a") // and back
	want("up", "", 30*time.Second)
	later(time.Minute)
	refused("a", 2*time.Second) // again, which is another outage
	want("down", "refused", 2*time.Second)
	later(10 * time.Second)
	measures("b") // two agents that disagree: the way of one is broken
	want("up", "", 0)
	later(50 * time.Second)
	refused("a", 62*time.Second)
	measures("b")
	want("up", "", 50*time.Second)
	later(61 * time.Second) // b is gone, and a cannot reach it
	refused("a", 123*time.Second)
	want("down", "refused", 61*time.Second)
	later(4 * time.Minute) // both are gone: nobody knows
	want("silent", "not_heard", 4*time.Minute)
}

// TestPartsThatAnAgentCannotMeasureAreShown with the server's code and the time of the first failure, on the
// page of the instance and on no other. Parts that the agent does not repeat are gone after a while.
func TestPartsThatAnAgentCannotMeasureAreShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	ids := w.fed(w.ours, inventory.Item{ExternalID: "orders"}, inventory.Item{ExternalID: "billing"})
	failing := []members{
		{"part": "sessions", "code": "error 976", "sentence": "It refuses.", "since": w.ago(20 * time.Minute), "at": w.ago(5 * time.Second)},
		{"part": "statements", "database": "a]b'c", "code": "error 927", "sentence": "It is being restored.", "since": w.ago(time.Hour), "at": w.ago(5 * time.Second)},
	}
	in.send(agentsPath, w.reportOf("one", reported("orders").with(members{"failing": failing}), reported("billing")), as("a")).is(204)
	w.exec(`INSERT INTO observations (organization_id, instance_id, source, part, ok, since, tried_at, ok_at, code, sentence)
		VALUES ($1, $2, 'agent/a', 'databases', true, $3, $3, $3, '', '')`, w.ours.organization.ID, ids["orders"], w.clock.Now()) // that its samples say
	text := func(at time.Time) string { return at.UTC().Format(time.RFC3339) }
	want := []any{
		map[string]any{"part": "sessions", "database": nil, "code": "error 976", "sentence": "It refuses.", "since": text(w.ago(20 * time.Minute)), "at": text(w.ago(5 * time.Second))},
		map[string]any{"part": "statements", "database": "a]b'c", "code": "error 927", "sentence": "It is being restored.", "since": text(w.ago(time.Hour)), "at": text(w.ago(5 * time.Second))},
	}
	_, shown := w.agentOf(w.ours.viewer, ids["orders"])
	if diff := cmp.Diff(want, shown["lastErrors"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, shown := w.agentOf(w.ours.viewer, ids["billing"]); len(shown["lastErrors"].([]any)) != 0 {
		t.Errorf("the other one shows %v", shown["lastErrors"])
	}
	w.clock.Advance(4 * time.Minute)
	if _, shown := w.agentOf(w.ours.viewer, ids["orders"]); len(shown["lastErrors"].([]any)) != 0 {
		t.Errorf("later it shows %v", shown["lastErrors"])
	}
}
