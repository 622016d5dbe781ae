package grants

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"muster/domain/fleet"
)

// runners are who may run a script, by engine.
var runners = map[fleet.Engine]string{
	fleet.PostgreSQL: "in psql as a superuser", fleet.SQLServer: "as a member of sysadmin", fleet.Oracle: "as an administrator",
}

// Script has the grants that are not declined, those that are needed as statements, the
// others as comments; where names the server to run it on. It is empty where nothing can
// be granted.
func Script(engine fleet.Engine, where string, all []Advice) string {
	var needed, optional []Advice
	for _, a := range all {
		switch {
		case a.Declined || a.Statement == "":
		case a.Needed:
			needed = append(needed, a)
		default:
			optional = append(optional, a)
		}
	}
	if len(needed)+len(optional) == 0 {
		return ""
	}
	var b strings.Builder
	runner := runners[engine]
	if runner == "" {
		runner = "as an administrator"
	}
	fmt.Fprintf(&b, "-- Grants for Muster. Run this on %s %s.\n", comment(where), runner)
	b.WriteString("\n-- Needed.\n")
	if len(needed) == 0 {
		b.WriteString("-- Nothing is missing.\n")
	}
	section(&b, engine, needed, "")
	if len(optional) > 0 {
		b.WriteString("\n-- Optional. Each lets Muster's account read what is named. Take the -- away where you want to grant it.\n")
		section(&b, engine, optional, "-- ")
	}
	return b.String()
}

// section writes grants, those of a database together, behind what leads there. Statements
// that can be run anywhere come first.
func section(b *strings.Builder, engine fleet.Engine, all []Advice, prefix string) {
	in := map[string][]Advice{} // by database, of which there may be thousands
	for _, a := range all {
		in[a.Database] = append(in[a.Database], a)
	}
	for _, place := range slices.Sorted(maps.Keys(in)) {
		if place != "" {
			lead, ok := leadTo(engine, place, all)
			if !ok {
				fmt.Fprintf(b, "-- Database %s has a name that no script can connect to.\n", comment(place))
				continue
			}
			b.WriteString(lines(lead, prefix))
		}
		told, written := "", map[string]bool{}
		for _, a := range in[place] {
			statement := ended(used.ReplaceAllString(a.Statement, ""))
			if written[statement] {
				continue
			}
			written[statement] = true
			if says := "-- " + comment(a.Subject) + " reveals " + a.Reveals + "."; prefix != "" && a.Reveals != "" && told != says {
				b.WriteString(says + "\n")
				told = says
			}
			b.WriteString(lines(statement, prefix))
		}
	}
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_.]+$`)

// leadTo is what brings a script into a database: psql's \connect, quoted as pg_dump does,
// or USE, with a user for the login where there is none.
func leadTo(engine fleet.Engine, database string, all []Advice) (string, bool) {
	switch {
	case strings.ContainsAny(database, "\r\n\x00"):
		return "", false
	case engine == fleet.SQLServer:
		lead := "USE [" + strings.ReplaceAll(database, "]", "]]") + "];"
		if login := loginOf(all); login != "" {
			name := strings.ReplaceAll(strings.ReplaceAll(strings.Trim(login, "[]"), "]]", "]"), "'", "''")
			lead += "\nIF USER_ID(N'" + name + "') IS NULL CREATE USER " + login + " FOR LOGIN " + login + ";"
		}
		return lead, true
	case engine != fleet.PostgreSQL:
		return "-- In " + comment(database) + ":", true
	case plain.MatchString(database):
		return `\connect ` + `"` + database + `"`, true
	default:
		value := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(database)
		return `\connect -reuse-previous=on "dbname='` + strings.ReplaceAll(value, `"`, `""`) + `'"`, true
	}
}

var toLogin = regexp.MustCompile(` TO (\[(?:[^\]]|\]\])+\]);$`)

// loginOf is the login that the statements are for, in its brackets.
func loginOf(all []Advice) string {
	for _, a := range all {
		if m := toLogin.FindStringSubmatch(a.Statement); m != nil {
			return m[1]
		}
	}
	return ""
}

// lines are a text with each line behind a prefix; comments stay as they are.
func lines(text, prefix string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "-- ") {
			b.WriteString(prefix)
		}
		b.WriteString(strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

// ended closes a statement; a comment, where no statement would do, stays as it is.
func ended(statement string) string {
	if strings.HasPrefix(statement, "--") {
		return statement
	}
	return strings.TrimSuffix(statement, ";") + ";"
}

// comment is a name as a comment of one line can hold it.
func comment(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
}
