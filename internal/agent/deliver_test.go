package agent

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/inspection"
	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// call is one as the server gets it.
type sentCall struct{ path, body string }

func (c sentCall) String() string { return c.path + " " + c.body }

// answer is what the server says to one.
type answer func(w http.ResponseWriter, c sentCall)

func taken(w http.ResponseWriter, c sentCall) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(answers[c.path])
	if answers[c.path] != http.StatusNoContent {
		_, _ = io.WriteString(w, "{}")
	}
}

// refused is a problem with a code; errors are "code pointer".
func refused(status int, code string, errors ...string) answer {
	return func(w http.ResponseWriter, _ sentCall) {
		p := Problem{Code: code}
		for _, e := range errors {
			of, pointer, _ := strings.Cut(e, " ")
			p.Errors = append(p.Errors, FieldError{Pointer: pointer, Code: of, Detail: "planted"})
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(p)
	}
}

// exhausted is a refusal because of a budget, with an hour to wait.
func exhausted(budget string) answer {
	return func(w http.ResponseWriter, _ sentCall) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		_ = json.NewEncoder(w).Encode(Problem{Code: "budget_exhausted", Budget: &Budget{Name: budget}})
	}
}

func page(status int, header ...string) answer {
	return func(w http.ResponseWriter, _ sentCall) {
		w.Header().Set("Content-Type", "text/html")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<html>a page</html>")
	}
}

func cutOff(w http.ResponseWriter, c sentCall) {
	w.Header().Set("Content-Length", "1000")
	taken(w, c)
	panic(http.ErrAbortHandler)
}

func hang(http.ResponseWriter, sentCall) { panic(http.ErrAbortHandler) }

// bench is an agent and the server that it sends to.
type bench struct {
	*Agent
	t        testing.TB
	calls    []sentCall
	buffered []string // bodies of calls that say that they waited
	answers  []answer // one after the other, the last one for ever
	prepare  func(directory string)
	log      strings.Builder
}

const oneServer = "name: here\ndirectory: %s\nservers:\n  - {name: db, engine: postgresql, dsn: \"postgres://u@db.example.org/d\"}\n"

func newBench(t testing.TB, answers ...answer) *bench {
	t.Helper()
	return newBenchWith(t, func(string) {}, answers...)
}

// newBenchWith is one whose directory has something before the agent opens it.
func newBenchWith(t testing.TB, prepare func(directory string), answers ...answer) *bench {
	t.Helper()
	b := &bench{t: t, answers: answers, prepare: prepare}
	server := httptest.NewServer(http.HandlerFunc(b.serve))
	t.Cleanup(server.Close)
	b.open(server.URL, nil)
	return b
}

func (b *bench) open(server string, client *http.Client) {
	t := b.t
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "token"), []byte("planted-token\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "agent.yaml"), fmt.Appendf(nil, oneServer, filepath.Join(dir, "buffer")), 0o600))
	if b.prepare != nil {
		b.prepare(filepath.Join(dir, "buffer"))
	}
	config, err := ReadConfig(filepath.Join(dir, "agent.yaml"), os.LookupEnv)
	must(t, err)
	u, err := url.Parse(server)
	must(t, err)
	b.Agent, err = Open(Options{
		Config: config, Server: u, TokenFile: filepath.Join(dir, "token"), Version: "1", Client: client,
		Engines: func(func() time.Time) map[fleet.Engine]measure.Engine { return nil },
		Log:     slog.New(slog.NewTextHandler(&b.log, nil)),
	})
	must(t, err)
	t.Cleanup(func() { must(t, b.Close()) })
}

func (b *bench) serve(w http.ResponseWriter, r *http.Request) {
	unpacked, err := gzip.NewReader(r.Body)
	if err != nil {
		b.t.Error(err)
		return
	}
	body, err := io.ReadAll(unpacked)
	if err != nil || r.Header.Get("Authorization") != "Bearer planted-token" || r.Header.Get("X-Muster-Sender") != b.sender.id {
		b.t.Errorf("%v: %v", err, r.Header)
	}
	c := sentCall{r.URL.Path, string(body)}
	b.calls = append(b.calls, c)
	if r.Header.Get("X-Muster-Buffered") == "true" {
		b.buffered = append(b.buffered, c.body)
	}
	answer := b.answers[0]
	if len(b.answers) > 1 {
		b.answers = b.answers[1:]
	}
	answer(w, c)
}

