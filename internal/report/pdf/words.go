package pdf

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/internal/report/pdf/typeset"
	"muster/internal/report/snapshot/analysis"
)

const (
	instantLayout = "2 Jan 2006 15:04:05 UTC"
	minuteLayout  = "2 Jan 2006 15:04 UTC"
	dayLayout     = "2006-01-02"
)

func instant(t time.Time) string { return t.UTC().Format(instantLayout) }
func minute(t time.Time) string  { return t.UTC().Format(minuteLayout) }
func day(t time.Time) string     { return t.UTC().Format(dayLayout) }

func count(n int, one, many string) string { return analysis.Plural(n, one, many) }
func verb(n int, one, many string) string  { return analysis.One(n, one, many) }

func number(n int) string { return typeset.Thousands(n) }

func percent(share float64) string {
	// Never 100% while something is missing, never 0% while something is there.
	p := share * 100
	switch {
	case p > 99 && p < 100:
		return "> 99%"
	case p > 0 && p < 1:
		return "< 1%"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + "%"
	}
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

func decimals(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// age is how old something was at that instant, in the two largest units.
func age(at, asOf time.Time) string {
	d := asOf.Sub(at)
	switch {
	case d < time.Minute:
		return "under 1 min"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d d", int(d.Hours())/24)
	}
}

// share is a part of several things, and what became of it.
type share struct {
	n     int
	words string
}

// shares lists those that are not empty.
func shares(all []share) string {
	var parts []string
	for _, s := range all {
		if s.n > 0 {
			parts = append(parts, number(s.n)+" "+s.words)
		}
	}
	return strings.Join(parts, ", ")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// orDash stands in for an absent value in a table.
func orDash(s string) string { return cmp.Or(s, "–") }

// sentence makes words from another package end like a sentence.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// allOf is a list in words that ends in "and", oneOf one that ends in "or".
func allOf(names []string) string { return ending(names, " and ") }

func oneOf(names []string) string { return ending(names, " or ") }

func ending(names []string, word string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + word + names[last]
}

func list(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + number(len(names)-most) + " more"
}
