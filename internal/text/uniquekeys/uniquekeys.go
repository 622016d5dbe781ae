// Package uniquekeys refuses JSON in which an object has one name twice.
//
// encoding/json takes the last of two such members and other parsers take the first, so a
// signed document with both says one thing to its verifier and another to its reader. Names
// that differ in case alone count as one, because encoding/json takes either for a field.
package uniquekeys

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// TwiceError reports an object with one name twice.
type TwiceError struct{ Pointer string } // RFC 6901, of the second member

func (e *TwiceError) Error() string { return fmt.Sprintf("%s is there twice", e.Pointer) }

// level is an object or an array that is being read.
type level struct {
	names map[string]bool // nil: an array
	name  string          // of the member that is being read
	index int
	value bool // the next token of an object is a value
}

// Check reads one JSON value. It returns a *TwiceError, or an error of JSON.
func Check(document []byte) error {
	tokens := json.NewDecoder(bytes.NewReader(document))
	tokens.UseNumber()
	var open []*level
	for {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			if len(open) > 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if err != nil {
			return err
		}
		var in *level
		if len(open) > 0 {
			in = open[len(open)-1]
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				begin(in)
				open = append(open, &level{names: map[string]bool{}})
			case '[':
				begin(in)
				open = append(open, &level{})
			default:
				open = open[:len(open)-1]
			}
		case string:
			if in != nil && in.names != nil && !in.value {
				folded := strings.ToLower(strings.ToUpper(t))
				in.name, in.value = t, true
				if in.names[folded] {
					return &TwiceError{pointer(open)}
				}
				in.names[folded] = true
				continue
			}
			begin(in)
		default:
			begin(in)
		}
	}
}

// begin notes that a value begins.
func begin(in *level) {
	if in == nil {
		return
	}
	in.value = false
	if in.names == nil {
		in.index++
	}
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(open []*level) string {
	var out strings.Builder
	for _, l := range open {
		if l.names == nil {
			fmt.Fprintf(&out, "/%d", l.index-1)
		} else {
			out.WriteString("/" + escape.Replace(l.name))
		}
	}
	return out.String()
}
