package e2e

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/concurrency/pause"
)

// What clients do, as the table calls it.
const (
	measuring = "samples of agents"
	alerting  = "alerts"
	feeding   = "fleet feed"
	asking    = "reports and downloads"
	reading   = "tiles and lists"
	probing   = "alerts amid a failover"
	looking   = "nginx"
)

// What they are told is kept.
const (
	anAlert     = "alerts"
	anInstance  = "instances"
	aReport     = "requests for reports"
	aHostSample = "samples of hosts, by minute"
	aSessions   = "samples of sessions, by minute"
	aDelta      = "statement deltas, as calls"
	aMail       = "mails"
	aNotice     = "events in notifications"
)

const (
	alertsPath  = "/ingest/v1/alerts"
	samplesPath = "/ingest/v1/samples"
	reportsPath = "/api/v1/reports"
)

// crowd is who is there.
var crowd = []struct {
	does string
	work func(c *caller)
}{
	{measuring, (*caller).measure},
	{alerting, (*caller).alert},
	{feeding, (*caller).feed},
	{asking, (*caller).request},
	{reading, (*caller).read},
}

// loiter is what a client does between two calls.
func (c *caller) loiter() {
	_ = pause.Unless(c.work, time.Duration(c.draw.Int64N(int64(c.size.between)))/2, c.closing)
}

// decode reads an answer, which is wrong where it cannot be read.
func (c *caller) decode(got answer, into any) bool {
	if err := json.Unmarshal(got.body, into); err != nil {
		c.book.wrong("%s is answered what cannot be read (%v): %.400s", c.name(), err, got.body)
		return false
	}
	return true
}

// The past that agents send begins so long ago. Each sample is stepOfSamples after the one
// before, and the last lies before anything that a clock ten minutes slow calls the future.
const (
	pastOfSamples = 20 * time.Hour
	stepOfSamples = 10 * time.Second
	mostSamples   = int((pastOfSamples - time.Hour) / stepOfSamples)
)

// firstSample is when the agents' past begins: amid the first seconds of a minute, so that no
// sample lies on an edge.
func (f *fire) firstSample() time.Time {
	return f.book.began.UTC().Add(-pastOfSamples).Truncate(time.Minute).Add(5 * time.Second)
}

// delta is what one statement did.
type delta struct {
	Key     string `json:"key"`
	Calls   int64  `json:"calls"`
	TotalMs int64  `json:"totalMs"`
}

// measure sends, as an agent does, one sample after the other, each until it is acknowledged.
func (c *caller) measure() {
	instance := instanceOf(c.number)
	for n := 0; c.goesOn() && n < mostSamples; n++ {
		at := c.firstSample().Add(time.Duration(n) * stepOfSamples)
		var deltas []delta
		for key := range 3 {
			calls := 1 + c.draw.Int64N(100)
			deltas = append(deltas, delta{fmt.Sprintf("q%d", key), calls, 5 * calls})
		}
		sample := call{method: http.MethodPost, path: samplesPath, body: map[string]any{
			"hosts": []any{map[string]any{"host": "host-of-" + instance, "instances": []string{instance}, "at": at, "cpuPercent": 1 + c.draw.IntN(99)}},
			"sessions": []any{map[string]any{
				"instance": instance, "database": "orders", "at": at, "active": 3, "idle": 20, "waiting": 1, "idleInTransaction": 0, "other": 0, "waits": map[string]int{"Lock": 1},
			}},
			"statements": []any{map[string]any{"instance": instance, "database": "orders", "at": at, "intervalSeconds": stepOfSamples.Seconds(), "statements": deltas}},
		}}
		minute := instance + " " + at.Truncate(time.Minute).Format(time.RFC3339)
		id := fmt.Sprintf("%s %d", instance, n)
		for what, id := range map[string]string{aHostSample: minute, aSessions: minute, aDelta: id} {
			c.book.offer(what, id, deltas)
		}
		again := c.draw.IntN(8) == 0 // as if the answer had been lost
		for times := 0; times == 0 || again && times == 1; times++ {
			got, ok := c.ask(sample)
			if !ok {
				break
			}
			var taken struct {
				Accepted struct{ Hosts, Sessions, Statements int }
			}
			if !c.decode(got, &taken) {
				break
			}
			if a := taken.Accepted; a.Hosts != 1 || a.Sessions != 1 || a.Statements != 1 {
				c.book.wrong("of a sample of %s at %s are accepted %+v", instance, at, a)
			}
			for what, id := range map[string]string{aHostSample: minute, aSessions: minute, aDelta: id} {
				c.book.take(what, id)
			}
		}
		c.loiter()
	}
}

