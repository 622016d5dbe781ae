package httpapi

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/inventory"
	domain "muster/domain/fleet"
	"muster/internal/assessment"
)

const fleetPath = "/ingest/v1/fleet"

// ofInstance is the instance orders of fleetOfThree as a feed tells it, and what change says.
func (w *world) ofInstance(change members) members {
	return members{"externalId": "orders", "name": "orders", "engine": "postgresql", "host": "db01", "createdAt": w.ago(30 * day)}.with(change)
}

func fleetBatch(of ...members) members { return members{"instances": of} }

// connect registers a connection for an instance.
func (w *world) connect(in tenant, instance uuid.UUID) {
	w.t.Helper()
	must(w.t, w.deps.Servers.SaveCredentials(w.t.Context(), w.deps.DB, assessment.Credentials{
		Organization: in.organization.ID, Instance: instance, Engine: domain.PostgreSQL, DSN: "postgres://u@127.0.0.1/x",
	}))
}

// fleetEvents counts what is in the fleet's log.
func (w *world) fleetEvents() int {
	w.t.Helper()
	return w.count(`SELECT count(*) FROM events WHERE log = 'fleet'`)
}

// TestALimitedTokenChangesNoInstance: it creates, renames, moves, switches and removes none,
// its own neither. The answer names every field, and nothing of the call is kept. What is
// there already it may say, and its databases and versions are its own to tell.
func TestALimitedTokenChangesNoInstance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	in := sender{w, w.ingestToken(w.ours.admin, ids["orders"], ids["ledger"])}
	database := []members{{"externalId": "d", "name": "d", "createdAt": w.ago(30 * day)}, {"externalId": "e", "name": "e", "createdAt": w.ago(day)}}
	for name, c := range map[string]struct {
		body members
		at   string // empty: taken
	}{
		"renamed":            {w.ofInstance(members{"name": "billing"}), "name"},
		"moved":              {w.ofInstance(members{"host": "db02"}), "host"},
		"moved nowhere":      {w.ofInstance(members{"host": ""}), "host"},
		"its first host":     {w.ofInstance(members{"externalId": "ledger", "name": "ledger", "engine": "oracle", "host": "db02"}), "host"},
		"another engine":     {w.ofInstance(members{"engine": "oracle"}), "engine"},
		"switched off":       {w.ofInstance(members{"active": false}), "active"},
		"all of these":       {w.ofInstance(members{"name": "billing", "host": "db02", "engine": "oracle", "active": false}), "name engine host active"},
		"removed":            {w.ofInstance(members{"removed": true}), "removed"},
		"another's":          {w.ofInstance(members{"externalId": "billing", "name": "x"}), "externalId"},
		"another's, removed": {w.ofInstance(members{"externalId": "billing", "removed": true}), "externalId"},
		"a new one":          {w.ofInstance(members{"externalId": "new"}), "externalId"},
		"by its id":          {w.ofInstance(members{"externalId": ids["orders"].String()}), "externalId"},
		"as it is":           {w.ofInstance(members{"active": true}), ""},
		"its version":        {w.ofInstance(members{"version": "18.1"}), ""},
		"its databases":      {w.ofInstance(members{"databases": database}), ""},
	} {
		other := w.ofInstance(members{"externalId": "ledger", "name": "ledger", "engine": "oracle", "host": nil, "version": name})
		if c.body["externalId"] == "ledger" { // in one call once
			other = w.ofInstance(nil)
		}
		before := w.fleetEvents()
		a := in.send(fleetPath, fleetBatch(other, c.body))
		if c.at == "" {
			a.is(200)
			continue
		}
		p := a.problem(403, "outside_token")
		if diff := cmp.Diff(bodyPlaces("#/instances/1/", c.at, "outside_token"), p.places()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, e := range p.Errors {
			is, own := map[string]any{"name": "orders", "host": "db01", "engine": "postgresql", "active": true}[strings.TrimPrefix(e.Pointer, "#/instances/1/")]
			if c.body["externalId"] == "ledger" {
				is = ""
			}
			if own && e.Params["is"] != is || !own && e.Params != nil {
				t.Errorf("%s: of %s it tells %v", name, e.Pointer, e.Params)
			}
		}
		if after := w.fleetEvents(); after != before {
			t.Errorf("%s: of %d events there are %d", name, before, after)
		}
	}
	shown := w.get(w.ours.viewer, "/api/v1/instances/"+ids["orders"].String()).is(200).object()
	if shown["name"] != "orders" || shown["version"] != "18.1" || shown["databaseCount"] != 2.0 {
		t.Errorf("it is %v", shown)
	}
	w.do(request{method: "PATCH", path: "/api/v1/instances/" + ids["orders"].String(), as: w.ours.admin, json: members{"active": false}}).is(200)
	if got := in.send(fleetPath, fleetBatch(w.ofInstance(members{"active": true}))).problem(403, "outside_token").places(); !slices.Equal(got, []string{"body #/instances/0/active outside_token"}) {
		t.Errorf("switched on again: %q", got)
	}
	w.do(request{method: "DELETE", path: "/api/v1/instances/" + ids["orders"].String(), as: w.ours.admin}).is(204)
	in.send(fleetPath, fleetBatch(w.ofInstance(nil))).problem(403, "outside_token") // it would be a new one
}

