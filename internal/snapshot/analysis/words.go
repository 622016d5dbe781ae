package analysis

import (
	"strconv"
	"strings"
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
