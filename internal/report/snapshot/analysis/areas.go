package analysis

import (
	"strings"

	"muster/internal/report/snapshot"
)

// Areas are the six parts of the domain Security, as page 1 has them.
var Areas = [...]string{"Sign-in", "Rights", "Encryption", "Exposure", "Audit", "Patches"}

// exposure is the area of what no other one has.
const exposureArea = 3

// areaOf has the area of the controls of ISO/IEC 27001:2022 Annex A that checks refer to: the catalogue names one for
// each check, so that a new check has an area, too.
var areaOf = map[string]int{
	"A.5.17": 0, "A.8.5": 0,
	"A.8.2": 1, "A.8.3": 1, "A.5.18": 1, "A.8.18": 1,
	"A.8.24": 2,
	"A.8.9":  exposureArea, "A.8.20": exposureArea, "A.8.28": exposureArea,
	"A.8.15": 4, "A.8.16": 4,
	"A.8.8": 5,
}

// AreaOf is the index in Areas of a check.
func AreaOf(check snapshot.Check) int {
	for _, reference := range check.References {
		if control, ok := strings.CutPrefix(reference, "ISO/IEC 27001:2022 Annex A, "); ok {
			if area, known := areaOf[control]; known {
				return area
			}
		}
	}
	return exposureArea
}

// Area is how an instance stands in one of Areas, in checks.
type Area struct {
	Failed     SeverityCounts
	Answered   int // failed ones, too
	Unanswered int // that lack an answer somewhere, and do not fail
}

// areasOf divides the checks of an instance by area.
func areasOf(doc snapshot.Document, in *snapshot.Instance, unanswered map[string]bool) (areas [len(Areas)]Area) {
	for _, o := range outcomes(doc, in) {
		area := &areas[AreaOf(o.check)]
		area.Answered++
		if o.failed {
			area.Failed[Rank(o.check.Severity)]++
		}
	}
	checks := catalogueOf(doc)
	for id := range unanswered { // a count: the order does not show
		areas[AreaOf(checks.of(snapshot.CheckResult{CheckID: id}))].Unanswered++
	}
	return areas
}
