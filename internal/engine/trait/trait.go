package trait

import (
	"regexp"

	"muster/domain/fleet"
	"muster/internal/assessment/quote"
	"muster/internal/intake/sqltext"
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
	// Dialect reads the texts of its statements; nil: none are kept.
	Dialect *sqltext.Dialect
	// Checks is how its checks are written; nil: there are none.
	Checks *Checks
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

// Checks is how an engine's checks are written. The definitions are in the folder checks.
type Checks struct {
	ID   *regexp.Regexp
	Form string // of an id, in words
	// Fed checks are those that a feed may answer. No server of the engine has met them.
	Fed   bool
	Azure bool          // a check may say why it does not apply to Azure SQL Database
	Quote quote.Dialect // writes names and strings into the statements that mend a fault
	// Right is what lets an account read what a Fed check reads; nil: Rights of the check say so.
	Right func(kind, name string) string
}

// What a Fed check may read.
const (
	ReadView      = "view"
	ReadParameter = "parameter"
)

// Usual are the words of engines that have none of their own.
var Usual = Words{
	Superuser:    "superuser",
	Release:      "minor release",
	ReleaseNeeds: "A minor release needs a restart and no migration.",
}
