package fleetfile

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"muster/commands/maintenance"
	"muster/domain/fleet"
	domain "muster/domain/maintenance"
	"muster/domain/objective"
	"muster/domain/schedule"
	"muster/domain/team"
	"muster/internal/text/strictyaml"
)

// selected picks servers by their tags and by external ids.
type selected struct {
	Tags      fleet.TagFilter
	Instances []string
}

func (s selected) String() string {
	return strings.Join(slices.Concat(s.Tags.Words(), slices.Compact(slices.Sorted(slices.Values(s.Instances)))), "+")
}

// selector is that of servers that are there by now.
func (s selected) selector(p *Plan) (team.Selector, error) {
	of := team.Selector{Tags: s.Tags}
	for _, key := range s.Instances {
		id, there := p.ids[key]
		if !there {
			return of, &notThereError{instance: key}
		}
		of.InstanceIDs = append(of.InstanceIDs, id)
	}
	return of, nil
}

// placeholder is the selector as far as its rules are checked: by how many servers it names.
func (s selected) placeholder() team.Selector {
	of := team.Selector{Tags: s.Tags}
	for i := range s.Instances {
		of.InstanceIDs = append(of.InstanceIDs, uuid.UUID{14: byte(i >> 8), 15: byte(i)})
	}
	return of
}

// selectedBy is a selector that is there, in the words of a file.
func (c *comparison) selectedBy(of team.Selector) selected {
	s := selected{Tags: of.Tags}
	for _, id := range of.InstanceIDs {
		s.Instances = append(s.Instances, c.plan.named(id))
	}
	return s
}

// exist adds a fault for each server that does not exist.
func (c *comparison) exist(at Place, s selected) bool {
	before := len(c.faults)
	for _, key := range s.Instances {
		if c.known[key] == nil && c.declared[key] == nil {
			c.faults = append(c.faults, at.fault("instances", fmt.Sprintf("has %q, the externalId of no instance, neither in the file nor in the organization", key)))
		}
	}
	return len(c.faults) == before
}

// Window is a maintenance window that recurs. It is known by its name.
type Window struct {
	Place
	Name string
	selected
	recurrence schedule.Recurrence
	minutes    int
}

func (d Window) terms(of team.Selector) domain.Terms {
	recurrence := d.recurrence
	return domain.Terms{Selector: of, Recurrence: &recurrence, Minutes: d.minutes}
}

// window reads an entry of the list maintenanceWindows.
func (r Reader) window(w *walker, node *strictyaml.Node, field string, f *File) {
	d := Window{Place: Place{Line: node.Line, Field: field}}
	var tags, instances *[]string
	var every string
	var day, minutes *int
	lines := map[string]int{}
	w.Mapping(node, field, []string{"name", "every", "at", "minutes", "timeZone"}, marked(map[string]strictyaml.Member{
		"name": w.Text(&d.Name), "tags": w.Words(&tags), "instances": w.Words(&instances),
		"every":   w.OneOf(&every, string(schedule.Day), string(schedule.Week), string(schedule.Month)),
		"weekday": w.OneOf(&d.recurrence.Weekday, schedule.Weekdays()...), "dayOfMonth": w.Number(&day),
		"at": w.Text(&d.recurrence.At), "minutes": w.Number(&minutes), "timeZone": w.Text(&d.recurrence.TimeZone),
	}, lines))
	var ok bool
	if d.Tags, ok = tagWords(words(tags)); !ok {
		w.Faults = append(w.Faults, d.fault("tags", tagsRule))
	}
	d.Name, d.Instances = strings.TrimSpace(d.Name), words(instances)
	d.recurrence.Every, d.recurrence.DayOfMonth, d.minutes = schedule.Every(every), value(day, 0), value(minutes, 0)
	for _, b := range d.terms(d.placeholder()).Broken(r.Now) {
		at := strings.TrimPrefix(placeOf(strings.Replace(b.Pointer, "#/recurrence/", "#/", 1)), "selector.")
		if needed := map[string]bool{"every": true, "at": true, "minutes": true, "timeZone": true}; needed[at] && lines[field+"."+at] == 0 {
			continue // it is missing, which is said already
		}
		w.Faults = append(w.Faults, Fault{Line: lineOf(lines, field+"."+at, d.Line), Field: field + "." + at, Rule: b.Detail})
	}
	for _, other := range f.Windows {
		if strings.EqualFold(other.Name, d.Name) {
			w.Faults = append(w.Faults, d.fault("name", fmt.Sprintf("is that of line %d", other.Line)))
		}
	}
	f.Windows = append(f.Windows, d)
}

