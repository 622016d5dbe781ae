package httpapi

import (
	"testing"
	"time"

	"muster/internal/intake/remotewrite/remotewritetest"
	"muster/internal/testing/pgtest"
)

// TestNamesThatMisleadAreRefused: a name that would end a line, move a cursor or turn
// the order of writing gets in by no form and by no feed.
func TestNamesThatMisleadAreRefused(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	w.fleetOfThree(w.ours)
	fleet := func(change members) members {
		item := members{"externalId": "x", "name": "x", "engine": "postgresql", "createdAt": w.ago(day)}
		return members{"instances": []members{item.with(change)}}
	}
	dsn := pgtest.Shared(t).TCPURL(pgtest.Superuser, "postgres")
	tag := w.get(w.ours.viewer, "/api/v1/organization").is(200).Header().Get("ETag")
	for _, bad := range []string{"a\r\nBcc: eve@example.org", "\x1b[2Jx", "x\u202egpj.exe", "x\u0085y"} {
		for name, c := range map[string]struct {
			a     answer
			place string
		}{
			"an instance":      {w.post(w.ours.admin, "/api/v1/instances", members{"name": bad, "engine": "postgresql", "dsn": dsn}), "#/name"},
			"a token":          {w.post(w.ours.admin, "/api/v1/api-tokens", members{"name": bad, "scopes": []string{"reports:read"}}), "#/name"},
			"a view":           {w.post(w.ours.viewer, "/api/v1/views", members{"name": bad, "query": "/alerts"}), "#/name"},
			"a member":         {w.post(w.ours.admin, "/api/v1/members", members{"name": bad, "email": w.ours.address("new"), "role": "viewer"}), "#/name"},
			"the organization": {w.change(w.ours.admin, tag, members{"name": bad}), "#/name"},
			"a feed's server":  {in.send("/ingest/v1/fleet", fleet(members{"name": bad})), "#/instances/0/name"},
			"its host":         {in.send("/ingest/v1/fleet", fleet(members{"host": bad})), "#/instances/0/host"},
			"its version":      {in.send("/ingest/v1/fleet", fleet(members{"version": bad})), "#/instances/0/version"},
			"its key":          {in.send("/ingest/v1/fleet", fleet(members{"externalId": bad})), "#/instances/0/externalId"},
			"its database":     {in.send("/ingest/v1/fleet", fleet(members{"databases": []members{{"externalId": "d", "name": bad, "createdAt": w.ago(day)}}})), "#/instances/0/databases/0/name"},
			"an alert":         {in.send(nativePath, batch(w.item("a", map[string]any{"title": bad}))), "#/alerts/0/title"},
			"a measured host":  {in.send(samplesPath, members{"hosts": []members{w.ofHost(members{"host": bad})}}), "#/hosts/0/host"},
			"a mount":          {in.send(samplesPath, members{"hosts": []members{w.ofHost(members{"volumes": []members{{"mount": bad, "usedPercent": 1}}})}}), "#/hosts/0/volumes/0/mount"},
		} {
			found := false
			for _, place := range c.a.problem(422, "invalid_name").places() {
				found = found || place == "body "+c.place+" invalid_name"
			}
			if !found {
				t.Errorf("%s called %q: %s", name, bad, c.a.Body)
			}
		}
	}
}

// TestNamesOfAgentsAreCleaned: an agent that is refused sends the same again.
func TestNamesOfAgentsAreCleaned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	in.receipt(apiPath, `[{"labels":{"alertname":"Disk\u001b[2J"},"annotations":{"summary":"full\r\nBcc: eve","description":"one\ntwo\u202e"}}]`)
	alerts := w.listed(w.ours.viewer, "")
	if len(alerts) != 1 || alerts[0].Title != "full\ufffd\ufffdBcc: eve" {
		t.Errorf("alerts: %+v", alerts)
	}
	shown := w.get(w.ours.viewer, "/api/v1/alerts/"+alerts[0].ID.String()).is(200).object()
	if shown["description"] != "one\ntwo\ufffd" {
		t.Errorf("the alert is %v", shown)
	}
	in.write("1.0", scraped("db\u202e01\n", w.hour().Add(time.Minute), 100, 1000)...).is(204)
	in.write("2.0", remotewritetest.One("node_memory_MemTotal_bytes", w.hour(), 1, "instance", "db\u009b02")).is(204)
	var hosts []string
	must(t, w.deps.DB.Select(&hosts, `SELECT subject FROM measured_series WHERE kind = 'host' ORDER BY 1`))
	if len(hosts) == 0 || hosts[0] != "db\ufffd01\ufffd" {
		t.Errorf("hosts %q", hosts)
	}
}
