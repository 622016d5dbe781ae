package sections

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/internal/engine"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Gap is a reason why something was not assessed, with all it holds for.
type Gap struct {
	State    string // StateNotAssessed or StateNotApplicable
	Reason   string
	Places   []string // instances, or databases as "instance / database"
	Database bool     // the places are databases
	inPart   bool     // something is known of it
	checks   []string
}

// sentence is one of the specification's three sentences, naming every place.
func (g Gap) sentence() string {
	words := "Not assessed on "
	switch {
	case g.State == blocks.StateNotApplicable:
		words = "Not applicable to "
	case g.inPart:
		words = "Known in part on "
	}
	one, many := "instance", "instances"
	if g.Database {
		one, many = "database", "databases"
	}
	words += places(g.Places, one, many) + ": " + g.Reason + "."
	if len(g.checks) > 0 {
		words += " " + blocks.Verb(len(g.checks), "Check", "Checks") + ": " + strings.Join(g.checks, ", ") + "."
	}
	return words
}

// places names one thing, or counts several and names them all.
func places(names []string, one, many string) string {
	if len(names) == 1 {
		return names[0]
	}
	return blocks.Count(len(names), one, many) + " (" + strings.Join(names, ", ") + ")"
}

// foldGaps puts gaps with equal reasons and checks together, in the order of the
// first: ten servers without a connection are one sentence, not ten.
func foldGaps(gaps []Gap) []Gap {
	index := map[string]int{}
	var out []Gap
	for _, g := range gaps {
		key := g.State + fmt.Sprint(g.Database, g.inPart) + "\x00" + g.Reason + "\x00" + strings.Join(g.checks, ",")
		i, ok := index[key]
		if !ok {
			index[key] = len(out)
			out = append(out, g)
			continue
		}
		out[i].Places = append(out[i].Places, g.Places...)
	}
	return out
}

// SayGaps writes a sentence for each different reason.
func SayGaps(b *blocks.Builder, gaps []Gap) {
	for _, g := range foldGaps(gaps) {
		b.State(g.State, g.sentence())
	}
}

// instanceGaps are the instances without any assessment.
func instanceGaps(b *blocks.Builder) []Gap {
	var out []Gap
	for _, in := range b.Doc.Instances {
		if why := analysis.WhyNotChecked(&in); why != "" {
			out = append(out, Gap{State: blocks.StateNotAssessed, Places: []string{blocks.Shorten(in.Name, 80)}, Reason: why})
		}
	}
	return out
}

// gaps says what was not assessed and what would help.
func gaps(b *blocks.Builder) {
	b.Sub("Not assessed")
	all := instanceGaps(b)
	for i := range b.Doc.Instances {
		if in := &b.Doc.Instances[i]; analysis.WhyNotChecked(in) == "" {
			all = append(all, resultGaps(b, in)...)
		}
	}
	switch {
	case len(all) > 0:
		SayGaps(b, all)
	case b.Assessed.Assessed > 0:
		b.State(blocks.StateClean, "Every check that applies was answered on every instance in scope.")
	default:
		b.NoInstance()
	}
}

// Clause makes a sentence fit into another.
func Clause(s string) string { return strings.TrimRight(strings.TrimSpace(s), ".") }

// resultGaps folds the missing answers of an instance and of its databases by
// reason, in the order of the first check.
func resultGaps(b *blocks.Builder, in *snapshot.Instance) []Gap {
	grants := analysis.MissingGrants(b.Doc, in)
	type key struct{ reason, database string }
	index := map[key]int{}
	var out []Gap
	for _, r := range analysis.Results(b.Doc, in) {
		if r.Status != snapshot.StatusNotAssessed {
			continue
		}
		k := key{Unanswered(in, grants, r), r.Database}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			place := blocks.Shorten(in.Name, 80)
			if r.Database != "" {
				place += " / " + blocks.Shorten(r.Database, 60)
			}
			out = append(out, Gap{State: blocks.StateNotAssessed, Places: []string{place}, Database: r.Database != "", Reason: k.reason})
		}
		if !slices.Contains(out[i].checks, r.CheckID) {
			out[i].checks = append(out[i].checks, r.CheckID)
		}
	}
	return out
}

// Unanswered says why a check has no answer. Where a grant would help, it names
// what cannot be read and leaves the statement to the annex.
func Unanswered(in *snapshot.Instance, grants []analysis.Grant, r snapshot.CheckResult) string {
	if r.ReasonCode == snapshot.ReasonPermissionDenied {
		if denied := analysis.Denied(grants, r.CheckID, r.Database); len(denied) > 0 {
			lacks := " may not read "
			if !engine.ConnectedOf(in.Engine).Grants.NameObjects {
				lacks = " lacks "
			}
			return "the monitoring role" + Before(" ", in.Assessment.Role) + lacks + blocks.List(denied, 5) + " (" + blocks.Verb(len(denied), "grant", "grants") + " in Annex B)"
		}
	}
	if r.Reason == "" {
		return "no answer (" + blocks.OrDash(r.ReasonCode) + ")"
	}
	return Clause(r.Reason)
}

// lowerFirst lets a sentence follow a colon.
func lowerFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[size:]
}

// Before puts something before a string unless it is empty.
func Before(space, s string) string {
	if s == "" {
		return ""
	}
	return space + s
}

// After is the space behind words, if there are any.
func After(s, space string) string {
	if s == "" {
		return ""
	}
	return space
}
