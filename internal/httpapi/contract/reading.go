package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

// reading holds a JSON body against its schema while it arrives, and makes nothing of it
// but its text. To decode it first took sixty times the text where that was a list of {}:
// 32 KiB of gzip came to 1.9 GB. Where there are too many of anything, the rest is not read.
type reading struct {
	source io.Reader     // of the text; nil at its end
	limit  int64         // bytes of it
	beyond *wire.Problem // where it has more; nil: it is too large
	says   int           // how long it says that it is; 0: it does not
	values int           // that may still come

	text []byte
	at   int // the byte that is next

	path   []step
	counts map[uint64]uint64 // items of arrays by the bound that they share
	found  faults
	nuls   []api.FieldError
	rules  bool // a bound is a rule, which is broken, and not a form
}

// step is a part of a pointer. It becomes text only where something is wrong: pointers took
// four fifths of the time that a sound batch was read in.
type step struct {
	name  []byte
	index int // of an array's item, whose name is nil
}

const (
	maxDepth     = 100      // of lists and objects in each other
	readAtOnce   = 64 << 10 // bytes
	bytesOfValue = 8        // on average at least, names included: a body of /ingest has so many values at most
)

// read reads a whole body. The problem is one that leaves nothing to look at.
func (r *reading) read(s *shape) *wire.Problem {
	if _, p := r.next(); p != nil {
		return p
	}
	if p := r.value(s); p != nil {
		return p
	}
	switch _, p := r.next(); {
	case p == nil:
		return &wire.Problem{Code: "malformed_json", Detail: "The body has more content after the JSON."}
	case p != atEnd:
		return p
	}
	if !utf8.Valid(r.text) {
		return &wire.Problem{Code: "malformed_json", Detail: "The body is not UTF-8."}
	}
	return nil
}

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

// value reads what is next; s is nil where nothing is asked of it.
func (r *reading) value(s *shape) *wire.Problem {
	c, p := r.next()
	if p != nil {
		return p
	}
	if r.values--; r.values < 0 {
		return r.tooMany("#", "values", r.limit/bytesOfValue)
	}
	if len(r.path) > maxDepth {
		return wire.UnreadableBody(fmt.Sprintf("is nested more than %d levels deep", maxDepth))
	}
	begin := r.at
	switch c {
	case '{', '[':
		kind, example := openapi3.TypeObject, any(map[string]any{})
		if c == '[' {
			kind, example = openapi3.TypeArray, []any{}
		}
		if s != nil && !s.whole && !s.schema.Type.Permits(kind) {
			if p := r.fault(s, example); p != nil { // of which kind it is says it all
				return p
			}
			s = nil
		}
		of := s
		if s != nil && s.whole {
			of = nil
		}
		if c == '{' {
			p = r.object(of)
		} else {
			p = r.array(of)
		}
	case '"':
		p = r.stringToken()
	case 't':
		p = r.word("true")
	case 'f':
		p = r.word("false")
	case 'n':
		p = r.word("null")
	default:
		p = r.number()
	}
	if p != nil || s == nil {
		return p
	}
	token := r.text[begin:r.at]
	if c == '"' {
		r.noteNUL(token)
	}
	if c == '{' || c == '[' {
		if !s.whole {
			return nil
		}
	} else if s.sound(c, token) {
		return nil
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(token))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return r.malformed()
	}
	if s.whole {
		r.noteNULs(value)
	}
	if value == nil && s.null {
		return nil
	}
	return r.fault(s, value)
}

// fault notes what is wrong with a value, if anything is.
func (r *reading) fault(s *shape, value any) *wire.Problem {
	r.found.look(s.schema, value, r.pointer())
	if len(r.found) >= wire.MaxFaults {
		return enough
	}
	return nil
}

// add notes one fault.
func (r *reading) add(pointer, code, detail string) *wire.Problem {
	r.found = append(r.found, fault{pointer, code, detail})
	if len(r.found) >= wire.MaxFaults {
		return enough
	}
	return nil
}

func (r *reading) pointer() string { return pointerOf(r.path) }

// above is the pointer of the object or array whose part is being read.
func (r *reading) above() string { return pointerOf(r.path[:len(r.path)-1]) }

func pointerOf(path []step) string {
	pointer := "#"
	for _, s := range path {
		part := below(pointer, s.name)
		if s.name == nil {
			part = below(pointer, strconv.Itoa(s.index))
		}
		if len(part) == len(pointer) {
			break
		}
		pointer = part
	}
	return pointer
}

// array reads a list. Beyond its bound its items are passed over.
func (r *reading) array(s *shape) *wire.Problem {
	r.at++
	place := len(r.path)
	r.path = append(r.path, step{})
	defer func() { r.path = r.path[:place] }()
	n := uint64(0)
	for {
		c, p := r.next()
		if p != nil {
			return p
		}
		if c == ']' && n == 0 {
			r.at++
			break
		}
		r.path[place].index = int(n)
		n++
		of := s
		if s != nil {
			if p := r.count(s, n); p != nil {
				return p
			}
			if of = s.items; n > s.most {
				of = nil
			}
		}
		if p := r.value(of); p != nil {
			return p
		}
		if c, p = r.next(); p != nil {
			return p
		}
		r.at++
		if c == ']' {
			break
		}
		if c != ',' {
			r.at--
			return r.malformed()
		}
	}
	r.path = r.path[:place]
	if s != nil && n < s.schema.MinItems {
		return r.add(r.pointer(), "invalid_parameter", fmt.Sprintf("must have at least %d entries", s.schema.MinItems))
	}
	return nil
}

