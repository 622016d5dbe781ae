package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"muster/internal/httpapi/wire"
)

// What ends a reading beside a problem: all the faults are there that are told, and the
// text is over.
var (
	enough = &wire.Problem{}
	atEnd  = &wire.Problem{Code: "malformed_json", Detail: "The body ends before the JSON does."}
)

// fill reads more of the text.
func (r *reading) fill() *wire.Problem {
	for r.source != nil {
		if len(r.text) == cap(r.text) {
			r.text = slices.Grow(r.text, max(readAtOnce, min(len(r.text), r.says-len(r.text))))
		}
		n, err := r.source.Read(r.text[len(r.text):min(cap(r.text), len(r.text)+readAtOnce)])
		r.text = r.text[:len(r.text)+n]
		switch {
		case int64(len(r.text)) > r.limit && r.beyond != nil:
			return r.beyond
		case int64(len(r.text)) > r.limit:
			return wire.BodyProblem(&http.MaxBytesError{Limit: r.limit}, r.limit)
		case errors.Is(err, io.EOF):
			r.source = nil
		case err != nil:
			return wire.BodyProblem(err, r.limit)
		}
		if n > 0 {
			return nil
		}
	}
	return atEnd
}

// peek is the byte that is next.
func (r *reading) peek() (byte, *wire.Problem) {
	if r.at == len(r.text) {
		if p := r.fill(); p != nil {
			return 0, p
		}
	}
	return r.text[r.at], nil
}

// next is peek behind space.
func (r *reading) next() (byte, *wire.Problem) {
	for {
		c, p := r.peek()
		if p != nil || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c, p
		}
		r.at++
	}
}

func (r *reading) malformed() *wire.Problem {
	return &wire.Problem{Code: "malformed_json", Detail: fmt.Sprintf("The body is not valid JSON from byte %d on.", r.at+1)}
}

// expect steps over one byte behind space.
func (r *reading) expect(want byte) *wire.Problem {
	c, p := r.next()
	if p != nil {
		return p
	}
	if c != want {
		return r.malformed()
	}
	r.at++
	return nil
}

// stringToken steps over a string.
func (r *reading) stringToken() *wire.Problem {
	begin, escaped := r.at, false
	for r.at++; ; r.at++ {
		for r.at >= len(r.text) {
			if p := r.fill(); p != nil {
				return p
			}
		}
		switch c := r.text[r.at]; {
		case c < ' ':
			return r.malformed()
		case c == '\\':
			escaped = true
			r.at++
		case c == '"':
			if r.at++; escaped {
				return r.wellFormed(begin)
			}
			return nil
		}
	}
}

// wordToken steps over a number, true, false or null.
func (r *reading) wordToken() *wire.Problem {
	begin := r.at
	for {
		c, p := r.peek()
		if p != nil && p != atEnd {
			return p
		}
		if p == atEnd || c != '+' && c != '-' && c != '.' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			break
		}
		r.at++
	}
	return r.wellFormed(begin)
}

// wellFormed leaves it to encoding/json to know the token that begins there.
func (r *reading) wellFormed(begin int) *wire.Problem {
	if json.Valid(r.text[begin:r.at]) {
		return nil
	}
	r.at = begin
	return r.malformed()
}

// unquoted is what a string says; most are written as they are.
func unquoted(token []byte) []byte {
	inner := token[1 : len(token)-1 : len(token)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var text string
	_ = json.Unmarshal(token, &text) // its form has been looked at
	return []byte(text)
}
