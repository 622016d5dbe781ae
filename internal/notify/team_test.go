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
	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/notification"
	"muster/domain/organization"
	domainteam "muster/domain/team"
	"muster/eventstore"
	"muster/internal/notify"
	"muster/internal/notify/channel/team"
)

// member invites somebody, who joins at once.
func (s *scene) member(name string) uuid.UUID {
	s.Helper()
	id := s.invited(name)
	s.exec(`UPDATE members SET status = 'active' WHERE id = $1`, id)
	return id
}

func (s *scene) invited(name string) uuid.UUID {
	s.Helper()
	m, _, _, _, err := s.commands.InviteMember(s.Context(), s.actor, commands.NewMember{Email: name + "@acme.example", Name: name, Role: organization.Team})
	must(s.T, err)
	return m.ID
}

func (s *scene) toTheOwner(change ...func(*notification.Terms)) (channel uuid.UUID) {
	s.Helper()
	channel = s.channel(notifying.CreateChannel{Name: "The owner", Kind: team.Name})
	s.rule(channel, change...)
	return channel
}

// mailed has, for each member, the alerts that the mails to them name, in alphabetical order.
func (s *scene) mailed(titles ...string) map[string]string {
	mailed := map[string]string{}
	for _, m := range s.smtp.Mails() {
		name, _, _ := strings.Cut(m.To[0], "@")
		var named []string
		for _, title := range titles {
			if strings.Contains(m.Data, title) {
				named = append(named, title)
			}
		}
		mailed[name] = strings.TrimSpace(mailed[name] + " " + strings.Join(named, " "))
	}
	return mailed
}

// TestTheOwningTeamIsMailed: each member of the owner gets one mail with the events of their own
// teams. Events of a server without an owner, of no server, or of a team that nobody can be
// mailed of are left out, with the reason.
func TestTheOwningTeamIsMailed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ben, eve, kim, pat := s.member("ben"), s.member("eve"), s.member("kim"), s.invited("pat")
	s.team("Payments", byTags("team", "payments"), ben, eve, pat)
	s.team("Web", byTags("team", "web"), eve)
	s.team("Behind Web", byTags("team", "web"), kim) // it owns nothing
	s.team("Not joined yet", byTags("team", "new"), pat)
	s.team("Without members", byTags("team", "empty"))
	servers := map[string]uuid.UUID{
		"AlertPay": s.server("pay", "team=payments"), "AlertWeb": s.server("web", "team=web"), "AlertNew": s.server("new", "team=new"),
		"AlertEmpty": s.server("empty", "team=empty"), "AlertBare": s.server("bare", ""), "AlertHomeless": uuid.Nil,
	}
	s.toTheOwner(func(terms *notification.Terms) { terms.GroupSeconds = 60 })
	s.firesOn(false, servers)
	s.firesOn(false, map[string]uuid.UUID{"AlertShared": servers["AlertBare"]}, servers["AlertWeb"])
	s.follow()
	s.process("a", s.sender)
	s.passes(time.Minute)
	s.await("the delivery is sent", func() bool { return strings.HasPrefix(s.story(), "sent ") })
	if got := s.story(); got != "sent raised:AlertPay raised:AlertWeb raised:AlertShared" {
		t.Errorf("sent: %s", got)
	}
	titles := append(slices.Sorted(maps.Keys(servers)), "AlertShared")
	want := map[string]string{"ben": "AlertPay", "eve": "AlertPay AlertWeb AlertShared"}
	if got := s.mailed(titles...); !maps.Equal(got, want) || len(s.smtp.Mails()) != 2 {
		t.Errorf("mailed %v in %d mails, want %v", got, len(s.smtp.Mails()), want)
	}
	for _, m := range s.smtp.Mails() {
		if bare := servers["AlertBare"].String(); m.To[0] == "eve@acme.example" && (strings.Contains(m.Data, "bare") || strings.Contains(m.Data, bare) || !strings.Contains(m.Data, "AlertShared, web")) {
			t.Errorf("the mail about a server of theirs and another: %s", m.Data)
		}
	}
	for title, why := range map[string]string{
		"AlertBare": "suppressed no_owner", "AlertHomeless": "suppressed no_owner", "AlertNew": "suppressed no_recipients",
		"AlertEmpty": "suppressed no_recipients", "AlertPay": "sent ", "AlertShared": "sent ",
	} {
		told, err := s.reader.OfAlert(t.Context(), s.org.ID, s.alertOf(title))
		must(t, err)
		if len(told) != 1 || told[0].Status+" "+told[0].Reason != why {
			t.Errorf("%s: %+v, want %q", title, told, why)
		}
		var mailed []string
		for _, id := range told[0].Recipients.Value {
			mailed = append(mailed, map[uuid.UUID]string{ben: "ben", eve: "eve"}[id])
		}
		slices.Sort(mailed)
		if got := strings.Join(mailed, " "); got != map[string]string{"AlertPay": "ben eve", "AlertShared": "eve"}[title] {
			t.Errorf("%s: shown as mailed are %q", title, got)
		}
	}
}

