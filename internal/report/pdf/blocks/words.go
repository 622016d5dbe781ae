package blocks

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

// Instant is a time to the second.
func Instant(t time.Time) string { return t.UTC().Format(instantLayout) }

// Minute is a time to the minute.
func Minute(t time.Time) string { return t.UTC().Format(minuteLayout) }

// Day is a date.
func Day(t time.Time) string { return t.UTC().Format(dayLayout) }

// Count is a number with its noun.
func Count(n int, one, many string) string { return analysis.Plural(n, one, many) }

// Verb is the singular or the plural of a verb.
func Verb(n int, one, many string) string { return analysis.One(n, one, many) }

// Number is a number with separators of thousands.
func Number(n int) string { return typeset.Thousands(n) }

// Percent is a share in percent.
func Percent(share float64) string {
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

// Decimal is a number with one decimal.
func Decimal(x float64) string { return minus(strconv.FormatFloat(x, 'f', 1, 64)) }

// Decimals is a number with two decimals.
func Decimals(x float64) string { return minus(strconv.FormatFloat(x, 'f', 2, 64)) }

// minus gives a negative number the sign of print, which is no hyphen.
func minus(number string) string {
	if rest, negative := strings.CutPrefix(number, "-"); negative {
		return "−" + rest
	}
	return number
}

// Days is the number of days of the calendar from one time to another; negative: back.
func Days(from, to time.Time) int {
	const day = 24 * time.Hour
	return int(to.UTC().Truncate(day).Sub(from.UTC().Truncate(day)) / day)
}

// Age is how old something was at that instant, in the two largest units.
func Age(at, asOf time.Time) string {
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

// Overdue says for how many days something has been overdue.
func Overdue(days int) string { return Count(days, "day", "days") + " overdue" }

// Share is a part of several things, and what became of it.
type Share struct {
	N     int
	Words string
}

// Shares lists those that are not empty.
func Shares(all []Share) string {
	var parts []string
	for _, s := range all {
		if s.N > 0 {
			parts = append(parts, Number(s.N)+" "+s.Words)
		}
	}
	return strings.Join(parts, ", ")
}

// YesNo is the word for a truth.
func YesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// OrDash stands in for an absent value in a table.
func OrDash(s string) string { return cmp.Or(s, "–") }

// Sentence makes words from another package end like a sentence.
func Sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// AllOf is a list in words that ends in "and", OneOf one that ends in "or".
func AllOf(names []string) string { return ending(names, " and ") }

// OneOf joins names by "or".
func OneOf(names []string) string { return ending(names, " or ") }

func ending(names []string, word string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + word + names[last]
}

// List names the first ones, and counts the others.
func List(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + Number(len(names)-most) + " more"
}
