package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/mail"
	"muster/internal/mail/mailtest"
	"muster/internal/testing/pgtest"
)

// mailing is a world with a mail server.
func mailing(t *testing.T) (*world, *mailtest.Server) {
	t.Helper()
	server := mailtest.Start(t, mailtest.Options{})
	return newWorld(t, func(d *Dependencies) {
		config, err := mail.ParseSMTPURL("smtp://" + server.Addr)
		must(t, err)
		transport, err := mail.NewSMTP(config)
		must(t, err)
		d.Mail, d.Sender.Transport = transport, transport
	}), server
}

var fragment = regexp.MustCompile(`/addresses/(?:confirm|leave)#([A-Z2-7]+)`)

// tokenOf is the secret of the link in a mail's text.
func tokenOf(t *testing.T, m mailtest.Mail) string {
	t.Helper()
	found := fragment.FindStringSubmatch(strings.ReplaceAll(m.Data, "=\r\n", ""))
	if found == nil {
		t.Fatalf("no link in %s", m.Data)
	}
	return found[1]
}

const team = "dba-team@elsewhere.example"

// TestAnExternalAddressHasToConfirmFirst: it is asked, and gets no other mail before it has confirmed. F15.
func TestAnExternalAddressHasToConfirmFirst(t *testing.T) {
	t.Parallel()
	w, server := mailing(t)
	made := w.post(w.ours.admin, "/api/v1/channels", map[string]any{"name": "Team", "kind": "email", "addresses": []string{" " + team + " "}}).is(201)
	path := made.Header().Get("Location")
	address := func() map[string]any {
		all := w.get(w.ours.admin, path).is(200).object()["addresses"].([]any)
		if len(all) != 1 {
			t.Fatalf("addresses %v", all)
		}
		return all[0].(map[string]any)
	}
	if a := address(); a["address"] != team || a["askedAt"] == nil || a["confirmedAt"] != nil {
		t.Errorf("made %v", a)
	}
	if got := w.post(w.ours.admin, path+"/test", nil).is(200).object(); got["ok"] != false {
		t.Errorf("a test before it has confirmed: %v", got)
	}
	mails := server.To(team)
	if len(mails) != 1 {
		t.Fatalf("%d mails: %v", len(mails), mails)
	}
	first := tokenOf(t, mails[0])
	const confirm, leave = "/api/v1/channel-addresses/confirmation", "/api/v1/channel-addresses/departure"
	w.post(person{}, confirm, map[string]any{"token": "nonsense"}).problem(410, "link_gone")
	w.post(person{}, leave, map[string]any{"token": first}).problem(410, "link_gone") // it is for something else

	// Asked again, the first link ends. Of a day there are three mails.
	w.post(w.theirs.admin, path+"/confirmations", nil).problem(404, "not_found")
	w.post(w.ours.admin, path+"/confirmations", nil).is(200)
	w.post(w.ours.admin, path+"/confirmations", nil).is(200)
	w.post(w.ours.admin, path+"/confirmations", nil).problem(429, "too_many_confirmations")
	w.post(person{}, confirm, map[string]any{"token": first}).problem(410, "link_gone")
	// Nor does removing it and adding it again make more.
	again := w.post(w.ours.admin, "/api/v1/channels", map[string]any{"name": "Again", "kind": "email", "addresses": []string{strings.ToUpper(team)}}).is(201).object()
	if a := again["addresses"].([]any)[0].(map[string]any); a["askedAt"] != nil || len(server.Mails()) != 3 {
		t.Errorf("asked %v, %d mails", a, len(server.Mails()))
	}
	last := tokenOf(t, server.To(team)[2])
	w.clock.Advance(49 * time.Hour)
	w.post(person{}, confirm, map[string]any{"token": last}).problem(410, "link_gone")
	w.ours = w.withSessions(w.ours)
	w.post(w.ours.admin, path+"/confirmations", nil).is(200)
	last = tokenOf(t, server.To(team)[3])
	if got := w.post(person{}, confirm, map[string]any{"token": last}).is(200).object(); got["organization"] != "ours" || got["channel"] != "Team" {
		t.Errorf("confirmed %v", got)
	}
	w.post(person{}, confirm, map[string]any{"token": last}).problem(410, "link_gone")
	if a := address(); a["confirmedAt"] == nil {
		t.Errorf("confirmed: %v", a)
	}

	// What it gets has a link that ends it.
	if got := w.post(w.ours.admin, path+"/test", nil).is(200).object(); got["ok"] != true {
		t.Errorf("a test: %v", got)
	}
	w.post(person{}, leave, map[string]any{"token": tokenOf(t, server.To(team)[4])}).is(200)
	if all := w.get(w.ours.admin, path).is(200).object()["addresses"].([]any); len(all) != 0 {
		t.Errorf("it left, and there is %v", all)
	}
	audited := w.get(w.ours.admin, "/api/v1/audit-events?type=channelChanged&limit=200").is(200).Body.String()
	if !strings.Contains(audited, "confirmedAddressId") || !strings.Contains(audited, "leftAddressId") || strings.Contains(audited, "elsewhere.example") {
		t.Errorf("the audit list: %s", audited)
	}
}

