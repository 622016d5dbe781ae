package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
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
	values int           // that it may have

	text []byte
	at   int // the byte that is next

	path   []step
	had    int               // values
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

// value reads what is next; s is nil where nothing is asked of it.
func (r *reading) value(s *shape) *wire.Problem {
	c, p := r.next()
	if p != nil {
		return p
	}
	if r.had++; r.had > r.values {
		return tooMany("#", "values", r.values)
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
			if p := r.fault(s, example, r.pointer()); p != nil { // of which kind it is says it all
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
	default:
		p = r.wordToken()
	}
	if p != nil || s == nil || s.sound(c, r.text[begin:r.at]) {
		return p
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(r.text[begin:r.at]))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return r.malformed()
	}
	pointer := r.pointer()
	r.nuls = nulFields(value, pointer, r.nuls)
	if value == nil && s.null {
		return nil
	}
	return r.fault(s, value, pointer)
}

// fault notes what is wrong with a value, if anything is.
func (r *reading) fault(s *shape, value any, pointer string) *wire.Problem {
	r.found.look(s.schema, value, pointer)
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
		name := s.name
		if name == nil {
			name = strconv.AppendInt(nil, int64(s.index), 10)
		}
		part := below(pointer, name)
		if len(part) == len(pointer) {
			break
		}
		pointer = part
	}
	return pointer
}

// parts reads an object or array up to its end. part reads the nth part, whose step is the last
// of the path.
func (r *reading) parts(end byte, part func(n uint64) *wire.Problem) (n uint64, p *wire.Problem) {
	r.at++
	r.path = append(r.path, step{})
	defer func() { r.path = r.path[:len(r.path)-1] }()
	c, p := r.next()
	if p == nil && c == end {
		r.at++
		return 0, nil
	}
	for p == nil {
		n++
		if p = part(n); p != nil {
			break
		}
		if c, p = r.next(); p != nil {
			break
		}
		if c != end && c != ',' {
			return n, r.malformed()
		}
		if r.at++; c == end {
			break
		}
	}
	return n, p
}

// array reads a list. Beyond its bound its items are passed over.
func (r *reading) array(s *shape) *wire.Problem {
	n, p := r.parts(']', func(n uint64) *wire.Problem {
		r.path[len(r.path)-1].index = int(n) - 1
		if s == nil {
			return r.value(nil)
		}
		if p := r.count(s, n); p != nil {
			return p
		}
		if n > s.most {
			return r.value(nil)
		}
		return r.value(s.items)
	})
	if p == nil && s != nil && n < s.schema.MinItems {
		return r.add(r.pointer(), "invalid_parameter", fmt.Sprintf("must have at least %d entries", s.schema.MinItems))
	}
	return p
}

// count takes one more item of a list, which is the nth.
func (r *reading) count(s *shape, n uint64) *wire.Problem {
	if n == s.most+1 {
		if r.rules && len(r.path) == 2 { // what the call is a batch of
			return tooMany(r.above(), "items", int(s.most))
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
		return tooMany("#", "items", int(s.inCall))
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

func tooMany(pointer, what string, most int) *wire.Problem {
	detail := fmt.Sprintf("has more than %d %s, as many as one call may have", most, what)
	return &wire.Problem{
		Code: "too_many_items", Detail: "The call " + detail + ".",
		Fields: []api.FieldError{{In: api.Body, Pointer: &pointer, Code: "too_many_items", Detail: detail, Params: &map[string]any{"max": most}}},
	}
}

// object reads one with its members.
func (r *reading) object(s *shape) *wire.Problem {
	var seen seen
	_, p := r.parts('}', func(n uint64) *wire.Problem {
		if p := r.expect('"'); p != nil {
			return p
		}
		r.at--
		begin := r.at
		if p := r.stringToken(); p != nil {
			return p
		}
		name := unquoted(r.text[begin:r.at])
		r.path[len(r.path)-1].name = name
		if p := r.expect(':'); p != nil {
			return p
		}
		return r.member(s, name, n, &seen)
	})
	if p != nil || s == nil {
		return p
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

// maxSeen bounds the members that are told to be there twice, though the shape knows none of
// them: more than a map of /ingest may have. With 10,000, objects in each other took 100 MiB
// for a text of 8 MiB.
const maxSeen = 1_000

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