// alertsOf is a message with alerts that are over, so that nothing piles up.
func alertsOf(ids ...string) map[string]any {
	at := time.Now().UTC().Add(-time.Hour)
	var items []any
	for _, id := range ids {
		items = append(items, map[string]any{
			"externalId": id, "title": "Alert " + id, "severity": "warning", "state": "Resolved",
			"createdAt": at, "firstTriggeredAt": at, "lastTriggeredAt": at, "resolvedAt": at,
		})
	}
	return map[string]any{"alerts": items}
}

// alert sends batches, and some of them twice.
func (c *caller) alert() {
	for n := 0; c.goesOn(); n++ {
		var ids []string
		for k := range 1 + c.draw.IntN(4) {
			ids = append(ids, fmt.Sprintf("%d-%d-%d", c.number, n, k))
			c.book.offer(anAlert, ids[k], nil)
		}
		send := call{method: http.MethodPost, path: alertsPath, body: alertsOf(ids...)}
		known := c.told(send, "alerts", anAlert, ids)
		if len(known) > 0 && c.draw.IntN(8) == 0 {
			if again := c.told(send, "alerts", anAlert, ids); len(again) > 0 && !slices.Equal(known, again) {
				c.book.wrong("alerts %v have the ids %v, and sent again %v", ids, known, again)
			}
		}
		c.loiter()
	}
}

// told sends what has ids of its own, and returns the ids that it has from then on; none where
// it was not acknowledged.
func (c *caller) told(send call, list, what string, externalIDs []string) (ids []uuid.UUID) {
	got, ok := c.ask(send)
	if !ok {
		return nil
	}
	var recorded map[string][]struct {
		ExternalID string
		ID         uuid.UUID
	}
	if !c.decode(got, &recorded) {
		return nil
	}
	if len(recorded[list]) != len(externalIDs) {
		c.book.wrong("of %d %s %d are acknowledged", len(externalIDs), what, len(recorded[list]))
		return nil
	}
	for n, one := range recorded[list] {
		if one.ExternalID != externalIDs[n] {
			c.book.wrong("%s %s is acknowledged as %s", what, externalIDs[n], one.ExternalID)
		}
		c.book.take(what, externalIDs[n])
		ids = append(ids, one.ID)
	}
	return ids
}

// feed tells of instances: now and then of a new one, else of some again, with another version.
func (c *caller) feed() {
	known := map[string]uuid.UUID{}
	var names []string
	since := c.book.began.UTC().AddDate(0, -1, 0)
	for n := 0; c.goesOn(); n++ {
		if n%5 == 0 {
			names = append(names, fmt.Sprintf("fed-%d-%d", c.number, n))
			c.book.offer(anInstance, names[len(names)-1], nil)
		}
		sent := names[max(0, len(names)-3):]
		var items []any
		for _, name := range sent {
			items = append(items, map[string]any{"externalId": name, "name": name, "engine": "postgresql", "version": fmt.Sprintf("17.%d", n), "createdAt": since})
		}
		ids := c.told(call{method: http.MethodPost, path: "/ingest/v1/fleet", body: map[string]any{"instances": items}}, "instances", anInstance, sent)
		for i, id := range ids {
			if was, ok := known[sent[i]]; ok && was != id {
				c.book.wrong("instance %s was %s and is %s", sent[i], was, id)
			}
			known[sent[i]] = id
		}
		c.loiter()
	}
}

// request asks for reports, each under a key of its own, follows them, asks again as if the
// answer had been lost, and downloads what came of it.
func (c *caller) request() {
	for n := 0; c.goesOn(); n++ {
		key := fmt.Sprintf("%s-%d", c.name(), n)
		do := call{method: http.MethodPost, path: reportsPath, key: key, body: c.wish(n)}
		c.book.offer(aReport, key, uuid.Nil)
		made, answered, ok := c.made(do)
		if ok {
			c.book.offer(aReport, key, made.ID)
			c.book.take(aReport, key)
			found := c.follow(made.ID, answered.header)
			if again, _, ok := c.made(do); ok && again.ID != made.ID {
				c.book.wrong("the key %s made report %s, and asked again, %s", key, made.ID, again.ID)
			}
			if found {
				c.download(made.ID)
			}
		}
		c.loiter()
	}
}

