package fleet

import (
	"slices"

	"github.com/google/uuid"
)

// Limit is what a token may speak of: these instances, or, where it is nil, everything
// in its organization. What it may not say is refused to a feed, and dropped of an
// agent's message; what it may say is decided here for both.
type Limit []uuid.UUID

// Allows reports whether the token may speak of an instance. uuid.Nil is the
// organization, or an instance that there is not.
func (l Limit) Allows(instance uuid.UUID) bool { return l == nil || slices.Contains(l, instance) }

// AllowsHost reports whether the token may speak of a host: of one that it says to run
// named, and on which known are known to run by whatever else says so. All that are
// named must be the token's; and one of those known, if any are, or it could write
// another's figures under a name of its choice. A host of which nothing is named gives
// its figures to all that are known there, so that all of these must be the token's.
func (l Limit) AllowsHost(named, known []uuid.UUID) bool {
	forbidden := func(instance uuid.UUID) bool { return !l.Allows(instance) }
	switch {
	case l == nil:
		return true
	case len(named) > 0:
		return !slices.ContainsFunc(named, forbidden) && (len(known) == 0 || slices.ContainsFunc(known, l.Allows))
	}
	return len(known) > 0 && !slices.ContainsFunc(known, forbidden)
}
