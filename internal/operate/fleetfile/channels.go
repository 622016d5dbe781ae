package fleetfile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"muster/commands/notifying"
	"muster/domain/notification"
	"muster/internal/postgres/statement"
	"muster/internal/text/strictyaml"
)

// Channel is a channel of notifications as the file declares it. It is known by its name. Only
// kinds without an address or a secret are declared in a file.
type Channel struct {
	Place
	Name           string
	Kind           notification.Kind
	Administrators bool
	Members        []string // e-mail addresses
}

// declarable reports whether the file can have a channel of a kind: others have an address or a
// secret, and are made on the pages.
func declarable(kind notification.Kind) bool {
	return kind == notification.Email || kind == notification.OwningTeam
}

// channel reads an entry of the list channels.
func (w *walker) channel(node *strictyaml.Node, field string, f *File) {
	c := Channel{Place: Place{Line: node.Line, Field: field}}
	var kind string
	var members *[]string
	var administrators *bool
	w.Mapping(node, field, []string{"name", "kind"}, map[string]strictyaml.Member{
		"name": w.Text(&c.Name), "kind": w.OneOf(&kind, string(notification.Email), string(notification.OwningTeam)),
		"members": w.Words(&members), "administrators": w.Truth(&administrators),
	})
	c.Name, c.Kind, c.Administrators = strings.TrimSpace(c.Name), notification.Kind(kind), administrators != nil && *administrators
	if members != nil {
		for _, address := range *members {
			c.Members = append(c.Members, strings.ToLower(address))
		}
	}
	switch recipients := c.Administrators || len(c.Members) > 0; {
	case c.Kind == notification.Email && !recipients:
		w.Faults = append(w.Faults, c.fault("members", "must name at least one member, or administrators must be true"))
	case c.Kind == notification.OwningTeam && recipients:
		w.Faults = append(w.Faults, c.fault("kind", "is team, which has no members of its own: the team that owns the server has them"))
	}
	for _, other := range f.Channels {
		if strings.EqualFold(other.Name, c.Name) {
			w.Faults = append(w.Faults, c.fault("name", fmt.Sprintf("is that of line %d", other.Line)))
		}
	}
	f.Channels = append(f.Channels, c)
}

// channels are those of an organization, by name.
func (s Source) channels(ctx context.Context, of uuid.UUID) ([]notifying.ChannelRow, error) {
	return statement.All[notifying.ChannelRow](ctx, s.DB, "read channels", `SELECT id, organization_id, name, kind, to_json(member_ids)::text AS member_ids, administrators
		FROM notification_channels WHERE organization_id = $1 AND removed_at IS NULL ORDER BY lower(name), id`, of)
}

// channels compares the channels.
func (c *comparison) channels() {
	for i := range c.file.Channels {
		c.channel(&c.file.Channels[i])
	}
}

// channelsLeft are the channels that the file could name and does not. They are removed behind the
// rules that used them.
func (c *comparison) channelsLeft() {
	if !c.file.Lists.Channels {
		return
	}
	for _, is := range c.state.Channels {
		if declarable(is.Kind) && !slices.ContainsFunc(c.file.Channels, func(d Channel) bool { return strings.EqualFold(d.Name, is.Name) }) {
			c.left(KindChannel, is.Name, task{channel: &channelTask{id: is.ID, remove: true}})
		}
	}
}

// left removes what a list of the file does not name, or says that it stays.
func (c *comparison) left(kind, called string, remove task) {
	if c.prune {
		c.plan.Changes = append(c.plan.Changes, Change{Kind: kind, Called: called, Action: Remove, task: remove})
		return
	}
	c.plan.Stays = append(c.plan.Stays, Change{Kind: kind, Called: called, Action: Stay, Why: "is not in the file and stays"})
}

func (c *comparison) channel(declared *Channel) {
	before := len(c.faults)
	var members []uuid.UUID
	for _, address := range declared.Members {
		id, there := c.state.People[address]
		if !there {
			c.faults = append(c.faults, declared.fault("members", fmt.Sprintf("has %s, who is no member of the organization", address)))
		}
		members = append(members, id)
	}
	var known []notifying.ChannelRow
	for _, is := range c.state.Channels {
		if strings.EqualFold(is.Name, declared.Name) {
			known = append(known, is)
		}
	}
	switch {
	case len(known) > 1:
		c.faults = append(c.faults, declared.fault("name", fmt.Sprintf("is that of %d channels; rename them first", len(known))))
	case len(known) == 1 && known[0].Kind != declared.Kind:
		c.faults = append(c.faults, declared.fault("kind", fmt.Sprintf("is %s of the channel that is there, and never changes", known[0].Kind)))
	}
	if len(c.faults) > before {
		return
	}
	t := &channelTask{declared: *declared, members: members}
	if len(known) == 0 {
		c.plan.Changes = append(c.plan.Changes, Change{Action: Add, Kind: KindChannel, Called: declared.Name, About: string(declared.Kind), task: task{channel: t}})
		return
	}
	was := known[0]
	t.id = was.ID
	var d []Difference
	if was.Name != declared.Name {
		d = append(d, Difference{Field: "name", Before: was.Name, After: declared.Name})
	}
	if was.Administrators != declared.Administrators {
		d = append(d, Difference{Field: "administrators", Before: strconv.FormatBool(was.Administrators), After: strconv.FormatBool(declared.Administrators)})
	}
	if !sameIDs(was.MemberIDs, members) {
		d = append(d, Difference{Field: "members", Before: fmt.Sprint(len(was.MemberIDs)), After: fmt.Sprint(len(members)), Other: []string{"member"}})
	}
	if len(d) > 0 {
		c.plan.Changes = append(c.plan.Changes, Change{Action: Alter, Kind: KindChannel, Called: was.Name, Differences: d, task: task{channel: t}})
	}
}

// sameIDs says whether two lists have the same ids, in any order.
func sameIDs(a, b []uuid.UUID) bool {
	set := func(ids []uuid.UUID) map[uuid.UUID]bool {
		set := map[uuid.UUID]bool{}
		for _, id := range ids {
			set[id] = true
		}
		return set
	}
	return maps.Equal(set(a), set(b))
}

// channelTask adds, changes or removes a channel.
type channelTask struct {
	id       uuid.UUID
	remove   bool
	declared Channel
	members  []uuid.UUID
}

func (a *Applier) channel(ctx context.Context, t *channelTask, p *Plan) error {
	switch d := t.declared; {
	case t.remove:
		_, err := a.Commands.RemoveChannel(ctx, a.Actor, t.id)
		return err
	case t.id != uuid.Nil:
		_, err := a.Commands.ChangeChannel(ctx, a.Actor, t.id, notifying.ChangeChannel{Name: &d.Name, MemberIDs: &t.members, Administrators: &d.Administrators})
		return err
	default:
		id, _, err := a.Commands.CreateChannel(ctx, a.Actor, notifying.CreateChannel{Name: d.Name, Kind: d.Kind, MemberIDs: t.members, Administrators: d.Administrators})
		if err == nil {
			p.channels[strings.ToLower(d.Name)] = id
		}
		return err
	}
}
