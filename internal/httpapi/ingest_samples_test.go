package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"muster/commands/inventory"
	"muster/commands/usecase"
	domain "muster/domain/fleet"
	"muster/internal/httpapi/wire"
	"muster/internal/watch"
)

const samplesPath = "/ingest/v1/samples"

// members are those of a JSON object; a change to nil takes one away.
type members map[string]any

func (m members) with(change members) members {
	out := maps.Clone(m)
	for name, value := range change {
		if out[name] = value; value == nil {
			delete(out, name)
		}
	}
	return out
}

// ofHost is a host on which orders runs, ofSessions and ofStatements are of its
// database d: a minute ago, and what change says.
func (w *world) ofHost(change members) members {
	return members{"host": "db01", "instances": []string{"orders"}, "at": w.ago(time.Minute), "cpuPercent": 41.5, "memoryPercent": 63,
		"volumes": []members{{"mount": "/data", "usedPercent": 71.2}, {"mount": "/boot", "usedPercent": 99}}}.with(change)
}

func (w *world) ofSessions(change members) members {
	return members{"instance": "orders", "database": "d", "at": w.ago(time.Minute), "active": 4, "idle": 20, "waiting": 3, "idleInTransaction": 1, "other": 0,
		"waits": map[string]int{"Lock": 2, "LWLock": 1, "Client": 20}}.with(change)
}

func (w *world) ofStatements(change members) members {
	return members{"instance": "orders", "database": "d", "at": w.ago(time.Minute), "intervalSeconds": 60,
		"statements": []members{ran("q1", 10, 123.4)}}.with(change)
}

func ran(key string, calls int, total float64) members {
	return members{"key": key, "calls": calls, "totalMs": total}
}

// kept is everything that samples leave behind.
func (w *world) kept() string {
	w.t.Helper()
	var out string
	must(w.t, w.deps.DB.Get(&out, `SELECT concat(
    (SELECT count(*) FROM measured_series), ' series, ', (SELECT count(*) FROM raw_samples), ' samples ',
    (SELECT md5(string_agg(series_id || at::text || md5(body), '' ORDER BY series_id, at)) FROM raw_samples), ' ',
    (SELECT count(*) FROM signs), ' signs')`))
	return out
}

const nothingKept = "0 series, 0 samples  0 signs"

// roll makes the series of what has come in.
func (w *world) roll() {
	w.t.Helper()
	for hours := 1; hours > 0; {
		var err error
		hours, err = w.samples.Roll(w.t.Context())
		must(w.t, err)
	}
}

// TestSamples is the native door, from the body to the tiles. A call that comes again,
// or four times at once, changes nothing more.
func TestSamples(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	ids := w.fleetOfThree(w.ours)
	w.fed(w.ours, inventory.Item{ExternalID: "shop", Engine: domain.MySQL, Databases: []inventory.Database{database("d", w.ago(day))}})
	from := w.hourAgo(2)
	then := members{"at": from.Add(5 * time.Minute)}
	body := members{
		"hosts": []members{w.ofHost(then), w.ofHost(then).with(members{"cpuPercent": 90}), w.ofHost(then).with(members{"host": "db02", "instances": []string{}, "cpuPercent": 21.5, "volumes": nil})},
		"sessions": []members{w.ofSessions(nil), w.ofSessions(then), w.ofSessions(then).with(members{"instance": "billing", "waits": map[string]int{"LCK_M_X": 1}}),
			w.ofSessions(then).with(members{"instance": "shop"}), w.ofSessions(members{"instance": "shop", "intervalSeconds": 60.0})},
		"statements": []members{w.ofStatements(then).with(members{"busyMs": 140.5, "statements": []members{ran("q1", 10, 123.4).with(members{"text": "SELECT 'x'"})}}), w.ofStatements(then).with(members{"instance": "shop", "statements": []members{ran("slow", 1, 1e6)}}),
			w.ofStatements(then).with(members{"instance": "billing", "statements": []members{ran("q1", 10, 100).with(members{"maxMs": 40.125}), ran("none", 0, 0)}})},
	}
	const accepted = `{"accepted":{"hosts":3,"sessions":5,"statements":3}}`
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			if got := strings.TrimSpace(in.send(samplesPath, body).is(202).Body.String()); got != accepted {
				t.Errorf("answered %s", got)
			}
		})
	}
	calls.Wait()
	once := w.kept()
	in.send(samplesPath, body).is(202)
	if again := w.kept(); again != once {
		t.Errorf("sent again, there are %s, and were %s", again, once)
	}
	for sort, n := range map[string]float64{"host_sample": 5 * 3, "session_sample": 5 * 5, "statement_sample": 5 * 3} {
		if got := testutil.ToFloat64(w.deps.Metrics.Ingested.WithLabelValues(sort)); got != n {
			t.Errorf("%v of sort %s are counted, want %v", got, sort, n)
		}
	}

	w.roll()
	for tile, want := range map[string]map[string]string{
		"utilization":       {"cpuPercent": "31.5", "memoryPercent": "63", "diskPercent": "71.2"}, // the first content stays: 41.5
		"query-performance": {"avgLatencyMs": "11.17", "maxLatencyMs": "40.125"},
		"wait-events":       {"locks": "3", "lightweightLocks": "1", "io": "0", "clientNetwork": "20", "other": "0"},
	} {
		shown := w.get(w.ours.viewer, metricsPath+tile+hours(from, 1))
		got := map[string]string{}
		for name := range want {
			got[name] = shown.line(name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tile, diff)
		}
	}
	w.clock.Advance(-40 * time.Second) // the sample of a minute ago counts
	if got := w.get(w.ours.viewer, metricsPath+"connections").is(200).object(); got["total"] != 28.0 || got["waiting"] != 3.0 {
		t.Errorf("connections: %v", got)
	}
	if got := w.get(w.ours.viewer, metricsPath+"connections?instanceId="+ids["billing"].String()).is(200).object(); got["total"] != 0.0 {
		t.Errorf("connections of billing, two hours old: %v", got)
	}
	if theirs := w.get(w.theirs.viewer, metricsPath+"utilization"+hours(from, 1)); theirs.line("cpuPercent") != "-" {
		t.Errorf("the others see %s", theirs.Body)
	}
}