// deliverAll sends until nothing is left that does not wait, or the server is away.
func (b *bench) deliverAll() error {
	b.t.Helper()
	for range 100 {
		if more, err := b.deliverNext(b.t.Context()); err != nil || !more {
			return err
		}
	}
	b.t.Fatal("it has no end")
	return nil
}

// holds compares what the agent has, and what it has dropped.
func (b *bench) holds(records int64, facts, refused int, dropped string) {
	b.t.Helper()
	f := b.store.checked(b.t)
	var counted []string
	for _, why := range slices.Sorted(maps.Keys(f.Dropped)) {
		counted = append(counted, why+" "+strconv.FormatInt(f.Dropped[why], 10))
	}
	if got := strings.Join(counted, ", "); f.Records != records || f.Facts != facts || f.Refused != refused || got != dropped {
		b.t.Errorf("%d records, %d facts, %d refused, dropped %q; want %d, %d, %d, %q", f.Records, f.Facts, f.Refused, got, records, facts, refused, dropped)
	}
}

// sent compares the calls since the last time.
func (b *bench) sent(want ...string) {
	b.t.Helper()
	var got []string
	for _, c := range b.calls {
		got = append(got, strings.TrimPrefix(c.String(), "/ingest/v1/"))
	}
	b.calls = nil
	if !slices.Equal(got, want) {
		b.t.Errorf("sent %q\nwant %q", got, want)
	}
}

func hostOf(at time.Time, instances ...string) record {
	list := append([]string{}, instances...)
	body, _ := json.Marshal([]map[string]any{{"host": "db01", "instances": list, "at": at, "cpuPercent": 1}})
	return record{Kind: hosts, At: at, Body: body}
}

func statementsOf(server string, at time.Time, body string) record {
	return record{Kind: statements, Server: server, At: at, Body: []byte("[" + body + "]")}
}

// TestUnacknowledgedRecordsAreSentAgain, whatever failed other than the server's own refusal, and no accepted
// record is sent twice.
func TestUnacknowledgedRecordsAreSentAgain(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]answer{
		"away": refused(503, "unavailable"), "overloaded": refused(429, "rate_limited"), "revoked": refused(401, "token_revoked"), "a budget of bytes": exhausted("bytes"),
		"may not send": refused(403, "forbidden"), "failed": refused(500, "internal_error"), "elsewhere": page(301, "Location", "https://elsewhere.example/"),
		"a page": page(200), "another's 202": page(202), "another's 204": page(204), "a page not found": page(404),
		"a bad gateway": page(502), "a proxy's 400": page(400), "a proxy's 403": page(403), "a proxy's 409": page(409), "a proxy's 422": page(422),
		"cut off": cutOff, "hung up": hang, "late": refused(408, "request_timeout"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, bad, bad, bad, taken)
			now := time.Now()
			b.store.mustKeep(t, factOf(fleetFact, "db", `"F"`), statementsOf("db", now, "1"), statementsOf("db", now, "2"))
			for range 3 {
				if err := b.deliverAll(); err == nil {
					t.Error("no error says so")
				}
				b.holds(2, 1, 0, "")
			}
			must(t, b.deliverAll())
			fact, samples := `fleet "F"`, `samples {"statements":[1,2]}`
			b.sent(fact, fact, fact, fact, samples)
			b.holds(0, 0, 0, "")
			b.answers = []answer{bad}
			b.store.mustKeep(t, statementsOf("db", now, "3"), statementsOf("db", now, "4"))
			if err := b.deliverAll(); err == nil {
				t.Error("no error says so")
			}
			b.holds(2, 0, 0, "")
		})
	}
}

// TestFactsWaitForTheirBudget and measurements, which it does not bound, go on: neither is lost, and
// the server is not asked again before it said.
func TestFactsWaitForTheirBudget(t *testing.T) {
	t.Parallel()
	b := newBench(t, exhausted("events"), taken)
	b.store.mustKeep(t, factOf(fleetFact, "db", `"F"`), statementsOf("db", time.Now(), "1"))
	must(t, b.deliverAll())
	must(t, b.deliverAll())
	b.sent(`fleet "F"`, `samples {"statements":[1]}`)
	b.holds(0, 1, 0, "")
	clear(b.waits) // an hour later
	b.answers = []answer{taken}
	must(t, b.deliverAll())
	b.sent(`fleet "F"`)
	b.holds(0, 0, 0, "")
}

