package kinds_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/domain/notification"
	"muster/domain/rule"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/alertmanager"
	"muster/internal/notify/channel/chat"
	"muster/internal/notify/channel/kinds"
	"muster/internal/notify/channel/teams"
	"muster/internal/notify/channel/webhook"
)

// TestSettings names each rule that the settings of a channel break, all at once, and quotes nothing.
func TestSettings(t *testing.T) {
	t.Parallel()
	good := "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	broken := kinds.Judge{}.Broken
	joined := func(broken []rule.Broken) string {
		all := make([]string, len(broken))
		for i, b := range broken {
			all[i] = b.Pointer + " " + b.Code
			if strings.Contains(b.Detail, "s3cret") {
				t.Errorf("%s quotes what it was given: %s", b.Pointer, b.Detail)
			}
		}
		return strings.Join(all, ", ")
	}
	for name, test := range map[string]struct {
		kind    notification.Kind
		address notification.Address
		want    string
	}{
		"webhook":              {webhook.Name, notification.Address{URL: "https://a.example/x?y=1", Secret: good}, ""},
		"chat":                 {chat.Name, notification.Address{URL: "http://a.example:8080/x"}, ""},
		"mail":                 {notification.Email, notification.Address{}, ""},
		"mail with an address": {notification.Email, notification.Address{URL: "https://a.example", Secret: good}, "#/url out_of_range, #/secret out_of_range"},
		"nothing":              {webhook.Name, notification.Address{}, "#/url url_not_allowed, #/secret secret_required"},
		"a short secret":       {webhook.Name, notification.Address{URL: "https://a.example", Secret: "whsec_s3cret"}, "#/secret out_of_range"},
		"a secret for a chat":  {chat.Name, notification.Address{URL: "https://a.example", Secret: good}, "#/secret out_of_range"},
		"a file":               {chat.Name, notification.Address{URL: "file:///s3cret"}, "#/url url_not_allowed"},
		"another scheme":       {chat.Name, notification.Address{URL: "gopher://s3cret/"}, "#/url url_not_allowed"},
		"a password":           {chat.Name, notification.Address{URL: "https://u:s3cret@a.example"}, "#/url url_not_allowed"},
		"no host":              {chat.Name, notification.Address{URL: "https:///s3cret"}, "#/url url_not_allowed"},
		"no URL":               {alertmanager.Name, notification.Address{URL: "s3cret\x7f://%zz"}, "#/url url_not_allowed"},
		"a fragment":           {alertmanager.Name, notification.Address{URL: "https://a.example/#s3cret"}, "#/url url_not_allowed"},
	} {
		if got := joined(broken(notification.Channel{Kind: test.kind, Administrators: test.kind == notification.Email, Address: test.address})); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	if got := joined(broken(notification.Channel{Kind: notification.Email})); got != "#/memberIds member_required" {
		t.Errorf("nobody: %q", got)
	}
	withRecipients := notification.Channel{
		Kind: chat.Name, MemberIDs: []uuid.UUID{uuid.New()}, Administrators: true, Address: notification.Address{URL: "https://a.example"},
	}
	if got := joined(broken(withRecipients)); got != "#/memberIds out_of_range, #/administrators out_of_range" {
		t.Errorf("recipients of a chat: %q", got)
	}
}

// TestChatsAndCardsNameTheOwner as plain text: the name of a team mentions nobody.
func TestChatsAndCardsNameTheOwner(t *testing.T) {
	t.Parallel()
	m := channel.Message{Events: []channel.Notice{{
		Type: notification.AlertRaised, Title: "Lag", Instance: &channel.Reference{Name: "pay"}, Owner: &channel.Reference{Name: "Payments @all"},
	}}}
	for name, body := range map[string]func() ([]byte, error){
		"Slack": func() ([]byte, error) { return chat.Body(m, chat.Slack) }, "Mattermost": func() ([]byte, error) { return chat.Body(m, chat.Mattermost) },
		"Teams": func() ([]byte, error) { return teams.Body(m) },
	} {
		if got, err := body(); err != nil || !strings.Contains(string(got), "Raised: Lag, pay, owner Payments \u200b@\u200ball") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// TestAnUnknownKindIsAnError, and takes no other kind's place.
func TestAnUnknownKindIsAnError(t *testing.T) {
	t.Parallel()
	for _, name := range []notification.Kind{"", "pigeon", "Chat"} {
		if k, err := kinds.Find(name); err == nil {
			t.Errorf("%q is found as %s", name, k.Name)
		}
		broken := kinds.Judge{}.Broken(notification.Channel{Kind: name, Address: notification.Address{URL: "https://a.example"}})
		if len(broken) != 1 || broken[0].Pointer != "#/kind" {
			t.Errorf("%q: %v", name, broken)
		}
	}
}

// TestEveryKindIsComplete: it has a name of its own, a title, and all functions.
func TestEveryKindIsComplete(t *testing.T) {
	t.Parallel()
	seen := map[notification.Kind]bool{}
	for _, k := range kinds.All() {
		if seen[k.Name] || k.Name == "" || k.Title == "" || k.Validate == nil || k.Shown == nil || k.Send == nil {
			t.Errorf("the kind %q is not whole", k.Name)
		}
		seen[k.Name] = true
		if found, err := kinds.Find(k.Name); err != nil || found.Title != k.Title {
			t.Errorf("%s is found as %s, %v", k.Name, found.Name, err)
		}
	}
	if fed := kinds.Names(func(k channel.Kind) bool { return k.Feed != nil }); len(fed) == 0 {
		t.Error("no kind is fed")
	}
}