// TestSamplesRefused: a call is refused whole, with a pointer to each bad member, and
// leaves nothing behind.
func TestSamplesRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	w.fleetOfThree(w.ours)
	w.fed(w.theirs, inventory.Item{ExternalID: "foreign", Databases: []inventory.Database{database("d", w.ago(day))}})
	w.fed(w.ours, inventory.Item{ExternalID: "gone"})
	w.fed(w.ours, inventory.Item{ExternalID: "gone", Removed: true})
	hosts := func(change ...members) members {
		out := []members{w.ofHost(nil)}
		for _, c := range change {
			out = append(out, w.ofHost(c))
		}
		return members{"hosts": out, "sessions": []members{w.ofSessions(nil)}, "statements": []members{w.ofStatements(nil)}}
	}
	sessions := func(change ...members) members {
		out := []members{w.ofSessions(nil)}
		for _, c := range change {
			out = append(out, w.ofSessions(c))
		}
		return members{"hosts": []members{w.ofHost(nil)}, "sessions": out}
	}
	statements := func(change ...members) members {
		out := []members{w.ofStatements(nil)}
		for _, c := range change {
			out = append(out, w.ofStatements(c))
		}
		return members{"hosts": []members{w.ofHost(nil)}, "statements": out}
	}
	volumes := func(v ...members) members { return members{"volumes": v} }
	long, future, old := strings.Repeat("ä", 300), w.clock.Now().Add(5*time.Minute+time.Second), time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC)
	many := func(n int) map[string]int {
		out := map[string]int{}
		for i := range n {
			out[fmt.Sprint("w", i)] = 1
		}
		return out
	}
	for name, c := range map[string]struct {
		body   any
		status int
		places []string // code and pointer; mostly the first code is the call's
	}{
		"no JSON":                 {`{"hosts":[`, 400, []string{"malformed_json"}},
		"a list":                  {`[]`, 400, []string{"invalid_parameter #"}},
		"an unknown member":       {members{"host": []any{}}, 400, []string{"unknown_field #/host"}},
		"missing members":         {`{"hosts":[{}],"sessions":[{"waits":{}}]}`, 400, []string{"missing_parameter #/hosts/0/at", "missing_parameter #/hosts/0/host", "missing_parameter #/hosts/0/instances", "missing_parameter #/sessions/0/active", "missing_parameter #/sessions/0/at", "missing_parameter #/sessions/0/database", "missing_parameter #/sessions/0/idle", "missing_parameter #/sessions/0/idleInTransaction", "missing_parameter #/sessions/0/instance", "missing_parameter #/sessions/0/other", "missing_parameter #/sessions/0/waiting"}},
		"members of another type": {statements(members{"at": "noon", "intervalSeconds": "60", "busyMs": "1", "statements": []any{members{"key": 1, "calls": 1.5, "totalMs": "1", "maxMs": true, "text": 1}}}), 400, []string{"invalid_parameter #/statements/1/at", "invalid_parameter #/statements/1/busyMs", "invalid_parameter #/statements/1/intervalSeconds", "invalid_parameter #/statements/1/statements/0/calls", "invalid_parameter #/statements/1/statements/0/key", "invalid_parameter #/statements/1/statements/0/maxMs", "invalid_parameter #/statements/1/statements/0/text", "invalid_parameter #/statements/1/statements/0/totalMs"}},
		"times that are none":     {sessions(members{"at": "2026-11-20 10:00:00Z"}, members{"at": "2026-11-20T10:00:00"}), 400, []string{"invalid_parameter #/sessions/1/at", "invalid_parameter #/sessions/2/at"}},

		"times":          {hosts(members{"at": future}, members{"at": old}, members{"at": "0001-01-01T00:00:00Z"}), 422, []string{"time_in_future #/hosts/1/at", "out_of_range #/hosts/2/at", "out_of_range #/hosts/3/at"}},
		"percentages":    {hosts(members{"cpuPercent": 100.001, "memoryPercent": -0.001}, volumes(members{"mount": "/", "usedPercent": 101})), 422, []string{"out_of_range #/hosts/1/cpuPercent", "out_of_range #/hosts/1/memoryPercent", "out_of_range #/hosts/2/volumes/0/usedPercent"}},
		"infinity":       {hosts(members{"cpuPercent": json.Number("1e999"), "memoryPercent": json.Number("-1e999")}), 422, []string{"out_of_range #/hosts/1/cpuPercent", "out_of_range #/hosts/1/memoryPercent"}},
		"and no number":  {hosts(members{"cpuPercent": json.Number("1e999"), "memoryPercent": "NaN"}), 400, []string{"out_of_range #/hosts/1/cpuPercent", "invalid_parameter #/hosts/1/memoryPercent"}},
		"U+0000":         {hosts(members{"host": ""}, members{"host": "a\x00b"}), 422, []string{"out_of_range #/hosts/2/host"}}, // before any rule
		"names of hosts": {hosts(members{"host": ""}, members{"host": strings.Repeat("ä", 255)}, members{"host": strings.Repeat("ä", 256)}), 422, []string{"out_of_range #/hosts/1/host", "out_of_range #/hosts/3/host"}},
		"an empty host":  {hosts(members{"cpuPercent": nil, "memoryPercent": nil, "volumes": nil}), 422, []string{"out_of_range #/hosts/1"}},
		"mounts": {hosts(volumes(members{"mount": "", "usedPercent": 1}, members{"mount": strings.Repeat("ä", 128), "usedPercent": 1}, members{"mount": "/a", "usedPercent": 1}, members{"mount": "/a", "usedPercent": 2})), 422,
			[]string{"out_of_range #/hosts/1/volumes/0/mount", "out_of_range #/hosts/1/volumes/1/mount", "duplicate_key #/hosts/1/volumes/3/mount"}},
		"many of everything": {members{
			"hosts":    []members{w.ofHost(members{"instances": slices.Repeat([]string{"orders"}, 101), "volumes": slices.Repeat([]members{{"mount": "/a", "usedPercent": 1}}, 301)})},
			"sessions": []members{w.ofSessions(members{"waits": many(300)}), w.ofSessions(members{"waits": many(301)})},
		}, 422, []string{"out_of_range #/hosts/0/instances", "out_of_range #/hosts/0/volumes", "out_of_range #/sessions/1/waits"}},
		"counts": {sessions(members{"active": -1, "idle": json.Number("1e13"), "waiting": 1 << 40, "idleInTransaction": json.Number("2.0"), "other": json.Number("1e999")}), 422,
			[]string{"out_of_range #/sessions/1/other"}},
		"counts of sessions": {sessions(members{"active": -1, "idle": json.Number("1e13"), "waiting": 1 << 40, "idleInTransaction": json.Number("2.0")}), 422,
			[]string{"out_of_range #/sessions/1/active", "out_of_range #/sessions/1/idle"}},
		"waits": {sessions(members{"waits": map[string]int{"": 1, "Lock": -1, "a/b~c": -2, long: 1, "a\x00b": 1}}), 422,
			[]string{"out_of_range #/sessions/1/waits/", "out_of_range #/sessions/1/waits/Lock", "out_of_range #/sessions/1/waits/a\x00b", "out_of_range #/sessions/1/waits/a~1b~0c", "out_of_range #/sessions/1/waits/" + long}},
		"intervals": {members{
			"sessions":   []members{w.ofSessions(members{"intervalSeconds": 0}), w.ofSessions(members{"intervalSeconds": 604_800}), w.ofSessions(members{"intervalSeconds": 604_801})},
			"statements": []members{w.ofStatements(members{"intervalSeconds": -60}), w.ofStatements(members{"intervalSeconds": 0.0001})},
		}, 422, []string{"out_of_range #/sessions/0/intervalSeconds", "out_of_range #/sessions/2/intervalSeconds", "out_of_range #/statements/0/intervalSeconds", "out_of_range #/statements/1/intervalSeconds"}},
		"texts":      {statements(members{"statements": []members{ran("a", 1, 1).with(members{"text": "a\x00b"})}}), 422, []string{"out_of_range #/statements/1/statements/0/text"}},
		"busy times": {statements(members{"busyMs": -1}, members{"busyMs": json.Number("1e16")}), 422, []string{"out_of_range #/statements/1/busyMs", "out_of_range #/statements/2/busyMs"}},
		"statements": {statements(members{"statements": []members{ran("a", 1, 1), ran("", 1, 1), ran("a", 2, 2), ran(long, 1, 1), ran("c", -1, -0.5), ran("d", 1, 1e16), ran("e", 1, 1).with(members{"maxMs": -1})}}), 422,
			[]string{"out_of_range #/statements/1/statements/1/key", "duplicate_key #/statements/1/statements/2/key", "out_of_range #/statements/1/statements/3/key", "out_of_range #/statements/1/statements/4/calls", "out_of_range #/statements/1/statements/4/totalMs", "out_of_range #/statements/1/statements/5/totalMs", "out_of_range #/statements/1/statements/6/maxMs"}},
		"nobody knows them": {members{
			"hosts":      []members{w.ofHost(members{"instances": []string{"orders", "nobody", "gone", "foreign", ""}})},
			"sessions":   []members{w.ofSessions(members{"instance": "nobody"}), w.ofSessions(members{"database": "nothing"}), w.ofSessions(members{"instance": "foreign"})},
			"statements": []members{w.ofStatements(members{"instance": "Orders"}), w.ofStatements(members{"database": "D"}), w.ofStatements(members{"instance": "gone"})},
		}, 422, []string{"unknown_instance #/hosts/0/instances/1", "unknown_instance #/hosts/0/instances/2", "unknown_instance #/hosts/0/instances/3", "unknown_instance #/hosts/0/instances/4",
			"unknown_instance #/sessions/0/instance", "unknown_database #/sessions/1/database", "unknown_instance #/sessions/2/instance",
			"unknown_instance #/statements/0/instance", "unknown_database #/statements/1/database", "unknown_instance #/statements/2/instance"}},
		"everything at once": {members{
			"hosts":      []members{w.ofHost(members{"cpuPercent": 101})},
			"sessions":   []members{w.ofSessions(members{"at": future, "database": "x"})},
			"statements": []members{w.ofStatements(members{"statements": []members{ran("a", 1, 1), ran("a", 1, 1)}})},
		}, 422, []string{"out_of_range #/hosts/0/cpuPercent", "time_in_future #/sessions/0/at", "unknown_database #/sessions/0/database", "duplicate_key #/statements/0/statements/1/key"}},
		"too many items": {members{"hosts": slices.Repeat([]members{w.ofHost(nil)}, 5000), "sessions": slices.Repeat([]members{w.ofSessions(nil)}, 4000), "statements": slices.Repeat([]members{w.ofStatements(nil)}, 1001)},
			422, []string{"too_many_items #"}},
	} {
		p := in.send(samplesPath, c.body)
		code, _, _ := strings.Cut(c.places[0], " ")
		if c.status == 400 && code == "out_of_range" { // what cannot be read comes first
			code = "invalid_parameter"
		}
		var got []string
		for _, e := range p.problem(c.status, code).Errors {
			got = append(got, e.Code+" "+e.Pointer)
		}
		if got == nil {
			got = []string{code}
		}
		if diff := cmp.Diff(c.places, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if kept := w.kept(); kept != nothingKept {
			t.Fatalf("%s: a refused call left %s", name, kept)
		}
	}

	flood := in.send(samplesPath, statements(members{"statements": slices.Repeat([]members{ran("", -1, -1)}, 5000)})).problem(422, "out_of_range")
	if len(flood.Errors) != wire.MaxFaults || !strings.HasPrefix(flood.Detail, "At least") {
		t.Errorf("of three faults each in 5,000 statements, %d are told: %s", len(flood.Errors), flood.Detail)
	}
	in.send(samplesPath, bomb(t, " ", 5<<20), map[string]string{"Content-Encoding": "gzip"}).problem(413, "body_too_large")
	if kept := w.kept(); kept != nothingKept {
		t.Errorf("refused calls left %s", kept)
	}
	packed, err := json.Marshal(hosts())
	must(t, err)
	in.send(samplesPath, zipped(t, packed), map[string]string{"Content-Encoding": "gzip"}).is(202)
	if got := strings.TrimSpace(in.send(samplesPath, `{}`).is(202).Body.String()); got != `{"accepted":{"hosts":0,"sessions":0,"statements":0}}` {
		t.Errorf("an empty call is answered with %s", got)
	}
}

