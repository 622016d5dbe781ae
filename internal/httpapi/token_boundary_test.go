package httpapi

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/inventory"
	domain "muster/domain/fleet"
	"muster/internal/intake/remotewrite/remotewritetest"
	"muster/internal/testing/longtest"
)

// TestALimitedTokenChangesNothingElse: two organizations have the same servers and hear the
// same of honest senders. In one of them a limited token sends whatever it likes in between,
// at every door. Of every server that is not the token's, all answers are the same in both.
func TestALimitedTokenChangesNothingElse(t *testing.T) {
	t.Parallel()
	besiege(t, 1, 180)
}

// TestLongALimitedTokenChangesNothingElse does the same with many more messages.
func TestLongALimitedTokenChangesNothingElse(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			besiege(t, 100+seed, 800)
		})
	}
}

func besiege(t *testing.T, seed uint64, messages int) {
	w := newWorld(t)
	w.clock.Advance(w.clock.Now().Truncate(time.Hour).Add(50 * time.Minute).Sub(w.clock.Now())) // so that no hour ends in between
	ours, theirs := w.garrison(w.ours), w.garrison(w.theirs)
	a := attacker{w: w, rng: rand.New(rand.NewPCG(seed, 0)), camp: ours, sender: sender{w, w.ingestToken(w.ours.admin, ours.ids["pg-x"], ours.ids["pg-s"], ours.ids["pg-n"])}}
	for round := range 3 {
		ours.honest(round)
		theirs.honest(round)
		for range messages / 3 {
			a.strike()
		}
	}
	ours.honest(3)
	theirs.honest(3)
	w.roll()
	for _, path := range watchedPaths(w.clock.Now()) {
		got, want := ours.shown(path), theirs.shown(path)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("seed %d: %s is another with the token (-without +with):\n%s\nlast sent:\n%s", seed, path, diff, strings.Join(a.sent, "\n"))
		}
	}
}

// besieged are the servers that are not the token's. pg-b shares a host with pg-s, which is.
var besieged = []string{"pg-a", "pg-b", "pg-c", "pg-d", "ms-m", "pg-dsn"}

// camp is one of the two organizations.
type camp struct {
	*world
	in       tenant
	ids      map[string]uuid.UUID
	all, own sender // without a limit, and limited to pg-a
}

func (w *world) garrison(in tenant) *camp {
	server := func(name, host string, engine domain.Engine) inventory.Item {
		return inventory.Item{ExternalID: name, Name: name + " production", Engine: engine, Host: &host, CreatedAt: w.ago(30 * day), Databases: []inventory.Database{database("d", w.ago(30*day))}}
	}
	c := &camp{world: w, in: in}
	c.ids = w.fed(in, server("pg-x", "host-x", domain.PostgreSQL), server("pg-a", "host-a", domain.PostgreSQL), server("pg-b", "both", domain.PostgreSQL), server("pg-s", "both", domain.PostgreSQL),
		server("pg-c", "host-c.example.org", domain.PostgreSQL), server("pg-d", "", domain.PostgreSQL), server("ms-m", "host-m", domain.SQLServer), server("pg-dsn", "10.0.0.9", domain.PostgreSQL), server("pg-n", "10.0.0.8", domain.PostgreSQL))
	w.connect(in, c.ids["pg-dsn"])
	c.all, c.own = sender{w, w.ingestToken(in.admin)}, sender{w, w.ingestToken(in.admin, c.ids["pg-a"])}
	return c
}

// honest is what the good senders say in a round.
func (c *camp) honest(round int) {
	at := c.ago(time.Duration(40-10*round) * time.Minute)
	of := members{"at": at, "instance": "pg-a"}
	hosts := []members{}
	for i, host := range []string{"host-b", "both", "host-c", "host-m", "db-d"} {
		named := map[string][]string{"host-c": {"pg-c"}, "db-d": {"pg-d"}}[host]
		hosts = append(hosts, c.ofHost(members{"host": host, "instances": append([]string{}, named...), "at": at, "cpuPercent": 10 + i}))
	}
	c.all.send(samplesPath, members{"hosts": hosts, "sessions": []members{c.ofSessions(of), c.ofSessions(members{"at": at, "instance": "ms-m"})}}).is(202)
	c.own.send(samplesPath, members{"hosts": []members{c.ofHost(members{"host": "host-a", "instances": []string{"pg-a"}, "at": at})}, "statements": []members{c.ofStatements(of)}}, as("agent-a")).is(202)
	c.all.write("2.0", scraped("host-a.example.org:9100", at.Add(time.Minute), float64(100*round), float64(1000*round))...).is(204)
	c.all.write("2.0", remotewritetest.One("pg_up", at, 1, "instance", "host-c.example.org:9187")).is(204)
	c.own.send(agentsPath, c.reportOf("agent of a", reported("pg-a").with(members{"identity": members{"engine": "postgresql", "system": "7", "process": "1000", "role": "primary", "pooler": ""}})), as("agent-a")).is(204)
	c.all.send(assessmentsPath, sentBatch(c.of("pg-a", time.Hour-time.Duration(round)*time.Minute, failing("PG-S01", "/line 1"), passing("PG-S02")))).is(202)
	state := map[string]any{"instance": "pg-a", "title": fmt.Sprint("disk, round ", round)}
	c.own.send(nativePath, batch(c.item("disk-full", state), c.item(fmt.Sprint("a-", round), state))).is(200)
	for _, of := range []struct{ name, label, value string }{{"Down", "muster_instance", "pg-a"}, {"Full", "instance", "host-a:9100"}, {"Slow", "muster_instance", "pg-c production"}} {
		status := []string{"firing", "firing", "resolved", "firing"}[round]
		alert := members{"status": status, "fingerprint": "aaaaaaaaaaaaaaaa", "labels": members{"alertname": of.name, of.label: of.value}, "annotations": members{"summary": of.name}, "startsAt": c.ago(45 * time.Minute), "endsAt": c.ago(2 * time.Minute), "generatorURL": "http://p/"}
		c.all.send(webhookPath, members{"version": "4", "status": status, "receiver": "m", "externalURL": "http://a/", "alerts": []members{alert}}).is(200)
	}
}

