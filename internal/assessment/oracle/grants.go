package oracle

import (
	_ "embed" // the script
	"strings"

	"muster/internal/assessment"
)

//go:embed grants.sql
var grants string

// Grants is what the checks and the classification need beside what measuring does: the
// same for every version.
func Grants(classify string) string {
	var out strings.Builder
	for line := range strings.Lines(grants) {
		line, forValues := strings.CutSuffix(strings.TrimRight(line, "\n"), " --values")
		if !forValues || classify == assessment.ClassifyValues {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}