// TestADelayedAssessmentStatesItsDelay, so that it still counts for its own time.
func TestADelayedAssessmentStatesItsDelay(t *testing.T) {
	t.Parallel()
	b := newBench(t, taken)
	now := b.Now()
	for body, ago := range map[string]time.Duration{`"waited"`: 2 * bufferedAfter, `"fresh"`: time.Minute} {
		fact := factOf(assessmentFact, "db", body)
		fact.At = now.Add(-ago)
		b.store.mustKeep(t, fact)
	}
	b.store.mustKeep(t, statementsOf("db", now.Add(-2*bufferedAfter), "1"))
	must(t, b.deliverAll())
	if len(b.calls) != 3 || len(b.buffered) != 1 || b.buffered[0] != `"waited"` {
		t.Errorf("of %d calls these say that they waited: %q", len(b.calls), b.buffered)
	}
}

// TestARefusedFactDoesNotBlockOthers. It comes back when it is tried again.
func TestARefusedFactDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]answer{
		"invalid": refused(422, "out_of_range", "out_of_range #/assessments/0/version"), "collected": refused(409, "assessed_by_collector", "assessed_by_collector #/assessments/0/instance"),
		"outside the token's limit": refused(403, "forbidden", "forbidden #/instances/0/externalId"), "too large": page(413), "malformed": refused(400, "malformed_body"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, bad, taken)
			b.store.mustKeep(t, factOf(assessmentFact, "other", `"A"`), statementsOf("db", time.Now(), "1"), factOf(assessmentFact, "db", `"B"`))
			must(t, b.deliverAll())
			b.sent(`assessments "A"`, `samples {"statements":[1]}`, `assessments "B"`)
			b.holds(0, 0, 1, "")
			must(t, b.store.retry())
			must(t, b.deliverAll())
			b.sent(`assessments "A"`)
			b.holds(0, 0, 0, "")
		})
	}
}

// TestRefusedRecordsAreSettled: the records at fault wait or are dropped and counted, by why;
// the rest of the call is sent again at once.
func TestRefusedRecordsAreSettled(t *testing.T) {
	t.Parallel()
	const old, days = -time.Hour, -72 * time.Hour // refused since then; kept while the server was away
	for name, c := range map[string]struct {
		age     time.Duration
		answers []answer
		sent    []string
		left    int64
		dropped string
	}{
		"held":            {0, []answer{refused(409, "instance_held", "instance_held #/statements/1/instance"), taken}, []string{"1,2,3", "1,3"}, 1, ""},
		"held and old":    {days, []answer{refused(409, "instance_held", "instance_held #/statements/1/instance"), taken}, []string{"1,2,3", "1,3"}, 1, ""},
		"unknown and old": {days, []answer{refused(422, "unknown_instance", "unknown_instance #/statements/1/instance"), taken}, []string{"1,2,3", "1,3"}, 1, ""},
		"held for long": {
			old, []answer{refused(409, "instance_held", "instance_held #/statements/1/instance"), taken}, []string{"1,2,3", "1,3"}, 0, "instance_held 1",
		},
		"collected": {
			0, []answer{refused(409, "assessed_by_collector", "assessed_by_collector #/statements/1/instance"), taken}, []string{"1,2,3", "1,3"}, 0, "assessed_by_collector 1",
		},
		"unknown":          {0, []answer{refused(422, "unknown_instance", "unknown_instance #/statements/1/instance"), taken}, []string{"1,2,3", "1,3"}, 1, ""},
		"unknown database": {old, []answer{refused(422, "unknown_database", "unknown_database #/statements/1/database"), taken}, []string{"1,2,3", "1,3"}, 0, "unknown_instance 1"},
		"not of the token": {old, []answer{refused(403, "forbidden", "forbidden #/statements/1/instance"), taken}, []string{"1,2,3", "1,3"}, 0, "forbidden 1"},
		"token widened":    {0, []answer{refused(403, "forbidden", "forbidden #/statements/1/instance"), taken}, []string{"1,2,3", "1,3"}, 1, ""},
		"an older server": {
			days, []answer{refused(400, "unknown_field", "unknown_field #/statements/1/statements/0/own"), taken}, []string{"1,2,3", "1,3"}, 1, "",
		},
		"an older server, for long": {
			old, []answer{refused(400, "unknown_field", "unknown_field #/statements/1/statements/0/own"), taken}, []string{"1,2,3", "1,3"}, 1, "",
		},
		"two at fault": {
			0, []answer{refused(422, "out_of_range", "out_of_range #/statements/0/at", "duplicate_key #/statements/2/statements/7/key"), taken}, []string{"1,2,3", "2"}, 0, "refused 2",
		},
		"nobody says which": {
			0, []answer{refused(422, "too_many_items", "too_many_items #"), taken, refused(422, "x"), taken}, []string{"1,2,3", "1", "2", "3"}, 0, "refused 1",
		},
		"too large together": {0, []answer{page(413), taken}, []string{"1,2,3", "1", "2,3"}, 0, ""},
		"too large, then at fault": {
			0, []answer{page(413), refused(422, "x", "x #/statements/0"), taken}, []string{"1,2,3", "1", "2,3"}, 0, "refused 1",
		},
		"revoked one by one": {0, []answer{refused(422, "x"), taken, refused(401, "token_revoked")}, []string{"1,2,3", "1", "2"}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.answers...)
			at := time.Now().Add(c.age)
			if c.age == old {
				b.refused["3 b"] = refusals{since: at, last: time.Now()}
			}
			b.store.mustKeep(t, statementsOf("a", at, "1"), statementsOf("b", at, "2"), statementsOf("c", at, "3"))
			err := b.deliverAll()
			var p *Problem
			if away := errors.As(err, &p); away != (name == "revoked one by one") {
				t.Errorf("it ended with %v", err)
			}
			var want []string
			for _, items := range c.sent {
				want = append(want, `samples {"statements":[`+items+`]}`)
			}
			b.sent(want...)
			b.holds(c.left, 0, 0, c.dropped)
			if told := strings.Contains(b.log.String(), "the server is older than this agent"); told != strings.HasPrefix(name, "an older server") {
				t.Errorf("the log is\n%s", &b.log)
			}
		})
	}
}

