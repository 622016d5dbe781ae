package analysis

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/internal/snapshot"
)

func itoa(n int) string { return strconv.Itoa(n) }

func lower(s string) string { return strings.ToLower(s) }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}

// EngineName is what people call an engine; an unknown one goes by its wire name.
func EngineName(engine string) string {
	switch engine {
	case "postgresql":
		return "PostgreSQL"
	case "sqlserver":
		return "SQL Server"
	case "oracle":
		return "Oracle"
	case "mongodb":
		return "MongoDB"
	case "mysql":
		return "MySQL"
	default:
		return engine
	}
}

// Title is what a check is called beside a result: a title that names the fault
// would be untrue of a pass, and of what nobody knows. Catalogues before
// 2026.11.2 knew that title only.
func Title(check snapshot.Check, status string) string {
	switch {
	case check.Passed == "":
		return check.Title
	case status == snapshot.StatusPass:
		return check.Passed
	case status == snapshot.StatusNotAssessed, status == snapshot.StatusNotApplicable:
		return "Whether " + inSentence(check.Passed)
	default:
		return check.Title
	}
}

// inSentence is a sentence as it goes on behind other words: TLS keeps its capitals.
func inSentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if second, _ := utf8.DecodeRuneInString(s[size:]); !unicode.IsLower(second) {
		return s
	}
	return string(unicode.ToLower(first)) + s[size:]
}
