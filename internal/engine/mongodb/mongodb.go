package mongodb

import (
	"muster/domain/fleet"
	"muster/internal/engine/trait"
)

// Engine is MongoDB.
var Engine = trait.Engine{
	Name:  fleet.MongoDB,
	Title: "MongoDB",
	Words: trait.Usual,
	Feed:  &trait.Feed{Package: "mongodb", Product: "MongoDB Server", CNA: "mongodb"},
}
