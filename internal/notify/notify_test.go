package notify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/organization"
	"muster/internal/notify"
)

// TestRaisedThenResolved are told in that order, each once, under ids that stay.
func TestRaisedThenResolved(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	s.process("a", s.sender)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.wantStory("sent raised:lag")
	s.fires(alert.Critical, "lag") // is nothing new
	s.ends("lag")
	s.follow()
	s.follow()
	s.wantStory("sent raised:lag | sent resolved:lag")
	posts := r.got()
	if len(posts) != 2 || r.told() != "raised:lag resolved:lag" {
		t.Fatalf("told %s in %d posts", r.told(), len(posts))
	}
	first := posts[0].Told
	if first.Type != "notification" || first.Rule.Name != "Everything" || first.Events[0].Instance.Name != "prod-orders" || *first.Events[0].Severity != alert.Critical {
		t.Errorf("told %s", posts[0].Body)
	}
	if posts[0].Header.Get("Webhook-Id") != first.ID.String() || first.ID == posts[1].Told.ID || first.Events[0].ID == posts[1].Told.Events[0].ID {
		t.Error("the ids are not those of deliveries and events")
	}
}

// TestWhatBeganBeforeTheRule is told where Muster learns of it later: whoever connects an
// Alertmanager to an installation that has rules is told of what fires then.
func TestWhatBeganBeforeTheRule(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.rule(s.webhook(s.receiver().URL))
	s.process("a", s.sender)
	now := s.clock.Now()
	_, _, err := s.commands.RecordFirings(t.Context(), commands.Actor{OrganizationID: s.org.ID, Component: "watch"}, []alert.Firing{
		{Key: "watch/lag", Title: "lag", Severity: alert.Critical, InstanceID: s.orders, StartsAt: now.Add(-24 * time.Hour), SeenAt: now},
	})
	must(t, err)
	s.follow()
	s.wantStory("sent raised:lag")
}

// TestResolvedOnlyWhereRaisedWas: neither where the rule came later, nor where the raise failed.
func TestResolvedOnlyWhereRaisedWas(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.fires(alert.Critical, "old")
	channel := s.webhook(r.URL)
	s.clock.Advance(time.Second)
	s.rule(channel)
	s.process("a", s.sender)
	s.clock.Advance(time.Second)
	s.ends("old")
	s.follow()
	s.wantStory("suppressed not_told_raised resolved:old")
	r.answers(http.StatusGone)
	s.fires(alert.Critical, "refused")
	s.follow()
	s.wantStory("suppressed not_told_raised resolved:old | failed raised:refused")
	r.answers(http.StatusNoContent)
	s.ends("refused")
	s.follow()
	s.wantStory("suppressed not_told_raised resolved:old | failed raised:refused | suppressed not_told_raised resolved:refused")
}

// TestAnAttemptThatDies before it is noted is made again under the same id, by another
// process, and nothing overtakes it.
func TestAnAttemptThatDies(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	dies, died := *s.sender, make(chan struct{})
	dies.Passed = func(ctx context.Context) error { // the process is gone: nothing of it is heard again
		close(died)
		<-ctx.Done()
		return ctx.Err()
	}
	stop := s.process("dies", &dies)
	s.fires(alert.Critical, "lag")
	s.follow()
	<-died
	s.ends("lag")
	s.follow()
	s.passes(time.Minute)
	stop()
	s.process("takes over", s.sender)
	s.exec(`UPDATE jobs SET due_at = now() WHERE kind = 'notify' AND worker_id LIKE 'dies%'`)
	s.wantStory("sent raised:lag | sent resolved:lag")
	posts := r.got()
	if r.told() != "raised:lag raised:lag resolved:lag" || posts[0].Told.ID != posts[1].Told.ID || string(posts[0].Body) != string(posts[1].Body) {
		t.Errorf("told %s", r.told())
	}
}