// TestALimitedTokenChangesNoHostOfOthers: whatever a limited token says of a host on which another's
// server runs, alone or beside its own, that server's figures stay as they are.
func TestALimitedTokenChangesNoHostOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fed(w.ours, inventory.Item{ExternalID: "pg-x", Host: new("host-x")}, inventory.Item{ExternalID: "pg-a", Host: new("host-a")},
		inventory.Item{ExternalID: "pg-y", Host: new("both")}, inventory.Item{ExternalID: "pg-b", Host: new("both")},
		inventory.Item{ExternalID: "pg-z"}, inventory.Item{ExternalID: "pg-c", Host: new("host-c.example.org")})
	all, limited := sender{w, w.ingestToken(w.ours.admin)}, sender{w, w.ingestToken(w.ours.admin, ids["pg-x"], ids["pg-y"], ids["pg-z"])}
	from := w.hourAgo(2)
	sample := func(host string, cpu float64, minute int, names ...string) members {
		return members{"hosts": []members{{"host": host, "instances": append([]string{}, names...), "at": from.Add(time.Duration(minute) * time.Minute), "cpuPercent": cpu}}}
	}
	all.send(samplesPath, sample("host-a", 10, 5)).is(202)
	all.send(samplesPath, sample("both", 10, 5)).is(202)
	all.send(samplesPath, sample("host-c", 10, 5, "pg-c")).is(202)
	shown := func() string {
		w.roll()
		var of []string
		for _, name := range []string{"pg-a", "pg-b", "pg-c"} {
			of = append(of, name+" "+w.get(w.ours.viewer, metricsPath+"utilization"+hours(from, 1)+"&instanceId="+ids[name].String()).line("cpuPercent"))
		}
		return strings.Join(of, ", ")
	}
	honest := shown()
	if honest != "pg-a 10, pg-b 10, pg-c 10" {
		t.Fatalf("honestly %s", honest)
	}
	for _, c := range []struct{ host, name string }{
		{"host-a", "pg-x"}, {"HOST-A.", "pg-x"}, {"host-a.example.org", "pg-z"}, {"both", "pg-y"}, {"both.example.org", "pg-z"}, {"host-c", "pg-z"}, {"HOST-C.example.org", "pg-z"},
	} {
		limited.send(fleetPath, fleetBatch(w.ofInstance(members{"externalId": c.name, "name": c.name, "host": c.host, "createdAt": w.clock.Now()})))
		limited.send(samplesPath, sample(c.host, 99, 6, c.name)).problem(403, "outside_token")
		limited.write("1.0", scraped(c.host+":9100", from.Add(7*time.Minute), 1, 1)...).is(204)
		if now := shown(); now != honest {
			t.Fatalf("after %s at %s: %s", c.name, c.host, now)
		}
	}
	limited.send(samplesPath, sample("host-x", 50, 6, "pg-x")).is(202)
	limited.send(samplesPath, sample("host-z", 50, 6, "pg-z")).is(202)
}

