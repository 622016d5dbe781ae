package oracle

import (
	"muster/domain/fleet"
	"muster/internal/engine/trait"
)

// Engine is Oracle.
var Engine = trait.Engine{
	Name:      fleet.Oracle,
	Title:     "Oracle",
	Words:     words,
	Feed:      &trait.Feed{},
	Connected: &connected,
	Measured:  &trait.Measured{Waits: waitClasses},
	Dialect:   &dialect,
	Hints:     &hints,
	Checks:    &checks,
}
