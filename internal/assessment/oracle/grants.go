package oracle

import (
	_ "embed" // the script

	"muster/internal/assessment"
	"muster/internal/assessment/inspection"
)

//go:embed grants.sql
var grants string

// Grants is what the checks and the classification need beside what measuring does: the
// same for every version.
func Grants(classify string) string {
	return inspection.Grants(grants, classify == assessment.ClassifyValues)
}