// TestSamplesTooLate: what falls into a sealed hour is dropped and counted, beside the
// others of its call.
func TestSamplesTooLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	w.fleetOfThree(w.ours)
	then := members{"at": w.hourAgo(100).Add(time.Minute)}
	in.send(samplesPath, members{"hosts": []members{w.ofHost(then)}, "sessions": []members{w.ofSessions(then)}}).is(202)
	w.roll()
	w.exec(`UPDATE measured_hours SET arrived_at = arrived_at - interval '73 hours'`)
	w.exec(`INSERT INTO intake_presence (seen_at, back_at) VALUES (now(), now() - interval '7 hours')`)
	for sealed := 1; sealed > 0; {
		var err error
		sealed, err = w.samples.Seal(t.Context())
		must(t, err)
	}
	late := members{"at": w.hourAgo(100).Add(2 * time.Minute)}
	got := in.send(samplesPath, members{
		"hosts":      []members{w.ofHost(late), w.ofHost(nil), w.ofHost(late).with(members{"host": "db02"})},
		"sessions":   []members{w.ofSessions(late), w.ofSessions(then), w.ofSessions(then).with(members{"instance": "billing"})},
		"statements": []members{w.ofStatements(late)},
	}).is(202)
	if text := strings.TrimSpace(got.Body.String()); text != `{"accepted":{"hosts":2,"sessions":1,"statements":1}}` {
		t.Errorf("answered %s", text)
	}
	if n := testutil.ToFloat64(w.deps.Metrics.IngestDropped.WithLabelValues(samplesPath, "too_late")); n != 3 {
		t.Errorf("%v are counted as too late", n)
	}
}

