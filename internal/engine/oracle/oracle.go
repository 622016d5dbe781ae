package oracle

import (
	"time"

	"muster/domain/fleet"
	"muster/internal/engine/trait"
)

// Engine is Oracle.
var Engine = trait.Engine{
	Name:      fleet.Oracle,
	Title:     "Oracle",
	Words:     words,
	Feed:      &feed,
	Connected: &connected,
	Measured: &trait.Measured{
		Waits:      waitClasses,
		Statements: trait.Statements{Least: 2, Shown: 7 * 24 * time.Hour}, // it has no historical rollup
	},
	Dialect: &dialect,
	Hints:   &hints,
	Checks:  &checks,
}
