package httpapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/commands/inventory"
	domain "muster/domain/fleet"
)

// TestNothingThatAnAgentSendsIsAStatement: the statement of an object is the one of
// Muster's own lists, whatever an agent of an earlier version sends beside it. An object that
// Muster does not know is shown without one.
func TestNothingThatAnAgentSendsIsAStatement(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fed(w.ours, inventory.Item{ExternalID: "orders"}, inventory.Item{ExternalID: "erp", Engine: domain.Oracle})
	in := sender{w, w.ingestToken(w.ours.admin, ids["orders"], ids["erp"])}
	const planted = "GRANT pg_monitor TO muster; ALTER ROLE intruder SUPERUSER LOGIN PASSWORD 'x'"
	lacks := func(instance string, grants ...members) members {
		return reported(instance).with(members{"missingGrants": grants})
	}
	in.send(agentsPath, w.reportOf("one",
		lacks("orders", members{"object": "view pg_stat_activity", "statement": planted}, members{"object": "what members of pg_read_all_stats see", "statement": planted},
			members{"object": `pg_stat_statements in database x"; ALTER ROLE intruder SUPERUSER; --`}),
		lacks("erp", members{"object": "V$SESSION"})), as("a")).is(204)
	for name, want := range map[string][]string{
		"orders": {"", "GRANT pg_read_all_stats TO muster;", "DO $grants$"}, "erp": {"GRANT SELECT ON SYS.V_$SESSION TO muster;"},
	} {
		_, shown := w.agentOf(w.ours.admin, ids[name])
		stated := map[string]string{}
		for _, g := range shown["missingGrants"].([]any) {
			stated[g.(map[string]any)["object"].(string)] = g.(map[string]any)["statement"].(string)
		}
		if len(stated) != len(want) {
			t.Errorf("%s lacks %v", name, stated)
		}
		for object, statement := range stated {
			if strings.Contains(statement, "intruder") || !slices.ContainsFunc(want, func(w string) bool {
				return w == statement || w != "" && strings.HasPrefix(statement, w)
			}) {
				t.Errorf("%s: %q is to be granted by %q", name, object, statement)
			}
		}
		if script, _ := shown["grantScript"].(string); !strings.Contains(script, want[len(want)-1]) || strings.Contains(script, "intruder") {
			t.Errorf("the script of %s is\n%s", name, script)
		}
	}
	for _, bad := range []string{"a\u202eb", "a\u0007b", "a\nb"} {
		p := in.send(agentsPath, w.reportOf("one", lacks("orders", members{"object": bad})), as("a")).problem(422, "invalid_name")
		if !slices.Equal(p.places(), []string{"body #/servers/0/missingGrants/0/object invalid_name"}) {
			t.Errorf("%q: %v", bad, p.places())
		}
	}
}

// TestAListStaysSmallAfterAHostileReport: what an agent dropped is bounded, and is in the
// detail of an instance alone; a report at all of its bounds leaves a list that a browser reads.
func TestAListStaysSmallAfterAHostileReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	var items []inventory.Item
	var servers []members
	grants := make([]members, 20)
	for i := range grants {
		grants[i] = members{"object": strconv.Itoa(i) + strings.Repeat("x", 1900)}
	}
	for i := range 60 {
		name := fmt.Sprintf("pg-%02d", i)
		items = append(items, inventory.Item{ExternalID: name})
		servers = append(servers, reported(name).with(members{
			"error": members{"class": strings.Repeat("c", 100), "detail": strings.Repeat("d", 2000), "at": w.ago(time.Minute)}, "missingGrants": grants,
		}))
	}
	ids := w.fed(w.ours, items...)
	with := func(dropped members) members {
		report := w.reportOf("one", servers...)
		report["buffer"].(members)["dropped"] = dropped
		return report
	}
	names := members{}
	for i := range 25_000 {
		names[fmt.Sprintf("k%05d", i)] = 1
	}
	p := in.send(agentsPath, with(names), as("a")).problem(422, "out_of_range")
	if !slices.Equal(p.places(), []string{"body #/buffer/dropped out_of_range"}) {
		t.Errorf("25,000 reasons: %v", p.places())
	}
	p = in.send(agentsPath, with(members{"\u202e": 1, "<b>": 1, "A": 1, strings.Repeat("x", 41): 1, "": 1, "a/b": -1}), as("a")).problem(422, "invalid_name")
	if len(p.places()) != 6 || !slices.Contains(p.places(), "body #/buffer/dropped/a~1b invalid_name") {
		t.Errorf("names that are none: %v", p.places())
	}
	in.send(agentsPath, with(members{"buffer_full": -1}), as("a")).problem(422, "out_of_range")
	most := members{}
	for i := range 20 {
		most[strings.Repeat(string(rune('a'+i)), 40)] = 1
	}
	in.send(agentsPath, with(most), as("a")).is(204)
	body := w.get(w.ours.viewer, "/api/v1/instances?pageSize=100").is(200).Body
	if body.Len() > 1<<20 || strings.Contains(body.String(), strings.Repeat("a", 40)) {
		t.Errorf("the list of 60 instances has %d bytes: %.2000s", body.Len(), body)
	}
	if shown, _ := w.agentOf(w.ours.viewer, ids["pg-00"]); len(shown["dropped"].(map[string]any)) != 20 {
		t.Errorf("the detail shows %v", shown["dropped"])
	}
}

