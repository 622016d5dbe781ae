package jsonwalk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Member is one of an object's that is wanted.
type Member struct {
	name string
	to   *[]byte
}

// To reads a member's value into to, which stays as it is if there is none, or null.
func To(name string, to *[]byte) Member { return Member{name, to} }

// ErrTwice says that an object has one of the wanted members twice.
var ErrTwice = errors.New("a member is there twice")

// Members finds those of an object. Error: ErrTwice. No object and null have none.
func Members(object []byte, wanted ...Member) error {
	if object = orNothing(bytes.TrimSpace(object)); len(object) == 0 {
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
		name, err := Text(key)
		if err != nil {
			return err
		}
		for n, w := range wanted {
			if string(name) != w.name {
				continue
			}
			if found&(1<<n) != 0 {
				return ErrTwice
			}
			found |= 1 << n
			*w.to = orNothing(value)
		}
	}
	return nil
}

// Elements goes through an array. No array and null have none.
func Elements(array []byte, do func(item []byte) error) error {
	items, err := In(array)
	for item, ok := items.Next(); ok && err == nil; item, ok = items.Next() {
		err = do(item)
	}
	return err
}

// Items are an array's that are still to come.
type Items struct{ rest []byte }

// In begins to go through an array. No array and null have no items.
func In(array []byte) (Items, error) {
	if array = orNothing(bytes.TrimSpace(array)); len(array) == 0 {
		return Items{}, nil
	}
	if array[0] != '[' {
		return Items{}, fmt.Errorf("%.20q is no array", array)
	}
	return Items{space(array[1:])}, nil
}

// Next is the next item, which is empty if it is null; false: there is none.
func (i *Items) Next() (item []byte, ok bool) {
	if i.Done() {
		return nil, false
	}
	item, i.rest = cut(i.rest)
	i.rest = comma(i.rest)
	return orNothing(item), true
}

// Done says that there are no more items.
func (i *Items) Done() bool { return len(i.rest) == 0 || i.rest[0] == ']' }

// Text is the value of a string; empty if there is none.
func Text(value []byte) ([]byte, error) {
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
