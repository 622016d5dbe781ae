package snapshot

import (
	"bytes"
	"slices"

	"github.com/google/uuid"
)

// People returns every member that the document names, sorted, each once: who
// is erased must be erased from it.
func (doc Document) People() []uuid.UUID {
	people := []uuid.UUID{doc.Requester.ID}
	slices.SortFunc(people, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(people)
}
