package pdf

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/internal/engine"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// gap is a reason why something was not assessed, with all it holds for.
type gap struct {
	state    string // stateNotAssessed or stateNotApplicable
	reason   string
	places   []string // instances, or databases as "instance / database"
	database bool     // the places are databases
	inPart   bool     // something is known of it
	checks   []string
}

// sentence is one of the specification's three sentences, naming every place.
func (g gap) sentence() string {
	words := "Not assessed on "
	switch {
	case g.state == stateNotApplicable:
		words = "Not applicable to "
	case g.inPart:
		words = "Known in part on "
	}
	one, many := "instance", "instances"
	if g.database {
		one, many = "database", "databases"
	}
	words += places(g.places, one, many) + ": " + g.reason + "."
	if len(g.checks) > 0 {
		words += " " + verb(len(g.checks), "Check", "Checks") + ": " + strings.Join(g.checks, ", ") + "."
	}
	return words
}

// places names one thing, or counts several and names them all.
func places(names []string, one, many string) string {
	if len(names) == 1 {
		return names[0]
	}
	return count(len(names), one, many) + " (" + strings.Join(names, ", ") + ")"
}

// foldGaps puts gaps with equal reasons and checks together, in the order of the
// first: ten servers without a connection are one sentence, not ten.
func foldGaps(gaps []gap) []gap {
	index := map[string]int{}
	var out []gap
	for _, g := range gaps {
		key := g.state + fmt.Sprint(g.database, g.inPart) + "\x00" + g.reason + "\x00" + strings.Join(g.checks, ",")
		i, ok := index[key]
		if !ok {
			index[key] = len(out)
			out = append(out, g)
			continue
		}
		out[i].places = append(out[i].places, g.places...)
	}
	return out
}

// sayGaps writes a sentence for each different reason.
func (b *builder) sayGaps(gaps []gap) {
	for _, g := range foldGaps(gaps) {
		b.state(g.state, g.sentence())
	}
}

// instanceGaps are the instances without any assessment.
func (b *builder) instanceGaps() []gap {
	var out []gap
	for _, in := range b.doc.Instances {
		if why := analysis.WhyNotChecked(&in); why != "" {
			out = append(out, gap{state: stateNotAssessed, places: []string{shorten(in.Name, 80)}, reason: why})
		}
	}
	return out
}

// gaps says what was not assessed and what would help.
func (b *builder) gaps() {
	b.sub("Not assessed")
	all := b.instanceGaps()
	for i := range b.doc.Instances {
		if in := &b.doc.Instances[i]; analysis.WhyNotChecked(in) == "" {
			all = append(all, b.resultGaps(in)...)
		}
	}
	switch {
	case len(all) > 0:
		b.sayGaps(all)
	case b.assessed.Assessed > 0:
		b.state(stateClean, "Every check that applies was answered on every instance in scope.")
	default:
		b.noInstance()
	}
}

// clause makes a sentence fit into another.
func clause(s string) string { return strings.TrimRight(strings.TrimSpace(s), ".") }

// resultGaps folds the missing answers of an instance and of its databases by
// reason, in the order of the first check.
func (b *builder) resultGaps(in *snapshot.Instance) []gap {
	grants := analysis.MissingGrants(b.doc, in)
	type key struct{ reason, database string }
	index := map[key]int{}
	var out []gap
	for _, r := range analysis.Results(b.doc, in) {
		if r.Status != snapshot.StatusNotAssessed {
			continue
		}
		k := key{unanswered(in, grants, r), r.Database}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			place := shorten(in.Name, 80)
			if r.Database != "" {
				place += " / " + shorten(r.Database, 60)
			}
			out = append(out, gap{state: stateNotAssessed, places: []string{place}, database: r.Database != "", reason: k.reason})
		}
		if !slices.Contains(out[i].checks, r.CheckID) {
			out[i].checks = append(out[i].checks, r.CheckID)
		}
	}
	return out
}

// unanswered says why a check has no answer. Where a grant would help, it names
// what cannot be read and leaves the statement to the annex.
func unanswered(in *snapshot.Instance, grants []analysis.Grant, r snapshot.CheckResult) string {
	if r.ReasonCode == snapshot.ReasonPermissionDenied {
		if denied := analysis.Denied(grants, r.CheckID, r.Database); len(denied) > 0 {
			lacks := " may not read "
			if !engine.ConnectedOf(in.Engine).Grants.NameObjects {
				lacks = " lacks "
			}
			return "the monitoring role" + before(" ", in.Assessment.Role) + lacks + list(denied, 5) + " (" + verb(len(denied), "grant", "grants") + " in Annex B)"
		}
	}
	if r.Reason == "" {
		return "no answer (" + orDash(r.ReasonCode) + ")"
	}
	return clause(r.Reason)
}

// lowerFirst lets a sentence follow a colon.
func lowerFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[size:]
}

// before puts something before a string unless it is empty.
func before(space, s string) string {
	if s == "" {
		return ""
	}
	return space + s
}

// after is the space behind words, if there are any.
func after(s, space string) string {
	if s == "" {
		return ""
	}
	return space
}
