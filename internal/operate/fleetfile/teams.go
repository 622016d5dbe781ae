package fleetfile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/team"
	"muster/internal/accounts"
	"muster/internal/text/strictyaml"
)

// Team is a team as the file declares it. It is known by its name.
type Team struct {
	Place
	Name      string
	Tags      fleet.TagFilter
	Instances []string                     // external ids
	Members   map[string]organization.Role // by e-mail address
}

// team reads an entry of the list teams.
func (w *walker) team(node *strictyaml.Node, field string, f *File) {
	t := Team{Place: Place{Line: node.Line, Field: field}, Members: map[string]organization.Role{}}
	var tags, instances *[]string
	var members map[string]string
	lines := map[string]int{}
	w.Mapping(node, field, []string{"name"}, marked(map[string]strictyaml.Member{
		"name": w.Text(&t.Name), "tags": w.Words(&tags), "instances": w.Words(&instances), "members": w.Texts(&members),
	}, lines))
	fault := func(member, rule string) {
		one := t.fault(member, rule)
		one.Line = max(lines[field+"."+member], one.Line)
		w.Faults = append(w.Faults, one)
	}
	var ok bool
	if t.Tags, ok = tagWords(words(tags)); !ok {
		fault("tags", tagsRule)
	}
	t.Instances = words(instances)
	for address, role := range members {
		if role != string(organization.Viewer) && role != string(organization.Member) {
			fault("members", "must be addresses with viewer or member, as in {ana@example.com: member}")
			break
		}
		t.Members[strings.ToLower(address)] = organization.Role(role)
	}
	for _, other := range f.Teams {
		if strings.EqualFold(other.Name, t.Name) {
			fault("name", fmt.Sprintf("is that of line %d", other.Line))
		}
	}
	t.Name = strings.TrimSpace(t.Name)
	f.Teams = append(f.Teams, t)
}

// people are the members of the organization whom the teams and channels of a file name, by address.
func (s Source) people(ctx context.Context, of uuid.UUID, f File) (map[string]uuid.UUID, error) {
	found, named := map[string]uuid.UUID{}, map[string]bool{}
	for _, t := range f.Teams {
		for address := range t.Members {
			named[address] = true
		}
	}
	for _, c := range f.Channels {
		for _, address := range c.Members {
			named[address] = true
		}
	}
	for address := range named {
		m, ok, err := s.Accounts.MemberByEmail(ctx, address)
		if err != nil {
			return nil, err
		}
		if ok && m.OrganizationID == of {
			found[address] = m.ID
		}
	}
	return found, nil
}

// teams compares the teams. Their instances may be among those that the file adds.
func (c *comparison) teams() {
	declared := map[string]bool{}
	for i := range c.file.Teams {
		t := &c.file.Teams[i]
		declared[strings.ToLower(t.Name)] = true
		if c.resolvable(t) {
			c.team(t)
		}
	}
	if c.file.Lists.Teams {
		c.teamsLeft(declared)
		c.teamOrder(declared)
	}
}

// teamsLeft are the teams that the file does not declare.
func (c *comparison) teamsLeft(declared map[string]bool) {
	for _, is := range c.state.Teams {
		if declared[strings.ToLower(is.Name)] {
			continue
		}
		change := Change{Kind: KindTeam, Called: is.Name, Action: Stay, Why: "is not in the file and stays"}
		if c.prune {
			change.Action, change.Why = Remove, ""
			change.task.team = &teamTask{id: is.ID, remove: true}
			c.plan.Changes = append(c.plan.Changes, change)
			continue
		}
		c.plan.Stays = append(c.plan.Stays, change)
	}
}

// teamOrder moves teams. The teams of the file share their places among themselves in the order of the
// file; all others keep theirs.
func (c *comparison) teamOrder(declared map[string]bool) {
	var order []string // of the names in lower case, once all teams have been added and removed
	called, there := map[string]string{}, map[string]uuid.UUID{}
	for _, is := range c.state.Teams {
		name := strings.ToLower(is.Name)
		if called[name], there[name] = is.Name, is.ID; declared[name] || !c.prune {
			order = append(order, name)
		}
	}
	for _, t := range c.file.Teams {
		name := strings.ToLower(t.Name)
		if called[name] = t.Name; there[name] == uuid.Nil {
			order = append(order, name)
		}
	}
	wanted := slices.Clone(order)
	next := 0
	for at, name := range wanted {
		if declared[name] {
			wanted[at] = strings.ToLower(c.file.Teams[next].Name)
			next++
		}
	}
	for at, name := range wanted {
		from := slices.Index(order, name)
		if from == at {
			continue
		}
		c.plan.Changes = append(c.plan.Changes, Change{
			Action: Alter, Kind: KindTeam, Called: called[name],
			Differences: []Difference{{Field: "position", Before: strconv.Itoa(from + 1), After: strconv.Itoa(at + 1)}},
			task:        task{team: &teamTask{declared: Team{Name: called[name]}, position: at + 1, before: order}},
		})
		order = slices.Insert(slices.Delete(slices.Clone(order), from, from+1), at, name)
	}
}