// watchedPaths are the answers that are compared.
func watchedPaths(now time.Time) (paths []string) {
	window := "?from=" + now.Add(-2*time.Hour).Format(time.RFC3339) + "&to=" + now.Format(time.RFC3339)
	filter := ""
	for _, name := range besieged {
		filter += "&instanceId={" + name + "}"
		paths = append(paths, "/api/v1/instances/{"+name+"}", "/api/v1/instances/{"+name+"}/databases", "/api/v1/instances/{"+name+"}/health", "/api/v1/instances/{"+name+"}/outage",
			"/api/v1/alerts?pageSize=100&instanceId={"+name+"}", metricsPath+"utilization"+window+"&bucketSize=5m&instanceId={"+name+"}")
	}
	return append(paths, "/api/v1/instances?pageSize=100",
		metricsPath+"utilization"+window+"&bucketSize=5m"+filter, metricsPath+"query-performance"+window+"&bucketSize=5m"+filter, metricsPath+"wait-events"+window+"&bucketSize=5m"+filter,
		metricsPath+"connections?"+filter[1:], metricsPath+"utilization/contributors"+window+"&series=cpu&by=host"+filter, metricsPath+"wait-events/contributors"+window+"&series=all&by=instance"+filter,
		"/api/v1/statements"+window+filter, "/api/v1/alerts/raised-resolved-history"+window+"&bucketSize=5m"+filter, "/api/v1/health-checks/overview?"+filter[1:], "/api/v1/findings?"+filter[1:])
}

var (
	anyID   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	anyHour = regexp.MustCompile(`"(requestId|generatedAt|seenAt|triedAt|cursor|nextCursor)":("[^"]*"|null)`)
)

// shown is an answer with names in the place of ids. Of the list of instances, the token's
// own are left out.
func (c *camp) shown(path string) any {
	c.t.Helper()
	for name, id := range c.ids {
		path = strings.ReplaceAll(path, "{"+name+"}", id.String())
	}
	a := c.get(c.in.admin, path)
	text := a.Body.String()
	for name, id := range c.ids {
		text = strings.ReplaceAll(text, id.String(), "the "+name)
	}
	text = anyHour.ReplaceAllString(anyID.ReplaceAllString(text, "an id"), `"$1":null`)
	var shown any
	must(c.t, json.Unmarshal([]byte(text), &shown))
	if list, is := shown.(map[string]any); is && strings.HasPrefix(path, "/api/v1/instances?") {
		list["items"] = slices.DeleteFunc(list["items"].([]any), func(item any) bool {
			name, _ := strings.CutPrefix(item.(map[string]any)["id"].(string), "the ")
			return !slices.Contains(besieged, name)
		})
		return list["items"]
	}
	return shown
}

// attacker has a limited token and no manners.
type attacker struct {
	w    *world
	rng  *rand.Rand
	camp *camp
	sender
	sent []string
}

func anyOf[T any](a *attacker, of ...T) T { return of[a.rng.IntN(len(of))] }

// key is what a feed may call an instance, name what labels may.
func (a *attacker) key() string {
	return anyOf(a, "pg-x", "pg-x", "pg-s", "pg-n", "pg-a", "pg-b", "pg-c", "pg-d", "ms-m", "pg-dsn", "nobody", "new", a.camp.ids["pg-a"].String(), a.camp.ids["pg-x"].String())
}

func (a *attacker) name() string {
	return anyOf(a, a.key(), a.key()+" production", a.camp.ids["pg-c"].String(), a.host())
}

func (a *attacker) host() string {
	return anyOf(a, "host-x", "host-a", "HOST-A.", "host-a.example.org", "both", "both.example.org", "host-b", "host-c", "host-c.example.org", "host-m", "db-d", "10.0.0.8", "10.0.0.9", "elsewhere")
}

func (a *attacker) who() map[string]string { return anyOf(a, nil, as("agent-a"), as("evil")) }

func (a *attacker) when() time.Time { return a.w.ago(time.Duration(a.rng.IntN(50)-4) * time.Minute) }