// TestTheEngineNeverChanges, whoever says so.
func TestTheEngineNeverChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	in, before := sender{w, w.ingestToken(w.ours.admin)}, w.fleetEvents()
	got := in.send(fleetPath, fleetBatch(w.ofInstance(members{"engine": "oracle", "name": "renamed"}), w.ofInstance(members{"externalId": "new"}),
		w.ofInstance(members{"externalId": "billing", "name": "billing", "engine": "mysql"}))).problem(422, "engine_fixed").places()
	if want := []string{"body #/instances/0/engine engine_fixed", "body #/instances/2/engine engine_fixed"}; !slices.Equal(got, want) {
		t.Errorf("refused are %q", got)
	}
	path := "/api/v1/instances/" + ids["orders"].String()
	patch := func(body members) answer {
		return w.do(request{method: "PATCH", path: path, as: w.ours.admin, json: body})
	}
	if got := patch(members{"engine": "oracle", "name": "x", "dsn": "oracle://u:p@127.0.0.1/x"}).problem(422, "engine_fixed").places(); !slices.Equal(got, []string{"body #/engine engine_fixed"}) {
		t.Errorf("refused is %q", got)
	}
	if after := w.fleetEvents(); after != before {
		t.Errorf("%d events are %d", before, after)
	}
	patch(members{"engine": "postgresql", "name": "x"}).is(200)
	met := func(instance, engine string) members {
		return reported(instance).with(members{"identity": members{"engine": engine, "system": "7", "process": "1000", "role": "primary", "pooler": ""}})
	}
	got = in.send(agentsPath, w.reportOf("one", met("ledger", "oracle"), met("orders", "oracle"), met("nobody", "mysql")), as("a")).problem(422, "engine_fixed").places()
	if !slices.Equal(got, []string{"body #/servers/1/identity/engine engine_fixed"}) {
		t.Errorf("refused is %q", got)
	}
	limited := sender{w, w.ingestToken(w.ours.admin, ids["ledger"])}
	limited.send(agentsPath, w.reportOf("one", met("ledger", "oracle"), met("orders", "oracle")), as("a")).is(204) // it is not told what others are
}

// TestFeedsLeaveRegisteredServers: what has a connection administrators rename, move, switch
// and remove. A feed may say of it what is so, its version and its databases.
func TestFeedsLeaveRegisteredServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	w.connect(w.ours, ids["orders"])
	in := sender{w, w.ingestToken(w.ours.admin)}
	for name, c := range map[string]struct {
		change members
		at     string
	}{
		"renamed":            {members{"name": "x"}, "name"},
		"moved":              {members{"host": "db09"}, "host"},
		"switched off":       {members{"active": false}, "active"},
		"removed":            {members{"removed": true}, "removed"},
		"a database removed": {members{"databases": []members{{"externalId": "d", "name": "d", "createdAt": w.ago(day), "removed": true}}}, "databases/0/removed"},
		"all at once":        {members{"name": "x", "host": "db09", "active": false}, "name host active"},
		"its version":        {members{"version": "18.1"}, ""},
		"as it is":           {members{"active": true}, ""},
	} {
		before := w.fleetEvents()
		a := in.send(fleetPath, fleetBatch(w.ofInstance(members{"externalId": "billing", "name": "billing", "engine": "sqlserver", "host": "db02", "version": name}), w.ofInstance(c.change)))
		if c.at == "" {
			a.is(200)
			continue
		}
		if got := a.problem(409, "managed_by_connection").places(); !slices.Equal(got, bodyPlaces("#/instances/1/", c.at, "managed_by_connection")) {
			t.Errorf("%s: %q", name, got)
		}
		if after := w.fleetEvents(); after != before {
			t.Errorf("%s: of %d events there are %d", name, before, after)
		}
	}
	if connected, err := w.deps.Servers.Collected(t.Context(), w.ours.organization.ID, slices.Collect(maps.Values(ids))); err != nil || !connected[ids["orders"]] {
		t.Errorf("connected are %v, %v", connected, err)
	}
	w.do(request{method: "DELETE", path: "/api/v1/instances/" + ids["orders"].String(), as: w.ours.admin}).is(204)
}