// resolvable adds a fault for each instance and person of a team that does not exist.
func (c *comparison) resolvable(t *Team) bool {
	before := len(c.faults)
	for _, key := range t.Instances {
		if c.known[key] == nil && c.declared[key] == nil {
			c.faults = append(c.faults, t.fault("instances", fmt.Sprintf("has %q, the externalId of no instance, neither in the file nor in the organization", key)))
		}
	}
	for _, address := range slices.Sorted(maps.Keys(t.Members)) {
		if _, there := c.state.People[address]; !there {
			c.faults = append(c.faults, t.fault("members", fmt.Sprintf("has %s, who is no member of the organization", address)))
		}
	}
	return len(c.faults) == before
}

func (c *comparison) team(t *Team) {
	at := slices.IndexFunc(c.state.Teams, func(is accounts.Team) bool { return strings.EqualFold(is.Name, t.Name) })
	task := task{team: &teamTask{declared: *t, people: c.state.People}}
	if at < 0 {
		c.plan.Changes = append(c.plan.Changes, Change{Action: Add, Kind: KindTeam, Called: t.Name, About: strings.Join(t.Tags.Words(), ", "), task: task})
		return
	}
	was := c.state.Teams[at]
	task.team.id, task.team.seen = was.ID, was.Digest()
	var d []Difference
	differ := func(field string, before, after []string) {
		slices.Sort(before)
		slices.Sort(after)
		if !slices.Equal(before, after) {
			d = append(d, Difference{Field: field, Before: orNone(strings.Join(before, ",")), After: orNone(strings.Join(after, ","))})
		}
	}
	if was.Name != t.Name {
		d = append(d, Difference{Field: "name", Before: was.Name, After: t.Name})
	}
	differ("tags", was.Terms.Selector.Tags.Words(), t.Tags.Words())
	var instances, members, wanted []string
	for _, id := range was.Terms.Selector.InstanceIDs {
		instances = append(instances, c.plan.named(id))
	}
	differ("instances", instances, slices.Clone(t.Instances))
	for _, m := range was.Terms.Members {
		members = append(members, m.ID.String()+" "+string(m.Role))
	}
	for address, role := range t.Members {
		wanted = append(wanted, c.state.People[address].String()+" "+string(role))
	}
	if slices.Sort(members); !slices.Equal(members, slices.Sorted(slices.Values(wanted))) {
		d = append(d, Difference{Field: "members", Before: fmt.Sprint(len(members)), After: fmt.Sprint(len(wanted)), Other: []string{"member or role"}})
	}
	if len(d) > 0 {
		c.plan.Changes = append(c.plan.Changes, Change{Action: Alter, Kind: KindTeam, Called: was.Name, Differences: d, task: task})
	}
}

// teamTask adds, changes, moves or removes a team.
type teamTask struct {
	id       uuid.UUID
	remove   bool
	seen     string // its digest when it was compared
	declared Team
	people   map[string]uuid.UUID
	position int      // of a move, which changes nothing else
	before   []string // the order that a move is made from, names in lower case
}

// team applies one. Its instances are there by now, or could not be added.
func (a *Applier) team(ctx context.Context, t *teamTask, p *Plan) error {
	if t.remove {
		_, err := a.Commands.RemoveTeam(ctx, a.Actor, t.id)
		return err
	}
	if t.position > 0 {
		return a.moveTeam(ctx, t, p)
	}
	terms := team.Terms{Selector: team.Selector{Tags: t.declared.Tags}}
	for _, key := range t.declared.Instances {
		id, there := p.ids[key]
		if !there {
			return &notThereError{instance: key}
		}
		terms.Selector.InstanceIDs = append(terms.Selector.InstanceIDs, id)
	}
	for _, address := range slices.Sorted(maps.Keys(t.declared.Members)) {
		terms.Members = append(terms.Members, team.Member{ID: t.people[address], Role: t.declared.Members[address]})
	}
	var err error
	if t.id == uuid.Nil {
		var id uuid.UUID
		if id, _, err = a.Commands.CreateTeam(ctx, a.Actor, commands.Team{Name: t.declared.Name, Terms: terms}); err == nil {
			p.teams[strings.ToLower(t.declared.Name)] = id
		}
	} else {
		_, err = a.Commands.ChangeTeam(ctx, a.Actor, t.id, commands.ChangeTeam{
			Name: &t.declared.Name, Selector: &terms.Selector, Members: &terms.Members, Seen: []string{t.seen},
		})
	}
	if taken := (*accounts.Refusal)(nil); errors.As(err, &taken) {
		return errMeanwhile
	}
	return err
}

// moveTeam gives a team its place, if the teams are in the order that was compared.
func (a *Applier) moveTeam(ctx context.Context, t *teamTask, p *Plan) error {
	teams, err := a.Commands.Accounts.Teams(ctx, a.Actor.OrganizationID)
	if err != nil {
		return err
	}
	name := strings.ToLower(t.declared.Name)
	var seen string
	order := make([]string, len(teams))
	for i, is := range teams {
		if order[i] = strings.ToLower(is.Name); order[i] == name {
			seen = is.Digest()
		}
	}
	if !slices.Equal(order, t.before) {
		return errMeanwhile
	}
	_, err = a.Commands.ChangeTeam(ctx, a.Actor, p.teams[name], commands.ChangeTeam{Position: &t.position, Seen: []string{seen}})
	return err
}