// TestNothingOvertakes a delivery that is tried again: what happens meanwhile joins the next
// one, which grows.
func TestNothingOvertakes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	r.answers(http.StatusInternalServerError)
	s.rule(s.webhook(r.URL))
	s.process("a", s.sender)
	s.fires(alert.Critical, "first")
	s.follow()
	s.await("it was tried twice", func() bool { return len(r.got()) > 1 })
	for i := range 5 {
		s.fires(alert.Warning, fmt.Sprintf("later-%d", i))
		s.follow()
		s.passes(time.Minute)
	}
	s.ends("first")
	s.follow()
	s.passes(time.Minute)
	s.await("it was tried again", func() bool { return len(r.got()) > 5 })
	if got := s.story(); got != "pending raised:first | pending raised:later-0 raised:later-1 raised:later-2 raised:later-3 raised:later-4 resolved:first" {
		t.Errorf("while it is away: %s", got)
	}
	r.answers(http.StatusNoContent)
	s.wantStory("sent raised:first | sent raised:later-0 raised:later-1 raised:later-2 raised:later-3 raised:later-4 resolved:first")
	all, err := s.reader.Deliveries(t.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 10})
	if err != nil || all[1].Attempts < 6 || all[1].LastCode != 204 || all[1].LastError != "" || all[0].Attempts != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestTenThousandAlerts of a minute are one message, which tells a hundred and counts the rest.
func TestTenThousandAlerts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL), func(t *notification.Terms) { t.GroupSeconds = 3600 })
	s.rule(s.channel(commands.CreateChannel{Name: "Ana", Kind: notification.Email, MemberIDs: []uuid.UUID{s.ana.ID}}), func(t *notification.Terms) { t.GroupSeconds = 3600 })
	s.process("a", s.sender)
	const alerts = 10_000
	keys := make([]string, alerts)
	for i := range keys {
		keys[i] = fmt.Sprintf("alert-%05d", i)
	}
	for i := 0; i < alerts; i += 1000 {
		s.fires(alert.Critical, keys[i:i+1000]...)
		s.follow()
	}
	s.passes(time.Hour)
	s.await("both are sent", func() bool { return strings.Count(s.story(), "sent") == 2 })
	posts, mails := r.got(), s.smtp.Mails()
	if len(posts) != 1 || len(posts[0].Told.Events) != 100 || posts[0].Told.Omitted != alerts-100 {
		t.Errorf("%d posts, the first with %d events and %d more", len(posts), len(posts[0].Told.Events), posts[0].Told.Omitted)
	}
	if len(mails) != 1 || !strings.Contains(mails[0].Header("Subject"), "9999") || !strings.Contains(mails[0].Data, "9900 more") {
		t.Errorf("%d mails", len(mails))
	}
	delivery, err := s.reader.Deliveries(t.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 1})
	ids := map[uuid.UUID]bool{}
	for _, e := range delivery[0].Events.Value {
		ids[e.ID] = true
	}
	if err != nil || len(ids) != alerts {
		t.Errorf("the delivery has %d events, %v", len(ids), err)
	}
}

// TestQuietHoursInDeliveries: what comes within waits and goes out as one, what was raised and
// resolved within is not told, and critical alerts need not wait.
func TestQuietHoursInDeliveries(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	now := s.clock.Now()
	night := &notification.Quiet{From: now.Add(-time.Hour).Format("15:04"), To: now.Add(2 * time.Hour).Format("15:04"), TimeZone: "UTC", ExceptCritical: true}
	s.rule(s.webhook(r.URL), func(t *notification.Terms) { t.Quiet = night })
	s.process("a", s.sender)
	s.fires(alert.Warning, "short", "long")
	s.follow()
	s.wantStory("pending quiet_hours raised:short raised:long")
	s.record(true, alert.Warning, []string{"short"})
	s.fires(alert.Critical, "burns")
	s.follow()
	s.wantStory("pending quiet_hours raised:long | sent raised:burns")
	s.passes(3 * time.Hour)
	s.wantStory("sent raised:long | sent raised:burns")
	if r.told() != "raised:burns raised:long" {
		t.Errorf("told %s", r.told())
	}
	// Alone in it, it leaves nothing to tell.
	s.clock.Advance(22 * time.Hour)
	s.fires(alert.Warning, "alone")
	s.follow()
	s.record(true, alert.Warning, []string{"alone"})
	s.follow()
	s.wantStory("sent raised:long | sent raised:burns | suppressed resolved_meanwhile raised:alone resolved:alone")
}

