package notification

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/domain/rule"
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

	maxGroupSeconds        = 3600
	leastRepeat, maxRepeat = 5, 7 * 24 * 60
)

// Address is where a channel that is no e-mail leads, and how. It is kept sealed.
type Address struct {
	URL    string `json:"url"`
	Secret string `json:"secret,omitempty"` // of a webhook
	Format Format `json:"format,omitempty"` // of a chat; empty: Slack
}

// Format is how a chat writes.
type Format string

// Channel is what is set of a channel.
type Channel struct {
	Kind           Kind
	MemberIDs      []uuid.UUID
	Administrators bool
	Addresses      []string // that are no members'
	Address
}

// Broken returns the rules that the terms break, but whether channels, servers and the time zone exist.
func (t Terms) Broken() []rule.Broken {
	broken := t.Match.Broken()
	out := func(member, detail string) {
		broken = append(broken, rule.Broken{Pointer: "#/" + member, Code: "out_of_range", Detail: detail})
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
func BrokenGroup(seconds int) []rule.Broken {
	if seconds >= 0 && seconds <= maxGroupSeconds {
		return nil
	}
	return []rule.Broken{{Pointer: "#/groupSeconds", Code: "out_of_range", Detail: fmt.Sprintf("must be 0 to %d", maxGroupSeconds)}}
}

// Broken returns the rules that a match breaks, but whether its servers exist.
func (m Match) Broken() (broken []rule.Broken) {
	if len(m.InstanceIDs) > MaxInstances {
		broken = append(broken, rule.Broken{Pointer: "#/match/instanceIds", Code: "too_many_instances", Detail: fmt.Sprintf("must be at most %d", MaxInstances)})
	}
	if utf8.RuneCountInString(m.NameContains) > MaxNameContains || strings.ContainsRune(m.NameContains, 0) {
		broken = append(broken, rule.Broken{Pointer: "#/match/nameContains", Code: "out_of_range", Detail: fmt.Sprintf("must be at most %d characters", MaxNameContains)})
	}
	var tags rule.Set
	m.Tags.Broken("#/match/tags", &tags)
	if broken = append(broken, tags...); len(m.TeamIDs) > MaxInstances {
		broken = append(broken, rule.Broken{Pointer: "#/match/teamIds", Code: "too_many_items", Detail: fmt.Sprintf("must be at most %d", MaxInstances)})
	}
	for i, e := range m.Events {
		if !slices.Contains(EventTypes(), e) {
			broken = append(broken, rule.Broken{Pointer: fmt.Sprintf("#/match/event/%d", i), Code: "out_of_range", Detail: "is not an event that rules can match"})
		}
	}
	return broken
}

func (q Quiet) broken() (broken []rule.Broken) {
	for _, clock := range []struct{ member, text string }{{"from", q.From}, {"to", q.To}} {
		if _, err := minutes(clock.text); err != nil {
			broken = append(broken, rule.Broken{Pointer: "#/quiet/" + clock.member, Code: "out_of_range", Detail: "must be a time of day, 00:00 to 23:59"})
		}
	}
	if q.From == q.To {
		broken = append(broken, rule.Broken{Pointer: "#/quiet/to", Code: "out_of_range", Detail: "must differ from the beginning; to tell nothing, switch the rule off"})
	}
	return broken
}