// TestARefusedConfirmationSaysWhenToRetry: when the first of the mails that count is a day old, of
// the address or of all addresses of the organization.
func TestARefusedConfirmationSaysWhenToRetry(t *testing.T) {
	t.Parallel()
	w, server := mailing(t)
	channel := func(name string, addresses ...string) string {
		made := w.post(w.ours.admin, "/api/v1/channels", map[string]any{"name": name, "kind": "email", "addresses": addresses})
		return made.is(201).Header().Get("Location") + "/confirmations"
	}
	passes := func(d time.Duration) {
		w.clock.Advance(d)
		w.ours = w.withSessions(w.ours)
	}
	refused := func(ask string, seconds int) {
		t.Helper()
		a := w.post(w.ours.admin, ask, nil).problemWith(429, "too_many_confirmations")
		if got := a.Header().Get("Retry-After"); got != strconv.Itoa(seconds) {
			t.Errorf("to be asked again in %s s, want %d", got, seconds)
		}
	}
	ask := channel("Team", team)
	for range 2 {
		passes(time.Hour)
		w.post(w.ours.admin, ask, nil).is(200)
	}
	refused(ask, 22*60*60)
	passes(22*time.Hour - time.Second)
	refused(ask, 1)
	passes(time.Second)
	w.post(w.ours.admin, ask, nil).is(200)
	refused(ask, 60*60)

	passes(48 * time.Hour)
	var many [2][]string
	for n := range 30 {
		many[n/20] = append(many[n/20], fmt.Sprintf("dba-%d@elsewhere.example", n))
	}
	all := channel("All", many[0]...)
	passes(time.Hour)
	rest := channel("Rest", many[1]...)
	if n := len(server.Mails()); n != 34 {
		t.Fatalf("%d mails came", n)
	}
	refused(rest, 23*60*60)
	refused(all, 23*60*60)
	passes(23 * time.Hour)
	w.post(w.ours.admin, rest, nil).is(200)
}

// TestBadAddresses are refused, all at once, and where no mail could ask them. F15.
func TestBadAddresses(t *testing.T) {
	t.Parallel()
	w, server := mailing(t)
	for name, c := range map[string]struct {
		kind      string
		addresses []string
		pointers  string
	}{
		"no addresses":  {"email", []string{"team", "Team <team@x.example>", "a@x.example\r\nBcc: b@x.example", "x@x.example, y@x.example"}, "#/addresses/0 #/addresses/1 #/addresses/2 #/addresses/3"},
		"twice":         {"email", []string{team, strings.ToUpper(team)}, "#/addresses/1"},
		"of a chat":     {"chat", []string{team}, "#/addresses"},
		"too many":      {"email", strings.Split(strings.TrimSuffix(strings.Repeat("a%@x.example ", 21), " "), " "), "#/addresses"},
		"nobody at all": {"email", nil, "#/memberIds"},
	} {
		for i, a := range c.addresses {
			c.addresses[i] = strings.Replace(a, "%", strings.Repeat("b", i), 1)
		}
		body := map[string]any{"name": "x", "kind": c.kind, "addresses": c.addresses}
		if c.addresses == nil {
			delete(body, "addresses")
		}
		if c.kind == "chat" {
			body["url"] = "http://127.0.0.1/"
		}
		var pointers []string
		for _, e := range w.post(w.ours.admin, "/api/v1/channels", body).is(422).object()["errors"].([]any) {
			pointers = append(pointers, e.(map[string]any)["pointer"].(string))
		}
		if got := strings.Join(pointers, " "); got != c.pointers {
			t.Errorf("%s: %s, want %s", name, got, c.pointers)
		}
	}
	// A server that refuses the question leaves the address unasked, and the question uncounted.
	server.Answer(team, 550, [3]int{5, 1, 1}, "no")
	path := w.post(w.ours.admin, "/api/v1/channels", map[string]any{"name": "x", "kind": "email", "addresses": []string{team}}).is(201).Header().Get("Location")
	for range 4 {
		if got := w.post(w.ours.admin, path+"/confirmations", nil).is(200).object()["addresses"].([]any)[0].(map[string]any); got["askedAt"] != nil {
			t.Errorf("asked: %v", got)
		}
	}
	// One that breaks off after the mail may have delivered it: it counts.
	server.Answer(team, 0, [3]int{}, "")
	server.DropNext(4)
	for range 3 {
		w.post(w.ours.admin, path+"/confirmations", nil).is(200)
	}
	w.post(w.ours.admin, path+"/confirmations", nil).problem(429, "too_many_confirmations")
	if n := len(server.To(team)); n != 3 {
		t.Errorf("%d mails came", n)
	}
	without := newWorld(t)
	without.post(without.ours.admin, "/api/v1/channels", map[string]any{"name": "x", "kind": "email", "addresses": []string{team}}).problem(422, "no_mail_server")
	made := without.post(without.ours.admin, "/api/v1/channels", map[string]any{"name": "x", "kind": "email", "administrators": true}).is(201).Header().Get("Location")
	without.do(request{method: "PATCH", path: made, as: without.ours.admin, json: map[string]any{"addresses": []string{team}}}).problem(422, "no_mail_server")
	without.post(without.ours.admin, made+"/confirmations", nil).problem(422, "no_mail_server")
}

