package catalogue

import (
	"fmt"
	"strings"

	"muster/internal/assessment/quote"
	"muster/internal/report/snapshot"
)

// Verify is the check's query about one object, to be run where the violation was found: it
// returns a row as long as the object fails the check. It is "" for a rule, which no query
// decides, for an object whose complete name is not known, and for SQL Server and Oracle, where
// nobody has tried what a person would run.
func (c Check) Verify(object string) string {
	v := c.verification()
	if v == nil || !snapshot.IsWhole(object) {
		return ""
	}
	return v.Statement(quote.Literal(object))
}

// verification is Verify of any object. Names are written as the assessment sees them,
// whatever the session's search_path is: otherwise an object that has not changed would
// seem to be gone.
func (c Check) verification() *snapshot.Verification {
	if c.Query == "" || engineOf(c).Fed {
		return nil
	}
	columns := "object, evidence"
	if c.Graded {
		columns += ", severity"
	}
	for _, name := range c.Names {
		columns += `, "` + name + `"`
	}
	return &snapshot.Verification{
		Before: fmt.Sprintf("BEGIN READ ONLY;\nSET LOCAL search_path = pg_catalog;\nSELECT v.object, v.evidence FROM (\n%s\n) v(%s)\nWHERE v.object::text = ",
			strings.TrimSpace(c.Query), columns),
		After: ";\nCOMMIT;",
	}
}