// count takes one more item of a list, which is the nth.
func (r *reading) count(s *shape, n uint64) *wire.Problem {
	if n == s.most+1 {
		at := r.path[:len(r.path)-1]
		if r.rules && len(at) == 1 { // what the call is a batch of
			return r.tooMany("#/"+wire.EscapePointer(string(at[0].name)), "items", int64(s.most))
		}
		return r.add(r.above(), r.boundCode(), fmt.Sprintf("has more than %d entries", s.most))
	}
	if s.inCall == 0 {
		return nil
	}
	if r.counts == nil {
		r.counts = map[uint64]uint64{}
	}
	if r.counts[s.inCall]++; r.counts[s.inCall] > s.inCall {
		return r.tooMany("#", "items", int64(s.inCall))
	}
	return nil
}

// boundCode is the code of a bound that is overstepped.
func (r *reading) boundCode() string {
	if r.rules {
		return "out_of_range"
	}
	return "invalid_parameter"
}

func (r *reading) tooMany(pointer, what string, most int64) *wire.Problem {
	detail := fmt.Sprintf("has more than %d %s, as many as one call may have", most, what)
	return &wire.Problem{
		Code: "too_many_items", Title: "Too many items in one call", Detail: "The call " + detail + ".",
		Fields: []api.FieldError{{In: api.Body, Pointer: &pointer, Code: "too_many_items", Detail: detail, Params: &map[string]any{"max": most}}},
	}
}

// object reads one with its members.
func (r *reading) object(s *shape) *wire.Problem {
	r.at++
	place := len(r.path)
	r.path = append(r.path, step{})
	defer func() { r.path = r.path[:place] }()
	var seen seen
	n := uint64(0)
	for {
		c, p := r.next()
		if p != nil {
			return p
		}
		if c == '}' && n == 0 {
			r.at++
			break
		}
		if c != '"' {
			return r.malformed()
		}
		begin := r.at
		if p := r.stringToken(); p != nil {
			return p
		}
		name := unquoted(r.text[begin:r.at])
		if p := r.expect(':'); p != nil {
			return p
		}
		n++
		r.path[place].name = name
		if p := r.member(s, name, n, &seen); p != nil {
			return p
		}
		if c, p = r.next(); p != nil {
			return p
		}
		r.at++
		if c == '}' {
			break
		}
		if c != ',' {
			r.at--
			return r.malformed()
		}
		if c, p = r.next(); p != nil {
			return p
		}
		if c != '"' {
			return r.malformed()
		}
	}
	r.path = r.path[:place]
	if s == nil {
		return nil
	}
	for i, name := range s.required { // which have the first places
		if seen.known&(1<<i) == 0 {
			if p := r.add(below(r.pointer(), name), "missing_parameter", "is required"); p != nil {
				return p
			}
		}
	}
	return nil
}

// seen are the members that an object had so far.
type seen struct {
	known uint64              // of its shape, by their places
	more  map[string]struct{} // others
}

// maxSeen bounds the members that are told to be there twice, though the shape knows none of them.
const maxSeen = 10_000

// again adds a member, and is true where it was there before.
func (m *seen) again(s *shape, name []byte) bool {
	if s != nil {
		if i, ok := s.places[string(name)]; ok {
			before := m.known
			m.known |= 1 << i
			return before == m.known
		}
	}
	if _, there := m.more[string(name)]; there || len(m.more) == maxSeen {
		return there
	}
	if m.more == nil {
		m.more = map[string]struct{}{}
	}
	m.more[string(name)] = struct{}{}
	return false
}

// member reads the value of an object's nth member. Of one that is there twice Go takes the
// last, JSON leaves it open, and the sender meant one.
func (r *reading) member(s *shape, name []byte, n uint64, seen *seen) *wire.Problem {
	if seen.again(s, name) {
		if p := r.add(r.pointer(), "repeated_field", "is in this object twice"); p != nil {
			return p
		}
	}
	if s == nil {
		return r.value(nil)
	}
	of := s.members[string(name)]
	if of == nil {
		of = s.rest
	}
	switch {
	case n == s.most+1:
		if p := r.add(r.above(), r.boundCode(), fmt.Sprintf("has more than %d members", s.most)); p != nil {
			return p
		}
		of = nil
	case n > s.most:
		of = nil
	case of != nil && of.schema.ReadOnly:
		if p := r.add(r.pointer(), "invalid_parameter", "is read-only: Muster sets it"); p != nil {
			return p
		}
		of = nil
	case of == nil && s.closed:
		if p := r.add(r.pointer(), "unknown_field", "is not a member of this object"); p != nil {
			return p
		}
	}
	return r.value(of)
}

