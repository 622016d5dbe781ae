package httpapi

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/internal/httpapi/api"
)

func replicationPath(of uuid.UUID) string { return "/api/v1/instances/" + of.String() + "/replication" }

// leads is a primary as an agent sends it, with a standby called "two" that lags.
func (w *world) leads(instance string, ago time.Duration, change members) members {
	return members{
		"instance": instance, "at": w.ago(ago), "role": "primary", "systems": []string{"7301"}, "timeline": 1, "port": 5432, "condition": "works",
		"peers": []members{{
			"kind": "physical", "name": "two", "member": "physical  two", "host": "10.0.0.2", "state": "streaming", "sync": "async",
			"condition": "works", "lagSeconds": 74.25, "lagBytes": 432013312, "sendQueueBytes": 1024,
		}},
		"slots": []members{{"name": "reporting", "kind": "physical", "active": false, "walStatus": "extended", "retainedBytes": 19756849561, "condition": "inactive", "since": w.ago(2 * time.Hour)}},
	}.with(change)
}

// follows is a standby called "two".
func (w *world) follows(instance string, ago time.Duration, change members) members {
	return members{
		"instance": instance, "at": w.ago(ago), "role": "standby", "systems": []string{"7301"}, "timeline": 1, "port": 5433, "state": "streaming", "condition": "works",
		"members": []string{"physical  two"}, "lagSeconds": 70, "lagBytes": 1000, "upstream": members{"kind": "physical", "host": "db01", "port": 5432},
	}.with(change)
}

func (w *world) replication(as person, of uuid.UUID, query string) (r api.Replication) {
	w.t.Helper()
	w.get(as, replicationPath(of)+query).is(200).decode(&r)
	return r
}

// TestReplicationIsShown as an agent sends it: both ends as one picture, the lag with its history, and a promotion as a
// change of roles.
func TestReplicationIsShown(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin)}
	send := func(all ...members) answer { return in.send(samplesPath, members{"replication": all}) }
	if r := w.replication(w.ours.viewer, ids["orders"], ""); r.MeasuredAt != nil || r.Role != nil || r.LagSeconds != nil || len(r.Standbys) != 0 || len(r.Nodes) != 0 {
		t.Errorf("nobody has looked: %+v", r)
	}
	send(members{"instance": "ledger", "at": w.ago(time.Minute), "role": "alone", "condition": "works", "denied": "GRANT VIEW SERVER STATE TO [watcher];"}).is(202)
	if r := w.replication(w.ours.viewer, ids["ledger"], ""); r.MeasuredAt == nil || r.Role != nil || *r.MissingGrant != "GRANT VIEW SERVER STATE TO [watcher];" || r.Nodes[0].Role != nil {
		t.Errorf("whether it replicates is not told: %+v", r)
	}
	send(w.leads("orders", 10*time.Minute, nil), w.follows("billing", 10*time.Minute, nil)).is(202)
	send(w.leads("orders", time.Minute, nil), w.follows("billing", time.Minute, nil)).is(202)
	send(w.leads("orders", time.Minute, members{"role": "standby"})).is(202) // once more
	r := w.replication(w.ours.viewer, ids["orders"], "")
	if *r.Role != api.ReplicationRolePrimary || *r.LagSeconds != 74.25 || *r.RetainedBytes != 19756849561 || *r.System != "7301" || r.RoleSince != nil || r.History != nil {
		t.Errorf("%+v", r)
	}
	if len(r.Standbys) != 1 || r.Standbys[0].Instance == nil || r.Standbys[0].Instance.Id != ids["billing"] || *r.Standbys[0].Host != "10.0.0.2" || *r.Standbys[0].SendQueueBytes != 1024 {
		t.Errorf("%+v", r.Standbys)
	}
	if slot := r.Slots[0]; slot.Active || slot.Condition != api.ReplicationInactive || !slot.Since.Equal(w.ago(2*time.Hour)) || slot.SafeBytes != nil {
		t.Errorf("%+v", r.Slots)
	}
	if len(r.Nodes) != 2 || len(r.Edges) != 1 || *r.Edges[0].LagSeconds != 70 || *r.Edges[0].LagBytes != 432013312 || *r.Edges[0].State != "streaming" {
		t.Errorf("%+v, %+v", r.Nodes, r.Edges)
	}
	b := w.replication(w.ours.viewer, ids["billing"], "")
	if *b.Role != api.ReplicationRoleStandby || *b.LagSeconds != 70 || b.Upstream == nil || b.Upstream.Instance == nil || b.Upstream.Instance.Id != ids["orders"] || *b.Upstream.Port != 5432 {
		t.Errorf("%+v", b)
	}
	// By hand.
	send(w.follows("billing", 0, members{"role": "primary", "timeline": 2, "members": []string{}, "upstream": nil})).is(202)
	r = w.replication(w.ours.viewer, ids["orders"], "")
	if len(r.OtherPrimaries) != 1 || r.OtherPrimaries[0].Id != ids["billing"] || r.RoleChanges == nil || len(*r.RoleChanges) != 1 {
		t.Fatalf("%+v, %+v", r.OtherPrimaries, r.RoleChanges)
	}
	if c := (*r.RoleChanges)[0]; c.Instance.Id != ids["billing"] || c.From != api.ReplicationRoleStandby || c.To != api.ReplicationRolePrimary || *c.Timeline != 2 || !c.At.Equal(w.ago(0)) {
		t.Errorf("%+v", c)
	}
	if b := w.replication(w.ours.viewer, ids["billing"], ""); b.RoleSince == nil || !b.RoleSince.Equal(w.ago(0)) {
		t.Errorf("%+v", b.RoleSince)
	}
	w.get(w.ours.viewer, replicationPath(ids["orders"])+"?from=2026-11-20T10:00:00Z").problem(400, "missing_parameter")
	w.get(w.ours.viewer, replicationPath(ids["orders"])+"?from=2026-11-20T10:00:00Z&to=2026-11-20T09:00:00Z&bucketSize=1m").problem(422, "invalid_window")
	w.get(w.ours.viewer, replicationPath(uuid.New())).problem(404, "not_found")
	w.get(w.theirs.viewer, replicationPath(ids["orders"])).problem(404, "not_found")
}

