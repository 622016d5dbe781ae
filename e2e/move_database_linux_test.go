package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/porttest"
)

// moving is who follows docs/runbooks/move-database.md.
type moving struct {
	bin, environment, target string // directory of muster, file of the unit's settings, URL of the new server
	dir, listen              string
	server                   *running
	exports                  []string
}

// run runs a line of the runbook in a shell that has run those before it, as far as they
// are about its variables. What systemctl is asked for is done here.
func (m *moving) run(t *testing.T, line string) string {
	t.Helper()
	switch {
	case strings.HasPrefix(line, "export "):
		m.exports = append(m.exports, line)
		return ""
	case line == "systemctl stop muster":
		m.server.stop(t)
		return ""
	case line == "systemctl start muster":
		m.start(t)
		return ""
	}
	admin, err := url.Parse(m.target)
	if err != nil {
		t.Fatal(err)
	}
	got := start(t, exec.Command("sh", "-ec", strings.Join(append(m.exports, line), "\n")), []string{
		"PATH=" + m.bin + ":" + os.Getenv("PATH"), "PGHOST=" + admin.Query().Get("host"), "PGPORT=" + admin.Query().Get("port"), "PGUSER=" + pgtest.Superuser,
	}).outcome(t)
	if got.status != 0 {
		t.Fatalf("%s ended with %d: %s%s", line, got.status, got.out, got.errors)
	}
	return got.out + got.errors
}

// start starts serve with the settings of its unit.
func (m *moving) start(t *testing.T) {
	t.Helper()
	settings := strings.Fields(string(read(t, m.environment)))
	m.server = launch(t, settings, "serve", "--listen", m.listen, "--data-dir", m.dir, "--rate-limits=off", "--collect-own-host=off").ready(t)
}

// keeper is a sender that keeps what was not acknowledged, and sends it again: a sample for
// each minute of some hours, and an alert for each sample.
type keeper struct {
	to      client
	hour    time.Time
	mu      sync.Mutex
	sent    int // samples that were acknowledged
	refused int // calls that were not
}

// minutes are how many samples there are, at most.
const minutes = 5 * 60

// value is what a minute's sample says.
func value(minute int) float64 { return float64(minute%97) + 0.5 }

// next sends a minute's sample and alert until they are taken.
func (k *keeper) next(t *testing.T, minute int) {
	at := k.hour.Add(time.Duration(minute) * time.Minute)
	sample := map[string]any{"hosts": []map[string]any{{"host": "sent.example", "instances": []string{}, "at": at, "cpuPercent": value(minute)}}}
	alert := map[string]any{"alerts": []map[string]any{{
		"externalId": fmt.Sprint("sent-", minute), "title": fmt.Sprint("Minute ", minute), "severity": "warning", "state": "Open",
		"createdAt": at, "firstTriggeredAt": at, "lastTriggeredAt": at,
	}}}
	for path, message := range map[string]any{"/ingest/v1/samples": sample, "/ingest/v1/alerts": alert} {
		for t.Context().Err() == nil {
			got, err := k.to.try(t.Context(), http.MethodPost, path, message)
			if err == nil && got.status < 300 {
				break
			}
			if err == nil && got.status < 500 {
				t.Errorf("%s is answered %d %s", path, got.status, got.body)
				return
			}
			k.mu.Lock()
			k.refused++
			k.mu.Unlock()
			time.Sleep(50 * time.Millisecond) // as a sender waits
		}
	}
	k.mu.Lock()
	k.sent = minute + 1
	k.mu.Unlock()
}

func (k *keeper) so() (sent, refused int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sent, k.refused
}

