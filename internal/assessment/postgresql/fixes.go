package postgresql

import (
	"strings"

	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/quote"
	"muster/internal/report/snapshot"
)

// named are the names that a check's query gives its statements, as columns of it
// and as what is selected; some of them are keywords.
func named(names []string) (columns, selected string) {
	for _, name := range names {
		columns += `, "` + name + `"`
		selected += `, v."` + name + `"::text`
	}
	return columns, selected
}

// fix is the statement that fixes one violation, nil if there is none that can run as it stands
// on this server. values are those of the check's names.
func (a access) fix(check catalogue.Check, database string, values []string) *snapshot.Fix {
	if a.fixedElsewhere(check) != "" {
		return nil
	}
	known := make(map[string]string, len(values))
	for i, name := range check.Names {
		known[name] = values[i]
	}
	statement, undo := check.Mend(known)
	if statement == "" || a.standby && catalogue.OnPrimary(statement) {
		return nil
	}
	if len(catalogue.Settings(statement)) > 0 {
		undo = a.asMeasured(statement)
	}
	fix := &snapshot.Fix{Statement: statement, Rollback: undo}
	switch {
	case check.Scope == catalogue.ScopeDatabase:
		fix.Database = database
	case check.RunIn != "":
		if fix.Database = known[check.RunIn]; fix.Database == "" {
			return nil
		}
	}
	return fix
}

// asMeasured sets the settings that a statement changes to their current values; settings that
// nobody has set are reset to their defaults.
func (a access) asMeasured(statement string) string {
	lines := strings.Split(statement, "\n")
	for i, line := range lines {
		name := catalogue.Setting(line)
		if name == "" {
			continue
		}
		was := a.states[key(catalogue.Read{Kind: catalogue.ReadSetting, Name: name})]
		switch {
		case strings.ContainsRune(was.setting, '\uFFFD'): // nobody knows what it is
			return ""
		case was.detail == "default" || was.setting == "" && listed[name]: // '' would be a library without a name
			lines[i] = "ALTER SYSTEM RESET " + name + ";"
		default:
			lines[i] = "ALTER SYSTEM SET " + name + " = " + literals(name, was.setting) + ";"
		}
	}
	return strings.Join(lines, "\n")
}

// listed are the settings that hold a list of names, each quoted by itself.
var listed = map[string]bool{"shared_preload_libraries": true}

func literals(name, value string) string {
	if !listed[name] {
		return quote.Literal(value)
	}
	parts := strings.Split(value, ",")
	for i, part := range parts {
		parts[i] = quote.Literal(strings.TrimSpace(part))
	}
	return strings.Join(parts, ", ")
}

// elsewhere says of a setting's source why ALTER SYSTEM would not change it.
var elsewhere = map[string]string{
	"command line": "set on the server's command line", "global": "set for all roles", "database": "set for the database",
	"user": "set for the monitoring role", "database user": "set for the monitoring role in this database",
}

// fixedElsewhere is appended to the evidence of a setting that its statement would not change,
// "" if it would.
func (a access) fixedElsewhere(check catalogue.Check) string {
	for _, s := range check.Statements {
		for _, setting := range s.Settings() {
			if where := elsewhere[a.states[key(catalogue.Read{Kind: catalogue.ReadSetting, Name: setting})].detail]; where != "" {
				return ", " + where
			}
			if !a.alters {
				return ", and ALTER SYSTEM is not allowed here"
			}
		}
	}
	return ""
}
