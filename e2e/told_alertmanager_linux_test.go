package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/testing/longtest"
)

// TestLongAnHourOfAlertsIsDeliveredUnderKills, through a channel of each kind, while the processes that deliver are
// killed and the receivers refuse some deliveries. By their ids and per channel, the deliveries are the raised and
// resolved alerts: none is missing, and repeated ones are the same. A real Alertmanager's API and its own webhook show
// in the end what it received.
func TestLongAnHourOfAlertsIsDeliveredUnderKills(t *testing.T) {
	longtest.Only(t)
	if _, err := exec.LookPath("prometheus-alertmanager"); err != nil {
		t.Skip("prometheus-alertmanager is not installed (Debian: apt-get install --no-install-recommends prometheus-alertmanager)")
	}
	tellAnHour(t, hour{steps: 60, workers: 3, kills: 120, eachMinute: 30, refused: 10, behind: startRouting(t)})
}

// routing is an Alertmanager, and what it routes.
type routing struct {
	at string // its API's alerts

	mu     sync.Mutex
	routed map[uuid.UUID]string // firing or resolved, by our alerts' ids
}

// fedAlert is an alert as an Alertmanager shows it.
type fedAlert struct {
	Labels struct {
		ID uuid.UUID `json:"muster_alert_id"`
	}
	Status json.RawMessage // of a webhook's a text
}

// startRouting runs one until the test ends.
func startRouting(t *testing.T) *routing {
	t.Helper()
	r := &routing{routed: map[uuid.UUID]string{}}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		var told struct{ Alerts []fedAlert }
		if err := json.NewDecoder(request.Body).Decode(&told); err != nil {
			t.Errorf("what an Alertmanager routes: %v", err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, a := range told.Alerts {
			r.routed[a.Labels.ID] = string(a.Status)
		}
	}))
	t.Cleanup(hook.Close)
	config := fileWith(t, "alertmanager.yml", fmt.Sprintf(`
route: {receiver: hook, group_by: [organization], group_wait: 50ms, group_interval: 100ms, repeat_interval: 1h}
receivers: [{name: hook, webhook_configs: [{url: %q}]}]
`, hook.URL))
	r.at = "http://" + startListening(t, "prometheus-alertmanager", "--config.file="+config, "--storage.path="+filepath.Join(t.TempDir(), "data"),
		"--web.listen-address=127.0.0.1:0", "--cluster.listen-address=") + "/api/v2/alerts"
	return r
}

// take hands it what ours was posted.
func (r *routing) take(t *testing.T, body []byte) {
	t.Helper()
	answer, err := http.Post(r.at, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("the Alertmanager answers %s to %s", answer.Status, body)
	}
}

// firing are the alerts that fire there.
func (r *routing) firing(t *testing.T) map[uuid.UUID]bool {
	t.Helper()
	answer, err := http.Get(r.at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	var all []fedAlert
	if err := json.NewDecoder(answer.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	firing := map[uuid.UUID]bool{}
	for _, a := range all {
		firing[a.Labels.ID] = true
	}
	return firing
}

// wrong are the facts that it does not know, or has not routed. One of whose raise it heard
// together with its end was never routed.
func (r *routing) wrong(t *testing.T, facts []fact) (wrong []fact) {
	t.Helper()
	firing := r.firing(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range facts {
		over := slices.Contains(facts, fact{f.alert, "alert.resolved"})
		said := r.routed[f.alert]
		if over == firing[f.alert] || over && said == `"firing"` || !over && said != `"firing"` {
			wrong = append(wrong, f)
		}
	}
	return wrong
}

// compare waits until it has routed the last of what it was told.
func (r *routing) compare(t *testing.T, facts []fact) {
	t.Helper()
	var wrong []fact
	if !within(30*time.Second, func() bool { wrong = r.wrong(t, facts); return len(wrong) == 0 }) {
		t.Errorf("the Alertmanager knows %d of %d facts otherwise, among them %v", len(wrong), len(facts), wrong[0])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Logf("the Alertmanager routed %d alerts", len(r.routed))
}
