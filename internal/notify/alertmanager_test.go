package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"muster/commands/notifying"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/channel/alertmanager"
)

// TestAnUndeliveredEndIsSentInTheNextRound: a round says that an alert fires of whose end the Alertmanager has
// heard meanwhile, and dies before it has sent the end.
func TestAnUndeliveredEndIsSentInTheNextRound(t *testing.T) {
	t.Parallel()
	binary := program(t, "Debian: apt-get install --no-install-recommends prometheus-alertmanager", "prometheus-alertmanager")
	s := newScene(t)
	s.clock.Advance(time.Since(s.clock.Now())) // it goes by the machine's clock
	at := startAlertmanager(t, binary, "http://127.0.0.1:9/")
	behind, err := url.Parse(at)
	must(t, err)
	var hold atomic.Bool
	held, goOn := make(chan struct{}), make(chan struct{})
	forward := httputil.NewSingleHostReverseProxy(behind)
	way := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if hold.CompareAndSwap(true, false) {
			close(held)
			<-goOn
		}
		forward.ServeHTTP(w, request)
	}))
	t.Cleanup(way.Close)
	s.rule(s.channel(notifying.CreateChannel{Name: "AM", Kind: alertmanager.Name, Address: notification.Address{URL: way.URL}}))
	s.process("a", s.sender)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.wantStory("sent raised:lag")
	dies := *s.sender
	dies.Fed = func(context.Context) error { return errors.New("the process dies here") }
	hold.Store(true)
	round := make(chan error, 1)
	go func() { round <- dies.Feed(context.WithoutCancel(t.Context())) }()
	<-held
	s.clock.Advance(time.Millisecond)
	s.ends("lag")
	s.follow()
	s.wantStory("sent raised:lag | sent resolved:lag")
	s.await("it is over there", func() bool { return !s.firesAt(at, "lag") })
	close(goOn)
	must(t, <-round)
	if !s.firesAt(at, "lag") {
		t.Fatal("the round was not late")
	}
	s.clock.Advance(time.Minute)
	must(t, s.sender.Feed(t.Context()))
	s.await("it is over there again", func() bool { return !s.firesAt(at, "lag") })
}

// firesAt says whether an Alertmanager has an alert of this name that fires.
func (s *scene) firesAt(alertmanager, name string) bool {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, alertmanager+"/api/v2/alerts", nil)
	must(s.T, err)
	answer, err := http.DefaultClient.Do(request)
	must(s.T, err)
	defer func() { _ = answer.Body.Close() }()
	var all []struct {
		Labels struct{ Alertname string }
	}
	must(s.T, json.NewDecoder(answer.Body).Decode(&all))
	for _, a := range all {
		if a.Labels.Alertname == name {
			return true
		}
	}
	return false
}
