package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/internal/engine"
	"muster/internal/engine/tuning"
	"muster/internal/report/snapshot"
)

// itoa writes a whole number as people read it: 1,204.
func itoa(n int) string { return tuning.Grouped(n) }

// Plural counts things: 1 finding, 1,204 findings.
func Plural(n int, one, many string) string { return tuning.Plural(n, one, many) }

// of is a part of a whole: 3 of 14 instances.
func of(n, all int, one, many string) string { return itoa(n) + " of " + Plural(all, one, many) }

// One picks the word for a single thing, or for several.
func One(n int, single, several string) string {
	if n == 1 {
		return single
	}
	return several
}

func is(n int) string      { return One(n, "is", "are") }
func was(n int) string     { return One(n, "was", "were") }
func carry(n int) string   { return One(n, "carries", "carry") }
func concern(n int) string { return One(n, "concerns", "concern") }

// and lists clauses: a, b, and c.
func and(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + ", and " + parts[last]
}

// some names the first of several and counts the rest.
func some(names []string, most int) string {
	short := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		short = append(short, Shorten(name, 80))
	}
	words := strings.Join(short, ", ")
	if more := len(names) - len(short); more > 0 {
		words += " and " + itoa(more) + " more"
	}
	return words
}

// Shorten keeps the first n runes and says that there were more.
func Shorten(s string, n int) string {
	at := 0
	for i := range s {
		if at == n {
			return s[:i] + "…"
		}
		at++
	}
	return s
}

// clause makes a sentence fit into another.
func clause(s string) string { return strings.TrimRight(strings.TrimSpace(s), ".") }

// sentence makes a clause a sentence.
func sentence(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:] + "."
}

// WhyNotAssessed says in a clause why nothing of an instance was assessed; empty: it
// was.
func WhyNotAssessed(in *snapshot.Instance) string {
	switch {
	case !in.Active && in.NotAssessed == "":
		return "inactive, so counted and not assessed"
	case !in.Active || in.Assessment == nil:
		if in.NotAssessed == "" {
			return "there is no assessment of it yet"
		}
		return clause(in.NotAssessed)
	case in.Assessment.Outcome == snapshot.OutcomeUnreachable:
		if in.Assessment.Error == "" {
			return "it could not be reached"
		}
		return "it could not be reached: " + clause(in.Assessment.Error)
	default:
		return ""
	}
}

// WhyNotChecked is WhyNotAssessed for an instance's checks: if the catalog has no check for a
// server's engine, an assessment has found nothing wrong, and nothing right.
func WhyNotChecked(in *snapshot.Instance) string {
	if why := WhyNotAssessed(in); why != "" || len(in.Assessment.Results) > 0 {
		return why
	}
	return "the catalogue has no check for " + EngineName(in.Engine)
}

// EngineName is the usual name of an engine; an unknown one has its wire name.
func EngineName(name string) string { return engine.Described(name).Title }

// Title is what a check is called beside a result: a title that names the fault
// would be untrue of a pass, and of what nobody knows. Catalogues before
// 2026.11.2 knew that title only.
func Title(check snapshot.Check, status string) string {
	switch {
	case check.Passed == "":
		return check.Title
	case status == snapshot.StatusPass:
		return check.Passed
	case status == snapshot.StatusNotAssessed, status == snapshot.StatusNotApplicable:
		return "Whether " + inSentence(check.Passed)
	default:
		return check.Title
	}
}

// inSentence is a sentence as it goes on behind other words: TLS keeps its capitals.
func inSentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if second, _ := utf8.DecodeRuneInString(s[size:]); !unicode.IsLower(second) {
		return s
	}
	return string(unicode.ToLower(first)) + s[size:]
}

// Superuser is what an engine calls who may do everything.
func Superuser(name string) string { return engine.Described(name).Words.Superuser }

// Edition is a server's in words; empty: it is not known, or there are none.
func Edition(in *snapshot.Instance) string {
	if in.Assessment == nil {
		return ""
	}
	return engine.Described(in.Engine).Words.Edition(in.Assessment.Edition)
}
