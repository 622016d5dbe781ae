package analysis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"muster/internal/report/snapshot"
)

// DueDays is how many days a finding of a severity may stay open: the organization's setting, or the usual number in
// documents from before that setting.
func DueDays(doc snapshot.Document, severity string) int {
	days := doc.Organization.DueDays
	if days == nil {
		days = &snapshot.BySeverity{Critical: 7, High: 30, Medium: 90, Low: 180}
	}
	return *days.Of(Rank(severity))
}

// Deadline says since when something is open and when it has to be closed.
type Deadline struct {
	FirstSeen *time.Time // nil: not known
	At        time.Time  // days after the first sight; after the snapshot if that is not known
}

// DeadlineOf is the deadline of something that is open since then (nil: not known), by its severity.
func DeadlineOf(doc snapshot.Document, since *time.Time, severity string) Deadline {
	from := doc.AsOf
	if since != nil {
		from = *since
	}
	return Deadline{FirstSeen: since, At: from.AddDate(0, 0, DueDays(doc, severity))}
}

// Overdue is how many days have begun since the deadline; 0 before it.
func (d Deadline) Overdue(now time.Time) int {
	if !now.After(d.At) {
		return 0
	}
	const day = 24 * time.Hour
	return int((now.Sub(d.At) + day - 1) / day)
}

// Due is the deadline of a finding.
func Due(doc snapshot.Document, f Finding) Deadline { return DeadlineOf(doc, f.FirstSeen, f.Severity) }

// earlier keeps the deadline that ends first; of two that end at once, the one whose start is known.
func (d Deadline) earlier(o Deadline) Deadline {
	if d.At.IsZero() || o.At.Before(d.At) || o.At.Equal(d.At) && d.FirstSeen == nil {
		return o
	}
	return d
}

// Debt is what should have been closed by now.
type Debt struct {
	BySeverity SeverityCounts
	Longest    int // days that the one that is overdue longest has been so
	// Servers counts the overdue critical and high findings of each instance, most first.
	Servers []Owed
	Undated int // listed findings whose first sight is not known, so that they are due after the snapshot
}

// Owed is the number of overdue critical and high findings of an instance.
type Owed struct {
	Name string
	N    int
}

// Grave is the number of overdue critical and high findings.
func (d Debt) Grave() int { return d.BySeverity.grave() }

// DebtOf counts the overdue among listed findings.
func DebtOf(doc snapshot.Document, groups []CheckFindings) Debt {
	var d Debt
	at := map[string]int{}
	for _, g := range groups {
		for _, f := range g.Findings {
			if f.FirstSeen == nil {
				d.Undated++
			}
			late := Due(doc, f).Overdue(doc.AsOf)
			if late == 0 {
				continue
			}
			d.BySeverity[Rank(f.Severity)]++
			d.Longest = max(d.Longest, late)
			if Rank(f.Severity) <= Rank(High) {
				at[f.InstanceName]++
			}
		}
	}
	for name, n := range at {
		d.Servers = append(d.Servers, Owed{name, n})
	}
	slices.SortFunc(d.Servers, func(a, b Owed) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name)) })
	return d
}
