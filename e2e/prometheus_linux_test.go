package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/testing/logtest"
)

// TestPrometheusAndAlertmanager has the real programs send what a rule of theirs
// says: a Prometheus straight to Muster, the same one through an Alertmanager,
// and both ways at once, each to an organization of its own. The alert is found
// by its instance and database, once, resolves, and shows in the list, the
// overview and the history; when the rule fires again it is another one.
func TestPrometheusAndAlertmanager(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"prometheus", "prometheus-alertmanager"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed (Debian: apt-get install --no-install-recommends prometheus prometheus-alertmanager)", program)
		}
	}
	i := install(t)
	senders := map[string]string{}
	organizations := map[string]client{}
	for _, way := range []string{"direct", "relayed", "both"} {
		email := way + "@acme.example"
		i.must(t, "organization", "create", "--name", way, "--admin-email", email, "--admin-password-file", passwordFile(t))
		senders[way] = strings.TrimSpace(i.must(t, "token", "create", "--kind", "ingest", "--email", email))
	}
	server := servingHere(t, append(i.flags(), "--rate-limits=off")...) // the test polls
	for way := range senders {
		organizations[way] = i.as(t, server, way+"@acme.example")
		organizations[way].call(t, http.StatusOK, http.MethodPost, "/ingest/v1/fleet", map[string]any{"instances": []map[string]any{{
			"externalId": "pg-1", "name": "pg-orders-01", "engine": "postgresql", "host": "127.0.0.1", "createdAt": time.Now().AddDate(0, 0, -1),
			"databases": []map[string]any{{"externalId": "orders", "name": "orders", "createdAt": time.Now().AddDate(0, 0, -1)}},
		}}}, nil)
	}
	locks := startExporter(t)
	startPrometheus(t, server, locks, senders)

	locks.waits.Store(9)
	for way, c := range organizations {
		a := c.awaitAlerts(t, way, "Open")[0]
		want := shownAlert{
			Title: "Lock waits above 5 sessions in orders", Severity: "critical", State: "Open", Open: true, Occurrences: 1,
			Instance: named{"pg-orders-01"}, Database: named{"orders"}, FirstTriggeredAt: a.FirstTriggeredAt, LastTriggeredAt: a.LastTriggeredAt, ID: a.ID,
		}
		if diff := cmp.Diff(want, a); diff != "" {
			t.Errorf("%s (-want +got):\n%s", way, diff)
		}
		if n := c.alertsNow(t); n != 1 {
			t.Errorf("%s: the overview counts %d", way, n)
		}
		if got := c.raisedAndResolved(t); got != [2]int{1, 0} {
			t.Errorf("%s: raised and resolved are %v", way, got)
		}
	}
	locks.waits.Store(0)
	for way, c := range organizations {
		a := c.awaitAlerts(t, way, "AutoResolved")[0]
		if a.Open || a.ResolvedAt.Before(a.FirstTriggeredAt) || a.LastTriggeredAt.Before(a.FirstTriggeredAt) {
			t.Errorf("%s: %+v", way, a)
		}
		if n := c.alertsNow(t); n != 0 {
			t.Errorf("%s: the overview counts %d after the end", way, n)
		}
		if got := c.raisedAndResolved(t); got != [2]int{1, 1} {
			t.Errorf("%s: raised and resolved are %v after the end", way, got)
		}
	}
	locks.waits.Store(9)
	for way, c := range organizations {
		c.awaitAlerts(t, way, "Open", "AutoResolved")
	}
}

// exporter tells a Prometheus how many sessions wait.
type exporter struct {
	address string
	waits   atomic.Int64
}

func startExporter(t *testing.T) *exporter {
	t.Helper()
	e := &exporter{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprintf(w, "test_lock_waits{datname=\"orders\"} %d\n", e.waits.Load())
	}))
	t.Cleanup(server.Close)
	e.address = server.Listener.Addr().String()
	return e
}

