package oracle

import "muster/internal/engine/trait"

var words = trait.Words{
	Superuser:    "SYSDBA",
	Release:      "Release Update",
	ReleaseNeeds: "A Release Update needs a new home, a restart and datapatch in each database.",
	Editions: map[string]string{ // by the letters that V$INSTANCE has
		"EE": "Enterprise Edition", "SE": "Standard Edition", "PO": "Personal Oracle", "XE": "Express Edition", "CORE EE": "CORE Enterprise Edition",
	},
}
