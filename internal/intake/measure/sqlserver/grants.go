package sqlserver

import (
	"strconv"
	"strings"
)

// Grants is the script that gives a login what Muster needs to measure a server, and
// nothing beside: of a version (2016 to 2025, or the number that it has, 13 to 17) or of
// "azure"; of all of them where none is given. ok is false for a version that is none of
// these.
func Grants(version string) (script string, ok bool) {
	var name string
	switch n, err := strconv.Atoi(strings.SplitN(version, ".", 2)[0]); {
	case version == "":
		var all []string
		for _, each := range []string{"2016", "2022", "azure"} {
			script, _ := Grants(each)
			all = append(all, script)
		}
		return strings.Join(all, "\n"), true
	case strings.EqualFold(version, "azure"):
		name = "azure"
	case err != nil:
		return "", false
	case n >= 13 && n <= 15, n >= 2016 && n < 2022:
		name = "2016"
	case n >= 16 && n < 100, n >= 2022:
		name = "2022"
	default:
		return "", false
	}
	text, err := files.ReadFile("grants/" + name + ".sql")
	return string(text), err == nil
}
