package e2e

import (
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"muster/internal/cli/command"
	"muster/internal/process/telemetry"
	"muster/internal/testing/pgtest"
)

var doorLine = regexp.MustCompile(`msg="health and figures of this process are shown" address=(\S+)`)

// door waits until a process without the API can be looked at, and is ready.
func (r *running) door(t *testing.T) client {
	t.Helper()
	var c client
	eventually(t, "a process without the API is ready", func() bool {
		if r.over() {
			t.Fatalf("serve ended with %d", r.status)
		}
		if found := doorLine.FindStringSubmatch(r.logged.String()); found != nil {
			c.base = "http://" + found[1]
		}
		if c.base == "" {
			return false
		}
		got, err := c.try(t.Context(), http.MethodGet, "/readyz", nil)
		return err == nil && got.status == http.StatusOK
	})
	return c
}

// series are what a scrape shows: name and labels, with the value.
func (c client) series(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(string(c.get(t, "/metrics", nil).body)) {
		if at := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") && at > 0 {
			found[line[:at]] = strings.TrimSpace(line[at:])
		}
	}
	return found
}

// family is a series' name without its labels, and without what histograms append.
func family(series string) string {
	name, _, _ := strings.Cut(series, "{")
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if strings.HasSuffix(name, "_seconds"+suffix) {
			return strings.TrimSuffix(name, suffix)
		}
	}
	return name
}

// TestTheScaleOutLayout starts what docs/runbooks/scale-out.md has: the API here, the
// rest there. Each is scraped, and what docs/operators.md says of each figure holds.
func TestTheScaleOutLayout(t *testing.T) {
	t.Parallel()
	i := install(t)
	email := i.organization(t, "Acme")
	runbook := readText(t, "docs/runbooks/scale-out.md")
	for _, line := range []string{"muster serve --roles api ", "muster serve --roles projections,workers,collectors "} {
		if !strings.Contains(runbook, line) {
			t.Errorf("the runbook does not have %q", line)
		}
	}
	rest := launch(t, nil, append(i.flags(), "serve", "--roles", "projections,workers,collectors", "--ops-listen", "127.0.0.1:0",
		"--witnesses", witnessThatSays(t, func() int { return http.StatusServiceUnavailable }))...)
	api := serving(t, nil, append(i.flags(), "--roles", "api", "--rate-limits=off")...)
	there := rest.door(t)
	here := i.as(t, api, email)
	eventually(t, "the process with the API notes that it takes samples in", func() bool { return i.attended(t) })
	live := here.watch(t, "pg-live", pgtest.Watched(t).TCPURL(pgtest.Superuser, "postgres"))
	here.await(t, here.request(t, security(live)), "Ready")

	if status, passed := there.checks(t, "/readyz"); status != "ready" || !passed["blobs"] || !passed["mail"] || !passed["time_zones"] {
		t.Errorf("the other process is %s, %v", status, passed)
	}
	there.call(t, http.StatusOK, http.MethodGet, "/healthz", nil, nil)
	for _, path := range []string{"/", "/api/v1/session", "/version"} {
		if got, err := there.try(t.Context(), http.MethodGet, path, nil); err != nil || got.status != http.StatusNotFound {
			t.Errorf("its door for operators answers %s with %d, %v", path, got.status, err)
		}
	}
	if got, err := there.try(t.Context(), http.MethodPost, "/readyz", map[string]any{}); err != nil || got.status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d, %v", got.status, err)
	}
	whose := documentedFigures(t)
	var ofAPI, ofRest map[string]string
	var apart []string
	defer func() {
		if len(apart) > 0 {
			t.Error(strings.Join(apart, "\n"))
		}
	}()
	eventually(t, "the watch has judged, and both show what is the installation's", func() bool { // a scrape leaves out figures that take the database two seconds
		ofAPI, ofRest = here.series(t), there.series(t)
		apart = notOnBoth(whose, ofAPI, ofRest)
		return ofRest["muster_watch_judged_seconds"] != "" && len(apart) == 0
	})
	whoseFigures(t, whose, ofAPI, ofRest)
	kitFigures(t, ofAPI, ofRest)
	for _, secret := range []string{"Acme", email, "pg-live", live.String()} {
		if strings.Contains(string(there.get(t, "/metrics", nil).body), secret) {
			t.Errorf("figures without sign-in name %q", secret)
		}
	}
}

// documented is a figure's row in docs/operators.md.
var documented = regexp.MustCompile("(?m)^\\| (`[^|]+`[^|]*) \\| (process|installation) \\|")

// documentedFigures are the figures of docs/operators.md, and whether each is a process's or the installation's.
func documentedFigures(t *testing.T) map[string]string {
	t.Helper()
	whose := map[string]string{}
	for _, row := range documented.FindAllStringSubmatch(readText(t, "docs/operators.md"), -1) {
		for _, name := range regexp.MustCompile("`([a-z_]+)").FindAllStringSubmatch(row[1], -1) {
			whose[name[1]] = row[2]
		}
	}
	if len(whose) < 20 {
		t.Fatalf("only %d figures are documented: %v", len(whose), whose)
	}
	return whose
}

// notOnBoth are the installation's figures that two processes do not show alike.
func notOnBoth(whose, api, rest map[string]string) (apart []string) {
	labels := func(shown map[string]string, of string) (found []string) {
		for series := range shown {
			if family(series) == of {
				found = append(found, series)
			}
		}
		slices.Sort(found)
		return found
	}
	for name, is := range whose {
		if here, there := labels(api, name), labels(rest, name); is == "installation" && (len(here) == 0 || !slices.Equal(here, there)) {
			apart = append(apart, fmt.Sprintf("%s is the installation's; one process shows %v, the other %v", name, here, there))
		}
	}
	return apart
}

