package oracle

import (
	_ "embed" // the script
	"strconv"
	"strings"
)

//go:embed grants.sql
var grants string

// Grants is the script that gives an account what measuring needs, and no more: the same for
// every version, with a part for each kind of database. ok is false for a version that is
// not measured: before 12.2, or none.
func Grants(version string) (script string, ok bool) {
	if version == "" {
		return grants, true
	}
	first, rest, _ := strings.Cut(strings.TrimRight(strings.ToLower(version), "abcdefghijklmnopqrstuvwxyz"), ".")
	second, _, _ := strings.Cut(rest, ".")
	release, err := strconv.Atoi(first)
	minor, _ := strconv.Atoi(second)
	if err != nil || release < 12 || release == 12 && minor < 2 {
		return "", false
	}
	return grants, true
}