// wish is a scorecard whose window nobody else asks for, or an inventory, which cannot be made.
func (c *caller) wish(n int) wish {
	instance := c.instances[n%len(c.instances)]
	if n%6 == 5 {
		return of("DataInventory", instance)
	}
	w := of("InstanceScorecard", instance)
	to := c.book.began.UTC().Add(-time.Hour).Truncate(time.Minute).Add(-time.Duration(n*c.size.clients[asking]+c.number) * time.Minute)
	from := to.Add(-time.Hour)
	w.Scope.From, w.Scope.To = &from, &to
	w.RecipientIDs = c.recipients[:c.draw.IntN(len(c.recipients)+1)]
	return w
}

// made is the report that a request was answered with.
func (c *caller) made(do call) (row, answer, bool) {
	var made struct{ Report row }
	got, ok := c.ask(do)
	if !ok || !c.decode(got, &made) {
		return row{}, got, false
	}
	if made.Report.ID == uuid.Nil {
		c.book.wrong("a request for a report is answered without one: %.400s", got.body)
		return row{}, got, false
	}
	return made.Report, got, true
}

// looksAtReport is how often somebody looks whether a report is over, who then does something else.
const looksAtReport = 20

// follow waits for a report, and says whether it was found. It may not be where the answer
// said that reads lag, and that of a request which is told the same again does not say.
func (c *caller) follow(id uuid.UUID, answered http.Header) (found bool) {
	var may []string
	if answered.Get("X-Muster-Lagging") == "true" || answered.Get("Idempotency-Replayed") == "true" {
		may = append(may, "not_found")
	}
	for n := 0; c.goesOn() && n < looksAtReport; n++ {
		got, ok := c.ask(call{method: http.MethodGet, path: reportsPath + "/" + id.String(), may: may})
		if !ok {
			return found
		}
		if got.status == http.StatusOK {
			var r row
			found, may = true, nil
			if !c.decode(got, &r) || r.over() {
				return true
			}
		}
		c.loiter()
	}
	return found
}

// download fetches the file of a report, if it has one, and holds it to its digest.
func (c *caller) download(id uuid.UUID) {
	got, ok := c.ask(call{method: http.MethodGet, path: reportsPath + "/" + id.String() + "/download", may: []string{"report_not_ready"}})
	if !ok || got.status != http.StatusOK {
		return
	}
	digest := sha256.Sum256(got.body)
	if want := "sha-256=:" + base64.StdEncoding.EncodeToString(digest[:]) + ":"; got.header.Get("Repr-Digest") != want {
		c.book.wrong("the file of report %s has %d bytes with the digest %s, and says %s", id, len(got.body), want, got.header.Get("Repr-Digest"))
	}
}

// read looks at what the pages show.
func (c *caller) read() {
	now := c.book.began.UTC().Truncate(time.Minute)
	window := func(hours int) string {
		return url.Values{"from": {now.Add(-time.Duration(hours) * time.Hour).Format(time.RFC3339)}, "to": {now.Format(time.RFC3339)}}.Encode()
	}
	paths := []string{
		"/api/v1/health-checks/overview", "/api/v1/metrics/connections", "/api/v1/alerts?pageSize=10", "/api/v1/instances?pageSize=20",
		reportsPath + "?kind=InstanceScorecard", "/api/v1/exports", "/api/v1/statements?pageSize=20&" + window(20),
	}
	for _, tile := range []string{"utilization", "query-performance", "wait-events"} {
		paths = append(paths, "/api/v1/metrics/"+tile+"?bucketSize=1m&"+window(24), "/api/v1/metrics/"+tile+"?bucketSize=1h&"+window(48))
	}
	for c.goesOn() {
		c.ask(call{method: http.MethodGet, path: paths[c.draw.IntN(len(paths))]})
		c.loiter()
	}
}
