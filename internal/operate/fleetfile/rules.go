package fleetfile

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/notification"
	"muster/internal/postgres/statement"
	"muster/internal/text/strictyaml"
)

// Rule is a notification rule as the file declares it. It is known by its name. What it matches
// and its channels are all that the file says; the rest stays where the file leaves it out.
type Rule struct {
	Place
	Name          string
	Match         notification.Match // without ids
	Instances     []string           // external ids
	Teams         []string           // names
	Channels      []string           // names
	GroupSeconds  *int               // of a new one: 10
	RepeatMinutes *int               // of a new one: 0
	Enabled       *bool              // of a new one: true
}

// defaultGroup is the groupSeconds of a rule that says nothing of it, as in the API.
const defaultGroup = 10

// rule reads an entry of the list rules.
func (w *walker) rule(node *strictyaml.Node, field string, f *File) {
	r := Rule{Place: Place{Line: node.Line, Field: field}}
	var tags, instances, teams, channels, severities, engines, events *[]string
	lines := map[string]int{}
	w.Mapping(node, field, []string{"name", "channels"}, marked(map[string]strictyaml.Member{
		"name": w.Text(&r.Name), "tags": w.Words(&tags), "instances": w.Words(&instances), "teams": w.Words(&teams), "channels": w.Words(&channels),
		"severity": w.Words(&severities), "engine": w.Words(&engines), "event": w.Words(&events), "nameContains": w.Text(&r.Match.NameContains),
		"groupSeconds": w.Number(&r.GroupSeconds), "repeatMinutes": w.Number(&r.RepeatMinutes), "enabled": w.Truth(&r.Enabled),
	}, lines))
	r.Name = strings.TrimSpace(r.Name)
	r.Instances, r.Teams, r.Channels = words(instances), words(teams), words(channels)
	fault := func(member, rule string) {
		one := r.fault(member, rule)
		one.Line = max(lines[field+"."+member], one.Line)
		w.Faults = append(w.Faults, one)
	}
	var ok bool
	if r.Match.Tags, ok = tagWords(words(tags)); !ok {
		fault("tags", tagsRule)
	}
	if r.Match.Severities, ok = among(words(severities), []alert.Severity{alert.Info, alert.Warning, alert.Critical}); !ok {
		fault("severity", "must be among info, warning, critical")
	}
	if r.Match.Engines, ok = among(words(engines), fleet.Engines()); !ok {
		fault("engine", fmt.Sprintf("must be among %s", list(fleet.Engines())))
	}
	if r.Match.Events, ok = among(words(events), notification.EventTypes()); !ok {
		fault("event", fmt.Sprintf("must be among %s", list(notification.EventTypes())))
	}
	terms := notification.Terms{Match: r.Match, ChannelIDs: make([]uuid.UUID, len(r.Channels)), GroupSeconds: value(r.GroupSeconds, defaultGroup), RepeatMinutes: value(r.RepeatMinutes, 0)}
	terms.Match.InstanceIDs, terms.Match.TeamIDs = make([]uuid.UUID, len(r.Instances)), make([]uuid.UUID, len(r.Teams))
	for _, broken := range terms.Broken() { // by the names of the API
		member, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(broken.Pointer, "#/"), "match/"), "/")
		fault(cmp.Or(map[string]string{"channelIds": "channels", "instanceIds": "instances", "teamIds": "teams"}[member], member), broken.Detail)
	}
	for _, other := range f.Rules {
		if strings.EqualFold(other.Name, r.Name) {
			fault("name", fmt.Sprintf("is that of line %d", other.Line))
		}
	}
	f.Rules = append(f.Rules, r)
}

// ruleRow is a rule of the organization.
type ruleRow struct {
	ID   uuid.UUID `db:"id"`
	Name string    `db:"name"`
	Text []byte    `db:"terms"`
	notification.Terms
}

// rules are those of an organization, by name.
func (s Source) rules(ctx context.Context, of uuid.UUID) ([]ruleRow, error) {
	rules, err := statement.All[ruleRow](ctx, s.DB, "read rules", `SELECT id, name, terms FROM notification_rules
		WHERE organization_id = $1 AND removed_at IS NULL ORDER BY lower(name), id`, of)
	for i := range rules {
		if err := json.Unmarshal(rules[i].Text, &rules[i].Terms); err != nil {
			return nil, fmt.Errorf("read rule %s: %w", rules[i].ID, err)
		}
	}
	return rules, err
}