// TestOwnersThatCannotBeRead hold up what leads to them alone: all else is sent without an owner, and the log says it
// once. Without teams nothing is read.
func TestOwnersThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	const logged = "the owners of servers cannot be read"
	blind := *s.sender
	blind.Registry = eventstore.NewRegistry()
	stop := s.process("blind", &blind)
	s.firesOn(false, map[string]uuid.UUID{"no team": s.orders})
	s.follow()
	s.await("it is posted", func() bool { return r.told() == "raised:no team" })
	if strings.Contains(s.log.String(), logged) {
		t.Errorf("without teams: %s", s.log)
	}
	stop()
	s.team("Payments", byTags("team", "payments"), s.member("ben"))
	server := s.server("pay", "team=payments")
	s.toTheOwner()
	s.firesOn(false, map[string]uuid.UUID{"lag": server})
	s.follow()
	s.exec(`ALTER TABLE teams RENAME TO teams_away`)
	s.process("a", s.sender)
	s.await("it is posted without its owner", func() bool { return r.told() == "raised:no team raised:lag" && r.got()[1].Told.Events[0].Owner == nil })
	s.await("the mail was tried twice", func() bool {
		var attempts int
		must(t, s.db.Get(&attempts, `SELECT max(attempts) FROM jobs`))
		return attempts > 2
	})
	if n := strings.Count(s.log.String(), logged); n != 1 {
		t.Errorf("it is logged %d times: %s", n, s.log)
	}
	if got := s.mailed("lag"); len(got) > 0 {
		t.Errorf("mailed without an owner: %v", got)
	}
	s.exec(`ALTER TABLE teams_away RENAME TO teams`)
	s.await("the owner is mailed", func() bool { return s.mailed("lag")["ben"] == "lag" })
}

// TestADeliveryWithoutAnOwnerIsSuppressed, and no member is mailed.
func TestADeliveryWithoutAnOwnerIsSuppressed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.team("Payments", byTags("team", "payments"), s.member("ben"))
	s.toTheOwner()
	s.process("a", s.sender)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.wantStory("suppressed no_owner raised:lag")
	s.retag(s.orders, "team=payments")
	s.ends("lag")
	s.fires(alert.Critical, "disk")
	s.follow()
	s.wantStory("suppressed no_owner raised:lag | sent raised:disk") // the end of what nobody was told of is left out
	if got := s.mailed("lag", "disk"); len(got) != 1 || got["ben"] != "disk" {
		t.Errorf("mailed %v", got)
	}
}