// TestTheSameSenderByAnotherTokenIsAnotherAgent: its report overwrites nothing, and it
// holds no statements for the first.
func TestTheSameSenderByAnotherTokenIsAnotherAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fed(w.ours, inventory.Item{ExternalID: "pg-a"}, inventory.Item{ExternalID: "pg-x"})
	honest, hostile := sender{w, w.ingestToken(w.ours.admin, ids["pg-a"])}, sender{w, w.ingestToken(w.ours.admin, ids["pg-x"])}
	honest.send(agentsPath, w.reportOf("good", reported("pg-a")), as("a")).is(204)
	before, _ := w.agentOf(w.ours.viewer, ids["pg-a"])
	evil := w.reportOf("EVIL", reported("pg-a"), reported("pg-x"))
	evil["host"] = "evil.example"
	evil["buffer"].(members)["dropped"] = members{"buffer_full": 999_999}
	hostile.send(agentsPath, evil, as("a")).is(204)
	if after, _ := w.agentOf(w.ours.viewer, ids["pg-a"]); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the agent of pg-a was %v and is %v", before, after)
	}
	if other, _ := w.agentOf(w.ours.viewer, ids["pg-x"]); other["name"] != "EVIL" {
		t.Errorf("pg-x is measured by %v", other)
	}
	w.fleetOfThree(w.ours)
	first, second := sender{w, w.ingestToken(w.ours.admin)}, sender{w, w.ingestToken(w.ours.admin)}
	of := func(ago time.Duration) members {
		return members{"statements": []members{w.ofStatements(members{"at": w.ago(ago)})}}
	}
	first.send(samplesPath, of(10*time.Minute), as("same")).is(202)
	second.send(samplesPath, of(9*time.Minute), as("same")).problem(409, "instance_held")
	first.send(samplesPath, of(9*time.Minute), as("same")).is(202)
	w.exec(`UPDATE statement_turns SET token_id = NULL`) // as a program from before leaves it
	first.send(samplesPath, of(8*time.Minute), as("same")).is(202)
	second.send(samplesPath, of(7*time.Minute), as("same")).problem(409, "instance_held")
}

// TestATokenHasTwentySenders and an organization a thousand, at every door that keeps something of
// a sender; those that are known go on, and those that were silent for a day make room.
func TestATokenHasTwentySenders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in, other := sender{w, w.ingestToken(w.ours.admin)}, sender{w, w.ingestToken(w.ours.admin)}
	asJSON := func(name string) map[string]string {
		return map[string]string{"X-Muster-Sender": name, "Content-Type": "application/json"}
	}
	for i := range 20 {
		switch name := fmt.Sprint("s", i); i % 3 {
		case 0:
			in.send(agentsPath, w.reportOf("x"), as(name)).is(204)
		case 1:
			in.send(samplesPath, members{}, as(name)).is(202)
		default:
			in.send(logsPath, `{"resourceLogs":[]}`, asJSON(name)).is(200)
		}
	}
	refused := func(in sender) {
		t.Helper()
		for _, a := range []answer{
			in.send(agentsPath, w.reportOf("x"), as("more")), in.send(samplesPath, members{}, as("more")), in.send(logsPath, `{"resourceLogs":[]}`, asJSON("more")),
		} {
			if a.problemWith(429, "too_many_senders").Header().Get("Retry-After") != "3600" {
				t.Errorf("Retry-After is %q", a.Header().Get("Retry-After"))
			}
		}
	}
	refused(in)
	in.send(agentsPath, w.reportOf("x"), as("s1")).is(204)
	in.send(samplesPath, members{}).is(202) // says no sender
	other.send(agentsPath, w.reportOf("x"), as("more")).is(204)
	if n := w.count(`SELECT count(*) FROM agents`); n != 9 {
		t.Errorf("%d reports are kept", n)
	}
	w.exec(`UPDATE known_senders SET heard_at = heard_at - interval '25 hours' WHERE sender = 's0'`)
	in.send(agentsPath, w.reportOf("x"), as("later")).is(204)
	refused(in)
	if n := w.count(`SELECT count(*) FROM known_senders`); n != 21 { // s0 is forgotten
		t.Errorf("%d senders are known", n)
	}

	// An organization has a thousand by however many tokens.
	_, err := w.deps.DB.Exec(`INSERT INTO known_senders SELECT $1, gen_random_uuid(), 'x', now() FROM generate_series(1, 979)`, w.ours.organization.ID)
	must(t, err)
	refused(sender{w, w.ingestToken(w.ours.admin)})
	(sender{w, w.ingestToken(w.theirs.admin)}).send(agentsPath, w.reportOf("x"), as("more")).is(204)

	// What a door does not describe it does not refuse, nor keep.
	in.send("/ingest/v1/fleet", members{"instances": []members{}}, as(strings.Repeat("x", 5000))).is(200)
	must(t, w.deps.Senders.Flush(t.Context()))
	if n := w.count(`SELECT count(*) FROM sender_counts WHERE length(sender) > 100`); n != 0 {
		t.Errorf("%d counts are of names that no sender can have", n)
	}
}
