package inspection

import (
	"strings"
)

// Grants are the lines of a script that grants; those that end in --values are for samples
// of values alone.
func Grants(script string, values bool) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		line, forValues := strings.CutSuffix(strings.TrimRight(line, "\n"), " --values")
		if !forValues || values {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}