// TestToldAgain is what is open and nobody knows of, after the time that the rule says, and the same event.
func TestToldAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL), func(t *notification.Terms) {
		t.RepeatMinutes, t.Match.Events = 30, []notification.EventType{notification.AlertRaised, notification.AlertResolved}
	})
	s.process("a", s.sender)
	s.fires(alert.Critical, "open", "known", "muted", "over")
	s.follow()
	s.await("it is sent", func() bool { return len(r.got()) == 1 })
	for key, does := range map[string]func(context.Context, commands.Actor, uuid.UUID) (commands.Mark, error){
		"known": s.commands.AcknowledgeAlert, "muted": s.commands.MuteAlert,
	} {
		_, err := does(t.Context(), s.actor, s.alertOf(key))
		must(t, err)
	}
	s.ends("over")
	s.follow()
	s.await("the end is sent", func() bool { return strings.HasSuffix(s.story(), "sent resolved:over") })
	s.clock.Advance(29 * time.Minute)
	must(t, s.follower.Repeat(t.Context()))
	s.clock.Advance(2 * time.Minute)
	var group sync.WaitGroup
	for range 3 { // of three processes one does it
		group.Go(func() {
			if err := s.follower.Repeat(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	s.passes(0)
	s.await("it is told again", func() bool { return strings.HasSuffix(r.told(), "resolved:over raised:open") })
	must(t, s.follower.Repeat(t.Context()))
	posts := r.got()
	if len(posts) != 3 || posts[2].Told.Events[0].ID != posts[0].Told.Events[0].ID || posts[2].Told.ID == posts[0].Told.ID {
		t.Errorf("%d posts, told %s", len(posts), r.told())
	}
}

// alertOf is the open alert of a key.
func (s *scene) alertOf(key string) (id uuid.UUID) {
	s.Helper()
	must(s.T, s.db.GetContext(s.Context(), &id, `SELECT stream_id FROM stream_keys WHERE organization_id = $1 AND key = $2`, s.org.ID, "watch/"+key))
	return id
}

// TestMailsToMembers go to each once, to whom they still may, under the name of today.
func TestMailsToMembers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	invite := func(email string, role organization.Role) uuid.UUID {
		m, _, _, _, err := s.commands.InviteMember(t.Context(), s.actor, commands.NewMember{Email: email, Name: strings.ToUpper(email[:3]), Role: role})
		must(t, err)
		return m.ID
	}
	ben, eve, zoe := invite("ben@acme.example", organization.Member), invite("eve@acme.example", organization.Viewer), invite("zoe@acme.example", organization.Viewer)
	s.rule(s.channel(commands.CreateChannel{
		Name: "People", Kind: notification.Email, Administrators: true, MemberIDs: []uuid.UUID{ben, eve, zoe},
	}))
	disabled := organization.Disabled
	_, _, err := s.commands.ChangeMember(t.Context(), s.actor, eve, commands.ChangeMember{Status: &disabled})
	must(t, err)
	_, err = s.commands.EraseMember(t.Context(), s.actor, zoe, nothing)
	must(t, err)
	s.smtp.Answer("ben@acme.example", 450, [3]int{4, 2, 2}, "s3cret")
	s.fires(alert.Critical, "lag")
	s.follow()
	s.process("a", s.sender)
	s.await("Ben was refused for now", func() bool {
		all, err := s.reader.Deliveries(t.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 1})
		return err == nil && all[0].Attempts > 1 && all[0].LastCode == 450 && all[0].LastError != "" && !strings.Contains(all[0].LastError, "s3cret")
	})
	s.smtp.Answer("ben@acme.example", 0, [3]int{}, "")
	s.wantStory("sent raised:lag")
	to := map[string]int{}
	for _, m := range s.smtp.Mails() {
		to[m.To[0]]++
		if !strings.Contains(m.Header("Message-Id"), "@notifications.muster.internal") || m.Header("Auto-Submitted") != "auto-generated" {
			t.Errorf("headers of %s", m.Data)
		}
	}
	if len(to) != 2 || to["ana@acme.example"] != 1 || to["ben@acme.example"] != 1 {
		t.Errorf("mailed %v", to)
	}
	// Nobody is left.
	only := s.channel(commands.CreateChannel{Name: "Ben", Kind: notification.Email, MemberIDs: []uuid.UUID{ben}})
	s.rule(only)
	_, err = s.commands.EraseMember(t.Context(), s.actor, ben, nothing)
	must(t, err)
	s.fires(alert.Critical, "nobody")
	s.follow()
	s.await("nobody is told of it", func() bool { return strings.Contains(s.story(), "suppressed no_recipients raised:nobody") })
}

// nothing is what else is forgotten of a member here.
func nothing(*sqlx.Tx) error { return nil }

// TestRulesThatGo take what waits for them along, and channels that are named stay.
func TestRulesThatGo(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	r.answers(http.StatusServiceUnavailable)
	channel := s.webhook(r.URL)
	rule := s.rule(channel)
	_, err := s.commands.RemoveChannel(t.Context(), s.actor, channel)
	var refused *commands.RuleError
	if !errors.As(err, &refused) || refused.Code != "channel_in_use" {
		t.Errorf("a channel that a rule names: %v", err)
	}
	s.process("a", s.sender)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.await("it was tried", func() bool { return len(r.got()) > 0 })
	off := false
	_, err = s.commands.ChangeNotificationRule(t.Context(), s.actor, rule, commands.ChangeNotificationRule{Enabled: &off})
	must(t, err)
	s.wantStory("suppressed rule_disabled raised:lag")
	_, err = s.commands.RemoveNotificationRule(t.Context(), s.actor, rule)
	must(t, err)
	_, err = s.commands.RemoveChannel(t.Context(), s.actor, channel)
	must(t, err)
	var unknown *commands.NotFoundError
	if _, err := s.commands.RemoveChannel(t.Context(), s.actor, channel); !errors.As(err, &unknown) {
		t.Errorf("removed twice: %v", err)
	}
	if n := 0; s.db.Get(&n, `SELECT count(*) FROM notification_channels WHERE sealed IS NOT NULL`) != nil || n > 0 {
		t.Errorf("%d addresses are left", n)
	}
}

// TestFailedAndTriedAgain has the same id, and is not tried where it did not fail.
func TestFailedAndTriedAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	r.answers(http.StatusGone)
	channel := s.webhook(r.URL)
	s.rule(channel)
	s.process("a", s.sender)
	s.fires(alert.Critical, "lag")
	s.follow()
	s.wantStory("failed raised:lag")
	r.answers(http.StatusOK)
	id := r.got()[0].Told.ID
	again := func() error {
		_, err := s.commands.RecordDeliveryRetry(t.Context(), s.actor, channel, id, func(tx *sqlx.Tx) error { return s.sender.Retry(t.Context(), tx, s.org.ID, id) })
		return err
	}
	must(t, again())
	s.wantStory("sent raised:lag")
	if posts := r.got(); len(posts) != 2 || posts[1].Told.ID != id {
		t.Errorf("%d posts", len(posts))
	}
	var refused *commands.RuleError
	if err := again(); !errors.As(err, &refused) || refused.Code != "invalid_state" {
		t.Errorf("one that was sent: %v", err)
	}
}