// TestLongTheDatabaseIsMoved follows the runbook to the letter while somebody sends: every
// sample and every alert is there afterwards, once, and the log is the one of before.
func TestLongTheDatabaseIsMoved(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	pgtest.NeedsDump(t)
	m := &moving{bin: t.TempDir(), environment: fileWith(t, "environment", ""), dir: dataDir(t), listen: porttest.Address(t)}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(m.bin, "muster"))
	}
	if err != nil {
		t.Fatal(err)
	}
	target := pgtest.Cluster(t, pgtest.Options{})
	m.target = target.Superuser()
	backups := t.TempDir()
	places := strings.NewReplacer(
		"db.example.org", target.Addr(), "/var/backups", backups, "/etc/muster/environment", m.environment, "/var/lib/muster", m.dir,
	)
	page, lines := shellOf(t, "docs/runbooks/move-database.md"), []string(nil)
	for _, block := range slices.Concat(page["Before"], page["Move"]) {
		for _, line := range block {
			lines = append(lines, places.Replace(line))
		}
	}
	if len(lines) != 11 || len(page) != 2 {
		t.Errorf("the runbook has %d lines: %q", len(lines), lines)
	}

	m.start(t)
	private := []string{"--data-dir", m.dir}
	command := func(args ...string) string {
		got := muster(t, append(args, private...)...)
		if got.status != 0 {
			t.Fatalf("%v: %s", args, got.errors)
		}
		return strings.TrimSpace(got.out)
	}
	command("organization", "create", "--name", "Acme", "--admin-email", "ana@acme.example", "--admin-password-file", passwordFile(t))
	token := func(args ...string) client {
		return client{base: m.server.base, token: command(append([]string{"token", "create", "--email", "ana@acme.example"}, args...)...)}
	}
	ana := token()
	sender := &keeper{to: token("--kind", "ingest"), hour: time.Now().UTC().Truncate(time.Hour).Add(-6 * time.Hour)}
	sending := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(sending)
		for minute := range minutes {
			select {
			case <-stop:
				return
			default:
				sender.next(t, minute)
			}
		}
	}()
	t.Cleanup(func() { <-sending })
	eventually(t, "samples are sent", func() bool { sent, _ := sender.so(); return sent > 10 })
	for _, line := range lines {
		said := m.run(t, line)
		if strings.HasPrefix(line, "muster restore ") && !strings.Contains(said, "restored: ") {
			t.Errorf("the restore says %s", said)
		}
	}
	before, refused := sender.so()
	eventually(t, "more samples are sent", func() bool { sent, _ := sender.so(); return sent > before+10 || sent == minutes })
	close(stop)
	<-sending
	sent, _ := sender.so()
	if refused == 0 {
		t.Error("nobody was refused while it moved")
	}

	window := url.Values{"from": {sender.hour.Format(time.RFC3339)}, "to": {sender.hour.Add(minutes * time.Minute).Format(time.RFC3339)}, "bucketSize": {"1m"}}
	asked := 0
	eventually(t, "every sample is shown", func() bool {
		asked++ // answers are kept for 30 s: another window each time
		window.Set("from", sender.hour.Add(-time.Duration(asked)*time.Minute).Format(time.RFC3339))
		var tile struct {
			Series struct{ CPUPercent []*float64 }
		}
		ana.get(t, "/api/v1/metrics/utilization?"+window.Encode(), &tile)
		shown := tile.Series.CPUPercent[asked:]
		for minute := range sent {
			if shown[minute] == nil || *shown[minute] != value(minute) {
				return false
			}
		}
		return true
	})
	var listed struct{ Page struct{ TotalItems int } }
	if ana.get(t, "/api/v1/alerts", &listed); listed.Page.TotalItems != sent {
		t.Errorf("%d alerts are there, of %d that were acknowledged", listed.Page.TotalItems, sent)
	}
	there := installed{url: strings.TrimPrefix(strings.TrimSpace(string(read(t, m.environment))), "MUSTER_DATABASE_URL="), dir: m.dir}
	there.must(t, "events", "verify")
	t.Logf("%d samples and alerts, %d calls that were not taken at once", sent, refused)
}
