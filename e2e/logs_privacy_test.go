package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// TestLogsAndTracesNameNobody: it lives a whole life with all logs and traces on, and then searches every name,
// address, secret and free text of it in the output of the process, in its database's log, and at its
// collector.
func TestLogsAndTracesNameNobody(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	l := newLife(t, c.env()...)
	ana := l.setUp(t)
	recipients := l.people(t, ana)
	program := l.tokens(t, ana)
	l.watches(t, ana)
	report := l.reports(t, ana, recipients)
	l.provider(t)
	metrics := program.send(t, "GET", "/metrics", "")
	l.nonsense(t, ana)
	l.faults(t, ana)
	c.followed(t, report)
	trail := l.events(t, "--stream", report.String())
	for _, e := range l.events(t, "--log", "organization") {
		// A fresh organization gets its first channel and rule after some seconds, of which
		// this life may have enough, and by no request.
		byItself := e.Metadata["actorId"] == "system:notifications"
		if !byItself && e.Metadata["requestId"] == nil {
			t.Errorf("nobody can tell which request %s %d came with: %v", e.Type, e.Position, e.Metadata)
		}
	}
	l.server.stop(t)

	said := map[string]string{
		"standard output": strings.ReplaceAll(l.server.said.String(), l.secrets["the setup link"], ""), // which is there for a person
		"the log":         l.server.logged.String(),
		"the figures":     string(metrics.body),
		"OpenTelemetry":   c.everything(),
	}
	said["the database's log"] = databaseLog(t, l.dir)
	secrets := maps.Clone(planted)
	maps.Copy(secrets, l.secrets)
	for where, text := range said {
		text = strings.ToLower(text) // once: these are megabytes
		for what, secret := range secrets {
			if line := lineWith(text, strings.ToLower(secret)); line != "" {
				t.Errorf("%s holds %s:\n%s", where, what, line)
			}
		}
	}
	l.linesAreObjects(t)
	figuresAreWellMade(t, metrics.body)
	l.oneRequestIsFollowed(t, trail)
}

// databaseLog is what the private database under a data directory has logged.
func databaseLog(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "postgres", "data", "log", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the database has no log: %v", err)
	}
	var log strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		log.Write(text)
	}
	return log.String()
}

// lineWith is the first line that holds something; empty: none does.
func lineWith(text, sought string) string {
	before, after, found := strings.Cut(text, sought)
	if !found {
		return ""
	}
	end, _, _ := strings.Cut(after, "\n")
	return before[strings.LastIndexByte(before, '\n')+1:] + sought + end
}

// linesAreObjects holds the log to its format, and to having been told enough
// for its silence to mean something.
func (l *life) linesAreObjects(t *testing.T) {
	t.Helper()
	seen := map[string]int{}
	for line := range strings.Lines(l.server.logged.String()) {
		var object struct {
			Time  time.Time
			Level string
			Msg   string
		}
		if err := json.Unmarshal([]byte(line), &object); err != nil || object.Time.IsZero() || object.Msg == "" {
			t.Errorf("not a line of the log: %s", line)
		}
		seen[object.Msg]++
	}
	for _, message := range []string{"request", "request failed", "attempt failed", "sign-in at the identity provider came to nothing", "stopped the private server"} {
		if seen[message] == 0 {
			t.Errorf("the log never says %q, only %v", message, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// figuresAreWellMade holds names and labels to Prometheus' conventions, and to
// having no figure for each thing or person there is but the budgets of an organization.
func figuresAreWellMade(t *testing.T, shown []byte) {
	t.Helper()
	faults, err := promlint.New(bytes.NewReader(shown)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Errorf("%s: %s", f.Metric, f.Text)
	}
	for _, name := range []string{"http_request_duration_seconds_count", "http_problems_total", "sign_ins_total", "ingest_items_total",
		"job_duration_seconds_count", "mails_total", "report_duration_seconds_count", "db_connections", "db_waits_total", "jobs", "projection_lag_seconds"} {
		if !regexp.MustCompile(`(?m)^muster_` + name + `[{ ]`).Match(shown) {
			t.Errorf("nothing feeds muster_%s", name)
		}
	}
	for _, series := range regexp.MustCompile(`(?m)^.*[0-9a-f]{8}-[0-9a-f]{4}-.*$`).FindAllString(string(shown), -1) {
		if !regexp.MustCompile(`^muster_budget_used\{.*,organization="[0-9a-f-]{36}"\}`).MatchString(series) { // contract, §30
			t.Errorf("a label holds an id: %s", series)
		}
	}
}

// oneRequestIsFollowed looks for the request in the trail and in the log.
func (l *life) oneRequestIsFollowed(t *testing.T, trail []line) {
	t.Helper()
	correlation := map[any]bool{}
	types := map[string]bool{}
	for _, e := range trail {
		correlation[e.Metadata["correlationId"]] = true
		types[e.Type] = true
		if e.Type == "report.queued" && e.Metadata["requestId"] != callersTrace {
			t.Errorf("the event was caused by %v", e.Metadata)
		}
		if e.Type != "report.queued" && e.Type != "report.downloaded" && e.Metadata["causationId"] == "" {
			t.Errorf("%s has no cause: %v", e.Type, e.Metadata)
		}
	}
	if len(correlation) != 1 || !types["report.email_sent"] && !types["report.emailSent"] {
		t.Errorf("the mail is not joined to the request: %v, %v", correlation, types)
	}
	for _, message := range []string{"request", "attempt failed"} { // the second is of the mail that was deferred
		var found bool
		for line := range strings.Lines(l.server.logged.String()) {
			found = found || strings.Contains(line, `"msg":"`+message+`"`) &&
				strings.Contains(line, `"requestId":"`+callersTrace+`"`) && strings.Contains(line, `"traceId":"`)
		}
		if !found {
			t.Errorf("no line %q says that it belongs to the request", message)
		}
	}
}
