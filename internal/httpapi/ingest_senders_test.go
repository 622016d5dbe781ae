package httpapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"muster/commands/inventory"
	domain "muster/domain/fleet"
	"muster/internal/assessment"
)

// as is the header that says who sends.
func as(sender string) map[string]string { return map[string]string{"X-Muster-Sender": sender} }

// refusedAt compares which items of a call are another's, and that nothing of it is kept.
func (s sender) refusedAt(code string, body members, header map[string]string, want ...string) {
	s.t.Helper()
	before := s.kept()
	var got []string
	for _, e := range s.send(samplesPath, body, header).problem(409, code).Errors {
		got = append(got, e.Code+" "+e.Pointer)
	}
	for i := range want {
		want[i] = code + " " + want[i]
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("%v: %v, want %v", header, got, want)
	}
	if after := s.kept(); after != before {
		s.t.Errorf("%v: %s became %s", header, before, after)
	}
}

// TestStatementsComeFromOneSender at a time (contract, §27), and the others are told
// which instances that holds for.
func TestStatementsComeFromOneSender(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	w.fleetOfThree(w.ours)
	at := func(ago time.Duration) members { return members{"at": w.ago(ago)} }
	of := func(changes ...members) (body members) {
		first := members{"at": changes[0]["at"]}
		body = members{"hosts": []members{w.ofHost(first)}, "sessions": []members{w.ofSessions(first)}}
		var all []members
		for _, change := range changes {
			all = append(all, w.ofStatements(change))
		}
		return body.with(members{"statements": all})
	}
	billing := func(ago time.Duration) members { return at(ago).with(members{"instance": "billing"}) }
	in.send(samplesPath, of(at(10*time.Minute)), as("one")).is(202)
	in.send(samplesPath, of(billing(10*time.Minute)), as("two")).is(202)
	in.refusedAt("instance_held", of(billing(9*time.Minute), at(9*time.Minute), billing(8*time.Minute)), as("one"), "#/statements/0/instance", "#/statements/2/instance")
	in.refusedAt("instance_held", of(at(9*time.Minute)), nil, "#/statements/0/instance")
	in.send(samplesPath, members{"sessions": []members{w.ofSessions(at(9 * time.Minute))}, "hosts": []members{w.ofHost(at(9 * time.Minute))}}, as("two")).is(202)
	in.send(samplesPath, of(at(9*time.Minute)), as("one")).is(202)

	_, err := w.deps.DB.Exec(`UPDATE statement_turns SET held_until = held_until - interval '5 minutes'`)
	must(t, err)
	got := in.send(samplesPath, of(at(9*time.Minute-time.Second), at(8*time.Minute), at(7*time.Minute)), as("three")).is(202).Body.String()
	if strings.TrimSpace(got) != `{"accepted":{"hosts":1,"sessions":1,"statements":2}}` {
		t.Errorf("whoever takes over is answered %s", got)
	}
	if n := testutil.ToFloat64(w.deps.Metrics.IngestDropped.WithLabelValues(samplesPath, "counted")); n != 1 {
		t.Errorf("%v samples are counted as another's", n)
	}

	for _, bad := range []string{" ", "a b", "ü", strings.Repeat("x", 101)} {
		p := in.send(samplesPath, of(at(time.Minute)), as(bad)).problem(400, "invalid_parameter")
		if len(p.Errors) != 1 || p.Errors[0].In != "header" || p.Errors[0].Parameter != "X-Muster-Sender" {
			t.Errorf("%q: %+v", bad, p.Errors)
		}
	}
	in.send(samplesPath, of(at(time.Minute)), as("three")).is(202)
	in.refusedAt("instance_held", of(at(0)), as(strings.Repeat("~", 100)), "#/statements/0/instance")
}

