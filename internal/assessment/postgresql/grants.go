package postgresql

import (
	_ "embed" // the script
	"strconv"
	"strings"

	"muster/internal/assessment"
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
	var out strings.Builder
	for block := range strings.SplitSeq(grants, "\n\n") {
		lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		for _, line := range lines {
			line, forValues := strings.CutSuffix(line, " --values")
			if forValues && (classify != assessment.ClassifyValues || major < 14) {
				continue
			}
			out.WriteString(line + "\n")
		}
	}
	return out.String(), true
}
