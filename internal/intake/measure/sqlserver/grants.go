package sqlserver

import (
	"strings"

	"muster/internal/engine/sqlserver"
)

// Grants is the script that gives a login what Muster needs to measure a server, and
// nothing beside: of a version (2016 to 2025, or the number that it has, 13 to 17) or of
// "azure"; of all of them where none is given. ok is false for a version that is none of
// these.
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
