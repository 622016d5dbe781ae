package fleet

import (
	"fmt"
	"strconv"
	"strings"
)

// NewestTried is the newest major version of an engine with which Muster was tried live; 0 if
// there is none. A test compares it with the last one in internal/servers/met.json.
func NewestTried(e Engine) int {
	if e == PostgreSQL {
		return 18
	}
	return 0
}

// NewerThanTried is a text that says that the major of a version is newer than all with which
// Muster was tried. It is empty if it is not, or if that cannot be known.
func NewerThanTried(e Engine, version string) string {
	newest, major := NewestTried(e), majorOf(version)
	if newest == 0 || major <= newest {
		return ""
	}
	return fmt.Sprintf("newer than the newest tried (%d)", newest)
}

// majorOf is the first number of a version: 19 of "19.1 (Debian 19.1-1)", "PostgreSQL 19beta1",
// and "190001"; 0: it has none.
func majorOf(version string) int {
	digit := func(r rune) bool { return '0' <= r && r <= '9' }
	start := strings.IndexFunc(version, digit)
	if start < 0 {
		return 0
	}
	number := version[start:]
	if end := strings.IndexFunc(number, func(r rune) bool { return !digit(r) }); end >= 0 {
		number = number[:end]
	}
	major, err := strconv.Atoi(number)
	switch {
	case err != nil:
		return 0
	case major >= 10_000: // as server_version_num has it
		return major / 10_000
	}
	return major
}
