package sqlserver

import (
	"regexp"
	"strings"

	"muster/internal/assessment/quote"
	"muster/internal/engine/trait"
)

var checks = trait.Checks{
	ID: regexp.MustCompile(`^MS-[0-9]{2}$`), Form: "MS-00",
	Fed:        true,
	Azure:      true,
	WeakSignIn: []string{"MS-12", "MS-14"},
	Outdated:   "MS-19",
	Backup:     "MS-16",
	Accounts:   []trait.AccountCheck{{Check: "MS-11", Superuser: true, Except: []string{"sa", `NT SERVICE\`, `NT AUTHORITY\`, `BUILTIN\`, "##"}}},
	Alerts:     []trait.AlertCheck{{Check: "MS-16", Words: []string{"full backup"}}, {Check: "MS-17", Words: []string{"checkdb"}}},
	RemoteSuperuser: trait.RemoteSuperuser{ // logins are let in from every host or from none
		Checks: []string{"MS-02"}, Driver: "sa may sign in remotely", Control: "sa is disabled",
		Treatment: "give sa's work to a named login and disable it",
	},
	Quote: quote.Dialect{
		Identifier: func(s string) (string, bool) {
			return "[" + strings.ReplaceAll(s, "]", "]]") + "]", quote.Plain(s, 128)
		},
		Literal: func(s string) (string, bool) {
			return "N'" + strings.ReplaceAll(s, "'", "''") + "'", quote.Plain(s, 4000)
		},
	},
}
