package waitclass

import "strings"

// Categories of wait events, the places in the sums of a tile.
const (
	Locks = iota
	LightweightLocks
	IO
	ClientNetwork
	Other
	Categories // how many there are
)

// OnCPU is the category of a class that has the name of a wait and is none.
const OnCPU = -1

// Names are how the categories are spelled.
var Names = [Categories]string{"locks", "lightweightLocks", "io", "clientNetwork", "other"}

// Class is a row of the table of §4.6. The pattern is the beginning of a name,
// with * in front of it any part of one; upper and lower case are the same.
type Class struct {
	Pattern  string
	Category int
}

// Classify returns the category of the first class that matches an engine's name of a wait
// (reading 22), and Other if none does. ok is false if the session does not wait: it is on CPU.
func Classify(classes []Class, name string) (category int, ok bool) {
	name = strings.TrimSpace(name)
	if name == "" { // NULL in every engine
		return 0, false
	}
	for _, class := range classes {
		if class.matches(name) {
			return class.Category, class.Category != OnCPU
		}
	}
	return Other, true
}

func (c Class) matches(name string) bool {
	if part, anywhere := strings.CutPrefix(c.Pattern, "*"); anywhere {
		return strings.Contains(strings.ToUpper(name), strings.ToUpper(part))
	}
	return len(name) >= len(c.Pattern) && strings.EqualFold(name[:len(c.Pattern)], c.Pattern)
}
