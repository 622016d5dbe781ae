package postgresql

import (
	_ "embed" // the script
	"strconv"
	"strings"

	"muster/internal/assessment"
	"muster/internal/assessment/inspection"
)

//go:embed grants.sql
var grants string

// Grants is the script that gives a role what measuring and assessing a server of a version
// need, and nothing beside; of the newest where none is given. ok is false for a version
// that is not measured.
func Grants(version, classify string) (script string, ok bool) {
	major := 99
	if version != "" {
		first, _, _ := strings.Cut(version, ".")
		n, err := strconv.Atoi(first)
		if err != nil || n < 13 || n > 99 {
			return "", false
		}
		major = n
	}
	return inspection.Grants(grants, classify == assessment.ClassifyValues && major >= 14), true // before, there is no pg_read_all_data
}
