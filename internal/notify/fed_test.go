package notify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/commands/alerting"
	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/channel/alertmanager"
)

// atAlertmanager are the alerts that fire at an Alertmanager: labels and summaries.
func (s *scene) atAlertmanager(at string) (all []struct {
	Labels      map[string]string
	Annotations map[string]string
}) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, at+"/api/v2/alerts", nil)
	must(s.T, err)
	answer, err := http.DefaultClient.Do(request)
	must(s.T, err)
	defer func() { _ = answer.Body.Close() }()
	must(s.T, json.NewDecoder(answer.Body).Decode(&all))
	return all
}

// TestOneAlertAfterManyChanges: an Alertmanager has an alert once, whatever becomes of its
// title and description. Of another severity it is another alert there, and the one before is
// over. C3.
func TestOneAlertAfterManyChanges(t *testing.T) {
	t.Parallel()
	binary := program(t, "Debian: apt-get install --no-install-recommends prometheus-alertmanager", "prometheus-alertmanager")
	s := newScene(t)
	s.clock.Advance(time.Since(s.clock.Now())) // it goes by the machine's clock
	at := startAlertmanager(t, binary, "http://127.0.0.1:9/")
	s.rule(s.channel(notifying.CreateChannel{Name: "AM", Kind: alertmanager.Name, Address: notification.Address{URL: at}}))
	began := s.clock.Now().Add(-time.Minute)
	feed := func(title string, severity alert.Severity) {
		t.Helper()
		_, _, err := s.commands.RecordAlerts(t.Context(), s.actor, []alerting.Item{{
			ExternalID: "lag", Title: title, Severity: severity, State: alert.Open, CreatedAt: began, FirstTriggeredAt: began, LastTriggeredAt: s.clock.Now(),
		}})
		must(t, err)
	}
	machine := func(title string) {
		t.Helper()
		_, _, err := s.commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: s.org.ID, Component: "watch"}, []alert.Firing{{
			Key: "watch/lock", Title: title, Description: title + "!", Severity: alert.Warning, Rule: &alert.Rule{ID: "lock_wait", Name: "Session waits for a lock"},
			InstanceID: s.orders, StartsAt: began, SeenAt: s.clock.Now(),
		}})
		must(t, err)
	}
	have := func(want ...string) func() bool {
		return func() bool {
			found := map[string]bool{}
			for _, a := range s.atAlertmanager(at) {
				found[a.Labels["alertname"]+", "+a.Labels["severity"]+": "+a.Annotations["summary"]] = true
			}
			for _, w := range want {
				if !found[w] {
					return false
				}
			}
			return len(found) == len(want)
		}
	}
	for i := range 3 {
		feed(fmt.Sprintf("Lag %d s", 93+i), alert.Warning)
		machine(fmt.Sprintf("waited %d m", 5+i))
		s.follow()
		must(t, s.sender.Feed(t.Context()))
		s.await("each is there once, as it is now", have(
			fmt.Sprintf("Lag 93 s, warning: Lag %d s", 93+i), fmt.Sprintf("Session waits for a lock, warning: waited %d m", 5+i)))
		s.exec(`UPDATE notification_channels SET fed_at = '-infinity'`) // it is its turn again
		s.clock.Advance(time.Since(s.clock.Now()))
	}
	feed("Lag 900 s", alert.Critical)
	s.follow()
	must(t, s.sender.Feed(t.Context()))
	s.await("the milder one is over", have("Lag 93 s, critical: Lag 900 s", "Session waits for a lock, warning: waited 7 m"))
}

// TestAnUpgradeEndsAlertsWithEarlierLabels: an alert that an earlier program fed under its title
// does not continue beside the new one.
func TestAnUpgradeEndsAlertsWithEarlierLabels(t *testing.T) {
	t.Parallel()
	binary := program(t, "Debian: apt-get install --no-install-recommends prometheus-alertmanager", "prometheus-alertmanager")
	s := newScene(t)
	s.clock.Advance(time.Since(s.clock.Now()))
	at := startAlertmanager(t, binary, "http://127.0.0.1:9/")
	channel := s.channel(notifying.CreateChannel{Name: "AM", Kind: alertmanager.Name, Address: notification.Address{URL: at}})
	s.rule(channel)
	_, _, err := s.commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: s.org.ID, Component: "watch"}, []alert.Firing{{
		Key: "watch/lock", Title: "waited 5 m", Severity: alert.Warning, Rule: &alert.Rule{ID: "lock_wait", Name: "Session waits for a lock"},
		InstanceID: s.orders, StartsAt: s.clock.Now(), SeenAt: s.clock.Now(),
	}})
	must(t, err)
	s.follow()
	// As the migration and the old program leave it.
	s.exec(`INSERT INTO notification_fed (channel_id, alert_id, organization_id, labels, fed_at)
		SELECT $1, alert_id, organization_id, jsonb_build_object('alertname', 'waited 5 m', 'severity', 'warning', 'organization', 'Acme',
			'muster_alert_id', alert_id::text, 'instance', 'prod-orders'), $2 FROM alert_last_seen`, channel, s.clock.Now())
	var id string
	must(t, s.db.Get(&id, `SELECT alert_id FROM alert_last_seen`))
	old := fmt.Sprintf(`[{"labels":{"alertname":"waited 5 m","severity":"warning","organization":"Acme","instance":"prod-orders","muster_alert_id":%q},"endsAt":%q}]`,
		id, time.Now().Add(5*time.Minute).Format(time.RFC3339))
	answer, err := http.Post(at+"/api/v2/alerts", "application/json", bytes.NewReader([]byte(old)))
	must(t, err)
	must(t, answer.Body.Close())
	_, _, err = s.commands.RecordFirings(t.Context(), usecase.Actor{OrganizationID: s.org.ID, Component: "watch"}, []alert.Firing{{
		Key: "watch/lock", Title: "waited 6 m", Severity: alert.Critical, Rule: &alert.Rule{ID: "lock_wait", Name: "Session waits for a lock"},
		InstanceID: s.orders, StartsAt: s.clock.Now(), SeenAt: s.clock.Now(),
	}})
	must(t, err)
	s.follow()
	must(t, s.sender.Feed(t.Context()))
	s.await("one is left", func() bool {
		var names []string
		for _, a := range s.atAlertmanager(at) {
			names = append(names, a.Labels["alertname"])
		}
		return strings.Join(names, ",") == "Session waits for a lock"
	})
}