// windowTask announces, changes or removes a window.
type windowTask struct {
	id       uuid.UUID
	seen     []string
	remove   bool
	declared Window
}

func (t *windowTask) apply(ctx context.Context, a *Applier, p *Plan) error {
	if t.remove {
		_, err := a.Commands.RemoveWindow(ctx, a.Actor, t.id)
		return err
	}
	of, err := t.declared.selector(p)
	if err != nil {
		return err
	}
	terms := t.declared.terms(of)
	if t.id == uuid.Nil {
		_, _, err = a.Commands.CreateWindow(ctx, a.Actor, maintenance.Window{Name: t.declared.Name, Terms: terms})
		return err
	}
	_, err = a.Commands.ChangeWindow(ctx, a.Actor, t.id, maintenance.ChangeWindow{Name: &t.declared.Name, Terms: func(domain.Terms) domain.Terms { return terms }, Seen: t.seen})
	return err
}

// windows compares the windows that recur. Those with a single time are announced on the pages, and stay.
func (c *comparison) windows() {
	recurs := slices.DeleteFunc(slices.Clone(c.state.Windows), func(r maintenance.Row) bool { return r.Terms.Recurrence == nil })
	for _, d := range c.file.Windows {
		if !c.exist(d.Place, d.selected) {
			continue
		}
		var known []maintenance.Row
		for _, is := range recurs {
			if strings.EqualFold(is.Name, d.Name) {
				known = append(known, is)
			}
		}
		t := &windowTask{declared: d}
		switch len(known) {
		case 0:
			c.plan.Changes = append(c.plan.Changes, Change{Action: Add, Kind: KindWindow, Called: d.Name, About: d.String(), task: task{window: t}})
			continue
		case 1:
		default:
			c.faults = append(c.faults, d.fault("name", fmt.Sprintf("is that of %d windows; rename them first", len(known))))
			continue
		}
		t.id, t.seen = known[0].ID, []string{known[0].Digest()}
		was := Window{Name: known[0].Name, selected: c.selectedBy(known[0].Terms.Selector), recurrence: *known[0].Terms.Recurrence, minutes: known[0].Terms.Minutes}
		var differences []Difference
		for _, one := range [][3]string{{"name", was.Name, d.Name}, {"servers", was.String(), d.String()}, {"time", was.times(), d.times()}} {
			if one[1] != one[2] {
				differences = append(differences, Difference{Field: one[0], Before: orNone(one[1]), After: orNone(one[2])})
			}
		}
		if len(differences) > 0 {
			c.plan.Changes = append(c.plan.Changes, Change{Action: Alter, Kind: KindWindow, Called: was.Name, Differences: differences, task: task{window: t}})
		}
	}
	if !c.file.Lists.Windows {
		return
	}
	for _, is := range recurs {
		if !slices.ContainsFunc(c.file.Windows, func(d Window) bool { return strings.EqualFold(d.Name, is.Name) }) {
			c.left(KindWindow, is.Name, task{window: &windowTask{id: is.ID, remove: true}})
		}
	}
}

// times are when a window recurs, in words.
func (d Window) times() string {
	r := d.recurrence
	day := r.Weekday
	if r.DayOfMonth != 0 {
		day = strconv.Itoa(r.DayOfMonth)
	}
	return strings.Join(strings.Fields(fmt.Sprintf("every %s %s at %s %s for %d minutes", r.Every, day, r.At, r.TimeZone, d.minutes)), " ")
}

// Objective is one of the list of objectives, which the file has as a whole.
type Objective struct {
	Place
	selected
	percent, milliseconds *float64
}