// TestAnUnknownInstanceIsAnnouncedOnce, however many of its records say so, and what waits
// comes after it.
func TestAnUnknownInstanceIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, refused(422, "unknown_instance", "unknown_instance #/sessions/0/instance", "unknown_instance #/statements/0/instance", "unknown_instance #/statements/1/instance"), taken)
	now := time.Now()
	b.store.mustKeep(t, statementsOf("db", now, "1"), statementsOf("db", now, "2"), sessionsOf("db", now, "3"))
	must(t, b.deliverAll())
	if n := len(b.calls); n != 2 || b.calls[1].path != fleetPath || !strings.Contains(b.calls[1].body, `"externalId":"db"`) {
		t.Errorf("sent %q", b.calls)
	}
	b.holds(3, 0, 0, "")
	clear(b.waits)
	b.calls = nil
	must(t, b.deliverAll())
	b.sent(`samples {"sessions":[{"at":"3"}],"statements":[1,2]}`)
	b.holds(0, 0, 0, "")
}

// TestAHostIsSentWithoutUnknownInstances: an instance that the server does not have, or not from this agent,
// takes nothing of its host with it. It is named again once it is known.
func TestAHostIsSentWithoutUnknownInstances(t *testing.T) {
	t.Parallel()
	b := newBench(t, refused(403, "forbidden", "forbidden #/hosts/0/instances/0"), refused(422, "unknown_instance", "unknown_instance #/hosts/0/instances/0"), taken)
	at := time.Now().UTC().Truncate(time.Second)
	b.store.mustKeep(t, hostOf(at, "other", "db", "third"))
	must(t, b.deliverAll())
	of := func(instances string) string {
		return fmt.Sprintf(`samples {"hosts":[{"at":%q,"cpuPercent":1,"host":"db01","instances":[%s]}]}`, at.Format(time.RFC3339), instances)
	}
	if len(b.calls) != 4 || b.calls[3].path != fleetPath { // the announcement comes after what was kept before
		t.Fatalf("sent %q", b.calls)
	}
	b.calls = b.calls[:3]
	b.sent(of(`"other","db","third"`), of(`"db","third"`), of(`"third"`))
	b.holds(0, 0, 0, "")
	b.store.mustKeep(t, hostOf(at, "other", "db", "third"))
	must(t, b.deliverAll())
	b.sent(of(`"db","third"`))
}

