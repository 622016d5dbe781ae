package notification

import (
	"encoding/base64"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/domain/legible"
)

// Bounds of channels and rules.
const (
	MaxChannels     = 50  // of an organization
	MaxRules        = 100 // of an organization
	MaxMembers      = 50  // of a channel
	MaxAddresses    = 20  // of a channel, that are no members'
	MaxAddress      = 320 // bytes of an address
	MaxRuleChannels = 10
	MaxInstances    = 100 // of a rule
	MaxNameContains = 200
	MaxURL          = 2000

	maxGroupSeconds            = 3600
	leastRepeat, maxRepeat     = 5, 7 * 24 * 60
	leastSecret, longestSecret = 24, 64 // bytes, as Standard Webhooks has them
)

// SecretPrefix is how a secret of Standard Webhooks begins.
const SecretPrefix = "whsec_"

// Broken is a rule of input that is broken, and where.
type Broken struct {
	Pointer string // in the request's body
	Code    string
	Detail  string
}

// Secret are the bytes by which a webhook is signed; ok is false where the text is no secret.
func Secret(text string) (key []byte, ok bool) {
	encoded, found := strings.CutPrefix(text, SecretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	return key, found && err == nil && len(key) >= leastSecret && len(key) <= longestSecret
}

// Address is where a channel that is no e-mail leads, and how. It is kept sealed.
type Address struct {
	URL    string `json:"url"`
	Secret string `json:"secret,omitempty"` // of a webhook
	Format Format `json:"format,omitempty"` // of a chat; empty: Slack
}

// Format is how a chat writes.
type Format string

// The formats.
const (
	Slack      Format = "slack"
	Mattermost Format = "mattermost"
)

// Formats returns every format.
func Formats() []Format { return []Format{Slack, Mattermost} }

// BrokenAddress returns the rules that an address breaks for channels of a kind.
func BrokenAddress(kind Kind, a Address) (broken []Broken) {
	refuse := func(member, code, detail string) {
		broken = append(broken, Broken{"#/" + member, code, detail})
	}
	switch {
	case a.Format == "":
	case kind != Chat:
		refuse("format", "out_of_range", "is of chats only")
	case !slices.Contains(Formats(), a.Format):
		refuse("format", "invalid_parameter", "must be slack or mattermost")
	}
	if kind == Email {
		if a.URL != "" {
			refuse("url", "out_of_range", "is not of an e-mail channel")
		}
		if a.Secret != "" {
			refuse("secret", "out_of_range", "is not of an e-mail channel")
		}
		return broken
	}
	if detail := brokenURL(a.URL); detail != "" {
		refuse("url", "url_not_allowed", detail)
	}
	_, ok := Secret(a.Secret)
	switch {
	case kind == Webhook && a.Secret == "":
		refuse("secret", "secret_required", "is what a webhook is signed with: whsec_ and 24 to 64 bytes in base64")
	case kind == Webhook && !ok:
		refuse("secret", "out_of_range", "must be whsec_ and 24 to 64 bytes in base64")
	case kind != Webhook && a.Secret != "":
		refuse("secret", "out_of_range", "is of webhooks only")
	}
	return broken
}

// brokenURL says what is wrong with it, and never what it is.
func brokenURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "is required"
	case len(text) > MaxURL:
		return fmt.Sprintf("must be at most %d bytes", MaxURL)
	case err != nil || !legible.Name(text) || u.Opaque != "" || u.Hostname() == "":
		return "is not a URL with a host"
	case u.Scheme != "https" && u.Scheme != "http":
		return "must begin with https:// or http://"
	case u.User != nil:
		return "must be without user and password"
	case u.Fragment != "":
		return "must be without a fragment"
	}
	return ""
}

// BrokenRecipients returns the rules that the recipients of a channel break, but whether
// they are members.
func BrokenRecipients(kind Kind, members []uuid.UUID, administrators bool) (broken []Broken) {
	switch {
	case kind != Email && len(members) > 0:
		broken = append(broken, Broken{"#/memberIds", "out_of_range", "is of e-mail channels only"})
	case len(members) > MaxMembers:
		broken = append(broken, Broken{"#/memberIds", "out_of_range", fmt.Sprintf("must be at most %d", MaxMembers)})
	case kind == Email && len(members) == 0 && !administrators:
		broken = append(broken, Broken{"#/memberIds", "member_required", "must name somebody, or administrators be true"})
	}
	if kind != Email && administrators {
		broken = append(broken, Broken{"#/administrators", "out_of_range", "is of e-mail channels only"})
	}
	return broken
}

