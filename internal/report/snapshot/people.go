package snapshot

import (
	"bytes"
	"slices"

	"github.com/google/uuid"
)

// People returns every member that the document names, sorted, each once: an erased one must be
// erased from it. A member who was erased before the inputs were gathered is an id without a
// name, and is not among them.
func (doc Document) People() []uuid.UUID {
	named := []Person{doc.Requester}
	for _, p := range doc.AlertRecords.Named() {
		named = append(named, *p)
	}
	for _, x := range doc.Exceptions {
		named = append(named, x.RequestedBy, x.GrantedBy)
	}
	var people []uuid.UUID
	for _, p := range named {
		if p.Name != "" {
			people = append(people, p.ID)
		}
	}
	slices.SortFunc(people, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(people)
}

// Shown is the name to print.
func (p Person) Shown() string {
	if p.Name == "" {
		return "a former member"
	}
	return p.Name
}
