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
