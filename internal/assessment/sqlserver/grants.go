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

// Grants is what the checks and the classification need beside what measuring does, of a
// version (2016 to 2025, or the number that it has, 13 to 17) or of "azure"; of all of them
// where none is given. ok is false for a version that is none of these.
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
