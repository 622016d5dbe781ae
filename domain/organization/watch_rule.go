package organization

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/rule"
)

// WatchRuleStream is the stream type of watch rules in the organization log: how an organization
// has set one. The stream id follows from the organization and the rule (WatchRuleID).
const WatchRuleStream = "watch_rule"

// Bounds of the settings of a watch rule.
const (
	MaxWatchSettings   = 50
	MaxWatchForSeconds = 24 * 60 * 60
)

var watchRules = uuid.MustParse("0199f0d2-7a10-5d31-8c6e-51c0a8b4f7e2")

// WatchRuleID is the stream id of a rule.
func WatchRuleID(organization uuid.UUID, rule string) uuid.UUID {
	return uuid.NewSHA1(watchRules, []byte(organization.String()+"/"+rule))
}

// WatchRule is what of a rule bounds its settings, and its setting where nobody made one.
type WatchRule struct {
	ID       string
	Default  WatchSetting
	Min, Max int // of the threshold
	// Unmeasured says why no source measures the figure; empty: it is measured. Such a rule
	// cannot be on.
	Unmeasured string
	// Org is the organization-wide setting that holds the threshold for all servers without a
	// setting of their own (Watch); nil: it is with the rule's other settings.
	Org func(*Watch) *int
	// OrgChange is the same value of a change.
	OrgChange func(*ChangeSettings) **int
}

// WatchSetting says when a rule raises an alert about the servers that have its tags. The first
// one that matches a server counts. The last one has no tags and matches every server.
type WatchSetting struct {
	Tags       fleet.TagFilter `json:"tags,omitempty"`
	Enabled    bool            `json:"enabled"`
	Threshold  int             `json:"threshold"`
	ForSeconds int             `json:"forSeconds"`
	Severity   alert.Severity  `json:"severity"`
}

// Matches reports whether a setting is about a server with these tags.
func (s WatchSetting) Matches(tags fleet.Tags) bool { return len(s.Tags) == 0 || s.Tags.Passes(tags) }

// same reports whether two settings say the same.
func (s WatchSetting) same(o WatchSetting) bool {
	return s.Enabled == o.Enabled && s.Threshold == o.Threshold && s.ForSeconds == o.ForSeconds && s.Severity == o.Severity && s.About(o)
}

// About reports whether two settings are about the same tags.
func (s WatchSetting) About(o WatchSetting) bool { return slices.Equal(s.Tags.Words(), o.Tags.Words()) }

// WatchRuleChanged says how a watch rule was set, and how it is from now on.
type WatchRuleChanged struct {
	Rule string         `json:"rule"`
	From []WatchSetting `json:"from"`
	To   []WatchSetting `json:"to"`
}

func (WatchRuleChanged) name() string { return "watch_rule.changed" }

// Settings are all settings of a rule, from what is stored: the last one is about every server. w
// are the organization-wide settings.
func (r WatchRule) Settings(stored []WatchSetting, w Watch) []WatchSetting {
	all := slices.Clone(stored)
	if len(all) == 0 || len(all[len(all)-1].Tags) > 0 {
		all = append(all, r.Default)
	}
	if r.Org != nil {
		all[len(all)-1].Threshold = *r.Org(&w)
	}
	return all
}

// Setting is the one of a server with these tags.
func Setting(settings []WatchSetting, tags fleet.Tags) WatchSetting {
	return settings[slices.IndexFunc(settings, func(s WatchSetting) bool { return s.Matches(tags) })]
}

// Put returns settings with one more: in the place of the one about the same tags, or before the
// one about every server.
func Put(settings []WatchSetting, is WatchSetting) []WatchSetting {
	all := slices.Clone(settings)
	if i := slices.IndexFunc(all, is.About); i >= 0 {
		all[i] = is
		return all
	}
	return slices.Insert(all, len(all)-1, is)
}

// Broken are the rules that settings break: the last one must be about every server. at is their
// place in the request, "" if the request is one setting.
func (r WatchRule) Broken(settings []WatchSetting, at string) []rule.Broken {
	var broken rule.Set
	if n := len(settings); n == 0 || n > MaxWatchSettings {
		broken.Add(at, "too_many_items", fmt.Sprintf("must have 1 to %d settings, not %d", MaxWatchSettings, n))
		return broken
	}
	for i, s := range settings {
		at := at + "/" + strconv.Itoa(i)
		r.broken(s, at, &broken)
		last := i == len(settings)-1
		switch {
		case last && len(s.Tags) > 0:
			broken.Add(at+"/tags", "invalid_parameter", "must be empty: the last setting is about every server that none before matches")
		case !last && len(s.Tags) == 0:
			broken.Add(at+"/tags", "invalid_parameter", "must name a tag: only the last setting is about every server")
		case slices.ContainsFunc(settings[:i], s.About):
			broken.Add(at+"/tags", "duplicate_key", "are those of a setting before")
		}
	}
	return broken
}