// TestTheMessageNamesTheOwnerAtTheTimeOfSending: a server changes its team while the delivery waits, and so
// does the membership between two attempts.
func TestTheMessageNamesTheOwnerAtTheTimeOfSending(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ben, eve, kim := s.member("ben"), s.member("eve"), s.member("kim")
	server := s.server("pay", "team=payments")
	s.team("Payments", byTags("team", "payments"), ben)
	web := s.team("Web", byTags("team", "web"), eve, kim)
	s.toTheOwner(func(terms *notification.Terms) { terms.GroupSeconds = 60 })
	s.firesOn(false, map[string]uuid.UUID{"lag": server})
	s.follow()
	recipients := func() []uuid.UUID {
		told, err := s.reader.OfAlert(t.Context(), s.org.ID, s.alertOf("lag"))
		must(t, err)
		return told[0].Recipients.Value
	}
	if got := recipients(); !slices.Equal(got, []uuid.UUID{ben}) {
		t.Errorf("will be mailed: %v", got)
	}
	s.retag(server, "team=web")
	s.smtp.Answer("eve@acme.example", 450, [3]int{4, 2, 2}, "later")
	s.smtp.Answer("kim@acme.example", 450, [3]int{4, 2, 2}, "later")
	stop := s.process("a", s.sender)
	s.passes(time.Minute)
	s.await("it was tried", func() bool {
		all, err := s.reader.Deliveries(t.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 1})
		return err == nil && all[0].Attempts > 1
	})
	stop() // an attempt that is under way would still mail kim
	members := []domainteam.Member{{ID: eve, Role: organization.Member}}
	_, err := s.commands.ChangeTeam(t.Context(), s.actor, web, commands.ChangeTeam{Members: &members}) // without kim
	must(t, err)
	s.retag(server, "team=payments") // the owner stays that of the first attempt
	s.smtp.Answer("eve@acme.example", 0, [3]int{}, "")
	s.smtp.Answer("kim@acme.example", 0, [3]int{}, "")
	s.process("b", s.sender)
	s.wantStory("sent raised:lag")
	if got := s.mailed("lag"); len(got) != 1 || got["eve"] != "lag" || !strings.Contains(s.smtp.Mails()[0].Data, "Owner: Web.") {
		t.Errorf("mailed %v: %s", got, s.smtp.Mails()[0].Data)
	}
	if got := recipients(); !slices.Equal(got, []uuid.UUID{eve}) {
		t.Errorf("was mailed: %v", got)
	}
	// The team is deleted while its delivery waits: the next team owns the server, or nobody.
	s.retag(server, "team=web")
	s.firesOn(false, map[string]uuid.UUID{"disk": server})
	s.follow()
	_, err = s.commands.RemoveTeam(t.Context(), s.actor, web)
	must(t, err)
	s.passes(time.Minute)
	s.wantStory("sent raised:lag | suppressed no_owner raised:disk")
}

// TestThePreviewOfRecipientsNamesTheOwningTeam, of the owner and the members of today.
func TestThePreviewOfRecipientsNamesTheOwningTeam(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ben, eve, pat := s.member("ben"), s.member("eve"), s.invited("pat")
	s.team("Payments", byTags("team", "payments"), ben, pat)
	s.team("Web", byTags("team", "web"), eve)
	channel := s.toTheOwner()
	for tags, want := range map[string][]uuid.UUID{"team=payments": {ben}, "team=web": {eve}, "team=nobody": nil} {
		s.retag(s.orders, tags)
		rules, err := s.reader.OfInstance(t.Context(), s.org.ID, s.orders, s.accounts)
		must(t, err)
		if len(rules) != 1 || !slices.Equal(rules[0].Channels[0].Recipients, want) {
			t.Errorf("%s: %+v, want %v", tags, rules, want)
		}
	}
	tested, err := s.sender.Test(t.Context(), s.org, channel)
	if err != nil || tested.OK || !strings.Contains(tested.Error, "no recipients of its own") || len(s.smtp.Mails()) > 0 {
		t.Errorf("a test: %+v, %v", tested, err)
	}
}

// TestNotificationsNameTheOwner in a webhook's JSON, of the time at which they are sent. An alert
// about several servers names the owner of each.
func TestNotificationsNameTheOwner(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pay, web := s.server("pay", "team=payments"), s.server("web", "team=web")
	s.team("Payments", byTags("team", "payments"))
	s.team("Web", byTags("team", "web"))
	r := s.receiver()
	s.rule(s.webhook(r.URL), func(terms *notification.Terms) { terms.GroupSeconds = 60 })
	s.firesOn(false, map[string]uuid.UUID{"b moved": s.orders, "c bare": s.server("bare", ""), "d homeless": uuid.Nil, "e": pay}, web)
	s.assessed(pay, domain.NewFindings{CheckID: "PG-M01", Title: "f finding", Severity: "Critical", Findings: 1})
	s.follow()
	s.retag(s.orders, "team=web")
	s.process("a", s.sender)
	s.passes(time.Minute)
	s.await("it is posted", func() bool { return len(r.got()) == 1 })
	owners := map[string]string{}
	for _, e := range r.got()[0].Told.Events {
		name := "null"
		if e.Owner != nil {
			name = e.Owner.Name
		}
		for _, other := range e.OtherInstances {
			name += ", " + other.Name + " of " + other.Owner.Name
		}
		owners[e.Title] = name
	}
	want := map[string]string{
		"b moved": "Web, web of Web", "c bare": "null, web of Web", "d homeless": "null, web of Web", "e": "Payments, web of Web", "f finding": "Payments",
	}
	if !maps.Equal(owners, want) || !strings.Contains(string(r.got()[0].Body), `"owner":null`) {
		t.Errorf("owners %v, want %v: %s", owners, want, r.got()[0].Body)
	}
}