// TestALimitedTokenKeepsTheNameOfTheServer: an administrator renamed the server, and it is
// on another host than the agent says. Its databases are still sent.
func TestALimitedTokenKeepsTheNameOfTheServer(t *testing.T) {
	t.Parallel()
	otherwise := func(fields ...string) answer {
		return func(w http.ResponseWriter, _ sentCall) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"code":"outside_token","errors":[`+strings.Join(fields, ",")+`]}`)
		}
	}
	field := func(name, is string) string {
		return fmt.Sprintf(`{"pointer":"#/instances/0/%s","code":"outside_token","params":{"is":%s}}`, name, is)
	}
	renamed, moved := field("name", `"Orders"`), field("host", `"db7"`)
	at := time.Now().UTC().Truncate(time.Second)
	told := func(name, host string) string {
		return fmt.Sprintf(`fleet {"instances":[{"createdAt":%q,"databases":[],"engine":"postgresql","externalId":"db","host":%q,"name":%q}]}`, at.Format(time.RFC3339), host, name)
	}
	fact := factOf(fleetFact, "db", strings.TrimPrefix(told("db", "db.example.org"), "fleet "))
	for name, c := range map[string]struct {
		answers []answer
		sent    []string
		refused int
	}{
		"renamed":           {[]answer{otherwise(renamed), taken}, []string{told("db", "db.example.org"), told("Orders", "db.example.org")}, 0},
		"renamed and moved": {[]answer{otherwise(renamed, moved), taken}, []string{told("db", "db.example.org"), told("Orders", "db7")}, 0},
		"one by one":        {[]answer{otherwise(renamed), otherwise(moved), taken}, []string{told("db", "db.example.org"), told("Orders", "db.example.org"), told("Orders", "db7")}, 0},
		"for ever":          {[]answer{otherwise(renamed)}, []string{told("db", "db.example.org"), told("Orders", "db.example.org")}, 1},
		"another engine":    {[]answer{otherwise(renamed, field("engine", `"oracle"`))}, []string{told("db", "db.example.org")}, 1},
		"not a name":        {[]answer{otherwise(field("name", "7"))}, []string{told("db", "db.example.org")}, 1},
		"an older server":   {[]answer{otherwise(`{"pointer":"#/instances/0/name","code":"outside_token"}`)}, []string{told("db", "db.example.org")}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.answers...)
			b.store.mustKeep(t, fact)
			must(t, b.deliverAll())
			b.sent(c.sent...)
			b.holds(0, 0, c.refused, "")
			if n := strings.Count(b.log.String(), "what Muster has stays"); c.refused == 0 && n != min(len(c.sent)-1, 2) {
				t.Errorf("%d warnings:\n%s", n, b.log.String())
			}
			b.store.mustKeep(t, fact)
			must(t, b.deliverAll())
			if c.refused == 0 {
				b.sent(c.sent[len(c.sent)-1])
			}
		})
	}
}

// TestTheClockOfTheServerCounts if ours is far off, and ours again if it is right.
func TestTheClockOfTheServerCounts(t *testing.T) {
	t.Parallel()
	off := time.Duration(0)
	b := newBench(t, func(w http.ResponseWriter, c sentCall) {
		w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
		taken(w, c)
	})
	apart := func() time.Duration { return time.Until(b.Now()).Round(5 * time.Second) }
	for _, c := range []struct{ off, want time.Duration }{
		{-10 * time.Minute, -10 * time.Minute}, {10 * time.Minute, 10 * time.Minute}, {10*time.Minute + 5*time.Second, 10 * time.Minute},
		{30 * time.Second, 0}, {0, 0}, {-72 * time.Hour, -72 * time.Hour}, {0, 0},
	} {
		off = c.off
		b.store.mustKeep(t, factOf(fleetFact, "db", `"F"`))
		must(t, b.deliverAll())
		if got := apart(); got != c.want {
			t.Errorf("a clock that is %s ahead has samples bear a time %s ahead, want %s", c.off, got, c.want)
		}
	}
	off = -10 * time.Minute
	b.askTheTime(t.Context())
	if got := apart(); got != off {
		t.Errorf("before anything is measured it is %s, want %s", got, off)
	}
	w := b.watched[0]
	must(t, b.announceAll())
	if ahead := time.Until(w.state.CreatedAt).Round(5 * time.Second); ahead != off {
		t.Errorf("what is announced is of %s", w.state.CreatedAt)
	}
}

// TestRecordsFromTheFutureWait until their time has come. Later records do not wait with them: they were
// measured before the server reported that our clock is ahead.
func TestRecordsFromTheFutureWait(t *testing.T) {
	t.Parallel()
	b := newBench(t, taken)
	now := time.Now()
	b.store.mustKeep(t, statementsOf("db", now.Add(time.Hour), "1"), statementsOf("db", now.Add(2*time.Minute), "2"), statementsOf("db", now, "3"))
	must(t, b.deliverAll())
	b.sent(`samples {"statements":[2,3]}`)
	b.skew.Store(int64(time.Hour))
	must(t, b.deliverAll())
	b.sent(`samples {"statements":[1]}`)
}

// logged compares the levels and reasons of the lines that were logged since the last time.
func (b *bench) logged(want ...string) {
	b.t.Helper()
	lines := strings.Split(strings.TrimSuffix(b.log.String(), "\n"), "\n")
	if b.log.Len() == 0 {
		lines = nil
	}
	b.log.Reset()
	ok := len(lines) == len(want)
	for n := range min(len(lines), len(want)) {
		level, rest, _ := strings.Cut(want[n], " ")
		ok = ok && strings.Contains(lines[n], "level="+level) && strings.Contains(lines[n], rest)
	}
	if !ok {
		b.t.Errorf("logged\n%s\nwant %q", strings.Join(lines, "\n"), want)
	}
}

// TestARefusalIsLoggedOnce, however often the server refuses the same, and that it takes it again.
func TestARefusalIsLoggedOnce(t *testing.T) {
	t.Parallel()
	collected := refused(409, "assessed_by_collector", "assessed_by_collector #/statements/0/instance")
	b := newBench(t, collected)
	send := func() {
		t.Helper()
		b.store.mustKeep(t, statementsOf("db", time.Now(), "1"))
		must(t, b.deliverAll())
	}
	send()
	b.logged(`WARN part="statements of db" reason="assessed_by_collector: 409`)
	send()
	send()
	b.logged()
	b.answers = []answer{taken}
	send()
	b.logged(`INFO part="statements of db"`)
	b.answers = []answer{collected}
	send()
	b.logged(`WARN part="statements of db"`)

	b.answers = []answer{refused(422, "out_of_range", "out_of_range #/assessments/0/version")}
	b.store.mustKeep(t, factOf(assessmentFact, "db", `"A"`))
	must(t, b.deliverAll())
	b.logged(`WARN part="assessment of db"`)
	must(t, b.store.retry())
	must(t, b.deliverAll())
	b.logged()
	b.answers = []answer{taken}
	must(t, b.store.retry())
	must(t, b.deliverAll())
	b.logged(`INFO part="assessment of db"`)
}

