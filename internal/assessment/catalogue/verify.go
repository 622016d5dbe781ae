package catalogue

import (
	"fmt"
	"regexp"
	"strings"

	"muster/internal/assessment/quote"
)

// shortened is the end of an object's name that is too long to be kept whole.
var shortened = regexp.MustCompile(`… #[0-9a-f]{8}$`)

// Verify is the check's query about one object, to be run where the violation was
// found: it returns a row for as long as the object breaks the check. It is "" for a
// rule, which no query decides, and for an object whose whole name is not known.
// Names are written as the assessment sees them, whatever the session's search_path
// is: otherwise an object that has not changed would seem to be gone.
func (c Check) Verify(object string) string {
	if c.Query == "" || object == "" || shortened.MatchString(object) || strings.ContainsRune(object, '\uFFFD') {
		return ""
	}
	columns := "object, evidence"
	if c.Graded {
		columns += ", severity"
	}
	for _, name := range c.Names {
		columns += `, "` + name + `"`
	}
	return fmt.Sprintf("BEGIN READ ONLY;\nSET LOCAL search_path = pg_catalog;\nSELECT v.object, v.evidence FROM (\n%s\n) v(%s)\nWHERE v.object::text = %s;\nCOMMIT;",
		strings.TrimSpace(c.Query), columns, quote.Literal(object))
}
