package trait

import "regexp"

// Account is what the scripts of `muster agent grants` call Muster's account.
const Account = "muster"

// Grants are what Muster's account needs on an engine's servers.
type Grants struct {
	// Runner is who may run a script of grants.
	Runner string
	// NameObjects: a missing grant names an object that may not be read. Else it names a right.
	NameObjects bool
	// Rules judge a missing grant; the first that fits counts.
	Rules []GrantRule
	// Measuring are the objects that the collectors of measurements name where they may not
	// read them (internal/intake/measure).
	Measuring []MeasuringGrant
	// Statement grants a right that a check names to Account, on a server of a version; "" where
	// none can be stated. nil if grants name objects, which say so themselves.
	Statement func(right, version string) string
	// Uses is the form of a statement that leads to a database itself, which it has in
	// parentheses; nil: no statement does.
	Uses *regexp.Regexp
	// Lead is what brings a script into a database before those statements; nil: a comment does.
	Lead func(database string, statements []string) string
	// Own replaces a subject that has a name of the server in it; nil: none has.
	Own func(subject string) string
}

// GrantRule judges the grants whose subject or statement has one of these words in it.
type GrantRule struct {
	Words    []string
	Optional bool
	Measures bool   // without it there is no measuring: it cannot be declined
	Reveals  string // to whoever holds it; empty: nothing worth a warning
}

// MeasuringGrant is an object that a collector may not read, and what lets it.
type MeasuringGrant struct {
	Object    *regexp.Regexp
	Statement func(object, version string) string
}

// Always states the same whatever the object and the version are.
func Always(statement string) func(object, version string) string {
	return func(string, string) string { return statement }
}