// TestAFailureToSendIsLoggedOnce, whether the server hangs up or does not answer.
func TestAFailureToSendIsLoggedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, hang, cutOff, hang, refused(503, "unavailable"), hang, refused(503, "unavailable"), taken)
	b.store.mustKeep(t, statementsOf("db", time.Now(), "1"))
	for range 6 {
		_, err := b.deliverNext(t.Context())
		b.complain(t.Context(), err)
	}
	b.logged(`WARN nothing can be sent`, `WARN reason="503 unavailable`)
	must(t, b.deliverAll())
	b.delivery.Mended(t.Context(), "delivery")
	b.logged(`INFO the server takes what is sent again`)
}

// unreachable is an inspector that reaches no server.
type unreachable struct{ inspection.Inspector }

func (unreachable) Assess(context.Context, servers.Target) (snapshot.Assessment, changes.State) {
	return snapshot.Assessment{Outcome: snapshot.OutcomeUnreachable, ErrorClass: servers.ClassRefused, Error: "Connection refused at db.example.org:5432."}, changes.State{}
}

// TestAFailedAssessmentHasItsReason, for the log.
func TestAFailedAssessmentHasItsReason(t *testing.T) {
	t.Parallel()
	b := newBench(t, taken)
	b.Inspectors = map[fleet.Engine]inspection.Inspector{fleet.PostgreSQL: unreachable{}}
	ok, err := b.watched[0].assessOnce(t.Context())
	if refused, is := errors.AsType[*servers.ConnectionError](err); ok || !is || refused.Sentence != "Connection refused at db.example.org:5432." {
		t.Errorf("%t, %v", ok, err)
	}
}

