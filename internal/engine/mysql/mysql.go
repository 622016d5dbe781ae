package mysql

import (
	"muster/domain/fleet"
	"muster/internal/engine/trait"
)

// Engine is MySQL.
var Engine = trait.Engine{
	Name:  fleet.MySQL,
	Title: "MySQL",
	Words: trait.Usual,
	Feed:  &trait.Feed{},
}
