package analysis

import (
	"slices"

	"muster/internal/report/snapshot"
)

// Severities are the severities of the catalogue, most severe first: the order
// of every list.
var Severities = [...]string{Critical, High, Medium, Low}

// The severities by name.
const (
	Critical = "Critical"
	High     = "High"
	Medium   = "Medium"
	Low      = "Low"
)

// Rank is the place of a severity in the order, 0 for Critical. A severity
// that is not one of ours ranks as Low.
func Rank(severity string) int {
	if i := slices.Index(Severities[:], severity); i >= 0 {
		return i
	}
	return len(Severities) - 1
}

// worst is the graver of two severities.
func worst(a, b string) string {
	if Rank(b) < Rank(a) {
		return b
	}
	return a
}

// Weight is what a failed check of that severity weighs in the health score.
func Weight(severity string) float64 {
	return [...]float64{20, 8, 3, 1}[Rank(severity)]
}

// Band is the severity band of a CVSS 3.1 base score, by FIRST's qualitative
// rating scale.
func Band(cvss float64) string {
	switch {
	case cvss >= 9:
		return Critical
	case cvss >= 7:
		return High
	case cvss >= 4:
		return Medium
	default:
		return Low
	}
}

// catalogue looks checks up by id, also those the document does not define.
type catalogue map[string]*snapshot.Check

func catalogueOf(doc snapshot.Document) catalogue {
	c := make(catalogue, len(doc.Checks))
	for i := range doc.Checks {
		c[doc.Checks[i].ID] = &doc.Checks[i]
	}
	return c
}

// of returns the check of a result with the severity that the result deserves:
// its own where what was found decides it, else the check's.
func (c catalogue) of(r snapshot.CheckResult) snapshot.Check {
	check := snapshot.Check{ID: r.CheckID, Title: r.CheckID, Severity: Low, Effort: "M"}
	if known, ok := c[r.CheckID]; ok {
		check = *known
	}
	if r.Severity != "" {
		check.Severity = r.Severity
	}
	return check
}
