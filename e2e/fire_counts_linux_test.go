package e2e

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// tally is what is there of what was acknowledged.
type tally struct {
	what                string
	told, unsure, there int
	lost, double, stray []string // acknowledged and not there, there twice, there and never sent
}

// weigh holds what is there, and how often, to what was sent.
func (b *book) weigh(what string, there map[string]int) {
	b.mu.Lock()
	c := tally{what: what, told: len(b.told[what]), unsure: len(b.offered[what]), there: len(there)}
	for _, id := range slices.Sorted(maps.Keys(b.told[what])) {
		if there[id] == 0 {
			c.lost = append(c.lost, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(there)) {
		_, told := b.told[what][id]
		_, offered := b.offered[what][id]
		if there[id] > 1 {
			c.double = append(c.double, id)
		}
		if there[id] > 0 && !told && !offered {
			c.stray = append(c.stray, id)
		}
	}
	b.mu.Unlock()
	b.counted(c)
}

// counted has a tally in the table, and says what is wrong with it.
func (b *book) counted(c tally) {
	b.mu.Lock()
	b.counts = append(b.counts, c)
	b.mu.Unlock()
	for _, bad := range []struct {
		is  string
		ids []string
	}{{"lost", c.lost}, {"double", c.double}, {"from nowhere", c.stray}} {
		if n := len(bad.ids); n > 0 {
			b.wrong("of %d %s that were acknowledged %d are %s: %v", c.told, c.what, n, bad.is, bad.ids[:min(n, 5)])
		}
	}
}

// count waits until everything has settled, and counts.
func (f *fire) count(t *testing.T) {
	t.Helper()
	f.book.reach(0, 1, "counting")
	f.settleNow(t)
	ends := f.wellEnded(t)
	streams := f.streams(t)
	f.settled = time.Now().Add(patience)
	f.weighReports(t, streams)
	f.weighMails(t, streams)
	f.weighKeys(t, anAlert, "alert.raised", func(l line) string { return strings.TrimPrefix(fmt.Sprint(l.Data["key"]), "external/") })
	f.weighKeys(t, anInstance, "instance.registered", func(l line) string { return fmt.Sprint(l.Data["externalId"]) })
	f.weighDeltas(t)
	f.weighMinutes(t, aHostSample, "utilization", "cpuPercent")
	f.weighMinutes(t, aSessions, "wait-events", "locks")
	f.verify(t, streams)
	f.book.note("reports ended %v; muster events verify found every log whole", ends)
}

// followed waits until each log is followed to where its head was when that was asked first.
func (f *fire) followed(t *testing.T) {
	t.Helper()
	var heads []struct {
		Log      string
		Position int64
	}
	eventually(t, "the heads of the logs are read", func() bool {
		return f.db.SelectContext(t.Context(), &heads, `SELECT log, h.position FROM log_head h JOIN checkpoints c USING (log) WHERE c.consumer_group = 'notify'`) == nil
	})
	f.tellable = map[string]int64{}
	for _, h := range heads {
		f.tellable[h.Log] = h.Position
		eventually(t, "notifications have followed the log "+h.Log, func() bool {
			var at int64
			return f.db.GetContext(t.Context(), &at, `SELECT position FROM checkpoints WHERE consumer_group = 'notify' AND log = $1`, h.Log) == nil && at >= h.Position
		})
	}
}

// settleNow is settle for which nothing that failed before waits for its time. It is called
// when there is no reason left to fail.
func (f *fire) settleNow(t *testing.T) {
	t.Helper()
	f.followed(t)
	for left, fewest := -1, -1; left != 0; fewest = left {
		eventually(t, "less is left to build, to mail, to sign or to tell", func() bool {
			f.exec(t, `UPDATE jobs SET due_at = now() WHERE kind IN ('build', 'mail', 'sign', 'notify') AND worker_id = '' AND due_at > now()`)
			err := f.db.GetContext(t.Context(), &left, `SELECT count(*) FROM jobs WHERE dead_at IS NULL AND kind IN ('build', 'mail', 'sign', 'notify')`)
			return err == nil && (left == 0 || fewest < 0 || left < fewest)
		})
	}
}

// weighKeys counts the events of a type by what their sender calls it.
func (f *fire) weighKeys(t *testing.T, what, eventType string, key func(line) string) {
	t.Helper()
	there := map[string]int{}
	for _, e := range f.events(t, "--type", eventType) {
		there[key(e)]++
	}
	f.book.weigh(what, there)
}

// weighReports looks for the report of each key. A scorecard has a window of its own, so
// that two of the same are one request that was taken for two.
func (f *fire) weighReports(t *testing.T, streams map[uuid.UUID][]line) {
	t.Helper()
	same := map[any]int{} // scorecards by what they are of
	codes := map[string]int{}
	for _, stream := range streams {
		for _, e := range stream {
			if e.Type == "report.queued" && e.Data["kind"] == "InstanceScorecard" {
				same[e.Data["fingerprint"]]++
			}
			if e.Type == "report.failed" {
				codes[fmt.Sprint(e.Data["code"])]++
			}
		}
	}
	there, known := map[string]int{}, map[uuid.UUID]bool{}
	f.book.mu.Lock()
	for key, id := range f.book.told[aReport] {
		id := id.(uuid.UUID)
		known[id] = true
		if stream := streams[id]; len(stream) > 0 {
			there[key] = max(1, same[stream[0].Data["fingerprint"]])
		}
	}
	unsure := len(f.book.offered[aReport])
	f.book.mu.Unlock()
	f.book.weigh(aReport, there)
	unknown := 0
	for id := range streams {
		if !known[id] {
			unknown++
		}
	}
	if unknown > unsure {
		f.book.wrong("%d reports are there that nobody was told of, and %d requests were never answered", unknown, unsure)
	}
	if codes["render_failed"] > 0 {
		f.book.wrong("reports failed for %v", codes)
	}
	f.book.note("reports failed for %v", codes)
}

// weighMails looks for the mail of each that the log says was sent. Who gets one twice gets
// the same one.
func (f *fire) weighMails(t *testing.T, streams map[uuid.UUID][]line) {
	t.Helper()
	taken := f.mails.Mails()
	sent := f.holdMails(t, taken)
	there := map[string]int{}
	for _, m := range taken {
		there[strings.Trim(m.Header("Message-Id"), "<>")] = 1 // whoever gets it twice sees one
	}
	c := tally{what: aMail, there: len(there)}
	for _, stream := range streams {
		for _, e := range stream {
			if e.Type != "report.email_sent" {
				continue
			}
			c.told++
			if id := strings.Trim(fmt.Sprint(e.Data["messageId"]), "<>"); there[id] == 0 {
				c.lost = append(c.lost, id)
			}
		}
	}
	f.book.counted(c)
	f.book.note("%d of %d mails were sent twice, with the same Message-ID", sent.repeated, len(taken))
	f.weighNotices(t, sent)
}

// weighNotices looks in the administrator's mails for each event that the rule of the beginning
// tells. That none is named twice or did not happen, holdMails sees.
func (f *fire) weighNotices(t *testing.T, sent sentMails) {
	t.Helper()
	named, omitted := sent.named[f.addresses[0]], sent.omitted[f.addresses[0]]
	c := tally{what: aNotice, there: len(named) + omitted}
	for id, stream := range f.told(t) {
		var severity any
		for _, e := range stream {
			if e.Data["severity"] != nil {
				severity = e.Data["severity"]
			}
			for what, types := range toldAs {
				if e.Type == "alert.changed" || !slices.Contains(types, e.Type) || e.Position > f.tellable[e.Log] || severity == "info" {
					continue
				}
				c.told++
				if key := toldKey(what, id); !named[key] && omitted == 0 {
					c.lost = append(c.lost, key)
				}
			}
		}
	}
	if missing := c.told - c.there; missing > 0 && omitted > 0 {
		c.lost = append(c.lost, fmt.Sprintf("%d of those that are only counted", missing))
	}
	f.book.counted(c)
	for _, address := range f.addresses[1:] {
		if len(sent.named[address]) > 0 {
			f.book.wrong("%s is no administrator and was told of %v", address, slices.Sorted(maps.Keys(sent.named[address]))[:1])
		}
	}
}

// executed is what a statement came to.
type executed struct {
	Key            string
	Calls, TotalMs float64
}

// weighDeltas adds up what was sent of each statement, and holds it to what the API says.
func (f *fire) weighDeltas(t *testing.T) {
	t.Helper()
	c := tally{what: aDelta}
	for agent, instance := range f.instances {
		name := instanceOf(agent)
		told, unsure := f.book.executed(name), f.book.perhapsExecuted(name)
		var there map[string]executed
		fits := func(key string) bool {
			least, is := told[key], there[key]
			most := executed{Calls: least.Calls + unsure[key].Calls, TotalMs: least.TotalMs + unsure[key].TotalMs}
			return is.Calls >= least.Calls-0.5 && is.Calls <= most.Calls+0.5 && is.TotalMs >= least.TotalMs-0.5 && is.TotalMs <= most.TotalMs+0.5
		}
		within(time.Until(f.settled), func() bool { // they are rolled up some seconds later
			there = f.executions(t, instance)
			return !slices.ContainsFunc(slices.Collect(maps.Keys(told)), func(key string) bool { return !fits(key) })
		})
		for _, key := range slices.Sorted(maps.Keys(told)) {
			c.told += int(told[key].Calls)
			c.unsure += int(unsure[key].Calls)
			c.there += int(there[key].Calls)
			is := fmt.Sprintf("%s of %s: sent %+v, there %+v", key, name, told[key], there[key])
			if !fits(key) && (there[key].Calls < told[key].Calls || there[key].TotalMs < told[key].TotalMs) {
				c.lost = append(c.lost, is)
			} else if !fits(key) {
				c.double = append(c.double, is)
			}
		}
	}
	f.book.counted(c)
}

// executed adds up what was acknowledged of an instance, by statement.
func (b *book) executed(instance string) map[string]executed { return b.addUp(b.told, instance) }

// perhapsExecuted adds up what was sent and never answered.
func (b *book) perhapsExecuted(instance string) map[string]executed {
	return b.addUp(b.offered, instance)
}

func (b *book) addUp(sent map[string]map[string]any, instance string) map[string]executed {
	b.mu.Lock()
	defer b.mu.Unlock()
	sums := map[string]executed{}
	for id, deltas := range sent[aDelta] {
		if !strings.HasPrefix(id, instance+" ") {
			continue
		}
		for _, d := range deltas.([]delta) {
			sum := sums[d.Key]
			sums[d.Key] = executed{Key: d.Key, Calls: sum.Calls + float64(d.Calls), TotalMs: sum.TotalMs + float64(d.TotalMs)}
		}
	}
	return sums
}

// window is all of the past that agents sent.
func (f *fire) window(instance uuid.UUID) url.Values {
	return url.Values{
		"instanceId": {instance.String()}, "from": {f.firstSample().Truncate(time.Minute).Format(time.RFC3339)},
		"to": {time.Now().UTC().Format(time.RFC3339)},
	}
}

// executions are the statements of an instance as the API shows them.
func (f *fire) executions(t *testing.T, instance uuid.UUID) map[string]executed {
	t.Helper()
	var page struct{ Items []executed }
	f.replicas[0].client().get(t, "/api/v1/statements?pageSize=100&"+f.window(instance).Encode(), &page)
	there := map[string]executed{}
	for _, one := range page.Items {
		there[one.Key] = one
	}
	return there
}

// weighMinutes looks for the minutes of which a tile shows something.
func (f *fire) weighMinutes(t *testing.T, what, tile, series string) {
	t.Helper()
	var there map[string]int
	missing := func(name string) bool {
		f.book.mu.Lock()
		defer f.book.mu.Unlock()
		for minute := range f.book.told[what] {
			if strings.HasPrefix(minute, name+" ") && there[minute] == 0 {
				return true
			}
		}
		return false
	}
	all := map[string]int{}
	for agent, instance := range f.instances {
		name := instanceOf(agent)
		within(time.Until(f.settled), func() bool { // a tile is kept for half a minute
			there = f.minutes(t, instance, name, tile, series)
			return !missing(name)
		})
		maps.Copy(all, there)
	}
	f.book.weigh(what, all)
}

func (f *fire) minutes(t *testing.T, instance uuid.UUID, name, tile, series string) map[string]int {
	t.Helper()
	var shown struct {
		BucketStarts []time.Time
		Series       map[string][]*float64
	}
	f.replicas[0].client().get(t, "/api/v1/metrics/"+tile+"?bucketSize=1m&"+f.window(instance).Encode(), &shown)
	there := map[string]int{}
	for n, value := range shown.Series[series] {
		if value != nil {
			there[name+" "+shown.BucketStarts[n].Format(time.RFC3339)] = 1
		}
	}
	return there
}

// verify asks `muster verify` about the PDFs of some reports, of all times.
func (f *fire) verify(t *testing.T, streams map[uuid.UUID][]line) {
	t.Helper()
	var ready []uuid.UUID
	for id, stream := range streams {
		if slices.ContainsFunc(stream, func(l line) bool { return l.Type == "report.ready" }) {
			ready = append(ready, id)
		}
	}
	slices.SortFunc(ready, func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) }) // by time
	if len(ready) == 0 {
		f.book.wrong("no report became Ready")
		return
	}
	args, asked := []string{"verify"}, min(f.size.verified, len(ready))
	for n := range asked {
		_, path := f.replicas[n%len(f.replicas)].client().download(t, ready[n*len(ready)/asked])
		args = append(args, path)
	}
	f.must(t, args...)
	f.book.note("muster verify knows %d PDFs as ours and intact", asked)
}

