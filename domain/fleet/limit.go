package fleet

import (
	"slices"

	"github.com/google/uuid"
)

// Limit says which instances a token may write about: these, or, if it is nil, everything in
// its organization. Items beyond it are refused in a feed, and dropped from an agent's message;
// the decision for both is made here. docs/security.md has the table.
type Limit []uuid.UUID

// Allows reports whether the token may write about an instance. uuid.Nil is the organization,
// or an instance that does not exist.
func (l Limit) Allows(instance uuid.UUID) bool { return l == nil || slices.Contains(l, instance) }

// Names reports whether the token is limited to an instance, and perhaps to others.
func (l Limit) Names(instance uuid.UUID) bool { return slices.Contains(l, instance) }

// Limited reports whether a limited token may not change a field of its instances: by name
// and host messages of others are taken to be about an instance.
func Limited(field string) bool { return field == "engine" || Managed(field) }

// Managed reports whether a field of an instance with a connection is the administrators'.
func Managed(field string) bool { return field == "name" || field == "host" || field == "active" }

// HostClaim is what a sample of a host comes to: which instances it says to run there, and
// which are known to run there by anything else that says so, by either form of the host's
// name. Elsewhere says that one of those named is registered under another host's name.
type HostClaim struct {
	Named, Known []uuid.UUID
	Elsewhere    bool
}

// AllowsHost reports whether the token may send the sample. Its figures count for every
// instance on the host, and the instances that it names claim the host for themselves. So all
// named and all known instances must be the token's. If no instance is known on a host, only an
// instance that is registered without a host's name may name it; otherwise the token would move
// it.
func (l Limit) AllowsHost(c HostClaim) bool {
	forbidden := func(instance uuid.UUID) bool { return !l.Allows(instance) }
	switch {
	case l == nil:
		return true
	case slices.ContainsFunc(c.Named, forbidden), slices.ContainsFunc(c.Known, forbidden):
		return false
	}
	return len(c.Known) > 0 || len(c.Named) > 0 && !c.Elsewhere
}
