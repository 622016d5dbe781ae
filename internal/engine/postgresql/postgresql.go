package postgresql

import (
	"muster/domain/fleet"
	"muster/internal/engine/trait"
)

// Engine is PostgreSQL.
var Engine = trait.Engine{
	Name:        fleet.PostgreSQL,
	Title:       "PostgreSQL",
	Words:       trait.Usual,
	VolumesOnly: true,
	Feed:        &trait.Feed{FixedReleases: true, Package: "postgresql", Product: "PostgreSQL", CNA: "postgresql"},
	Connected:   &connected,
	Measured:    &trait.Measured{Waits: waitClasses},
	Dialect:     &dialect,
	Hints:       &hints,
	Checks:      &checks,
}
