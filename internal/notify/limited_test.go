package notify_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/notifying"
	"muster/domain/notification"
	"muster/domain/organization"
)

// toPeople is an e-mail channel to members, of a rule that sends after a minute.
func (s *scene) toPeople(administrators bool, members ...uuid.UUID) {
	s.Helper()
	s.rule(s.channel(notifying.CreateChannel{Name: "People", Kind: notification.Email, Administrators: administrators, MemberIDs: members}),
		func(terms *notification.Terms) { terms.GroupSeconds = 60 })
}

// toldOf has, for each alert, what is shown of its notification: its status and reason, and who is mailed.
func (s *scene) toldOf(names map[uuid.UUID]string, titles ...string) map[string]string {
	s.Helper()
	shown := map[string]string{}
	for _, title := range titles {
		told, err := s.reader.OfAlert(s.Context(), s.org.ID, s.alertOf(title))
		must(s.T, err)
		for _, t := range told {
			shown[title] += strings.TrimSpace(t.Status+" "+t.Reason) + ": " + named(names, t.Recipients.Value)
		}
	}
	return shown
}

// named are the names of members, in alphabetical order.
func named(names map[uuid.UUID]string, ids []uuid.UUID) string {
	var all []string
	for _, id := range ids {
		all = append(all, names[id])
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestAMemberOfATeamIsMailedOnlyTheirServers: an e-mail channel mails them the events of servers that their
// teams own, and names no others. What is shown of the recipients agrees, before and after. Everybody else gets all.
func TestAMemberOfATeamIsMailedOnlyTheirServers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ben, eve, kim, pat := s.member("ben"), s.member("eve"), s.member("kim"), s.invited("pat")
	vic, _, _, _, err := s.commands.InviteMember(t.Context(), s.actor, commands.NewMember{Email: "vic@acme.example", Name: "vic", Role: organization.Viewer})
	must(t, err)
	names := map[uuid.UUID]string{s.ana.ID: "ana", ben: "ben", eve: "eve", kim: "kim", pat: "pat", vic.ID: "vic"}
	s.team("Payments", byTags("team", "payments"), ben, eve, pat)
	s.team("Web", byTags("team", "web"), eve, vic.ID)
	s.team("Behind Web", byTags("team", "web"), ben)
	servers := map[string]uuid.UUID{"AlertPay": s.server("pay", "team=payments"), "AlertWeb": s.server("web", "team=web"), "AlertBare": s.server("bare", ""), "AlertHomeless": uuid.Nil}
	s.toPeople(true, ben, eve, kim, pat, vic.ID)
	s.firesOn(false, servers)
	s.firesOn(false, map[string]uuid.UUID{"AlertShared": servers["AlertBare"]}, servers["AlertWeb"])
	s.follow()
	titles := append(slices.Sorted(maps.Keys(servers)), "AlertShared")
	want := map[string]string{
		"AlertPay": "ana ben eve pat vic", "AlertWeb": "ana eve vic", "AlertBare": "ana vic", "AlertHomeless": "ana vic", "AlertShared": "ana eve vic",
	}
	with := func(status string) map[string]string {
		all := maps.Clone(want)
		for title := range all {
			all[title] = status + ": " + all[title]
		}
		return all
	}
	if got := s.toldOf(names, titles...); !maps.Equal(got, with("pending")) {
		t.Errorf("will be mailed: %v", got)
	}
	for title, id := range servers {
		if id == uuid.Nil {
			continue
		}
		rules, err := s.reader.OfInstance(t.Context(), s.org.ID, id, s.accounts)
		must(t, err)
		if got := named(names, rules[0].Channels[0].Recipients); got != want[title] {
			t.Errorf("notified about the server of %s: %s", title, got)
		}
	}
	s.process("a", s.sender)
	s.passes(time.Minute)
	s.await("the delivery is sent", func() bool { return strings.HasPrefix(s.story(), "sent ") })
	if got := s.toldOf(names, titles...); !maps.Equal(got, with("sent")) {
		t.Errorf("were mailed: %v", got)
	}
	all := strings.Join(titles, " ")
	mailed := map[string]string{"ana": all, "vic": all, "ben": "AlertPay", "eve": "AlertPay AlertWeb AlertShared", "pat": "AlertPay"}
	if got := s.mailed(titles...); !maps.Equal(got, mailed) {
		t.Errorf("mailed %v, want %v", got, mailed)
	}
	for _, m := range s.smtp.Mails() {
		if m.To[0] == "eve@acme.example" && (strings.Contains(m.Data, "bare") || strings.Contains(m.Data, servers["AlertBare"].String()) || !strings.Contains(m.Data, "AlertShared, web")) {
			t.Errorf("the mail about a server of theirs and another: %s", m.Data)
		}
	}
}

// TestADeliveryThatNoRecipientSees says so, and so does an event that none of the mails had. A test has no events,
// and reaches everybody.
func TestADeliveryThatNoRecipientSees(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ben, kim := s.member("ben"), s.member("kim")
	names := map[uuid.UUID]string{ben: "ben", kim: "kim"}
	s.team("Payments", byTags("team", "payments"), ben)
	pay := s.server("pay", "team=payments")
	s.toPeople(false, ben, kim)
	s.firesOn(false, map[string]uuid.UUID{"AlertOrders": s.orders})
	s.follow()
	s.process("a", s.sender)
	s.passes(time.Minute)
	s.wantStory("suppressed no_recipients raised:AlertOrders")
	s.firesOn(false, map[string]uuid.UUID{"AlertPay": pay, "AlertNext": s.orders})
	s.follow()
	s.passes(time.Minute)
	s.await("it is sent", func() bool { return strings.Contains(s.story(), "| sent ") })
	want := map[string]string{"AlertOrders": "suppressed no_recipients: ", "AlertNext": "suppressed no_recipients: ", "AlertPay": "sent: ben"}
	if got := s.toldOf(names, "AlertOrders", "AlertNext", "AlertPay"); !maps.Equal(got, want) {
		t.Errorf("shown: %v, want %v", got, want)
	}
	if got := s.mailed("AlertOrders", "AlertNext", "AlertPay"); !maps.Equal(got, map[string]string{"ben": "AlertPay"}) {
		t.Errorf("mailed: %v", got)
	}
	channels, err := s.reader.Channels(t.Context(), s.org.ID, nil)
	must(t, err)
	if tested, err := s.sender.Test(t.Context(), s.org, channels[0].ID); err != nil || !tested.OK || len(s.smtp.Mails()) != 3 {
		t.Errorf("a test: %+v, %v, %d mails", tested, err, len(s.smtp.Mails()))
	}
}

// TestAMailToTheRoleTeamWaitsForTheOwners: without them nobody knows whether they see the server.
func TestAMailToTheRoleTeamWaitsForTheOwners(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.team("Payments", byTags("team", "payments"), s.member("ben"))
	server := s.server("pay", "team=payments")
	ben, _, err := s.accounts.MemberByEmail(t.Context(), "ben@acme.example")
	must(t, err)
	s.toPeople(false, ben.ID)
	s.firesOn(false, map[string]uuid.UUID{"lag": server})
	s.follow()
	s.exec(`ALTER TABLE teams RENAME TO teams_away`)
	s.process("a", s.sender)
	s.passes(time.Minute)
	s.await("the mail was tried twice", func() bool {
		var attempts int
		must(t, s.db.Get(&attempts, `SELECT max(attempts) FROM jobs`))
		return attempts > 2
	})
	s.exec(`ALTER TABLE teams_away RENAME TO teams`)
	s.wantStory("sent raised:lag")
	if got := s.mailed("lag"); got["ben"] != "lag" {
		t.Errorf("mailed %v", got)
	}
}