// whoseFigures holds the table of docs/operators.md against what two processes show:
// every figure is in it, and what is a process's is counted where it happens.
func whoseFigures(t *testing.T, whose, api, rest map[string]string) {
	t.Helper()
	for name, shown := range map[string]map[string]string{"api": api, "other": rest} {
		for series := range shown {
			if f := family(series); strings.HasPrefix(f, "muster_") && whose[f] == "" {
				t.Errorf("the %s process shows %s, which docs/operators.md does not explain", name, f)
			}
		}
	}
	// What workers do is counted with them, and seen nowhere else.
	built := `muster_report_duration_seconds_count{kind="Security",outcome="ready"}`
	if rest[built] != "1" || api[built] != "0" {
		t.Errorf("the report is counted %q times where it was built, %q times at the API", rest[built], api[built])
	}
	failed := `muster_report_duration_seconds_count{kind="Security",outcome="failed"}`
	if rest[failed] != "0" { // the first failure must be an increase
		t.Errorf("of failed reports there are %q before the first", rest[failed])
	}
}

// kitFigures holds what the alerts and the dashboard of kit/ ask for against what two
// processes show: each figure and, of those shown, each label and each of its values.
func kitFigures(t *testing.T, api, rest map[string]string) {
	t.Helper()
	described := map[string]string{} // name to "label=" of each label, and the values that were seen
	name, label := regexp.MustCompile(`fqName: "(\w+)"`), regexp.MustCompile(`variableLabels: \{([^}]*)\}`)
	m := telemetry.New("", "")
	for _, vector := range []prometheus.Collector{m.Requests, m.Jobs, m.Builds, m.Problems, m.SignIns, m.Ingested, m.IngestDropped, m.EnginesDropped, m.Breaches, m.Refused, m.Mails} {
		descriptions := make(chan *prometheus.Desc, 1)
		vector.Describe(descriptions)
		d := (<-descriptions).String()
		described[name.FindStringSubmatch(d)[1]] = " " + strings.ReplaceAll(label.FindStringSubmatch(d)[1], ",", "= ") + "="
	}
	for _, shown := range []map[string]string{api, rest} {
		for series := range shown {
			_, labels, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
			described[family(series)] += " " + strings.ReplaceAll(labels, ",", " ")
		}
	}
	selector := regexp.MustCompile(`\b((?:muster|process|go)_[a-z_]+)(?:\{([^}]*)\})?`)
	matcher := regexp.MustCompile(`(\w+)=\\?"([^"\\]*)\\?"`)
	asked := 0
	for _, file := range []string{"kit/prometheus/muster.rules.yaml", "kit/grafana/muster.json"} {
		for _, expression := range regexp.MustCompile(`(?m)^\s*"?expr"?: (.*)$`).FindAllStringSubmatch(readText(t, file), -1) {
			for _, selected := range selector.FindAllStringSubmatch(expression[1], -1) {
				asked++
				has, known := described[family(selected[1])]
				if !known {
					t.Errorf("%s asks for %s, which no process has", file, selected[1])
				}
				for _, match := range matcher.FindAllStringSubmatch(selected[2], -1) {
					counted := match[1] == "status" && match[2] == "5xx" || match[1] == "code" || match[1] == "outcome" || match[2] == "build"
					if match[1] != "job" && !strings.Contains(has, " "+match[1]+"=") || match[1] != "job" && !counted && !strings.Contains(has, match[1]+`="`+match[2]+`"`) {
						t.Errorf("%s asks for %s, which has %s", file, selected[0], has)
					}
				}
			}
		}
	}
	if asked < 50 {
		t.Errorf("only %d figures are asked for", asked)
	}
	for _, series := range []string{`muster_mails_total{outcome="refused"}`, `muster_mails_total{outcome="deferred"}`, `muster_checkpoints_refused_total{log="reports"}`} {
		if rest[series] != "0" { // the first must be an increase
			t.Errorf("of %s there are %q before the first", series, rest[series])
		}
	}
}

func TestAPortThatIsTaken(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.organization(t, "Acme")
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	args := append(i.flags(), "serve", "--roles", "workers")
	got := launchHere(t, append(args, "--ops-listen", taken.Addr().String())...).outcome(t)
	if got.status != command.ExitFailed {
		t.Errorf("with a set address that is taken, serve ended with %d", got.status)
	}
	got.says(t, taken.Addr().String(), "--ops-listen")

	// The default port is taken by us or by somebody else on this machine.
	if usual, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:8081"); err == nil {
		t.Cleanup(func() { _ = usual.Close() })
	}
	const line = "neither health nor figures"
	r := launchHere(t, args...)
	eventually(t, "it goes on without", func() bool { return strings.Contains(r.logged.String(), line) })
	r.stop(t)
	if n := strings.Count(r.logged.String(), line); n != 1 {
		t.Errorf("%d lines say so", n)
	}
	if i.attended(t) {
		t.Error("workers note that somebody takes samples in")
	}
}

// attended is whether somebody noted that samples can be sent.
func (i installed) attended(t testing.TB) (is bool) {
	t.Helper()
	if err := pgtest.Connect(t, i.url).Get(&is, `SELECT EXISTS (SELECT FROM intake_presence)`); err != nil {
		t.Fatal(err)
	}
	return is
}