// rules compares the rules. Their servers, teams and channels may be among those that the file adds.
func (c *comparison) rules() {
	for i := range c.file.Rules {
		if r := &c.file.Rules[i]; c.namesExist(r) {
			c.rule(r)
		}
	}
	if !c.file.Lists.Rules {
		return
	}
	for _, is := range c.state.Rules {
		if !slices.ContainsFunc(c.file.Rules, func(d Rule) bool { return strings.EqualFold(d.Name, is.Name) }) {
			c.left(KindRule, is.Name, task{rule: &ruleTask{id: is.ID, remove: true}})
		}
	}
}

// namesExist adds a fault for each server, team and channel of a rule that does not exist.
func (c *comparison) namesExist(r *Rule) bool {
	before := len(c.faults)
	missing := func(member, what, name string) {
		c.faults = append(c.faults, r.fault(member, fmt.Sprintf("has %q, %s, neither in the file nor in the organization", name, what)))
	}
	for _, key := range r.Instances {
		if c.known[key] == nil && c.declared[key] == nil {
			missing("instances", "the externalId of no instance", key)
		}
	}
	for _, name := range r.Teams {
		if _, there := c.plan.teams[strings.ToLower(name)]; !there && !slices.ContainsFunc(c.file.Teams, func(t Team) bool { return strings.EqualFold(t.Name, name) }) {
			missing("teams", "the name of no team", name)
		}
	}
	for _, name := range r.Channels {
		_, there := c.plan.channels[strings.ToLower(name)]
		n := 0
		for _, is := range c.state.Channels {
			if strings.EqualFold(is.Name, name) {
				n++
			}
		}
		switch {
		case n > 1:
			c.faults = append(c.faults, r.fault("channels", fmt.Sprintf("has %q, the name of %d channels; rename them first", name, n)))
		case !there && !slices.ContainsFunc(c.file.Channels, func(d Channel) bool { return strings.EqualFold(d.Name, name) }):
			missing("channels", "the name of no channel", name)
		}
	}
	return len(c.faults) == before
}

func (c *comparison) rule(declared *Rule) {
	var known []ruleRow
	for _, is := range c.state.Rules {
		if strings.EqualFold(is.Name, declared.Name) {
			known = append(known, is)
		}
	}
	t := &ruleTask{declared: *declared}
	switch len(known) {
	case 0:
		c.plan.Changes = append(c.plan.Changes, Change{Action: Add, Kind: KindRule, Called: declared.Name, About: strings.Join(declared.Channels, ", "), task: task{rule: t}})
		return
	case 1:
	default:
		c.faults = append(c.faults, declared.fault("name", fmt.Sprintf("is that of %d rules; rename them first", len(known))))
		return
	}
	t.id = known[0].ID
	if d := c.ruleDifferences(declared, known[0]); len(d) > 0 {
		c.plan.Changes = append(c.plan.Changes, Change{Action: Alter, Kind: KindRule, Called: known[0].Name, Differences: d, task: task{rule: t}})
	}
}

// ruleDifferences compares by names, without regard to their order.
func (c *comparison) ruleDifferences(declared *Rule, was ruleRow) (d []Difference) {
	differ := func(field, before, after string) {
		if before != after {
			d = append(d, Difference{Field: field, Before: orNone(before), After: orNone(after)})
		}
	}
	m := was.Match
	differ("name", was.Name, declared.Name)
	differ("tags", sorted(m.Tags.Words()), sorted(declared.Match.Tags.Words()))
	differ("teams", sorted(called(m.TeamIDs, c.plan.teams, declared.Teams)), sorted(declared.Teams))
	var instances []string
	for _, id := range m.InstanceIDs {
		instances = append(instances, c.plan.named(id))
	}
	differ("instances", sorted(instances), sorted(declared.Instances))
	differ("severity", sorted(m.Severities), sorted(declared.Match.Severities))
	differ("engine", sorted(m.Engines), sorted(declared.Match.Engines))
	differ("event", sorted(m.Events), sorted(declared.Match.Events))
	differ("nameContains", m.NameContains, declared.Match.NameContains)
	differ("channels", sorted(called(was.ChannelIDs, c.plan.channels, declared.Channels)), sorted(declared.Channels))
	differ("groupSeconds", strconv.Itoa(was.GroupSeconds), strconv.Itoa(value(declared.GroupSeconds, was.GroupSeconds)))
	differ("repeatMinutes", strconv.Itoa(was.RepeatMinutes), strconv.Itoa(value(declared.RepeatMinutes, was.RepeatMinutes)))
	differ("enabled", strconv.FormatBool(was.Enabled), strconv.FormatBool(value(declared.Enabled, was.Enabled)))
	return d
}