// stringToken steps over a string.
func (r *reading) stringToken() *wire.Problem {
	r.at++
	for {
		for r.at < len(r.text) {
			c := r.text[r.at]
			switch {
			case c == '"':
				r.at++
				return nil
			case c < ' ':
				return r.malformed()
			case c == '\\':
				if p := r.escape(); p != nil {
					return p
				}
			default:
				r.at++
			}
		}
		if p := r.fill(); p != nil {
			return p
		}
	}
}

// escape steps over what a backslash begins.
func (r *reading) escape() *wire.Problem {
	r.at++
	c, p := r.peek()
	if p != nil {
		return p
	}
	if strings.IndexByte(`"\/bfnrtu`, c) < 0 {
		return r.malformed()
	}
	r.at++
	if c != 'u' {
		return nil
	}
	for range 4 {
		if c, p = r.peek(); p != nil {
			return p
		}
		if strings.IndexByte("0123456789abcdefABCDEF", c) < 0 {
			return r.malformed()
		}
		r.at++
	}
	return nil
}

func (r *reading) word(want string) *wire.Problem {
	for i := range len(want) {
		c, p := r.peek()
		if p != nil {
			return p
		}
		if c != want[i] {
			return r.malformed()
		}
		r.at++
	}
	return nil
}

// number steps over a number as JSON writes it.
func (r *reading) number() *wire.Problem {
	if c, p := r.peek(); p != nil || c == '-' {
		if p != nil {
			return p
		}
		r.at++
	}
	if c, p := r.peek(); p == nil && c == '0' {
		r.at++
	} else if p := r.digits(); p != nil {
		return p
	}
	if c, p := r.peek(); p == nil && c == '.' {
		r.at++
		if p := r.digits(); p != nil {
			return p
		}
	} else if p != nil && p != atEnd {
		return p
	}
	if c, p := r.peek(); p == nil && (c == 'e' || c == 'E') {
		r.at++
		if c, p := r.peek(); p == nil && (c == '+' || c == '-') {
			r.at++
		}
		return r.digits()
	} else if p != nil && p != atEnd {
		return p
	}
	return nil
}

// digits steps over at least one.
func (r *reading) digits() *wire.Problem {
	for n := 0; ; n++ {
		c, p := r.peek()
		switch {
		case p != nil && (n == 0 || p != atEnd):
			return p
		case p != nil || c < '0' || c > '9':
			if n == 0 {
				return r.malformed()
			}
			return nil
		}
		r.at++
	}
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

// noteNUL notes a text with U+0000, which PostgreSQL cannot keep.
func (r *reading) noteNUL(token []byte) {
	if bytes.Contains(token, escapedNUL) && bytes.IndexByte(unquoted(token), 0) >= 0 && len(r.nuls) < wire.MaxFaults {
		r.nuls = append(r.nuls, nulField(r.pointer()))
	}
}

// noteNULs is noteNUL of a value that was decoded.
func (r *reading) noteNULs(value any) {
	if _, text := value.(string); !text {
		r.nuls = nulFields(value, r.pointer(), r.nuls)
	}
}

// sound says of a single value that it surely fits; where it does not, the visitor of
// kin-openapi finds out whether and says why.
func (s *shape) sound(c byte, token []byte) bool {
	if s.whole {
		return false
	}
	switch c {
	case 'n':
		return s.null
	case 't', 'f':
		return s.schema.Type.Permits(openapi3.TypeBoolean) && len(s.schema.Enum) == 0
	case '"':
		return s.soundText(token)
	}
	return s.soundNumber(token)
}

func (s *shape) soundText(token []byte) bool {
	schema := s.schema
	if !schema.Type.Permits(openapi3.TypeString) || schema.Pattern != "" {
		return false
	}
	text := unquoted(token)
	if s.words != nil && !s.words[string(text)] {
		return false
	}
	if schema.MinLength > 0 || schema.MaxLength != nil {
		if n := uint64(utf8.RuneCount(text)); n < schema.MinLength || n > bound(schema.MaxLength) {
			return false
		}
	}
	switch schema.Format {
	case "":
		return true
	case "uuid":
		return IsUUID(string(text)) == nil
	case "date-time":
		return IsTime(string(text)) == nil
	}
	return false
}

// soundNumber is asked first about whole numbers that an int64 has, and about short others.
func (s *shape) soundNumber(token []byte) bool {
	schema := s.schema
	if len(schema.Enum) > 0 || len(token) > 18 || schema.Format == "int32" {
		return false
	}
	whole := !bytes.ContainsAny(token, ".eE")
	if !schema.Type.Permits(openapi3.TypeNumber) && (!whole || !schema.Type.Permits(openapi3.TypeInteger)) {
		return false
	}
	if bytes.ContainsAny(token, "eE") {
		return false
	}
	if schema.Min == nil && schema.Max == nil {
		return true
	}
	v, err := strconv.ParseFloat(string(token), 64)
	return err == nil && (schema.Min == nil || v >= *schema.Min) && (schema.Max == nil || v <= *schema.Max)
}