// TestSamplesOfALimitedToken: such a token writes of its instances, and finds out
// nothing of the others.
func TestSamplesOfALimitedToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.fleetOfThree(w.ours)
	adrift := w.fed(w.ours, inventory.Item{ExternalID: "adrift"})["adrift"]
	in, all := sender{w, w.ingestToken(w.ours.admin, ids["orders"], adrift)}, sender{w, w.ingestToken(w.ours.admin)}
	w.fed(w.ours, inventory.Item{ExternalID: "gone"})
	all.send(samplesPath, members{"hosts": []members{w.ofHost(members{"host": "db08", "instances": []string{"billing"}}), w.ofHost(members{"host": "db09", "instances": []string{"gone"}}),
		w.ofHost(members{"host": "db10", "instances": []string{"billing", "orders"}})}}).is(202)
	w.fed(w.ours, inventory.Item{ExternalID: "gone", Removed: true})
	for name, c := range map[string]struct {
		body members
		at   string // what is forbidden, all of it; empty: nothing
	}{
		"its own":                            {members{"hosts": []members{w.ofHost(nil)}, "sessions": []members{w.ofSessions(nil)}, "statements": []members{w.ofStatements(nil)}}, ""},
		"sessions of another":                {members{"sessions": []members{w.ofSessions(nil), w.ofSessions(members{"instance": "billing"})}}, "#/sessions/1/instance"},
		"statements of another":              {members{"statements": []members{w.ofStatements(members{"instance": "billing"})}}, "#/statements/0/instance"},
		"of nobody's":                        {members{"statements": []members{w.ofStatements(members{"instance": "nobody"})}}, "#/statements/0/instance"},
		"a host of both":                     {members{"hosts": []members{w.ofHost(members{"instances": []string{"orders", "billing"}})}}, "#/hosts/0/instances/1"},
		"of whoever runs there, its own":     {members{"hosts": []members{w.ofHost(members{"instances": []string{}})}}, ""},
		"of whoever runs there, also others": {members{"hosts": []members{w.ofHost(members{"host": "db10", "instances": []string{}})}}, "#/hosts/0/instances"},
		"of whoever runs there, nobody":      {members{"hosts": []members{w.ofHost(members{"host": "db78", "instances": []string{}})}}, "#/hosts/0/instances"},
		"several at once": {members{"hosts": []members{w.ofHost(members{"instances": []string{"billing", "orders", "nobody"}}), w.ofHost(nil), w.ofHost(members{"host": "db02"})},
			"sessions": []members{w.ofSessions(members{"instance": "billing"}), w.ofSessions(nil)}, "statements": []members{w.ofStatements(members{"instance": "nobody"})}},
			"#/hosts/0/instances/0 #/hosts/0/instances/2 #/hosts/2/host #/sessions/0/instance #/statements/0/instance"},
		"another's host under its own name": {members{"hosts": []members{w.ofHost(members{"host": "db02"})}}, "#/hosts/0/host"},
		"what samples say is another's":     {members{"hosts": []members{w.ofHost(nil), w.ofHost(members{"host": "db08"})}}, "#/hosts/1/host"},
		"what samples say is both's":        {members{"hosts": []members{w.ofHost(members{"host": "db10"})}}, "#/hosts/0/host"},
		"what was of one that is removed":   {members{"hosts": []members{w.ofHost(members{"host": "db09"})}}, "#/hosts/0/host"},
		"a host that nobody knows":          {members{"hosts": []members{w.ofHost(members{"host": "db77"})}}, "#/hosts/0/host"},
		"the first host of its own":         {members{"hosts": []members{w.ofHost(members{"host": "db79", "instances": []string{"adrift"}})}}, ""},
		"its own, and bad":                  {members{"sessions": []members{w.ofSessions(members{"instance": "billing", "active": -1})}}, "#/sessions/0/instance"},
	} {
		before := w.kept()
		a := in.send(samplesPath, c.body)
		if c.at == "" {
			a.is(202)
			continue
		}
		if got := a.problem(403, "outside_token").places(); !slices.Equal(got, bodyPlaces("", c.at, "outside_token")) {
			t.Errorf("%s: %v", name, got)
		}
		if after := w.kept(); after != before {
			t.Errorf("%s: %s became %s", name, before, after)
		}
	}
	in.send(samplesPath, members{"sessions": []members{w.ofSessions(members{"database": "x", "active": -1})}}).problem(422, "out_of_range")
}

