package catalogue

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"muster/internal/assessment/quote"
	"muster/internal/text/strictyaml"
)

// Template is a template of statements that can be run as they stand, one a
// line. What it may hold is closed: words of SQL, and variables that a query
// fills in and that are quoted here, since what a server says is not to be
// trusted:
//
//	{name}     an identifier
//	{names,}   identifiers, from a JSON array
//	{'name'}   a string literal
//	{'names',} string literals, from a JSON array
//	{NAME}     words of SQL in capitals
type Template struct {
	text      string
	variables []string
	dialect   quote.Dialect
}

var (
	variableForm  = regexp.MustCompile(`\{('[a-z]+'|[a-z]+)(,?)\}|\{[A-Z]+\}`)
	statementForm = regexp.MustCompile(`^([A-Za-z0-9_ .,()=%@\[\]'-]+;\n?)+$`)
	keywordsForm  = regexp.MustCompile(`^[A-Z]+( [A-Z]+)*$`)
)

// UnmarshalYAML reads the written form. What is left of it without its variables
// has no place for another kind of them: no …, no <name>, no comment.
func (s *Template) UnmarshalYAML(node *strictyaml.Node) error {
	s.text = strings.TrimSpace(node.Value)
	s.variables = nil
	rest := variableForm.ReplaceAllStringFunc(s.text, func(v string) string {
		s.variables = append(s.variables, variableName(v))
		return "x"
	})
	if !statementForm.MatchString(rest) || strings.Contains(rest, "..") {
		return fmt.Errorf("line %d: %q is no statement that can be run as it stands", node.Line, s.text)
	}
	return nil
}

func variableName(v string) string { return strings.ToLower(strings.Trim(v, "{',}")) }

const setsSetting = "ALTER SYSTEM SET "

// Setting is the setting that a line of a statement changes, "" for none.
func Setting(line string) string {
	rest, ok := strings.CutPrefix(line, setsSetting)
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// Settings are the settings that the statement changes.
func (s Template) Settings() []string { return Settings(s.text) }

// Settings are the settings that a statement changes.
func Settings(statement string) (out []string) {
	for line := range strings.Lines(statement) {
		if name := Setting(line); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// OnPrimary says whether a standby refuses a statement made here: it takes
// settings, and nothing that writes into a database.
func OnPrimary(statement string) bool { return !strings.HasPrefix(statement, setsSetting) }

// with fills in the variables; ok is false where one has no value that fits.
func (s Template) with(values map[string]string) (text string, ok bool) {
	ok = true
	text = variableForm.ReplaceAllStringFunc(s.text, func(v string) string {
		filled, fits := s.fill(v, values[variableName(v)])
		ok = ok && fits
		return filled
	})
	return text, ok
}

// fill is one variable's value in the variable's form. Invalid bytes of the server come as
// U+FFFD: the name is unknown then.
func (s Template) fill(variable, value string) (string, bool) {
	inner := strings.Trim(variable, "{}")
	if value == "" || strings.ContainsRune(value, '\uFFFD') {
		return "", false
	}
	if inner == strings.ToUpper(inner) && inner[0] != '\'' {
		return value, keywordsForm.MatchString(value)
	}
	inner, list := strings.CutSuffix(inner, ",")
	quoted := s.dialect.Identifier
	if inner[0] == '\'' {
		quoted = s.dialect.Literal
	}
	if !list {
		return quoted(value)
	}
	var names []string
	if err := json.Unmarshal([]byte(value), &names); err != nil || len(names) == 0 || slices.Contains(names, "") {
		return "", false
	}
	for i, name := range names {
		text, ok := quoted(name)
		if !ok {
			return "", false
		}
		names[i] = text
	}
	return strings.Join(names, ", "), true
}

// First is the first of several statements whose variables are all known, "" if there is none:
// the owner's choice is not guessed.
func First(statements []Template, values map[string]string) string {
	text, _ := first(statements, values)
	return text
}

// first is First with the place of what it found.
func first(statements []Template, values map[string]string) (text string, at int) {
	for at, s := range statements {
		if text, ok := s.with(values); ok {
			return text, at
		}
	}
	return "", -1
}

// Mend is the statement that fixes a violation, and the one that reverts it, "" if there is
// none. A setting goes back to its former value, which only the code that measured it knows.
func (c Check) Mend(values map[string]string) (statement, undo string) {
	statement, at := first(c.Statements, values)
	if at >= 0 && at < len(c.Undo) {
		undo, _ = c.Undo[at].with(values)
	}
	return statement, undo
}

// statementFaults says what is wrong with a check's statements and grants, and
// with the names that its queries give them.
func (c Check) statementFaults() (faults []string) {
	for _, s := range c.Statements {
		for _, setting := range s.Settings() {
			if !slices.ContainsFunc(c.Reads, func(r Read) bool {
				return (r.Kind == ReadSetting || r.Kind == ReadParameter) && r.Name == setting
			}) {
				faults = append(faults, "a statement sets "+setting+", which the check does not read")
			}
		}
	}
	fed := engineOf(c).Fed
	if len(c.Statements) > 0 && (c.Impact == "" || c.Query == "" && !fed) {
		faults = append(faults, "a statement needs an impact, and a query")
	}
	if len(c.Undo) > len(c.Statements) {
		faults = append(faults, "there is more to undo than there are statements")
	}
	if !fed {
		faults = append(faults, c.queryFaults()...)
	}
	slices.Sort(faults)
	return faults
}

// queryFaults says what is wrong with the names that a check's queries give its
// statements and grants.
func (c Check) queryFaults() (faults []string) {
	used := make(map[string]bool)
	for _, s := range c.Statements {
		for _, v := range s.variables {
			used[v] = true
		}
	}
	for _, s := range c.Undo {
		for _, v := range s.variables {
			used[v] = true
		}
	}
	if c.RunIn != "" {
		used[c.RunIn] = true
	}
	for _, name := range c.Names {
		if !used[name] {
			faults = append(faults, "no statement uses the name "+name)
		}
		delete(used, name)
	}
	for name := range used {
		faults = append(faults, "a statement uses {"+name+"}, which no query names")
	}
	if (len(c.Grants) == 0) != (c.Unreadable == "") {
		faults = append(faults, "grants and unreadable belong together")
	}
	for _, s := range c.Grants {
		for _, v := range s.variables {
			if !slices.Contains([]string{"role", "schema", "name"}, v) {
				faults = append(faults, "a grant uses {"+v+"}, which is not role, schema or name")
			}
		}
	}
	return faults
}
