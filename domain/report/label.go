package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	labelNames   = 3  // instances a label names before it counts
	fileNameRoom = 80 // runes of a file's name that instance and database may take
)

// Label is how a scope reads in the history. instances are the names of the
// instances in scope, database that of the database, empty without one.
//
//	All active instances
//	3 instances: billing, crm, orders
//	env:prod, team:payments (12 instances)
//	orders / sales · 21 Oct – 20 Nov 2026 (UTC)
func Label(kind Kind, scope Scope, instances []string, database string) string {
	names := slices.Clone(instances)
	slices.SortFunc(names, func(a, b string) int {
		if c := strings.Compare(strings.ToLower(a), strings.ToLower(b)); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	var label string
	switch n := len(names); {
	case len(scope.Tags) > 0:
		label = strings.Join(scope.Tags.Words(), ", ")
		if n > 0 {
			label += fmt.Sprintf(" (%s)", counted(n))
		}
	case n == 0:
		label = kind.everything()
	case n == 1:
		label = names[0]
	case n <= labelNames:
		label = fmt.Sprintf("%d instances: %s", n, strings.Join(names, ", "))
	default:
		label = fmt.Sprintf("%d instances: %s and %d more", n, strings.Join(names[:labelNames], ", "), n-labelNames)
	}
	if database != "" {
		label += " / " + database
	}
	if scope.From != nil && scope.To != nil {
		label += " · " + span(*scope.From, *scope.To)
	}
	return label
}

func counted(instances int) string {
	if instances == 1 {
		return "1 instance"
	}
	return fmt.Sprintf("%d instances", instances)
}

// everything is the label of a scope that names no instance; that of a newer program's kind
// says no more than that.
func (k Kind) everything() string {
	d, err := Find(k)
	if err != nil {
		return "All instances"
	}
	return d.Everything
}

func (k Kind) fileStem() string {
	d, err := Find(k)
	if err != nil {
		return "report"
	}
	return d.FileStem
}

// span is the window in days, or in minutes if it lies within one day. The end is exclusive: a
// window that ends at midnight ends on the day before.
func span(from, to time.Time) string {
	from, to = from.UTC(), to.UTC()
	last := to.Add(-time.Nanosecond)
	const day = "2 Jan 2006"
	switch {
	case from.Format(day) == last.Format(day):
		end := to.Format("15:04")
		if end == "00:00" {
			end = "24:00"
		}
		return fmt.Sprintf("%s %s – %s (UTC)", from.Format(day), from.Format("15:04"), end)
	case from.Year() == last.Year():
		return fmt.Sprintf("%s – %s (UTC)", from.Format("2 Jan"), last.Format(day))
	}
	return fmt.Sprintf("%s – %s (UTC)", from.Format(day), last.Format(day))
}

// FileName is the name under which a PDF is saved, with the day as of which it was built:
// scorecard-demo-pg-orders-01-2026-11-20.pdf. instances and database are names as for Label. An
// instance is named only if there is exactly one.
func FileName(kind Kind, instances []string, database string, asOf time.Time) string {
	parts := []string{kind.fileStem()}
	if len(instances) == 1 {
		parts = append(parts, fileSafe(instances[0], fileNameRoom/2))
	}
	if database != "" {
		parts = append(parts, fileSafe(database, fileNameRoom/2))
	}
	parts = append(parts, asOf.UTC().Format(time.DateOnly))
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return strings.Join(parts, "-") + ".pdf"
}

// fileSafe keeps letters, digits, dots and underscores of any script and makes
// one hyphen of everything between them: a name in the database is not a path.
func fileSafe(name string, room int) string {
	var b strings.Builder
	hyphen, n := false, 0
	for _, r := range strings.ToLower(name) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_' {
			hyphen = true
			continue
		}
		if n >= room {
			break
		}
		if hyphen && b.Len() > 0 {
			b.WriteByte('-')
			n++
		}
		hyphen = false
		b.WriteRune(r)
		n++
	}
	return strings.Trim(b.String(), ".-")
}
