package sqlserver

import (
	"embed"
	"strings"

	"muster/internal/assessment"
	"muster/internal/assessment/inspection"
	"muster/internal/engine/sqlserver"
)

//go:embed grants
var grantFiles embed.FS

// Grants are the rights that the checks and the classification need in addition to measuring:
// for a version (2016 to 2025, or its number, 13 to 17), for "azure" or for "rds"; for all but "rds" if none
// is given. ok is false for any other version.
func Grants(version, classify string) (script string, ok bool) {
	var scripts []string
	for _, name := range sqlserver.PermissionSets(version) {
		text, err := grantFiles.ReadFile("grants/" + name + ".sql")
		if err != nil {
			return "", false
		}
		scripts = append(scripts, inspection.Grants(string(text), classify == assessment.ClassifyValues))
	}
	return strings.Join(scripts, "\n"), len(scripts) > 0
}