// strike sends one message; whatever is answered to it is right, but an error of ours.
func (a *attacker) strike() {
	path, body, header := a.message()
	answer := a.send(path, body, header)
	text, err := json.Marshal(body)
	must(a.w.t, err)
	if a.sent = append(a.sent, fmt.Sprintf("%d %s %.600s", answer.Code, path, text)); len(a.sent) > 60 {
		a.sent = a.sent[1:]
	}
	if answer.Code >= 500 {
		a.w.t.Errorf("%s: %s", a.sent[len(a.sent)-1], answer.Body)
	}
}

func (a *attacker) message() (path string, body any, header map[string]string) {
	labels := members{"alertname": anyOf(a, "Down", "Full", "Slow", "Own"), anyOf(a, "muster_instance", "instance"): a.name(), anyOf(a, "datname", "x"): anyOf(a, "d", "e")}
	alert := members{"labels": labels, "annotations": members{"summary": "evil"}, "startsAt": a.when(), "generatorURL": anyOf(a, "http://p/", "http://evil/")}
	firing := alert.with(members{"status": anyOf(a, "firing", "resolved"), "fingerprint": "aaaaaaaaaaaaaaaa", "endsAt": a.when()})
	scrape := scraped(a.host()+":9100", a.when(), 9, 1)
	if named := a.name(); a.rng.IntN(2) == 0 {
		for i := range scrape {
			scrape[i].Labels["muster_instance"] = named
		}
	}
	version := anyOf(a, "1.0", "2.0")
	pack := func(series ...remotewritetest.Series) any {
		if version == "2.0" {
			return remotewritetest.Pack(remotewritetest.V2Bytes(series...))
		}
		return remotewritetest.Pack(remotewritetest.V1(series...))
	}
	of := members{"instance": a.key(), "at": a.when()}
	switch a.rng.IntN(14) {
	case 0, 1:
		item := a.w.ofInstance(members{"externalId": a.key(), "name": a.name(), "host": anyOf(a, a.host(), a.host(), ""), "active": anyOf[any](a, nil, true, false), "removed": anyOf[any](a, nil, nil, true), "engine": anyOf(a, "postgresql", "postgresql", "sqlserver"),
			"databases": []members{{"externalId": anyOf(a, "d", "e"), "name": anyOf(a, "d", "e"), "createdAt": a.when(), "removed": anyOf(a, false, false, true)}}})
		return fleetPath, fleetBatch(item), nil
	case 2, 3:
		named := []string{}
		for range a.rng.IntN(3) {
			named = append(named, a.key())
		}
		return samplesPath, members{"hosts": []members{a.w.ofHost(members{"host": a.host(), "instances": named, "at": a.when(), "cpuPercent": 99})}}, a.who()
	case 4:
		return samplesPath, members{"sessions": []members{a.w.ofSessions(of)}, "statements": []members{a.w.ofStatements(of)}}, a.who()
	case 5:
		return writePath, pack(scrape...), prometheus[version]
	case 6:
		return writePath, pack(remotewritetest.One(anyOf(a, "pg_up", "mssql_up"), a.when(), float64(a.rng.IntN(2)), "instance", a.host()+":9187", anyOf(a, "muster_instance", "x"), a.name())), prometheus[version]
	case 7:
		at := a.when()
		return otlpPath, memoryOf(a.host(), a.name(), at), nil
	case 8:
		return logsPath, strings.ReplaceAll(eventsOf(a.when()), `"db01"`, fmt.Sprintf("%q", a.host())), a.who()
	case 9:
		return assessmentsPath, sentBatch(members{"instance": a.key(), "at": a.when(), "checks": []members{failing("PG-S01", "/evil"), failing("PG-S02", "/evil")}}), nil
	case 10:
		item := a.w.item(anyOf(a, "disk-full", "a-1", "a-2", "own"), map[string]any{"title": "evil", "instance": anyOf[any](a, nil, a.key()), "database": anyOf[any](a, nil, nil, "d"), "state": anyOf(a, "Open", "Acknowledged")})
		return nativePath, batch(item), nil
	case 11:
		return webhookPath, members{"version": "4", "status": "firing", "receiver": "m", "externalURL": "http://a/", "alerts": []members{firing}}, nil
	case 12:
		if a.rng.IntN(2) == 0 {
			return grafanaPath, members{"version": "1", "status": "firing", "receiver": "m", "orgId": 1, "externalURL": "http://a/", "alerts": []members{firing}}, nil
		}
		return apiPath, []members{alert}, nil
	}
	server := reported(a.key()).with(members{"error": anyOf[any](a, nil, members{"class": "refused", "detail": "evil", "at": a.w.ago(time.Minute)}),
		"missingGrants": anyOf(a, []members{}, []members{{"object": "view pg_stat_activity", "statement": "evil"}}),
		"identity":      members{"engine": "postgresql", "system": anyOf(a, "7", "8"), "process": anyOf(a, "1000", "1001"), "role": anyOf(a, "primary", "standby"), "pooler": ""}})
	return agentsPath, a.w.reportOf("evil", server), anyOf(a, as("agent-a"), as("evil"))
}
