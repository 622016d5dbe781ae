package sqlserver

import (
	"embed"
	"strconv"
	"strings"

	"muster/internal/assessment"
)

//go:embed grants
var grantFiles embed.FS

// Grants is what the checks and the classification need beside what measuring does, of a
// version (2016 to 2025, or the number that it has, 13 to 17) or of "azure"; of all of them
// where none is given. ok is false for a version that is none of these.
func Grants(version, classify string) (script string, ok bool) {
	if version == "" {
		var all []string
		for _, each := range []string{"2016", "2022", "azure"} {
			one, _ := Grants(each, classify)
			all = append(all, one)
		}
		return strings.Join(all, "\n"), true
	}
	name := "azure"
	if !strings.EqualFold(version, "azure") {
		n, err := strconv.Atoi(strings.SplitN(version, ".", 2)[0])
		switch {
		case err != nil:
			return "", false
		case n >= 13 && n <= 15, n >= 2016 && n < 2022:
			name = "2016"
		case n >= release2022 && n < 100, n >= 2022:
			name = "2022"
		default:
			return "", false
		}
	}
	text, err := grantFiles.ReadFile("grants/" + name + ".sql")
	if err != nil {
		return "", false
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		line, forValues := strings.CutSuffix(strings.TrimRight(line, "\n"), " --values")
		if !forValues || classify == assessment.ClassifyValues {
			out.WriteString(line + "\n")
		}
	}
	return out.String(), true
}