// deadMail is a mail server that takes nothing, after something was done.
type deadMail struct{ first func(ctx context.Context) }

func (f deadMail) Check(context.Context) error { return nil }

func (f deadMail) Send(ctx context.Context, _ mail.ComposedMail) (mail.Handover, error) {
	f.first(ctx)
	return mail.Handover{}, &mail.DeliveryError{Stage: mail.Opening, Temporary: true}
}

// TestAConfirmationThatCannotBeMailedOrRecorded is answered in its time.
func TestAConfirmationThatCannotBeMailedOrRecorded(t *testing.T) {
	t.Parallel()
	server, url := pgtest.Stalling(t)
	resume := func() {}
	w := newWorldOn(t, url, func(d *Dependencies) {
		d.Sender.Transport = deadMail{func(context.Context) { resume = server.Stall(t) }}
	})
	answered := make(chan answer, 1)
	began := time.Now()
	go func() {
		answered <- w.post(w.ours.admin, "/api/v1/channels", map[string]any{"name": "Team", "kind": "email", "addresses": []string{team}})
	}()
	select {
	case got := <-answered:
		if got.Code != http.StatusServiceUnavailable {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	case <-time.After(20 * time.Second):
		t.Errorf("no answer after %s", time.Since(began))
		resume()
		<-answered
	}
}

// TestAMailNeverExceedsTheTimeOfItsRequest: whatever a request mails while it is answered, and to
// however many, a mail server that says nothing takes less than the time of the request. What
// was written is there, and what came of the mail is written down. The answer says what the
// mail server did, and blames no database.
func TestAMailNeverExceedsTheTimeOfItsRequest(t *testing.T) {
	t.Parallel()
	const writes = 6 * time.Second // a quarter is left to write down what came of the mail
	w := newWorld(t, func(d *Dependencies) {
		dead := deadMail{func(ctx context.Context) {
			select {
			case <-ctx.Done():
			case <-time.After(2 * writes):
			}
		}}
		d.Mail, d.Sender.Transport = dead, dead
	})
	made := w.post(w.ours.admin, "/api/v1/channels", map[string]any{"name": "Us", "kind": "email", "administrators": true}).is(201).Header().Get("Location")
	w.server.writes = writes
	together := func(requests ...request) []answer {
		t.Helper()
		answers := make([]answer, len(requests))
		var asking sync.WaitGroup
		for i, r := range requests {
			r.as = w.ours.admin
			asking.Go(func() {
				began := time.Now()
				answers[i] = w.do(r)
				if took := time.Since(began); took > 2*writes {
					t.Errorf("%s %s took %s", r.method, r.path, took)
				}
			})
		}
		asking.Wait()
		return answers
	}
	addresses := []string{team, "pager@ours.example", "night@ours.example"}
	notAsked := func(channel map[string]any) {
		t.Helper()
		all := channel["addresses"].([]any)
		if len(all) != len(addresses) {
			t.Errorf("addresses %v", all)
		}
		for _, a := range all {
			if a.(map[string]any)["askedAt"] != nil {
				t.Errorf("asked: %v", a)
			}
		}
	}
	answers := together(
		request{method: "POST", path: "/api/v1/members", json: map[string]any{"email": "joe@ours.example", "name": "Joe", "role": "auditor"}},
		request{method: "POST", path: "/api/v1/channels", json: map[string]any{"name": "Team", "kind": "email", "addresses": addresses}},
		request{method: "PATCH", path: made, json: map[string]any{"addresses": addresses}},
	)
	invited, channel := answers[0].is(201).object(), answers[1].is(201).object()
	if invited["mailed"] != false || invited["mailError"] == nil || invited["inviteUrl"] == "" {
		t.Errorf("invited %v", invited)
	}
	notAsked(channel)
	notAsked(answers[2].is(200).object())
	answers = together(
		request{method: "POST", path: "/api/v1/members/" + invited["member"].(map[string]any)["id"].(string) + "/invitation"},
		request{method: "POST", path: "/api/v1/channels/" + channel["id"].(string) + "/confirmations"},
		request{method: "POST", path: made + "/test"},
	)
	answers[0].is(201)
	notAsked(answers[1].is(200).object())
	if got := answers[2].is(200).object(); got["ok"] != false || got["error"] == nil {
		t.Errorf("the test says %v", got)
	}
}
