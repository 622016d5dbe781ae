package e2e

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/testing/longtest"
)

// TestLongARaisedAlertIsSentSoon after its group's time: half of the alerts are at their receiver at most half a
// second later than that. No other test of the package runs beside it: on a busy machine, the machine itself takes
// half a second.
func TestLongARaisedAlertIsSentSoon(t *testing.T) {
	longtest.Only(t)
	const raises, group, soon = 15, time.Second, 500 * time.Millisecond
	title := regexp.MustCompile(`Alert soon-\d+`)
	told := make(chan string, raises)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if found := title.Find(body); found != nil {
			told <- string(found)
		}
	}))
	t.Cleanup(receiver.Close)
	h := newHouse(t, "--channel-networks=127.0.0.0/8")
	feed := client{base: h.server.base, token: strings.TrimSpace(h.must(t, "token", "create", "--kind", "ingest", "--email", "ana@acme.example"))}
	var channel struct{ ID uuid.UUID }
	h.ana.call(t, http.StatusCreated, http.MethodPost, "/api/v1/channels",
		map[string]any{"name": "Soon", "kind": "webhook", "url": receiver.URL, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, &channel)
	h.ana.call(t, http.StatusCreated, http.MethodPost, "/api/v1/notification-rules", map[string]any{
		"name": "Soon", "match": map[string]any{"event": []string{"alert.raised"}}, "groupSeconds": int(group.Seconds()), "channelIds": []uuid.UUID{channel.ID},
	}, nil)
	var took []time.Duration
	for n := range raises {
		// Not a wait for anything: where between two looks of anybody a raise comes is up to chance.
		time.Sleep(rand.N(time.Second))
		began := time.Now().UTC()
		feed.call(t, http.StatusOK, http.MethodPost, alertsPath, map[string]any{"alerts": []map[string]any{{
			"externalId": fmt.Sprint("soon-", n), "title": fmt.Sprint("Alert soon-", n), "severity": "warning", "state": "Open",
			"createdAt": began, "firstTriggeredAt": began, "lastTriggeredAt": began,
		}}}, nil)
		select {
		case got := <-told:
			if want := fmt.Sprint("Alert soon-", n); got != want {
				t.Fatalf("told %s, want %s", got, want)
			}
		case <-time.After(patience):
			t.Fatalf("alert %d is not told", n)
		}
		took = append(took, time.Since(began)-group)
	}
	slices.Sort(took)
	p50 := took[len(took)/2]
	t.Logf("behind the group's time: p50 %v, from %v to %v", p50, took[0], took[len(took)-1])
	if p50 > soon {
		t.Errorf("half of the raises are told %v after their group's time, want %v", p50, soon)
	}
}
