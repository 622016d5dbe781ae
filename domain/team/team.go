package team

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/rule"
)

// Stream is the stream type of a team in the organization log.
const Stream = "team"

// Bounds of a team.
const (
	MaxTeams     = 200 // of an organization
	MaxMembers   = 500
	MaxInstances = 1000
)

// Terms are the selector and the members of a team.
type Terms struct {
	Selector Selector `json:"selector"`
	Members  []Member `json:"members,omitempty"`
}

// Member is somebody who belongs to a team, and what they may do with its servers: see them
// (organization.Viewer), or also act on them (organization.Member). It matters for people whose role in the
// organization is organization.Team. All others may do what their own role says.
type Member struct {
	ID   uuid.UUID         `json:"memberId"`
	Role organization.Role `json:"role"`
}

// Selector matches servers: those with one of the values of each key of Tags, and those of
// InstanceIDs. Without tags it matches only those, and without both none.
type Selector struct {
	Tags        fleet.TagFilter `json:"tags,omitempty"`
	InstanceIDs []uuid.UUID     `json:"instanceIds,omitempty"`
}

// Matches reports whether a server with these tags is one of the selector's.
func (s Selector) Matches(instance uuid.UUID, tags fleet.Tags) bool {
	return slices.Contains(s.InstanceIDs, instance) || len(s.Tags) > 0 && s.Tags.Passes(tags)
}

// Owner is the position of the first selector that matches, or -1 where none does.
func Owner(selectors []Selector, instance uuid.UUID, tags fleet.Tags) int {
	return slices.IndexFunc(selectors, func(s Selector) bool { return s.Matches(instance, tags) })
}

// Normal is the same selector with each value and id once.
func (s Selector) Normal() Selector {
	n := Selector{}
	for key, values := range s.Tags {
		if n.Tags == nil {
			n.Tags = fleet.TagFilter{}
		}
		n.Tags[key] = slices.Compact(slices.Sorted(slices.Values(values)))
	}
	for _, id := range s.InstanceIDs {
		if !slices.Contains(n.InstanceIDs, id) {
			n.InstanceIDs = append(n.InstanceIDs, id)
		}
	}
	return n
}

// Broken are the rules that the terms break.
func (t Terms) Broken() []rule.Broken {
	var broken rule.Set
	t.Selector.broken("#/selector", &broken)
	if n := len(t.Members); n > MaxMembers {
		broken.Add("#/members", "too_many_items", fmt.Sprintf("has %d members; at most %d are allowed", n, MaxMembers))
	}
	seen := map[uuid.UUID]bool{}
	for i, m := range t.Members {
		at := fmt.Sprintf("#/members/%d", i)
		if seen[m.ID] {
			broken.Add(at+"/memberId", "invalid_parameter", "is in the list twice")
		}
		if seen[m.ID] = true; m.Role != organization.Viewer && m.Role != organization.Member {
			broken.Add(at+"/role", "invalid_parameter", "must be viewer or member")
		}
	}
	return broken
}

func (s Selector) broken(at string, broken *rule.Set) {
	s.Tags.Broken(at+"/tags", broken)
	if n := len(s.InstanceIDs); n > MaxInstances {
		broken.Add(at+"/instanceIds", "too_many_instances", fmt.Sprintf("has %d ids; at most %d are allowed", n, MaxInstances))
	}
}

// Event is a fact about a team. Its wire name is its Name.
type Event interface{ name() string }

// Created says that there is a team.
type Created struct{ Terms }

// Changed says by which terms it goes on. Of the name it says only that it is another.
type Changed struct {
	NameChanged bool `json:"nameChanged,omitempty"`
	Position    int  `json:"position,omitempty"` // the place that it moved to, counted from 1; 0: it kept its place
	Terms
}

// Removed says that the team is no more. What it owned is the next team's, or nobody's.
type Removed struct{}

func (Created) name() string { return "team.created" }
func (Changed) name() string { return "team.changed" }
func (Removed) name() string { return "team.removed" }

// Events returns an empty value of every event of a team. All are at schema version 1. A name
// that was ever written stays.
func Events() []Event { return []Event{Created{}, Changed{}, Removed{}} }

// Name returns the wire name of an event; it is empty for none.
func Name(e Event) string {
	if e == nil {
		return ""
	}
	return e.name()
}
