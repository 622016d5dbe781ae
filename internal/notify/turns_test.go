package notify_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/notification"
	"muster/domain/organization"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/alertmanager"
	"muster/internal/notify/channel/webhook"
)

// neighbor is another organization of the same installation.
func (s *scene) neighbor() *scene {
	s.Helper()
	other := *s
	o, _, _, err := s.commands.CreateOrganization(s.Context(), "Neighbor", false, &commands.NewMember{
		Email: "bo@neighbor.example", Name: "Bo", Role: organization.Admin, Password: "a long enough sentence",
	})
	must(s.T, err)
	other.org = o
	other.ana, _, err = s.accounts.MemberByEmail(s.Context(), "bo@neighbor.example")
	must(s.T, err)
	other.actor = usecase.Actor{OrganizationID: o.ID, MemberID: other.ana.ID}
	other.orders, _, err = s.commands.RegisterInstance(s.Context(), other.actor, inventory.Registration{Name: "prod-orders", Engine: domain.PostgreSQL, Active: true})
	must(s.T, err)
	return &other
}

// hanging is a receiver that answers nothing before the test ends.
type hanging struct {
	URL   string
	holds atomic.Int32 // so many posts
}

func (s *scene) hanging() *hanging {
	s.Helper()
	h := &hanging{}
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		h.holds.Add(1)
		<-over
	}))
	s.Cleanup(server.Close)
	s.Cleanup(func() { close(over) })
	h.URL = server.URL
	return h
}

// patient has a sender wait for receivers for as long as a test takes.
func (s *scene) patient() {
	s.sender.Poster = &channel.Poster{Networks: here, Timeout: time.Hour}
}

// TestAHangingReceiverDelaysNoOtherOrganization: four webhooks of one organization hang, and another's is sent
// at once.
func TestAHangingReceiverDelaysNoOtherOrganization(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.patient()
	hangs := s.hanging()
	for i := range 4 {
		s.rule(s.channel(notifying.CreateChannel{
			Name: fmt.Sprint("hangs ", i), Kind: webhook.Name, Address: notification.Address{URL: hangs.URL, Secret: secret},
		}), func(t *notification.Terms) { t.Match.Events = []notification.EventType{notification.AlertRaised} })
	}
	other := s.neighbor()
	told := other.receiver()
	other.rule(other.webhook(told.URL))
	s.fires(alert.Critical, "lag")
	s.follow()
	s.process("a", s.sender)
	s.await("the receiver holds what it may", func() bool { return hangs.holds.Load() == 3 })
	other.fires(alert.Critical, "disk")
	other.follow()
	other.wantStory("sent raised:disk")
	if n := hangs.holds.Load(); n != 3 {
		t.Errorf("%d deliveries of one organization at once", n)
	}
}

// TestAHangingAlertmanagerDelaysNoOtherOrganization: twenty Alertmanagers of one organization hang, and
// another's is fed in the same round.
func TestAHangingAlertmanagerDelaysNoOtherOrganization(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.patient()
	hangs := s.hanging()
	feeds := func(s *scene, name, url string) {
		s.rule(s.channel(notifying.CreateChannel{Name: name, Kind: alertmanager.Name, Address: notification.Address{URL: url}}))
	}
	for i := range 20 {
		feeds(s, fmt.Sprint("hangs ", i), hangs.URL)
	}
	other := s.neighbor()
	fed := other.receiver()
	fed.answers(http.StatusOK)
	feeds(other, "AM", fed.URL)
	s.fires(alert.Critical, "lag")
	other.fires(alert.Critical, "disk")
	s.follow()
	s.clock.Advance(time.Minute)
	round := make(chan error, 1)
	go func() { round <- s.sender.Feed(t.Context()) }()
	s.await("the other's is fed", func() bool { return len(fed.got()) > 0 })
	select {
	case err := <-round:
		t.Errorf("the round is over, and shows nothing: %v", err)
	default:
	}
}