// TestTheLagHasAHistory: the greatest lag of each bucket, of a standby its own; a bucket without a look is a gap.
func TestTheLagHasAHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin)}
	from := w.ago(10 * time.Minute).Truncate(time.Minute)
	at := func(minute, second int) members {
		return members{"at": from.Add(time.Duration(minute)*time.Minute + time.Duration(second)*time.Second)}
	}
	broken := w.follows("billing", 0, at(3, 0)).with(members{"lagSeconds": nil, "lagBytes": nil})
	in.send(samplesPath, members{"replication": []members{
		w.follows("billing", 0, at(1, 5).with(members{"lagSeconds": 1})), w.follows("billing", 0, at(1, 50).with(members{"lagSeconds": 2.5, "lagBytes": 9})),
		w.leads("orders", 0, at(2, 0)), broken.with(members{"condition": "broken"}),
	}}).is(202)
	query := "?" + url.Values{"from": {from.Format(time.RFC3339)}, "to": {from.Add(5 * time.Minute).Format(time.RFC3339)}, "bucketSize": {"1m"}}.Encode()
	w.roll()
	for name, want := range map[string][2]string{"billing": {"[null,2.5,null,null,null]", "[null,null,null,null,null]"}, "orders": {"[null,null,74.25,null,null]", "[null,null,19756849561,null,null]"}} {
		body := w.get(w.ours.viewer, replicationPath(ids[name])+query).is(200).Body.String()
		if !strings.Contains(body, `"lagSeconds":`+want[0]) || !strings.Contains(body, `"retainedBytes":`+want[1]) {
			t.Errorf("%s: %s", name, body)
		}
	}
}

// TestATeamSeesItsEndOfAPair: the other server is one that nobody watches, for them.
func TestATeamSeesItsEndOfAPair(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin)}
	in.send(samplesPath, members{"replication": []members{w.leads("orders", time.Minute, nil), w.follows("billing", time.Minute, nil)}}).is(202)
	somebody := w.person(w.ours.organization, organization.Team, w.ours.address("team"))
	w.tag(w.ours.admin, ids["orders"], map[string]string{"team": "a"}).is(200)
	w.team(w.ours, "a", map[string][]string{"team": {"a"}}, somebody, organization.Viewer)
	r := w.replication(somebody, ids["orders"], "")
	if len(r.Nodes) != 2 || r.Nodes[1].Instance != nil || r.Nodes[1].Name != "two" || r.Standbys[0].Instance != nil || *r.Edges[0].LagSeconds != 74.25 {
		t.Errorf("%+v", r)
	}
	if body := w.get(somebody, replicationPath(ids["orders"])).is(200).Body.String(); strings.Contains(body, ids["billing"].String()) || strings.Contains(body, "billing") {
		t.Errorf("it names a server of others: %s", body)
	}
	w.get(somebody, replicationPath(ids["billing"])).problem(404, "not_found")
}

// TestInvalidReplicationReportsAreRefused: broken rules are named, and so is the reason if the sender may not
// send.
func TestInvalidReplicationReportsAreRefused(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin)}
	for name, c := range map[string]struct {
		sample members
		at     string
		code   string
	}{
		"an unknown instance": {w.leads("nobody", time.Minute, nil), "#/replication/0/instance", "unknown_instance"},
		"of the future":       {w.leads("orders", -6*time.Minute, nil), "#/replication/0/at", "time_in_future"},
	} {
		got := in.send(samplesPath, members{"replication": []members{c.sample}}).problem(422, c.code).places()
		if !slices.Equal(got, bodyPlaces("", c.at, c.code)) {
			t.Errorf("%s: %v", name, got)
		}
	}
	limited := sender{w, w.ingestToken(w.ours.admin, ids["billing"])}
	got := limited.send(samplesPath, members{"replication": []members{w.leads("orders", time.Minute, nil)}}).problem(403, "outside_token").places()
	if !slices.Equal(got, bodyPlaces("", "#/replication/0/instance", "outside_token")) {
		t.Errorf("%v", got)
	}
	if r := w.replication(w.ours.member, ids["orders"], ""); r.MeasuredAt != nil {
		t.Errorf("%+v", r)
	}
}
