package otlp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// JSON is stepped over as package protowalk does it with protobuf: what nobody looks into
// costs its length, and a value is the bytes that it came in. encoding/json took 11 s
// and 1.2 GB for 32 MiB of empty objects. What is walked over is known to be valid
// JSON; DecodeJSON has seen to it.

// member is one of an object's that is wanted.
type member struct {
	name string
	to   *[]byte // gets the value; nil where there is none, or null
}

// errTwice says that an object has one of the wanted members twice.
var errTwice = errors.New("a member is there twice")

// members finds those of an object. Error: errTwice. No object and null have none.
func members(object []byte, wanted ...member) error {
	if len(object) == 0 {
		return nil
	}
	if object[0] != '{' {
		return fmt.Errorf("%.20q is no object", object)
	}
	found := 0 // bits, by the place in wanted
	for rest := space(object[1:]); rest[0] != '}'; {
		var key, value []byte
		key, rest = cut(rest)
		value, rest = cut(space(space(rest)[1:])) // the colon
		rest = comma(rest)
		name, err := text(key)
		if err != nil {
			return err
		}
		for n, w := range wanted {
			if string(name) != w.name {
				continue
			}
			if found&(1<<n) != 0 {
				return errTwice
			}
			found |= 1 << n
			*w.to = orNothing(value)
		}
	}
	return nil
}

// elements goes through an array. No array and null have none.
func elements(array []byte, do func(item []byte) error) error {
	if len(array) == 0 {
		return nil
	}
	if array[0] != '[' {
		return fmt.Errorf("%.20q is no array", array)
	}
	for rest := space(array[1:]); rest[0] != ']'; {
		var item []byte
		item, rest = cut(rest)
		rest = comma(rest)
		if err := do(orNothing(item)); err != nil {
			return err
		}
	}
	return nil
}

// text is what a string says; nothing where there is none.
func text(value []byte) ([]byte, error) {
	switch {
	case len(value) == 0:
		return nil, nil
	case value[0] != '"':
		return nil, fmt.Errorf("%.20q is no text", value)
	case bytes.IndexByte(value, '\\') < 0:
		return value[1 : len(value)-1], nil
	}
	var unescaped string
	err := json.Unmarshal(value, &unescaped)
	return []byte(unescaped), err
}

func orNothing(value []byte) []byte {
	if string(value) == "null" {
		return nil
	}
	return value
}

// cut returns the value that the text begins with, and what follows it.
func cut(text []byte) (value, rest []byte) {
	end := 0
	switch text[0] {
	case '"':
		end = stringEnd(text, 0)
	case '{', '[':
		for depth := 0; ; end++ {
			switch text[end] {
			case '"':
				end = stringEnd(text, end) - 1
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if depth == 0 {
				break
			}
		}
		end++
	default: // a number or a word
		for end < len(text) && text[end] != ',' && text[end] != '}' && text[end] != ']' && !isSpace(text[end]) {
			end++
		}
	}
	return text[:end], text[end:]
}

// stringEnd is where a string that begins at a place ends.
func stringEnd(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// space steps over what stands between values.
func space(text []byte) []byte {
	for len(text) > 0 && isSpace(text[0]) {
		text = text[1:]
	}
	return text
}

// comma steps to the next member or element, or to the end of them.
func comma(text []byte) []byte {
	if text = space(text); text[0] == ',' {
		text = space(text[1:])
	}
	return text
}
