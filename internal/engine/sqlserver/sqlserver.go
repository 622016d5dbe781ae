package sqlserver

import (
	"muster/domain/fleet"
	"muster/internal/engine/trait"
)

// Engine is SQL Server.
var Engine = trait.Engine{
	Name:      fleet.SQLServer,
	Title:     "SQL Server",
	Words:     words,
	Feed:      &feed,
	Connected: &connected,
	Measured:  &trait.Measured{Waits: waitClasses, Statements: trait.Statements{OwnMaxima: true}},
	Dialect:   &dialect,
	Hints:     &hints,
	Checks:    &checks,
}
