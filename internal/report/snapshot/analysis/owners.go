package analysis

import "muster/internal/report/snapshot"

// maxOwner is how much of a team's name is printed.
const maxOwner = 60

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