// TestServerChangesByTokensAreAudited, with the token's name, also once it is revoked.
func TestServerChangesByTokensAreAudited(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	w.fleetOfThree(w.ours)
	minted := w.post(w.ours.admin, "/api/v1/ingest-tokens", members{"name": "agent on db01"}).is(201).object()
	in := sender{w, minted["token"].(string)}
	for _, change := range []members{{"version": "18.1"}, {"name": "renamed"}, {"name": "renamed", "host": "db07"}, {"name": "renamed", "host": "db07", "active": false}, {"removed": true}} {
		in.send(fleetPath, fleetBatch(w.ofInstance(change))).is(200)
	}
	id := minted["id"].(string)
	w.do(request{method: "DELETE", path: "/api/v1/ingest-tokens/" + id, as: w.ours.admin}).is(204)
	entries := func(query string) (told []string) {
		t.Helper()
		for _, item := range w.get(w.ours.auditor, "/api/v1/audit-events?limit=200"+query).is(200).object()["items"].([]any) {
			e := item.(map[string]any)
			if token, is := e["token"].(map[string]any); is {
				data := e["data"].(map[string]any)
				line := e["type"].(string) + " by " + token["name"].(string)
				for _, field := range []string{"formerName", "name", "formerHost", "host"} {
					if data[field] != nil {
						line += " " + data[field].(string)
					}
				}
				told = append(told, line)
			}
		}
		return told
	}
	want := []string{"instanceRemoved by agent on db01", "instanceDeactivated by agent on db01", "instanceChanged by agent on db01 renamed db01 db07", "instanceChanged by agent on db01 orders renamed db01"}
	for query, want := range map[string][]string{"": want, "&actorId=" + id: want, "&type=instanceRemoved": want[:1], "&actorId=" + w.ours.admin.ID.String(): nil} {
		if diff := cmp.Diff(want, entries(query)); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
}

// TestATokenRevokedInTheMiddleOfACall: the call that has begun ends as if it had been first,
// with its entry in the audit list, or changes nothing. The next one is refused.
func TestATokenRevokedInTheMiddleOfACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	minted := w.post(w.ours.admin, "/api/v1/ingest-tokens", members{"name": "agent on db01"}).is(201).object()
	in := sender{w, minted["token"].(string)}
	tx, err := w.deps.DB.BeginTxx(t.Context(), nil)
	must(t, err)
	defer func() { _ = tx.Rollback() }()
	_, err = w.deps.Events.LockKeys(t.Context(), tx, w.ours.organization.ID, domain.InstanceStream, []string{"orders"})
	must(t, err)
	ended := make(chan answer)
	go func() { ended <- in.send(fleetPath, fleetBatch(w.ofInstance(members{"removed": true}))) }()
	w.do(request{method: "DELETE", path: "/api/v1/ingest-tokens/" + minted["id"].(string), as: w.ours.admin}).is(204)
	must(t, tx.Rollback())
	entries := func() int {
		return strings.Count(w.get(w.ours.auditor, "/api/v1/audit-events?type=instanceRemoved").is(200).Body.String(), `"agent on db01"`)
	}
	switch got := <-ended; got.Code {
	case 200:
		w.get(w.ours.viewer, "/api/v1/instances/"+ids["orders"].String()).is(404)
		if entries() == 0 {
			t.Error("the audit list has no entry of it")
		}
	default:
		got.is(401)
		w.get(w.ours.viewer, "/api/v1/instances/"+ids["orders"].String()).is(200)
		if entries() > 0 {
			t.Error("the audit list has an entry of what was refused")
		}
	}
	in.send(fleetPath, fleetBatch(w.ofInstance(nil))).is(401)
}
