package mysql

import (
	"strings"

	"muster/domain/fleet"
	"muster/internal/engine/trait"
)

// Engine is MySQL.
var Engine = trait.Engine{
	Name:  fleet.MySQL,
	Title: "MySQL",
	Words: trait.Usual,
	Feed:  &trait.Feed{Package: "mysql", Release: release},
}

// release is that of MySQL; the feed does not know MariaDB.
func release(version string) string {
	if strings.Contains(strings.ToLower(version), "maria") {
		return ""
	}
	return trait.Numbered(version)
}