// TestSamplesOfANewInstance: what was registered a moment ago can be measured at once
// (readings, 34), and where the read model does not follow, the sender comes again.
func TestSamplesOfANewInstance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	register := func(key string) {
		t.Helper()
		_, _, err := w.deps.Commands.RecordFleet(t.Context(), asFeed(w.ours), []inventory.Item{{ExternalID: key, Name: key, Engine: domain.PostgreSQL,
			Databases: []inventory.Database{database("d", w.ago(day))}}})
		must(t, err)
	}
	of := func(key string) members {
		return members{"sessions": []members{w.ofSessions(members{"instance": key})}}
	}
	for i := range 5 {
		key := fmt.Sprint("new-", i)
		register(key)
		in.send(samplesPath, of(key)).is(202)
	}
	w.stopProjections()
	register("late")
	before := w.kept()
	a := in.send(samplesPath, of("late"))
	if a.problem(503, "unavailable"); a.Header().Get("Retry-After") == "" {
		t.Error("the sender is not told when to come again")
	}
	in.send(samplesPath, of("new-0")).is(202) // what is known is not waited for
	if after := w.kept(); after != before {
		t.Errorf("%s became %s", before, after)
	}
}

// alertsOf are titles and states of the watch's alerts, the newest last.
func (w *world) alertsOf() []string {
	w.t.Helper()
	out := []string{}
	for _, a := range w.listed(w.ours.viewer, "") {
		out = append(out, a.Title+": "+a.State)
	}
	slices.Sort(out)
	return out
}

