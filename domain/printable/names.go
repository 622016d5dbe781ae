package printable

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Names are the printed forms of the names that a server has of one kind, by name. What is
// no Name is printed as Clean does; where several would look the same then, with the
// characters that were hidden behind it: two names are never one.
func Names(names []string) map[string]string {
	taken := make(map[string]int, len(names)) // by how many it is meant, or is the name
	printed := make(map[string]string, len(names))
	for _, name := range names {
		if _, known := printed[name]; !known {
			printed[name] = Clean(name)
			taken[printed[name]]++
		}
	}
	for name, form := range printed {
		if form != name && taken[form] > 1 {
			for form += " (" + hidden(name) + ")"; taken[form] > 0; {
				form += "′" // another one has that name
			}
			printed[name] = form
		}
	}
	return printed
}

// most characters that are spelt out.
const most = 6

// hidden spells out what Clean replaces, in its order, and what was a replacement before;
// many of them are a digest.
func hidden(name string) string {
	var all []string
	for i, r := range name {
		switch _, size := utf8.DecodeRuneInString(name[i:]); {
		case r == utf8.RuneError && size == 1:
			all = append(all, fmt.Sprintf("0x%02X", name[i]))
		case r == utf8.RuneError || misleading(r):
			all = append(all, fmt.Sprintf("%U", r))
		}
	}
	if len(all) > most {
		sum := sha256.Sum256([]byte(name))
		return hex.EncodeToString(sum[:4])
	}
	return strings.Join(all, " ")
}
