package feed

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// dotted is a version in numbers: 16.0.4135.4 is [16 0 4135 4].
type dotted []int

// parseDotted reads numbers between dots; ok is false for anything else.
func parseDotted(text string) (dotted, bool) {
	var out dotted
	for part := range strings.SplitSeq(text, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || part[0] == '+' {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// compare looks at the numbers that both have: 19.24.0.0.0 is 19.24, as a vendor that
// writes 19.24 means it.
func (d dotted) compare(other dotted) int {
	for i := range min(len(d), len(other)) {
		if c := cmp.Compare(d[i], other[i]); c != 0 {
			return c
		}
	}
	return 0
}

func (d dotted) String() string {
	parts := make([]string, len(d))
	for i, n := range d {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ".")
}

var numbersIn = regexp.MustCompile(`\d+(?:\.\d+)+`)

// Contradict says whether two texts name versions of one server that cannot both be
// right: their numbers differ where both have them. What names no number with a dot, as
// "2022 CU14" or "19c", contradicts none.
func Contradict(a, b string) bool {
	one, ok := parseDotted(numbersIn.FindString(a))
	other, both := parseDotted(numbersIn.FindString(b))
	return ok && both && one.compare(other) != 0
}

// span is a range of versions, written from..to if to is affected as well, and from..<to if to
// is the first fixed version.
type span struct {
	from, to dotted
	fixed    bool // to is not in it
}

func parseSpan(text string) (s span, ok bool) {
	from, to, found := strings.Cut(text, "..")
	if !found {
		return span{}, false
	}
	to, s.fixed = strings.CutPrefix(to, "<")
	var fromOK, toOK bool
	s.from, fromOK = parseDotted(from)
	s.to, toOK = parseDotted(to)
	order := s.from.compare(s.to)
	return s, fromOK && toOK && (order < 0 || order == 0 && (!s.fixed || len(s.from) < len(s.to)))
}

func (s span) holds(v dotted) bool {
	if v.compare(s.from) < 0 {
		return false
	}
	end := v.compare(s.to)
	return end < 0 || end == 0 && !s.fixed
}

// ends is how people say where a span ends.
func (s span) ends() string {
	if s.fixed {
		return s.to.String()
	}
	return "after " + s.to.String()
}
