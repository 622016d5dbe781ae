package fleetfile

import (
	"fmt"
	"slices"
	"strings"

	"muster/domain/alert"
	"muster/domain/organization"
	"muster/internal/text/strictyaml"
	"muster/internal/watch"
)

// WatchRule has all settings of a rule of the watch, in their order.
type WatchRule struct {
	Place
	rule     organization.WatchRule
	settings []organization.WatchSetting
}

// watchRule reads an entry of the list watchRules. What a setting leaves out is as the rule has it by default.
func (w *walker) watchRule(node *strictyaml.Node, field string, f *File) {
	r := WatchRule{Place: Place{Line: node.Line, Field: field}}
	var id string
	var settings *strictyaml.Node
	lines := map[string]int{}
	w.Mapping(node, field, []string{"rule", "settings"}, marked(map[string]strictyaml.Member{
		"rule": w.Text(&id), "settings": func(n *strictyaml.Node, _ string) { settings = n },
	}, lines))
	d, known := watch.Find(id)
	if !known {
		if id != "" {
			w.Faults = append(w.Faults, r.fault("rule", "must be the id of a watch rule, as in GET /api/v1/watch-rules"))
		}
		return
	}
	r.rule = d.WatchRule
	if settings != nil {
		w.Sequence(settings, field+".settings", func(n *strictyaml.Node, field string) {
			lines[field] = n.Line
			r.settings = append(r.settings, w.watchSetting(n, field, d.Default, lines))
		})
	}
	for _, b := range r.rule.Broken(r.settings, "#/settings") {
		at := strictyaml.Below(field, placeOf(b.Pointer))
		w.Faults = append(w.Faults, Fault{Line: lineOf(lines, at, r.Line), Field: at, Rule: b.Detail})
	}
	if r.rule.OrgChange != nil && *r.rule.OrgChange(&f.Settings) != nil {
		w.Faults = append(w.Faults, r.fault("rule", "has its threshold in settings.watch, too; say it in one place"))
	}
	for _, other := range f.WatchRules {
		if other.rule.ID == id {
			w.Faults = append(w.Faults, r.fault("rule", fmt.Sprintf("is that of line %d", other.Line)))
		}
	}
	f.WatchRules = append(f.WatchRules, r)
}

func (w *walker) watchSetting(node *strictyaml.Node, field string, is organization.WatchSetting, lines map[string]int) organization.WatchSetting {
	var tags *[]string
	var severity string
	var severities []string
	for _, s := range alert.Severities() {
		severities = append(severities, string(s))
	}
	enabled, threshold, seconds := (*bool)(nil), (*int)(nil), (*int)(nil)
	w.Mapping(node, field, nil, marked(map[string]strictyaml.Member{
		"tags": w.Words(&tags), "enabled": w.Truth(&enabled), "threshold": w.Number(&threshold), "forSeconds": w.Number(&seconds),
		"severity": w.OneOf(&severity, severities...),
	}, lines))
	is.Enabled, is.Threshold, is.ForSeconds = value(enabled, is.Enabled), value(threshold, is.Threshold), value(seconds, is.ForSeconds)
	if severity != "" {
		is.Severity = alert.Severity(severity)
	}
	var ok bool
	if is.Tags, ok = tagWords(words(tags)); !ok {
		w.Faults = append(w.Faults, Fault{Line: lineOf(lines, field+".tags", node.Line), Field: field + ".tags", Rule: tagsRule})
	}
	return is
}

// placeOf is the place in an entry that a pointer names: "settings[1].threshold".
func placeOf(pointer string) string {
	var place strings.Builder
	for i, part := range strings.Split(strings.TrimPrefix(pointer, "#/"), "/") {
		switch {
		case part != "" && strings.Trim(part, "0123456789") == "":
			place.WriteString("[" + part + "]")
		case i > 0:
			place.WriteString("." + part)
		default:
			place.WriteString(part)
		}
	}
	return place.String()
}

// lineOf is the line of a place, or of the nearest that it is within.
func lineOf(lines map[string]int, at string, otherwise int) int {
	for more := true; more; at, more = parent(at) {
		if line := lines[at]; line > 0 {
			return line
		}
	}
	return otherwise
}

// watchRules compares the settings of rules. Those that the file does not name stay.
func (c *comparison) watchRules() {
	for _, r := range c.file.WatchRules {
		was := r.rule.Settings(c.state.Watch[r.rule.ID], c.state.Settings.Watch)
		change := organization.SetWatchRule{Rule: r.rule, All: &r.settings}
		if _, _, events := r.rule.Change(slices.Clone(was), slices.Clone(r.settings)); len(events) == 0 {
			continue
		}
		c.plan.Changes = append(c.plan.Changes, Change{
			Action: Alter, Kind: KindWatchRule, Called: r.rule.ID, task: task{watch: &change},
			Differences: []Difference{{Field: "settings", Before: watchWords(was), After: watchWords(r.settings)}},
		})
	}
}

// watchWords are settings in one line.
func watchWords(all []organization.WatchSetting) string {
	var said []string
	for _, s := range all {
		of, on := strings.Join(s.Tags.Words(), "+"), "off"
		if of == "" {
			of = "all"
		}
		if s.Enabled {
			on = "on"
		}
		said = append(said, fmt.Sprintf("%s %s %d for %d s %s", of, on, s.Threshold, s.ForSeconds, s.Severity))
	}
	return strings.Join(said, "; ")
}
