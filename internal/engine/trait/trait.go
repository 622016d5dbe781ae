package trait

import (
	"muster/domain/fleet"
	"muster/internal/measurements/waitclass"
)

// Engine is one database engine.
type Engine struct {
	Name  fleet.Engine
	Title string // what people call it
	Words Words
	// Measured is how samples of its sessions and statements are read; nil if tiles and
	// reports do not show the engine.
	Measured *Measured
}

// Words are an engine's own words, as reports print them.
type Words struct {
	Superuser    string            // who may do everything
	Release      string            // a release within a major
	ReleaseNeeds string            // a sentence: what an upgrade to such a release needs
	Editions     map[string]string // the editions by the server's own name of each; others go by that name
}

// Edition returns an edition in words, by the server's name of it.
func (w Words) Edition(name string) string {
	if edition, ok := w.Editions[name]; ok {
		return edition
	}
	return name
}

// Measured is how an engine's samples are read.
type Measured struct {
	// Waits classify the engine's names of waits. The first class that matches counts.
	Waits []waitclass.Class
}

// Usual are the words of engines that have none of their own.
var Usual = Words{
	Superuser:    "superuser",
	Release:      "minor release",
	ReleaseNeeds: "A minor release needs a restart and no migration.",
}