// TestWhatIsToldIsCounted over half an hour of alerts with three processes that die at any point and
// a receiver that fails every third time: each event that was raised or resolved is told, in its
// order, and counted once by its id.
func TestWhatIsToldIsCounted(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	s.rule(s.webhook(r.URL))
	var passes atomic.Int64
	dying := *s.sender
	dying.Passed = func(context.Context) error {
		if passes.Add(1)%3 == 0 {
			return errors.New("the process dies here")
		}
		return nil
	}
	for _, name := range []string{"a", "b", "c"} {
		s.process(name, &dying)
	}
	stop := make(chan struct{})
	var followers sync.WaitGroup
	for range 3 {
		followers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.follower.Follow(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			}
		})
	}
	const minutes = 30 // so that one message has room for all
	for i := range minutes {
		s.fires(alert.Critical, fmt.Sprintf("a-%d", i), fmt.Sprintf("b-%d", i))
		r.answers([]int{204, 503, 204}[i%3])
		if i > 0 {
			s.ends(fmt.Sprintf("a-%d", i-1))
		}
	}
	r.answers(204)
	s.follow()
	want := 2*minutes + minutes - 1
	s.await("all is told", func() bool {
		var open, told int
		must(t, s.db.Get(&open, `SELECT count(*) FROM deliveries WHERE status <> 'sent'`))
		must(t, s.db.Get(&told, `SELECT count(*) FROM delivery_events`))
		s.passes(0)
		return open == 0 && told == want
	})
	close(stop)
	followers.Wait()
	first := map[uuid.UUID]int{}
	var order []string
	for i, p := range r.got() {
		for _, e := range p.Told.Events {
			if _, seen := first[e.ID]; !seen {
				first[e.ID] = i
				order = append(order, string(e.Type)+":"+e.Title)
			}
		}
	}
	if len(first) != want {
		t.Errorf("told %d events by their ids, want %d", len(first), want)
	}
	at := map[string]int{}
	for i, o := range order {
		at[o] = i
	}
	for i := range minutes - 1 {
		key := fmt.Sprintf(":a-%d", i)
		if at["alert.raised"+key] >= at["alert.resolved"+key] {
			t.Errorf("a-%d was told to be over before it was raised", i)
		}
	}
}