// TestBlockedSessionsAreSent with the sessions. A server of an earlier release takes none of it, and is asked
// for it once a minute, however much there is.
func TestBlockedSessionsAreSent(t *testing.T) {
	t.Parallel()
	b := newBench(t, refused(400, "unknown_field", "unknown_field #/blocking"), taken)
	w := b.watched[0]
	since := noon.Add(-time.Minute)
	who := blocking.Sample{At: noon, Interval: 10 * time.Second, Omitted: 2, Nodes: []blocking.Node{
		{Session: "1", Kind: blocking.Client, Began: &since, User: "bill", Application: "billing", Client: "::1", Database: "shop", State: "idle", Idle: true, Statement: "SELECT <", StatementID: "9", Transaction: &since, Changed: &since},
		{Session: "2", Kind: blocking.Client, Waits: &since, For: []string{"1"}, Lock: "tuple", Mode: "X", Object: "table t", Advisory: true},
	}}
	must(t, w.Record(t.Context(), measurements.Batch{Blocking: []blocking.Sample{who}}, nil))
	must(t, w.Record(t.Context(), measurements.Batch{Blocking: []blocking.Sample{{At: noon, Interval: time.Second, Advisory: true}}}, nil))
	deadlock := blocking.Deadlock{Database: "shop", Victims: []string{"1"}, Count: 1, Seen: true}
	must(t, w.Record(t.Context(), measurements.Batch{Blocking: []blocking.Sample{{At: noon, Interval: time.Second, Deadlock: &deadlock}}}, nil))
	b.store.mustKeep(t, sessionsOf(w.ExternalID, noon, "3"))
	must(t, b.deliverAll())
	const at = `"2026-11-20T11:59:00Z"`
	first := `{"at":"2026-11-20T12:00:00Z","instance":"` + w.ExternalID + `","intervalSeconds":10,"omitted":2,"sessions":[` +
		`{"application":"billing","client":"::1","database":"shop","idleInTransaction":true,"kind":"client","session":"1","startedAt":` + at + `,"state":"idle","stateSince":` + at +
		`,"statement":"SELECT <","statementId":"9","transactionSince":` + at + `,"user":"bill"},` +
		`{"advisory":true,"kind":"client","lock":"tuple","mode":"X","object":"table t","session":"2","waitsFor":["1"],"waitsSince":` + at + `}]}`
	second := `{"advisory":true,"at":"2026-11-20T12:00:00Z","instance":"` + w.ExternalID + `","intervalSeconds":1,"sessions":[]}`
	third := `{"at":"2026-11-20T12:00:00Z","deadlock":{"count":1,"database":"shop","seen":true,"victims":["1"]},"instance":"` + w.ExternalID + `","intervalSeconds":1,"sessions":[]}`
	b.sent(`samples {"sessions":[{"at":"3"}],"blocking":[`+first+`,`+second+`,`+third+`]}`, `samples {"sessions":[{"at":"3"}]}`)
	b.holds(3, 0, 0, "")
}

// TestFiguresOfServersAreSent with the sessions; a server from before takes none of them, and is asked again.
func TestFiguresOfServersAreSent(t *testing.T) {
	t.Parallel()
	b := newBench(t, refused(400, "unknown_field", "unknown_field #/servers"), taken)
	w := b.watched[0]
	must(t, w.Record(t.Context(), measurements.Batch{Servers: []measurements.ServerSample{{At: noon, Figures: []measurements.ServerFigure{
		{Figure: measurements.OldestTransaction, Telling: measurements.Told, Value: 90_000, Holder: &measurements.Holder{
			Session: "17", Doing: measurements.Doing{State: measurements.IdleInTransaction, User: "bill", Application: "billing", Client: "::1", Statement: "q1"},
		}},
		{Figure: measurements.TemporaryBytes, Telling: measurements.Told, Value: 600, Interval: time.Minute},
		{Figure: measurements.NewConnections, Telling: measurements.Denied},
	}}}}, nil))
	b.store.mustKeep(t, sessionsOf(w.ExternalID, noon, "3"))
	must(t, b.deliverAll())
	b.sent(`samples {"sessions":[{"at":"3"}],"servers":[{"at":"2026-11-20T12:00:00Z","figures":[`+
		`{"figure":"oldestTransaction","holder":{"application":"billing","client":"::1","session":"17","state":"idleInTransaction","statement":"q1","user":"bill"},"value":90000},`+
		`{"figure":"temporaryBytes","intervalSeconds":60,"value":600},{"figure":"newConnections","state":"denied"}],"instance":"`+w.ExternalID+`"}]}`, `samples {"sessions":[{"at":"3"}]}`)
	b.holds(1, 0, 0, "")
}
