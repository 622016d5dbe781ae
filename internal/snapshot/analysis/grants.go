package analysis

import (
	"slices"
	"strconv"
	"strings"

	"muster/internal/snapshot"
)

// Grant is something that the monitoring role lacks on an instance, with the
// statement that gives it in each of the databases.
type Grant struct {
	Subject   string   // pg_hba_file_rules, 4 sequences of schema shop
	Databases []string // empty: any will do
	Statement string
	Checks    []string
}

// Object is the subject with where it is.
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
// that the report is about, in the order of the assessment. Sequences of one
// schema become one grant, and so does what is the same in several databases:
// a server has thousands of sequences, and nobody runs a thousand statements.
func MissingGrants(doc snapshot.Document, in *snapshot.Instance) []Grant {
	if in.Assessment == nil {
		return nil
	}
	skip := outside(doc)
	var grants []Grant
	sequences := map[string][]Grant{}
	for _, m := range in.Assessment.MissingGrants {
		g := Grant{Subject: m.Object, Statement: m.Statement, Checks: slices.DeleteFunc(slices.Clone(m.Checks), func(id string) bool { return skip[id] })}
		if len(g.Checks) == 0 && len(m.Checks) > 0 {
			continue
		}
		if subject, database, ok := cutLast(m.Object, " in database "); ok {
			g.Subject, g.Databases = subject, []string{database}
		}
		if all, ok := allSequences(g); ok {
			sequences[all.key()] = append(sequences[all.key()], g)
			g = all
		}
		grants = append(grants, g)
	}
	return foldGrants(grants, sequences)
}

// key tells grants apart that are given by the same statement in one place.
func (g Grant) key() string {
	return g.Statement + "\x00" + strings.Join(g.Databases, "\x00") + "\x00" + strings.Join(g.Checks, ",")
}

// foldGrants makes one of several grants by one statement: within a database
// they are sequences of one schema, else the same subject in several databases.
func foldGrants(grants []Grant, sequences map[string][]Grant) []Grant {
	var out []Grant
	seen := map[string]bool{}
	for _, g := range grants {
		switch ones := sequences[g.key()]; len(ones) {
		case 0:
		case 1:
			g = ones[0]
		default:
			if seen[g.key()] {
				continue
			}
			seen[g.key()] = true
			schema, _, _ := cutLast(strings.TrimPrefix(g.Statement, everySequence), " TO ")
			g.Subject = strconv.Itoa(len(ones)) + " sequences of schema " + schema
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

const (
	oneSequence   = "GRANT SELECT ON SEQUENCE "
	everySequence = "GRANT SELECT ON ALL SEQUENCES IN SCHEMA "
)

// allSequences widens the grant of a sequence to those of its schema.
func allSequences(g Grant) (Grant, bool) {
	name, ok := strings.CutPrefix(g.Statement, oneSequence)
	if !ok {
		return Grant{}, false
	}
	name, role, ok := cutLast(name, " TO ")
	end := schemaEnd(name)
	if !ok || end < 0 {
		return Grant{}, false
	}
	g.Statement = everySequence + name[:end] + " TO " + role
	return g, true
}

// schemaEnd is where the dot stands that ends the schema of a qualified name; a
// quoted schema may hold dots and doubled quotes.
func schemaEnd(name string) int {
	quoted := false
	for i, r := range name {
		switch {
		case r == '"':
			quoted = !quoted
		case r == '.' && !quoted:
			return i
		}
	}
	return -1
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
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