// BrokenBy are the rules that one setting breaks that is a whole request.
func (r WatchRule) BrokenBy(s WatchSetting) []rule.Broken {
	var broken rule.Set
	r.broken(s, "#", &broken)
	return broken
}

func (r WatchRule) broken(s WatchSetting, at string, broken *rule.Set) {
	s.Tags.Broken(at+"/tags", broken)
	within := func(field string, value, least, most int) {
		if value < least || value > most {
			*broken = append(*broken, rule.Broken{Pointer: at + "/" + field, Code: "out_of_range",
				Detail: fmt.Sprintf("must be %d to %d", least, most), Params: map[string]any{"min": least, "max": most}})
		}
	}
	within("threshold", s.Threshold, r.Min, r.Max)
	within("forSeconds", s.ForSeconds, 0, MaxWatchForSeconds)
	if s.Enabled && r.Unmeasured != "" {
		broken.Add(at+"/enabled", "invalid_parameter", "must be false: no source measures the figure of this rule yet")
	}
	if !slices.Contains(alert.Severities(), s.Severity) {
		broken.Add(at+"/severity", "invalid_parameter", "must be info, warning or critical")
	}
}

// Change returns the settings to store after a rule gets settings, what changes of the
// organization's own, and what happened; no event if nothing changes.
func (r WatchRule) Change(was, is []WatchSetting) (stored []WatchSetting, c ChangeSettings, events []Event) {
	for i := range is {
		is[i].Tags = normal(is[i].Tags)
	}
	if slices.EqualFunc(was, is, WatchSetting.same) {
		return is, c, nil
	}
	stored = slices.Clone(is)
	last := &stored[len(stored)-1]
	if r.Org != nil {
		threshold := last.Threshold
		*r.OrgChange(&c) = &threshold
		last.Threshold = 0 // it is with the organization's settings, and nowhere else
	}
	return stored, c, []Event{WatchRuleChanged{Rule: r.ID, From: was, To: is}}
}

// normal is a filter with each value once; nil if it has none.
func normal(f fleet.TagFilter) fleet.TagFilter {
	if len(f) == 0 {
		return nil
	}
	n := make(fleet.TagFilter, len(f))
	for key, values := range f {
		n[key] = slices.Compact(slices.Sorted(slices.Values(values)))
	}
	return n
}

// Least and Most are the lowest and the highest threshold of the settings that are on; without
// one, no figure is above the one or below the other.
func Least(settings []WatchSetting) float64 {
	least := math.Inf(1)
	for _, s := range settings {
		if s.Enabled {
			least = min(least, float64(s.Threshold))
		}
	}
	return least
}

// Most is described with Least.
func Most(settings []WatchSetting) float64 {
	most := math.Inf(-1)
	for _, s := range settings {
		if s.Enabled {
			most = max(most, float64(s.Threshold))
		}
	}
	return most
}

// SetWatchRule is how a watch rule is to be set: One in the place of the setting about the same
// tags, or All in the place of all. Exactly one of them is there.
type SetWatchRule struct {
	Rule WatchRule
	One  *WatchSetting
	All  *[]WatchSetting
}

// Broken returns every rule that a setting breaks.
func (c SetWatchRule) Broken() []rule.Broken {
	switch {
	case (c.One == nil) == (c.All == nil):
		return []rule.Broken{{Pointer: "#/settings", Code: "conflicting_parameters", Detail: "must be alone: send one setting, or settings, which replace all"}}
	case c.One != nil:
		return c.Rule.BrokenBy(*c.One)
	}
	return c.Rule.Broken(*c.All, "#/settings")
}

// Would returns the settings after those that are in force, and the rules that they break: with one
// more, they may be too many.
func (c SetWatchRule) Would(was []WatchSetting) (will []WatchSetting, broken []rule.Broken) {
	switch broken = c.Broken(); {
	case len(broken) > 0:
		return nil, broken
	case c.All != nil:
		return slices.Clone(*c.All), nil
	}
	will = Put(was, *c.One)
	return will, c.Rule.Broken(will, "#/settings")
}