// TestATakeoverIsShown on the instance: when one agent took its statements over from another, and
// between which times nobody counted them. That is one interval, also where the clock of the agent
// before was minutes ahead.
func TestATakeoverIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	ids := w.fleetOfThree(w.ours)
	const interval = 20 * time.Second // of an Oracle
	begin := w.clock.Now().UTC().Add(-10 * time.Minute).Truncate(time.Second)
	by := func(who string, ends ...time.Duration) answer {
		t.Helper()
		var all []members
		for _, end := range ends {
			all = append(all, w.ofStatements(members{"instance": "ledger", "at": begin.Add(end), "intervalSeconds": interval.Seconds()}))
		}
		return in.send(samplesPath, members{"statements": all}, as(who)).is(202)
	}
	takeover := func() map[string]any {
		t.Helper()
		agent, _ := w.agentOf(w.ours.auditor, ids["ledger"])
		shown, ok := agent["takeover"]
		if !ok {
			t.Fatalf("%v says nothing of a takeover", agent)
		}
		is, _ := shown.(map[string]any)
		return is
	}
	gone := func() {
		_, err := w.deps.DB.Exec(`UPDATE statement_turns SET held_until = now()`)
		must(t, err)
	}
	stamp := func(end time.Duration) string { return begin.Add(end).Format(time.RFC3339) }
	for _, name := range []string{"one", "two"} {
		in.send(agentsPath, w.reportOf(name, reported("ledger")), as(name)).is(204)
	}
	by("one", interval, 2*interval)
	if got := takeover(); got != nil {
		t.Errorf("nobody took over, and it shows %v", got)
	}
	gone()
	by("two", 2*interval+time.Second) // which the first has a part of
	if got := takeover(); got["by"] != "two" || got["from"] != stamp(2*interval) || got["to"] != nil {
		t.Errorf("before anything of it counts it shows %v", got)
	}
	by("two", 3*interval+time.Second, 4*interval+time.Second)
	by("two", 5*interval+time.Second)
	want := takeover()
	if want["by"] != "two" || want["from"] != stamp(2*interval) || want["to"] != stamp(2*interval+time.Second) || want["at"] == nil {
		t.Errorf("it shows %v", want)
	}
	gone()
	by("two", 6*interval+time.Second) // nobody else came
	if got := takeover(); !maps.Equal(got, want) {
		t.Errorf("it shows %v", got)
	}

	// Of an agent that is four minutes ahead the end is not in the future.
	var now time.Time
	must(t, w.deps.DB.Get(&now, `SELECT now()`))
	begin = now.UTC().Truncate(time.Second)
	by("two", 4*time.Minute)
	gone()
	by("one", interval+5*time.Second, 2*interval+5*time.Second)
	lost, err := time.Parse(time.RFC3339, fmt.Sprint(takeover()["from"]))
	must(t, err)
	if got := takeover(); got["by"] != "one" || lost.Sub(begin).Abs() > 5*time.Second || got["to"] != stamp(5*time.Second) {
		t.Errorf("after a clock that was ahead it shows %v, and it is %s", got, begin)
	}
}

// TestAgentsGiveWayToMustersOwnConnection: from the moment in which an instance has a connection, it takes no
// sessions and statements of an agent. It takes those of its host. Whether the sender says who it is makes no
// difference.
func TestAgentsGiveWayToMustersOwnConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	ids := w.fed(w.ours, inventory.Item{ExternalID: "orders", Name: "orders", Engine: domain.PostgreSQL, Databases: []inventory.Database{database("d", w.ago(day))}})
	body := func(ago time.Duration) members {
		at := members{"at": w.ago(ago)}
		return members{"hosts": []members{w.ofHost(at)}, "sessions": []members{w.ofSessions(at)}, "statements": []members{w.ofStatements(at)}}
	}
	register := func(q sqlx.ExtContext, instance uuid.UUID) {
		t.Helper()
		must(t, w.deps.Servers.SaveCredentials(t.Context(), q, assessment.Credentials{
			Organization: w.ours.organization.ID, Instance: instance, Engine: domain.PostgreSQL, DSN: "postgres://u@127.0.0.1/x",
		}))
	}
	tx, err := w.deps.DB.BeginTxx(t.Context(), nil)
	must(t, err)
	register(tx, ids["orders"])
	in.send(samplesPath, body(3*time.Minute), as("one")).is(202) // it is not there yet
	must(t, tx.Commit())
	in.refusedAt("assessed_by_collector", body(2*time.Minute), as("one"), "#/sessions/0/instance", "#/statements/0/instance")
	in.send(samplesPath, members{"hosts": body(2 * time.Minute)["hosts"]}, as("one")).is(202)
	in.refusedAt("assessed_by_collector", body(2*time.Minute), nil, "#/sessions/0/instance", "#/statements/0/instance")
	in.send(samplesPath, members{"hosts": body(2 * time.Minute)["hosts"]}).is(202)
}
