package notify_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/alerting/people"
	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/organization"
	domainteam "muster/domain/team"
	"muster/internal/mail/mailtest"
	"muster/internal/notify/channel/alertmanager"
	"muster/internal/notify/channel/chat"
	"muster/internal/notify/channel/kinds"
	"muster/internal/notify/channel/pagerduty"
	"muster/internal/notify/channel/team"
	"muster/internal/notify/channel/teams"
	"muster/internal/notify/channel/webhook"
)

const (
	heldUp      = "session 24749, idle in transaction for 4 min, blocks 12 sessions on table public.orders"
	heldUpNamed = "app billing (user bill, idle in transaction for 4 min) blocks 12 sessions on table public.orders"
)

// holdsUp raises an alert that a session of bill's holds others up.
func (s *scene) holdsUp(key string) {
	s.Helper()
	now := s.clock.Now()
	_, _, err := s.commands.RecordFirings(s.Context(), usecase.Actor{OrganizationID: s.org.ID, Component: "watch"}, []alert.Firing{{
		Key: "watch/" + key, Title: "prod-orders: " + heldUp, Severity: alert.Critical, InstanceID: s.orders, StartsAt: now.Add(-time.Second), SeenAt: now,
		Rule:     &alert.Rule{ID: "lock_wait", Name: "Session waits for a lock"},
		Blocking: &alert.Blocking{EpisodeID: uuid.New(), At: now, Sessions: []alert.BlockedSession{{Session: "24749", Kind: "client", Idle: true}}},
		People:   []alert.Person{{Session: "24749", User: "bill", Application: "billing", Client: "10.4.2.17"}},
	}})
	must(s.T, err)
	s.follow()
}

// legible is a mail without the line breaks of its encoding.
func legible(m mailtest.Mail) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(m.Data, "\r\n", "\n"), "=\n", "")), " ")
}

// TestEveryChannelNamesTheBlockingSession, as long as its name is kept. The log and the deliveries in the
// database have the session's id alone.
func TestEveryChannelNamesTheBlockingSession(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds.All() {
		t.Run(string(kind.Name), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			r := s.receiver()
			address, is := map[notification.Kind]notification.Address{
				webhook.Name: {URL: r.URL, Secret: secret}, chat.Name: {URL: r.URL}, teams.Name: {URL: r.URL},
				pagerduty.Name: {URL: r.URL, Secret: integrationKey}, alertmanager.Name: {URL: r.URL},
			}[kind.Name]
			to := notifying.CreateChannel{Name: "To", Kind: kind.Name, Address: address}
			switch {
			case kind.Name == notification.Email:
				to.MemberIDs = []uuid.UUID{s.ana.ID}
			case kind.Name == team.Name:
				s.caughtUp()
				s.team("Owner", domainteam.Selector{InstanceIDs: []uuid.UUID{s.orders}}, s.ana.ID)
			case !is:
				t.Fatal("this kind is not tested")
			}
			s.rule(s.channel(to))
			s.process("a", s.sender)
			told := func() string {
				var all []string
				for _, p := range r.got() {
					all = append(all, strings.ReplaceAll(string(p.Body), "\u200b", "")) // which keeps a chat from making links
				}
				for _, m := range s.smtp.Mails() {
					all = append(all, legible(m))
				}
				return strings.Join(all, " ")
			}
			s.holdsUp("one")
			s.await("it is told", func() bool { return told() != "" })
			if got := told(); !strings.Contains(got, heldUpNamed) || strings.Contains(got, "24749") {
				t.Errorf("told %s", got)
			}
			var kept string
			must(t, s.db.Get(&kept, `SELECT string_agg(notice::text, ' ') FROM delivery_events`))
			if strings.Contains(kept, "bill") || !strings.Contains(kept, heldUp) {
				t.Errorf("a delivery keeps %s", kept)
			}
			if got := s.story(); !strings.Contains(got, heldUpNamed) {
				t.Errorf("shown %s", got)
			}
			s.exec(`UPDATE alert_people SET kept_at = now() - interval '401 days'`)
			_, err := people.Prune(t.Context(), s.db)
			must(t, err)
			if got := s.story(); !strings.Contains(got, heldUp) || strings.Contains(got, "bill") {
				t.Errorf("shown once people are erased: %s", got)
			}
		})
	}
}

// TestMailsToViewersNameNoPeople: what the pages hide from somebody no mail tells them.
func TestMailsToViewersNameNoPeople(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	member := func(email string, role organization.Role) uuid.UUID {
		m, _, _, _, err := s.commands.InviteMember(t.Context(), s.actor, commands.NewMember{Email: email, Name: email, Role: role})
		must(t, err)
		return m.ID
	}
	ids := []uuid.UUID{s.ana.ID, member("member@acme.example", organization.Member), member("viewer@acme.example", organization.Viewer)}
	s.rule(s.channel(notifying.CreateChannel{Name: "People", Kind: notification.Email, MemberIDs: ids}))
	s.process("a", s.sender)
	s.holdsUp("one")
	s.await("all are mailed", func() bool { return len(s.smtp.Mails()) == 3 })
	var sees []string
	for _, m := range s.smtp.Mails() {
		text := legible(m)
		switch named := strings.Contains(text, heldUpNamed); {
		case named == strings.Contains(text, heldUp) || named != strings.Contains(text, "bill"):
			t.Errorf("%s reads %s", m.To[0], text)
		case named:
			sees = append(sees, m.To[0])
		}
	}
	if slices.Sort(sees); !slices.Equal(sees, []string{"ana@acme.example", "member@acme.example"}) {
		t.Errorf("%q are mailed people", sees)
	}
}

// TestAPreviewNamesTheBlockingSession, as the notification would.
func TestAPreviewNamesTheBlockingSession(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.holdsUp("one")
	p, err := s.reader.Preview(t.Context(), s.org.ID, notification.Match{}, time.Minute)
	must(t, err)
	if len(p.Newest) != 1 || p.Newest[0].Title != "prod-orders: "+heldUpNamed {
		t.Errorf("%+v", p.Newest)
	}
}