// BrokenAddresses returns the rules that addresses of a channel break that are no members'.
func BrokenAddresses(kind Kind, addresses []string) (broken []Broken) {
	refuse := func(pointer, detail string) { broken = append(broken, Broken{pointer, "out_of_range", detail}) }
	switch {
	case kind != Email && len(addresses) > 0:
		refuse("#/addresses", "is of e-mail channels only")
		return broken
	case len(addresses) > MaxAddresses:
		refuse("#/addresses", fmt.Sprintf("must be at most %d", MaxAddresses))
	}
	there := map[string]bool{}
	for i, text := range addresses {
		pointer, folded := fmt.Sprintf("#/addresses/%d", i), strings.ToLower(text)
		parsed, err := mail.ParseAddress(text)
		switch {
		case len(text) > MaxAddress:
			refuse(pointer, fmt.Sprintf("must be at most %d bytes", MaxAddress))
		case err != nil || parsed.Name != "" || parsed.Address != text || !legible.Name(text):
			refuse(pointer, "is not an e-mail address such as team@example.org")
		case there[folded]:
			refuse(pointer, "is there twice")
		}
		there[folded] = true
	}
	return broken
}

// Broken returns the rules that the terms break, but whether channels, servers and the time zone exist.
func (t Terms) Broken() []Broken {
	broken := t.Match.Broken()
	out := func(member, detail string) {
		broken = append(broken, Broken{"#/" + member, "out_of_range", detail})
	}
	if n := len(t.ChannelIDs); n < 1 || n > MaxRuleChannels {
		out("channelIds", fmt.Sprintf("must be 1 to %d", MaxRuleChannels))
	}
	broken = append(broken, BrokenGroup(t.GroupSeconds)...)
	if t.RepeatMinutes != 0 && (t.RepeatMinutes < leastRepeat || t.RepeatMinutes > maxRepeat) {
		out("repeatMinutes", fmt.Sprintf("must be 0, or %d to %d", leastRepeat, maxRepeat))
	}
	if t.Quiet != nil {
		broken = append(broken, t.Quiet.broken()...)
	}
	return broken
}

// BrokenGroup returns the rules that a time breaks for which more events are waited for.
func BrokenGroup(seconds int) []Broken {
	if seconds >= 0 && seconds <= maxGroupSeconds {
		return nil
	}
	return []Broken{{"#/groupSeconds", "out_of_range", fmt.Sprintf("must be 0 to %d", maxGroupSeconds)}}
}

// Broken returns the rules that a match breaks, but whether its servers exist.
func (m Match) Broken() (broken []Broken) {
	if len(m.InstanceIDs) > MaxInstances {
		broken = append(broken, Broken{"#/match/instanceIds", "too_many_instances", fmt.Sprintf("must be at most %d", MaxInstances)})
	}
	if utf8.RuneCountInString(m.NameContains) > MaxNameContains || strings.ContainsRune(m.NameContains, 0) {
		broken = append(broken, Broken{"#/match/nameContains", "out_of_range", fmt.Sprintf("must be at most %d characters", MaxNameContains)})
	}
	for i, e := range m.Events {
		if !slices.Contains(EventTypes(), e) {
			broken = append(broken, Broken{fmt.Sprintf("#/match/event/%d", i), "out_of_range", "is no event that is told"})
		}
	}
	return broken
}

func (q Quiet) broken() (broken []Broken) {
	for _, clock := range []struct{ member, text string }{{"from", q.From}, {"to", q.To}} {
		if _, err := minutes(clock.text); err != nil {
			broken = append(broken, Broken{"#/quiet/" + clock.member, "out_of_range", "must be a time of day, 00:00 to 23:59"})
		}
	}
	if q.From == q.To {
		broken = append(broken, Broken{"#/quiet/to", "out_of_range", "must differ from the beginning; to tell nothing, switch the rule off"})
	}
	return broken
}
