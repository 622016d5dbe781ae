package sqlserver

import (
	"regexp"

	"muster/internal/engine/trait"
)

var feed = trait.Feed{
	Release:    release,
	Update:     regexp.MustCompile(`(?i)\bCU ?(\d+)\b`),
	UpdateName: "CU",
	AllBuilds:  true,
}

// How versions are written: "16.0.4135.4" and "2022 CU14".
var (
	builtAs  = regexp.MustCompile(`^\d{1,2}\.`)
	marketed = regexp.MustCompile(`\b(20\d\d)( R2)?\b`)
)

func release(version string) string {
	if !builtAs.MatchString(version) {
		if m := marketed.FindString(version); m != "" {
			return m
		}
	}
	return trait.Numbered(version)
}
