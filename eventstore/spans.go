package eventstore

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// spans is a set of positions, in order.
type spans []span

// span is the positions from first to last.
type span struct{ first, last int64 }

// add adds a position behind all others.
func (s *spans) add(position int64) {
	if n := len(*s); n > 0 && (*s)[n-1].last == position-1 {
		(*s)[n-1].last = position
		return
	}
	*s = append(*s, span{position, position})
}

func (s spans) has(position int64) bool {
	i, _ := slices.BinarySearchFunc(s, position, func(one span, position int64) int {
		if one.last < position {
			return -1
		}
		return 1
	})
	return i < len(s) && s[i].first <= position
}

// String is the text form: 1-3,5,8-9.
func (s spans) String() string {
	var out strings.Builder
	for i, one := range s {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprint(&out, one.first)
		if one.last > one.first {
			fmt.Fprintf(&out, "-%d", one.last)
		}
	}
	return out.String()
}

// parseSpans reads what String wrote, and nothing else.
func parseSpans(text string) (spans, error) {
	if text == "" {
		return nil, nil
	}
	var s spans
	for part := range strings.SplitSeq(text, ",") {
		from, to, ok := strings.Cut(part, "-")
		first, err := strconv.ParseInt(from, 10, 64)
		last := first
		if ok && err == nil {
			last, err = strconv.ParseInt(to, 10, 64)
		}
		if err != nil || first < 1 || last < first || len(s) > 0 && first <= s[len(s)-1].last {
			return nil, fmt.Errorf("%q is not a range behind the one before it", part)
		}
		s = append(s, span{first, last})
	}
	if s.String() != text {
		return nil, errors.New("it is not in its shortest form")
	}
	return s, nil
}
