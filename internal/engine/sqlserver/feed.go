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
	KeptBy:     keptBy,
}

// keptBy: Azure SQL Database, Managed Instance and databases of Fabric call themselves this edition. Their version is
// 12.0.2000.8 for ever, which is also that of SQL Server 2014.
func keptBy(edition string) string {
	if edition == "SQL Azure" {
		return "Microsoft"
	}
	return ""
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