// TestSecretsAreNowhere but sealed: not in rows, the log, what is shown or our own log.
func TestSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	r.answers(http.StatusInternalServerError)
	path := "/services/T0S3CRET/B0S3CRET"
	chat := s.channel(commands.CreateChannel{Name: "Chat", Kind: notification.Chat, Address: notification.Address{URL: r.URL + path}})
	s.rule(chat)
	s.rule(s.webhook(r.URL))
	s.fires(alert.Critical, "lag")
	s.follow()
	s.process("a", s.sender)
	s.await("both were tried", func() bool { return len(r.got()) > 3 })
	if _, err := s.sender.Test(t.Context(), s.org, chat); err != nil {
		t.Fatal(err)
	}
	channels, err := s.reader.Channels(t.Context(), s.org.ID, nil)
	must(t, err)
	if channels[0].URL != "http://"+hostOf(t, r.URL) {
		t.Errorf("a chat is shown at %s", channels[0].URL)
	}
	shown, err := json.Marshal(channels[0].URL)
	must(t, err)
	for _, table := range []string{"events", "jobs", "deliveries", "delivery_events", "notification_channels", "notification_rules"} {
		var text string
		must(t, s.db.Get(&text, `SELECT coalesce(string_agg(t::text, ' '), '') FROM `+table+` t`))
		if table == "events" {
			must(t, s.db.Get(&text, `SELECT string_agg(convert_from(data, 'UTF8') || convert_from(metadata, 'UTF8'), ' ') FROM events`))
		}
		shown = append(shown, text...)
	}
	shown = append(shown, s.log.String()...)
	for _, hidden := range []string{"S3CRET", secret, strings.TrimPrefix(secret, notification.SecretPrefix)} {
		if strings.Contains(string(shown), hidden) {
			t.Errorf("%s is shown", hidden)
		}
	}
}

// TestThePreviewIsWhatIsTold of the same events.
func TestThePreviewIsWhatIsTold(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.fires(alert.Critical, "a", "b")
	s.fires(alert.Warning, "c")
	s.ends("a")
	_, err := s.commands.AcknowledgeAlert(t.Context(), s.actor, s.alertOf("b"))
	must(t, err)
	s.follow()
	s.clock.Advance(time.Minute)
	for name, test := range map[string]struct {
		match notification.Match
		want  int64
	}{
		"everything": {notification.Match{}, 5}, "critical": {notification.Match{Severities: []alert.Severity{alert.Critical}}, 4},
		"by name": {notification.Match{NameContains: "ORDERS"}, 5}, "another": {notification.Match{NameContains: "staging"}, 0},
		"ends": {notification.Match{Events: []notification.EventType{notification.AlertResolved}}, 1},
	} {
		p, err := s.reader.Preview(t.Context(), s.org.ID, test.match, time.Minute)
		if err != nil || p.Events != test.want || int64(len(p.Newest)) != test.want || p.Notifications > test.want || test.want > 0 && p.Notifications == 0 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	foreign, err := s.reader.Preview(t.Context(), uuid.New(), notification.Match{}, 0)
	if err != nil || foreign.Events != 0 {
		t.Errorf("another organization's: %+v, %v", foreign, err)
	}
}

// TestTheBeginning is made once, by whoever comes first, for an organization that has nothing yet.
func TestTheBeginning(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := notify.Begin(context.WithoutCancel(t.Context()), s.db, s.commands.BeginNotifications); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	rules, err := s.reader.Rules(t.Context(), s.org.ID, nil)
	if err != nil || len(rules) != 1 || rules[0].CreatedBy != nil {
		t.Fatalf("%d rules, %v", len(rules), err)
	}
	_, err = s.commands.RemoveNotificationRule(t.Context(), s.actor, rules[0].ID)
	must(t, err)
	must(t, notify.Begin(t.Context(), s.db, s.commands.BeginNotifications))
	if rules, err = s.reader.Rules(t.Context(), s.org.ID, nil); err != nil || len(rules) != 0 {
		t.Errorf("it came back: %d, %v", len(rules), err)
	}
}