// figure is what a process says of itself.
var figure = regexp.MustCompile(`(?m)^(go_goroutines|process_resident_memory_bytes) (\S+)$`)

// figures are those of each replica.
func (f *fire) figures(t *testing.T) (of []map[string]int64) {
	t.Helper()
	for _, r := range f.replicas {
		one := map[string]int64{}
		for _, found := range figure.FindAllStringSubmatch(string(r.client().get(t, "/metrics", nil).body), -1) {
			value, err := strconv.ParseFloat(found[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			one[found[1]] = int64(value)
		}
		of = append(of, one)
	}
	return of
}

// grown tells how the processes are before and after, and holds them to not having grown
// without end.
func (f *fire) grown(t *testing.T, before []map[string]int64) {
	t.Helper()
	for n, after := range f.figures(t) {
		f.book.note("%s: %d goroutines and %d MiB before, %d and %d MiB after", f.replicas[n].name, before[n]["go_goroutines"],
			before[n]["process_resident_memory_bytes"]>>20, after["go_goroutines"], after["process_resident_memory_bytes"]>>20)
		for name, value := range after {
			if f.size.growth != nil && value > f.size.growth(before[n][name]) {
				f.book.wrong("%s of %s was %d and is %d", name, f.replicas[n].name, before[n][name], value)
			}
		}
	}
}
