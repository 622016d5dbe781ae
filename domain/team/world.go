package team

import (
	"maps"
	"slices"

	"github.com/google/uuid"
)

// World is the part of an organization in which somebody with the role team lives: the instances
// that they see, and whether they may act on each of them. nil is the whole organization.
type World map[uuid.UUID]bool

// Sees reports whether an instance is part of the world.
func (w World) Sees(instance uuid.UUID) bool {
	_, sees := w[instance]
	return sees || w == nil
}

// Acts reports whether somebody may act on an instance that they see.
func (w World) Acts(instance uuid.UUID) bool { return w == nil || w[instance] }

// Holds reports whether something about these instances lies within the world. Without an
// instance it is about the whole organization.
func (w World) Holds(instances []uuid.UUID) bool {
	return w == nil || len(instances) > 0 && !slices.ContainsFunc(instances, func(id uuid.UUID) bool { return !w.Sees(id) })
}

// Instances are those of the world; nil of the whole organization.
func (w World) Instances() []uuid.UUID {
	if w == nil {
		return nil
	}
	return slices.AppendSeq(make([]uuid.UUID, 0, len(w)), maps.Keys(w))
}
