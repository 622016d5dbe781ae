package oracle

import (
	"cmp"
	"regexp"

	"muster/internal/engine/trait"
)

var feed = trait.Feed{
	Release: release,
	Build:   regexp.MustCompile(`\d+(?:\.\d+)+`),
	NoBuild: noBuild,
	KeptBy:  keptBy,
}

// Autonomous is the edition of a database that Oracle runs, instead of the one of its instance.
const Autonomous = "Autonomous Database"

// keptBy: Oracle patches an Autonomous Database.
func keptBy(edition string) string {
	if edition == Autonomous {
		return "Oracle"
	}
	return ""
}

// How versions are written: "19.24.0.0.0" and "19c".
var generation = regexp.MustCompile(`^\D*?(\d+)(?:c|g|ai)?(?:$|[^.\w])`)

func release(version string) string {
	generic := ""
	if m := generation.FindStringSubmatch(version); m != nil {
		generic = m[1]
	}
	if generic == "26" {
		generic = "23" // 26ai is the name of 23ai as of 23.26
	}
	return cmp.Or(trait.Numbered(version), generic)
}

// noBuild: 19.0.0.0.0 is how Oracle names every Release Update in its banner.
func noBuild(version []int) bool { return version[1] == 0 }
