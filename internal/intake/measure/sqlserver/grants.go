package sqlserver

import (
	"strings"

	"muster/internal/engine/sqlserver"
)

// Grants is the script that gives a login exactly what Muster needs to measure a server: for a
// version (2016 to 2025, or its number, 13 to 17), for "azure" or for "rds"; for all but "rds" if none is
// given. ok is false for any other version.
func Grants(version string) (script string, ok bool) {
	var scripts []string
	for _, name := range sqlserver.PermissionSets(version) {
		text, err := files.ReadFile("grants/" + name + ".sql")
		if err != nil {
			return "", false
		}
		scripts = append(scripts, string(text))
	}
	return strings.Join(scripts, "\n"), len(scripts) > 0
}
