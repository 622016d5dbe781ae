package analysis

import (
	"slices"
	"strings"

	"muster/internal/report/snapshot"
)

// Fix is statements that can be run as they stand, and where.
type Fix struct {
	Instances  []string // by name
	Database   string   // empty: any will do
	Statements []string // a line each, run one after another
}

// Fixes are the statements of a check's findings: a statement for several instances once, and
// the statements of one database together. missing counts the listed findings without one.
func Fixes(g CheckFindings) (fixes []Fix, missing int) {
	type place struct{ instance, database string }
	var places []place
	statements := map[place][]string{}
	for _, f := range g.Findings {
		if f.Fix == nil {
			missing++
			continue
		}
		at := place{f.InstanceName, f.Fix.Database}
		if _, known := statements[at]; !known {
			places = append(places, at)
		}
		if !slices.Contains(statements[at], f.Fix.Statement) {
			statements[at] = append(statements[at], f.Fix.Statement)
		}
	}
	for _, at := range places {
		same := slices.IndexFunc(fixes, func(o Fix) bool {
			return o.Database == at.database && slices.Equal(o.Statements, statements[at])
		})
		if same < 0 {
			fixes = append(fixes, Fix{Database: at.database, Statements: statements[at]})
			same = len(fixes) - 1
		}
		if !slices.Contains(fixes[same].Instances, at.instance) {
			fixes[same].Instances = append(fixes[same].Instances, at.instance)
		}
	}
	return fixes, missing
}

// Grant is something that the monitoring role lacks on an instance, with the
// statement that gives it in each of the databases.
type Grant struct {
	Subject   string   // pg_hba_file_rules
	Databases []string // empty: any will do
	Statement string
	Checks    []string
}

// Object is the subject with its place.
func (g Grant) Object() string {
	switch len(g.Databases) {
	case 0:
		return g.Subject
	case 1:
		return g.Subject + " in database " + g.Databases[0]
	default:
		return g.Subject + " in databases " + strings.Join(g.Databases, ", ")
	}
}

// MissingGrants returns what an instance's monitoring role lacks for the checks
// that the report is about, in the order of the assessment. What is the same in
// several databases becomes one grant.
func MissingGrants(doc snapshot.Document, in *snapshot.Instance) []Grant {
	if in.Assessment == nil {
		return nil
	}
	skip := outside(doc)
	var out []Grant
	for _, m := range in.Assessment.MissingGrants {
		if m.Declined { // it is not asked for again
			continue
		}
		g := Grant{Subject: m.Object, Statement: m.Statement, Checks: slices.DeleteFunc(slices.Clone(m.Checks), func(id string) bool { return skip[id] })}
		if len(g.Checks) == 0 && len(m.Checks) > 0 {
			continue
		}
		const within = " in database "
		if i := strings.LastIndex(m.Object, within); i >= 0 {
			g.Subject, g.Databases = m.Object[:i], []string{m.Object[i+len(within):]}
		}
		same := slices.IndexFunc(out, func(o Grant) bool {
			return o.Subject == g.Subject && o.Statement == g.Statement && slices.Equal(o.Checks, g.Checks)
		})
		if same < 0 {
			out = append(out, g)
			continue
		}
		for _, d := range g.Databases {
			if !slices.Contains(out[same].Databases, d) {
				out[same].Databases = append(out[same].Databases, d)
			}
		}
	}
	return out
}

// Denied names what the monitoring role may not read for a check on a database,
// empty: on the instance. It returns nothing where no grant is known that helps.
func Denied(grants []Grant, check, database string) []string {
	var out []string
	for _, g := range grants {
		if !slices.Contains(g.Checks, check) || database != "" && len(g.Databases) > 0 && !slices.Contains(g.Databases, database) {
			continue
		}
		// A view and the function under it are one thing to a reader.
		subject := strings.TrimSuffix(g.Subject, "()")
		if !slices.Contains(out, subject) {
			out = append(out, subject)
		}
	}
	return out
}