// startPrometheus runs an Alertmanager and a Prometheus that scrapes e until the
// test ends. Every port is one that was free.
func startPrometheus(t *testing.T, server *running, e *exporter, senders map[string]string) {
	t.Helper()
	dir, fill := t.TempDir(), map[string]string{"exporter": e.address, "muster": strings.TrimPrefix(server.base, "http://")}
	for way, token := range senders {
		fill[way] = token
	}
	write := func(name string, expand bool) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("testdata", "prometheus", name))
		if err != nil {
			t.Fatal(err)
		}
		if expand {
			text = []byte(os.Expand(string(text), func(name string) string { return fill[name] }))
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	said := startTool(t, "prometheus-alertmanager", "--config.file="+write("alertmanager.yml", true),
		"--storage.path="+filepath.Join(dir, "alertmanager"), "--web.listen-address=127.0.0.1:0", "--cluster.listen-address=")
	listens := regexp.MustCompile(`msg="Listening on" address=(\S+)`)
	eventually(t, "Alertmanager listens", func() bool {
		if found := listens.FindStringSubmatch(said.String()); found != nil {
			fill["alertmanager"] = found[1]
		}
		return fill["alertmanager"] != ""
	})
	write("rules.yml", false) // its ${…} are Prometheus'
	// A message is good for four times the delay: long, so that a busy machine's
	// pause does not end the alert. A change is sent at once.
	startTool(t, "prometheus", "--config.file="+write("prometheus.yml", true), "--storage.tsdb.path="+filepath.Join(dir, "prometheus"),
		"--web.listen-address=127.0.0.1:0", "--rules.alert.resend-delay=15s")
}

// startTool runs a program until the test ends, or until this process does.
func startTool(t *testing.T, name string, args ...string) *logtest.Log {
	t.Helper()
	said := &logtest.Log{}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said\n%s", name, said)
		}
	})
	return said
}

type named struct {
	Name string `json:"name"`
}

// shownAlert is an alert as the API shows it.
type shownAlert struct {
	ID               string    `json:"id"`
	Title            string    `json:"title"`
	Severity         string    `json:"severity"`
	State            string    `json:"state"`
	Open             bool      `json:"open"`
	Occurrences      int       `json:"occurrences"`
	FirstTriggeredAt time.Time `json:"firstTriggeredAt"`
	LastTriggeredAt  time.Time `json:"lastTriggeredAt"`
	ResolvedAt       time.Time `json:"resolvedAt"`
	Instance         named     `json:"instance"`
	Database         named     `json:"database"`
}

// awaitAlerts waits until the instance's alerts, the latest first, are in these
// states, and no others are there.
func (c client) awaitAlerts(t *testing.T, way string, states ...string) (alerts []shownAlert) {
	t.Helper()
	var listed struct{ Items []shownAlert }
	eventually(t, fmt.Sprintf("%s: alerts are %v", way, states), func() bool {
		listed.Items = nil
		c.get(t, "/api/v1/alerts?sort=-createdAt&instanceName=pg-orders-01", &listed)
		return slices.EqualFunc(listed.Items, states, func(a shownAlert, state string) bool { return a.State == state })
	})
	return listed.Items
}

// alertsNow is what the overview counts.
func (c client) alertsNow(t *testing.T) int {
	t.Helper()
	var overview struct{ Alerts struct{ Current int } }
	c.get(t, "/api/v1/health-checks/overview", &overview)
	return overview.Alerts.Current
}

// raisedAndResolved is what the history counts in a day and a bit, as one week.
func (c client) raisedAndResolved(t *testing.T) [2]int {
	t.Helper()
	now := time.Now().UTC()
	window := url.Values{"from": {now.Add(-24 * time.Hour).Format(time.RFC3339Nano)}, "to": {now.Add(time.Minute).Format(time.RFC3339Nano)}, "bucketSize": {"1w"}}
	var history struct {
		Series struct{ Active, Resolved []*int }
	}
	c.get(t, "/api/v1/alerts/raised-resolved-history?"+window.Encode(), &history)
	sum := func(series []*int) (n int) {
		for _, bucket := range series {
			if bucket != nil {
				n += *bucket
			}
		}
		return n
	}
	return [2]int{sum(history.Series.Active), sum(history.Series.Resolved)}
}
