package catalogue

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"muster/internal/report/snapshot"
	"muster/internal/text/strictyaml"
)

// Object is how an object that breaks a check is named, by a feed and by Muster: words as
// they stand, and {parts} that statements are about, "{schema}.{table}". A query gives the
// parts, in their order.
type Object struct {
	text  string
	parts []string
	// How a name is read: with the first part as short and as long as possible. If the two
	// differ, it is ambiguous which part is which.
	short, long *regexp.Regexp
}

var partForm = regexp.MustCompile(`\{[a-z]+\}`)

// UnmarshalYAML reads the written form.
func (o *Object) UnmarshalYAML(node *strictyaml.Node) error {
	*o = Object{text: strings.TrimSpace(node.Value)}
	var short, long strings.Builder
	at := 0
	for _, part := range partForm.FindAllStringIndex(o.text, -1) {
		words := regexp.QuoteMeta(o.text[at:part[0]])
		short.WriteString(words + "(.+?)")
		long.WriteString(words + "(.+)")
		o.parts = append(o.parts, o.text[part[0]+1:part[1]-1])
		at = part[1]
	}
	rest := regexp.QuoteMeta(o.text[at:])
	if o.text == "" || strings.ContainsAny(partForm.ReplaceAllString(o.text, ""), "{}") {
		return fmt.Errorf("line %d: %q is no form of an object", node.Line, node.Value)
	}
	var err error
	if o.short, err = regexp.Compile("(?s)^" + short.String() + rest + "$"); err != nil {
		return err
	}
	o.long, err = regexp.Compile("(?s)^" + long.String() + rest + "$")
	return err
}

// String is the form, "" for none.
func (o Object) String() string { return o.text }

// Parts are the names of its parts, in their order.
func (o Object) Parts() []string { return slices.Clone(o.parts) }

// Name is the object with these parts, one for each.
func (o Object) Name(parts []string) string {
	at := 0
	return partForm.ReplaceAllStringFunc(o.text, func(string) string {
		at++
		return parts[at-1]
	})
}

// read takes a name apart; ok is false if it does not have the form, or has it in two ways.
func (o Object) read(name string) (values map[string]string, ok bool) {
	if o.short == nil {
		return nil, false
	}
	short, long := o.short.FindStringSubmatch(name), o.long.FindStringSubmatch(name)
	if short == nil || !slices.Equal(short, long) {
		return nil, false
	}
	values = make(map[string]string, len(o.parts))
	for i, part := range o.parts {
		values[part] = short[i+1]
	}
	return values, true
}

// Fix is what mends an object that breaks a check and that a feed, or a collector of SQL Server or Oracle, names. It is
// in a database where the check is one of databases, and nil where it cannot be stated of this object. Of PostgreSQL, it
// is the statement that names no object: it changes a setting whose value before is not known, so nothing undoes it.
func (c Check) Fix(database, object string) *snapshot.Fix {
	if !engineOf(c).Fed {
		if statement, _ := c.Mend(nil); statement != "" && len(c.Names) == 0 && c.Scope != ScopeDatabase {
			return &snapshot.Fix{Statement: statement}
		}
		return nil
	}
	values, ok := c.Object.read(object)
	if !ok || snapshot.IsCut(object) {
		return nil
	}
	if c.Scope == ScopeDatabase {
		values["database"] = database
	} else {
		database = ""
	}
	statement, undo := c.Mend(values)
	if statement == "" {
		return nil
	}
	return &snapshot.Fix{Database: database, Statement: statement, Rollback: undo}
}

// BuildBehind is the rule of SQL Server and Oracle: a build that is not the latest of a
// release in support (internal/assessment/inspection).
const BuildBehind = "build_behind"

// fedFaults says what is wrong with a check that a feed or Muster answers.
func (c Check) fedFaults() (faults []string) {
	fault := func(ok bool, what string) {
		if !ok {
			faults = append(faults, what)
		}
	}
	fault((c.Query == "") != (c.Evaluate == ""), "either query or evaluate is needed")
	fault(c.Evaluate == "" || c.Evaluate == BuildBehind && c.Scope == ScopeInstance, "evaluate is "+BuildBehind+" of an instance, or nothing")
	fault(c.Query == "" || c.Population != "" || c.Measure != "" || c.readsSetting(), "nothing says what was measured where it passes")
	fault(c.Query != "" || c.Population == "" && c.Measure == "" && c.Unreadable == "" && c.Inapplicable == "", "population, measure, unreadable and inapplicable belong to a query")
	for _, query := range []string{c.Query, c.Population, c.Measure, c.Unreadable, c.Inapplicable} {
		fault(!strings.Contains(query, ";"), "a query is one statement without ;")
	}
	fault(c.MinVersion == 0 && c.RunIn == "" && !c.Graded && len(c.Names) == 0 && len(c.Grants) == 0 && c.Unknown == "",
		"min_version, graded, unknown, names, run_in and grants are PostgreSQL's")
	fault(c.Azure == "" || engineOf(c).Azure, "azure is SQL Server's")
	fault(c.Object.text != "", "object says how what fails is named")
	fault(len(c.Reads) > 0, "nothing says what it reads")
	fault(len(c.LeastRights()) > 0, "nothing says which rights it needs")
	for _, r := range c.Reads {
		fault(r.foreign(), "reads "+r.Kind+" "+r.Name+", which is PostgreSQL's")
	}
	known := c.Object.parts
	if c.Scope == ScopeDatabase {
		known = append(slices.Clone(known), "database")
	}
	for _, t := range slices.Concat(c.Statements, c.Undo) {
		for _, v := range t.variables {
			fault(slices.Contains(known, v), "a statement uses {"+v+"}, which the object does not name")
		}
	}
	return faults
}
