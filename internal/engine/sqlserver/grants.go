package sqlserver

import (
	"regexp"
	"slices"
	"strings"

	"muster/internal/engine/trait"
)

var grants = trait.Grants{
	Runner: "as a member of sysadmin",
	Rules: []trait.GrantRule{
		{Words: []string{"CRYPTOGRAPHICALLY"}, Optional: true, Reveals: "the hashes of the logins' passwords"},
		{Words: []string{"SENSITIVITY CLASSIFICATION"}, Optional: true, Reveals: "the labels that owners gave columns"},
		{Words: []string{"ALL USER SECURABLES"}, Optional: true, Reveals: "every table"},
		{Words: []string{"SECURITY STATE"}, Reveals: "who is signed in, and how connections are encrypted"},
		{Words: []string{"SERVER STATE", "DATABASE STATE", "PERFORMANCE STATE"}, Measures: true, Reveals: "the sessions of others and the texts of their statements, with the values in them"},
		{Words: []string{"CONNECT ANY DATABASE"}, Reveals: "what every user of a database may see"},
		{Words: []string{"VIEW ANY DEFINITION", "VIEW DEFINITION"}, Reveals: "the definitions of all objects, and no data"},
		{Words: []string{"sysalerts"}, Reveals: "which alerts the Agent has"},
		{Words: []string{"sysproxylogin", "sysproxies"}, Reveals: "which logins may use which proxies of the Agent"},
	},
	Measuring: []trait.MeasuringGrant{
		{Object: regexp.MustCompile(`^sessions, and statements in the plan cache$`), Statement: func(_, version string) string {
			switch sets := PermissionSets(version); {
			case slices.Equal(sets, []string{"2016"}):
				return "GRANT VIEW SERVER STATE TO [" + trait.Account + "];"
			case slices.Equal(sets, []string{"2022"}):
				return "GRANT VIEW SERVER PERFORMANCE STATE TO [" + trait.Account + "];"
			}
			return "" // which permission it is depends on the version
		}},
		{Object: regexp.MustCompile(`(?s)^the query store of .`), Statement: func(_, version string) string {
			if len(PermissionSets(version)) != 1 { // Azure SQL Database does not have it
				return ""
			}
			return "GRANT CONNECT ANY DATABASE TO [" + trait.Account + "];"
		}},
	},
	Statement: func(right, version string) string { return GrantIn(right, version, trait.Account) },
	Uses:      regexp.MustCompile(`^USE ([A-Za-z_]+); `),
	Lead:      lead,
}

// lead is USE, with a user for the login where there is none.
func lead(database string, statements []string) string {
	lead := "USE [" + strings.ReplaceAll(database, "]", "]]") + "];"
	if login := loginOf(statements); login != "" {
		name := strings.ReplaceAll(strings.ReplaceAll(strings.Trim(login, "[]"), "]]", "]"), "'", "''")
		lead += "\nIF USER_ID(N'" + name + "') IS NULL CREATE USER " + login + " FOR LOGIN " + login + ";"
	}
	return lead
}

var toLogin = regexp.MustCompile(` TO (\[(?:[^\]]|\]\])+\]);$`)

// loginOf is the login that the statements are for, in its brackets.
func loginOf(statements []string) string {
	for _, statement := range statements {
		if m := toLogin.FindStringSubmatch(statement); m != nil {
			return m[1]
		}
	}
	return ""
}
