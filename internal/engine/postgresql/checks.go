package postgresql

import (
	"regexp"

	"muster/internal/assessment/quote"
	"muster/internal/engine/trait"
)

var checks = trait.Checks{
	ID: regexp.MustCompile(`^PG-[A-Z][0-9]{2}$`), Form: "PG-X00",
	WeakSignIn: []string{"PG-S01", "PG-S02", "PG-S04"},
	Outdated:   "PG-S31",
	EndOfLife:  "PG-S30",
	Accounts: []trait.AccountCheck{
		{Check: "PG-S14", Attributes: []string{"CREATEROLE", "CREATEDB", "REPLICATION", "BYPASSRLS"}},
		{Check: "PG-S16", Roles: []string{"pg_read_all_data", "pg_write_all_data"}},
	},
	Alerts: []trait.AlertCheck{
		{Check: "PG-M01", Words: []string{"wraparound", "transaction-id age", "age of transaction ids"}, From: 47},
		{Check: "PG-F05", Words: []string{"wal archiving"}},
	},
	RemoteSuperuser: trait.RemoteSuperuser{
		Checks: []string{"PG-S05"}, Driver: "superuser may sign in remotely", Control: "superusers sign in locally only",
		Treatment: "let superusers sign in locally only",
	},
	// Of the three only PostgreSQL can write a letter by its number inside a name.
	Quote: quote.Dialect{
		Identifier: func(s string) (string, bool) { return quote.Identifier(s), true },
		Literal:    func(s string) (string, bool) { return quote.Literal(s), true },
	},
}
