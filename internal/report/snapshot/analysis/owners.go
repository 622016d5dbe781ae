package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
)

// Owned is a team with the number of instances that it owns of some. Name is empty for those that
// no team owns.
type Owned struct {
	Name      string
	Instances int
}

// ownersOf counts the instances by the teams that own them: most instances first, then by name,
// and at the end those without an owner.
func ownersOf(doc snapshot.Document, instances map[uuid.UUID]string) []Owned {
	teams := map[uuid.UUID]*Owned{}
	for _, in := range doc.Instances {
		if _, one := instances[in.ID]; !one {
			continue
		}
		owner := snapshot.Owner{}
		if in.Owner != nil {
			owner = *in.Owner
		}
		if teams[owner.ID] == nil {
			teams[owner.ID] = &Owned{Name: owner.Name}
		}
		teams[owner.ID].Instances++
	}
	var owners []Owned
	for _, id := range slices.SortedFunc(maps.Keys(teams), func(a, b uuid.UUID) int {
		return cmp.Or(
			cmp.Compare(unowned(a), unowned(b)),
			cmp.Compare(teams[b].Instances, teams[a].Instances),
			strings.Compare(teams[a].Name, teams[b].Name),
			slices.Compare(a[:], b[:]),
		)
	}) {
		owners = append(owners, *teams[id])
	}
	return owners
}

func unowned(team uuid.UUID) int {
	if team == uuid.Nil {
		return 1
	}
	return 0
}

// namedOwners are the most teams that a row names.
const namedOwners = 3

// OwnersInWords is "Payments (3), Platform (2), no owner (1)"; the number is left out if all have
// one owner. It is empty if no team owns any of them, so that there is room for a name.
func (s Step) OwnersInWords() string {
	if len(s.Owners) == 0 || s.Owners[0].Name == "" {
		return ""
	}
	if len(s.Owners) == 1 {
		return Shorten(s.Owners[0].Name, maxOwner)
	}
	var words []string
	for i, o := range s.Owners {
		if rest := len(s.Owners) - i; i == namedOwners && rest > 1 {
			words = append(words, Plural(rest, "other", "others"))
			break
		}
		words = append(words, cmp.Or(Shorten(o.Name, maxOwnerOfMany), "no owner")+" ("+itoa(o.Instances)+")")
	}
	return strings.Join(words, ", ")
}

// How much of a team's name is printed, alone and among others.
const maxOwner, maxOwnerOfMany = 60, 30

// OwnerOf is the name of the team that owns an instance; empty if no team does.
func OwnerOf(in *snapshot.Instance) string {
	if in == nil || in.Owner == nil {
		return ""
	}
	return Shorten(in.Owner.Name, maxOwner)
}

// OneOwner is the team that owns all instances of a document; nil if there is no such team.
func OneOwner(doc snapshot.Document) *snapshot.Owner {
	var one *snapshot.Owner
	for _, in := range doc.Instances {
		if in.Owner == nil || one != nil && one.ID != in.Owner.ID {
			return nil
		}
		one = in.Owner
	}
	return one
}