// objective reads an entry of the list objectives.
func (w *walker) objective(node *strictyaml.Node, field string, f *File) {
	o := Objective{Place: Place{Line: node.Line, Field: field}}
	var tags, instances *[]string
	w.Mapping(node, field, nil, map[string]strictyaml.Member{
		"tags": w.Words(&tags), "instances": w.Words(&instances), "availabilityPercent": w.Decimal(&o.percent), "latencyMs": w.Decimal(&o.milliseconds),
	})
	var ok bool
	if o.Tags, ok = tagWords(words(tags)); !ok {
		w.Faults = append(w.Faults, o.fault("tags", tagsRule))
	}
	o.Instances = words(instances)
	f.Objectives = append(f.Objectives, o)
}

// brokenObjectives adds the rules that the whole list breaks, each at its entry.
func (w *walker) brokenObjectives(f File) {
	if len(w.Faults) > 0 { // the list may lack what could not be read
		return
	}
	list := make([]objective.Objective, len(f.Objectives))
	for i, o := range f.Objectives {
		list[i] = o.as(o.placeholder())
	}
	for _, b := range objective.Broken(list) {
		parts := strings.SplitN(strings.TrimPrefix(b.Pointer, "#/items/"), "/", 2)
		if n, err := strconv.Atoi(parts[0]); err == nil && n < len(f.Objectives) {
			at := f.Objectives[n].Place
			if len(parts) > 1 {
				at.Field += "." + strings.TrimPrefix(placeOf("#/"+parts[1]), "selector.")
			}
			w.Faults = append(w.Faults, Fault{Line: at.Line, Field: at.Field, Rule: b.Detail})
			continue
		}
		w.Faults = append(w.Faults, Fault{Line: f.Objectives[0].Line, Field: "objectives", Rule: b.Detail})
	}
}

func (o Objective) as(of team.Selector) objective.Objective {
	return objective.Objective{Selector: of, AvailabilityPercent: o.percent, LatencyMs: o.milliseconds, Window: objective.Month}
}

func (o Objective) String() string {
	var said []string
	if o.percent != nil {
		said = append(said, strconv.FormatFloat(*o.percent, 'f', -1, 64)+" %")
	}
	if o.milliseconds != nil {
		said = append(said, strconv.FormatFloat(*o.milliseconds, 'f', -1, 64)+" ms")
	}
	of := o.selected.String()
	if of == "" {
		of = "all"
	}
	return of + " " + strings.Join(said, " ")
}

// objectivesTask replaces the list.
type objectivesTask struct {
	declared []Objective
	seen     []string
}

func (t *objectivesTask) apply(ctx context.Context, a *Applier, p *Plan) error {
	list := make([]objective.Objective, len(t.declared))
	for i, o := range t.declared {
		of, err := o.selector(p)
		if err != nil {
			return err
		}
		list[i] = o.as(of)
	}
	_, err := a.Commands.SetObjectives(ctx, a.Actor, list, t.seen)
	return err
}

// objectives compares the list as a whole.
func (c *comparison) objectives() {
	if !c.file.Lists.Objectives {
		return
	}
	words := func(all []Objective) string {
		var said []string
		for _, o := range all {
			said = append(said, o.String())
		}
		return orNone(strings.Join(said, "; "))
	}
	exist := true
	for _, o := range c.file.Objectives {
		exist = c.exist(o.Place, o.selected) && exist
	}
	var was []Objective
	for _, o := range c.state.Objectives.Items {
		was = append(was, Objective{selected: c.selectedBy(o.Selector), percent: o.AvailabilityPercent, milliseconds: o.LatencyMs})
	}
	if before, after := words(was), words(c.file.Objectives); exist && before != after {
		c.plan.Changes = append(c.plan.Changes, Change{
			Action: Alter, Kind: KindObjectives, Differences: []Difference{{Field: "list", Before: before, After: after}},
			task: task{objectives: &objectivesTask{c.file.Objectives, []string{c.state.Objectives.Digest()}}},
		})
	}
}