// called are the names of things with these ids, written as the file writes them where it does;
// those that are gone keep their id.
func called(ids []uuid.UUID, all map[string]uuid.UUID, written []string) (names []string) {
	for _, id := range ids {
		name := id.String()
		for is, of := range all {
			if of == id {
				name = is
			}
		}
		for _, w := range written {
			if strings.EqualFold(w, name) {
				name = w
			}
		}
		names = append(names, name)
	}
	return names
}

// ruleTask adds, changes or removes a rule.
type ruleTask struct {
	id       uuid.UUID
	remove   bool
	declared Rule
}

// rule applies one. What it names is there by now, or could not be added.
func (a *Applier) rule(ctx context.Context, t *ruleTask, p *Plan) error {
	if t.remove {
		_, err := a.Commands.RemoveNotificationRule(ctx, a.Actor, t.id)
		return err
	}
	d := t.declared
	match := d.Match
	var channels []uuid.UUID
	for _, names := range []struct {
		what string
		of   []string
		all  map[string]uuid.UUID
		into *[]uuid.UUID
	}{{"team", d.Teams, p.teams, &match.TeamIDs}, {"channel", d.Channels, p.channels, &channels}} {
		for _, name := range names.of {
			id, there := names.all[strings.ToLower(name)]
			if !there {
				return &usecase.RuleError{Code: "not_found", Detail: "the " + names.what + " " + name + " is not there"}
			}
			*names.into = append(*names.into, id)
		}
	}
	for _, key := range d.Instances {
		id, there := p.ids[key]
		if !there {
			return &notThereError{instance: key}
		}
		match.InstanceIDs = append(match.InstanceIDs, id)
	}
	if t.id != uuid.Nil {
		_, err := a.Commands.ChangeNotificationRule(ctx, a.Actor, t.id, notifying.ChangeNotificationRule{
			Name: &d.Name, Match: &match, ChannelIDs: &channels, GroupSeconds: d.GroupSeconds, RepeatMinutes: d.RepeatMinutes, Enabled: d.Enabled,
		})
		return err
	}
	_, _, err := a.Commands.CreateNotificationRule(ctx, a.Actor, notifying.NotificationRule{Name: d.Name, Terms: notification.Terms{
		Match: match, ChannelIDs: channels, GroupSeconds: value(d.GroupSeconds, defaultGroup), RepeatMinutes: value(d.RepeatMinutes, 0), Enabled: value(d.Enabled, true),
	}})
	return err
}

// tagsRule says how tags are written in a list.
const tagsRule = "must be keys and values with a colon between them, as in env:prod"

// tagWords reads tags; ok is false if one of them is none.
func tagWords(words []string) (tags fleet.TagFilter, ok bool) {
	tags, ok = fleet.TagFilter{}, true
	for _, word := range words {
		key, value, is := fleet.ParseTag(word)
		if ok = ok && is; is {
			tags.Add(key, value)
		}
	}
	return tags, ok
}

// among are words that have to be some of all.
func among[T ~string](words []string, all []T) (chosen []T, ok bool) {
	ok = true
	for _, word := range words {
		ok = ok && slices.Contains(all, T(word))
		chosen = append(chosen, T(word))
	}
	return chosen, ok
}

func list[T ~string](all []T) string {
	words := make([]string, len(all))
	for i, one := range all {
		words[i] = string(one)
	}
	return strings.Join(words, ", ")
}

// sorted are words in their order, each once.
func sorted[T ~string](all []T) string {
	return list(slices.Compact(slices.Sorted(slices.Values(all))))
}

func words(read *[]string) []string {
	if read == nil {
		return nil
	}
	return *read
}

// value is what a file says, or else another.
func value[T any](said *T, otherwise T) T {
	if said == nil {
		return otherwise
	}
	return *said
}
