package sqlserver

import "muster/internal/engine/trait"

var words = trait.Words{
	Superuser:    "sysadmin",
	Release:      "update",
	ReleaseNeeds: "An update needs a restart; databases stay as they are.",
}