// TestSamplesAreWatched: what comes in over HTTP raises alerts and resolves them, and
// what stays away raises one.
func TestSamplesAreWatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := sender{w, w.ingestToken(w.ours.admin)}
	w.fleetOfThree(w.ours)
	guard := &watch.Watch{DB: w.deps.DB, Events: w.deps.Events, Organizations: w.deps.Accounts, Fleet: w.deps.Fleet, Waiter: w.deps.Waiter,
		Alerts: w.deps.Commands, Now: w.clock.Now, Log: w.deps.Log,
		Recorded: func(_ context.Context, m usecase.Mark) { w.settle(m) }}
	w.exec(`UPDATE watch_state SET listening_since = $1, listened_at = $2`, w.ago(time.Hour), w.ago(-24*time.Hour))
	seen := func(want map[string]time.Time) {
		t.Helper()
		got := map[string]time.Time{}
		for _, row := range w.get(w.ours.viewer, "/api/v1/instances").is(200).object()["items"].([]any) {
			listed := row.(map[string]any)
			if one := w.get(w.ours.viewer, "/api/v1/instances/"+listed["id"].(string)).is(200).object(); one["lastSeenAt"] != listed["lastSeenAt"] {
				t.Errorf("%s was seen at %v, and in the list at %v", one["name"], one["lastSeenAt"], listed["lastSeenAt"])
			}
			if text, ok := listed["lastSeenAt"].(string); ok {
				at, err := time.Parse(time.RFC3339Nano, text)
				must(t, err)
				got[listed["name"].(string)] = at
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lastSeenAt (-want +got):\n%s", diff)
		}
	}
	filled := func(percent float64) members {
		return members{"hosts": []members{
			w.ofHost(members{"volumes": []members{{"mount": "/data", "usedPercent": percent}, {"mount": "/boot", "usedPercent": 99}}}),
			w.ofHost(members{"host": "db02", "instances": []string{}, "volumes": []members{{"mount": "/logs", "usedPercent": percent}}}),
		}}
	}
	longAgo := members{"at": w.ago(30 * day)}
	past := members{"hosts": []members{w.ofHost(longAgo).with(members{"volumes": []members{{"mount": "/data", "usedPercent": 99.9}}})},
		"sessions": []members{w.ofSessions(longAgo)}, "statements": []members{w.ofStatements(longAgo)}}
	judged := func(want ...string) {
		t.Helper()
		_, err := guard.Judge(t.Context())
		must(t, err)
		slices.Sort(want)
		if diff := cmp.Diff(want, w.alertsOf()); diff != "" {
			t.Errorf("alerts (-want +got):\n%s", diff)
		}
	}
	in.send(samplesPath, past).is(202)
	judged([]string{}...)
	seen(map[string]time.Time{})
	in.send(samplesPath, filled(96.5)).is(202)
	judged("orders: volume /data is 96.5 % full: Open", "billing: volume /logs is 96.5 % full: Open")
	w.clock.Advance(time.Minute)
	in.send(samplesPath, filled(40)).is(202)
	resolved := []string{"orders: volume /data is 96.5 % full: AutoResolved", "billing: volume /logs is 96.5 % full: AutoResolved"}
	judged(resolved...)

	seen(map[string]time.Time{}) // a host lives on without its servers
	now := members{"at": w.ago(0)}
	in.send(samplesPath, members{"sessions": []members{w.ofSessions(now), w.ofSessions(now.with(members{"instance": "billing"}))}}).is(202)
	heard := w.clock.Now()
	seen(map[string]time.Time{"orders": heard, "billing": heard})
	w.clock.Advance(4 * time.Minute)
	in.send(samplesPath, members{"sessions": []members{w.ofSessions(members{"instance": "billing", "at": w.ago(0)})}}).is(202)
	in.send(samplesPath, past).is(202)
	seen(map[string]time.Time{"orders": heard, "billing": w.clock.Now()})
	w.clock.Advance(2 * time.Minute)
	silent := "orders: silent since " + heard.Format("2006-01-02 15:04") + " UTC: "
	judged(append(resolved, silent+"Open")...)
	in.send(samplesPath, members{"statements": []members{w.ofStatements(members{"at": w.ago(0)})}}).is(202)
	w.clock.Advance(time.Second)
	judged(append(resolved, silent+"AutoResolved")...)
}
