package strictyaml

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Node is a node of a document.
type Node = yaml.Node

// Fault is one thing that is wrong with a file. It repeats nothing of the file but
// names of members, of variables and of files: anything else may be a secret.
type Fault struct {
	Line  int    `json:"line"`
	Field string `json:"field"` // "instances[3].engine"; empty: the file itself
	Rule  string `json:"rule"`
	Code  string `json:"code,omitempty"` // the API's, where it has one for the rule

	Unknown bool `json:"-"` // of a key: what is known was read
}

func (f Fault) String() string {
	if f.Field == "" {
		return fmt.Sprintf("%d: %s", f.Line, f.Rule)
	}
	text := fmt.Sprintf("%d: %s %s", f.Line, f.Field, f.Rule)
	if f.Code != "" {
		text += " (" + f.Code + ")"
	}
	return text
}

// Reader goes through the nodes of a file and collects what is wrong with them.
type Reader struct{ Faults []Fault }

// Refuse adds a fault at a node.
func (r *Reader) Refuse(node *Node, field, rule string) {
	r.Faults = append(r.Faults, Fault{Line: node.Line, Field: field, Rule: rule})
}

func (r *Reader) unknown(key *Node, field, rule string) {
	r.Faults = append(r.Faults, Fault{Line: key.Line, Field: field, Rule: rule, Unknown: true})
}

// Member is what reads the value of a key.
type Member func(value *Node, field string)

// plainKey is the form of a key that may be repeated: a key that was meant to be a value may
// contain a password.
var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,39}$`)

// Mapping reads the keys that it knows and refuses all others. The keys in needed must
// be there.
func (r *Reader) Mapping(node *Node, field string, needed []string, known map[string]Member) {
	if node.Kind != yaml.MappingNode {
		r.Refuse(node, field, "must be a mapping")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		read, ok := known[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || !plainKey.MatchString(key.Value):
			r.unknown(key, field, "has a key that is not one of "+listed(known))
		case !ok:
			r.unknown(key, Below(field, key.Value), "is not known here; there are "+listed(known))
		case seen[key.Value]:
			r.Refuse(key, Below(field, key.Value), "is given twice")
		default:
			seen[key.Value] = true
			read(value, Below(field, key.Value))
		}
	}
	for _, key := range needed {
		if !seen[key] {
			r.Refuse(node, Below(field, key), "is required")
		}
	}
}

// Below is the field of a member.
func Below(field, key string) string {
	if field == "" {
		return key
	}
	return field + "." + key
}

func listed(known map[string]Member) string {
	var names []string
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Sequence reads the items of a list.
func (r *Reader) Sequence(node *Node, field string, item Member) (ok bool) {
	if node.Kind != yaml.SequenceNode {
		r.Refuse(node, field, "must be a list; without any it is written []")
		return false
	}
	for i, n := range node.Content {
		item(n, fmt.Sprintf("%s[%d]", field, i))
	}
	return true
}

// Text reads a text that is not empty. A number or a boolean is refused: 0123 and 1_0 would not
// stay as they were written.
func (r *Reader) Text(into *string) Member {
	return func(value *Node, field string) {
		tag := value.ShortTag()
		switch {
		case value.Kind != yaml.ScalarNode:
			r.Refuse(value, field, "must be a text")
		case tag == "!!null" || value.Value == "":
			r.Refuse(value, field, "is empty; leave the key out instead")
		case tag != "!!str" && tag != "!!timestamp":
			r.Refuse(value, field, "must be a text; put it into quotation marks")
		default:
			*into = value.Value
		}
	}
}

// TextOrNumber reads a text that may be a whole number.
func (r *Reader) TextOrNumber(into *string) Member {
	return func(value *Node, field string) {
		if value.Kind == yaml.ScalarNode && value.ShortTag() == "!!int" {
			*into = value.Value
			return
		}
		r.Text(into)(value, field)
	}
}

// Texts reads a mapping of texts by keys, which its user holds to their rules.
func (r *Reader) Texts(into *map[string]string) Member {
	return func(value *Node, field string) {
		if value.Kind != yaml.MappingNode {
			r.Refuse(value, field, "must be a mapping; without any it is written {}")
			return
		}
		texts := make(map[string]string, len(value.Content)/2)
		for i := 0; i+1 < len(value.Content); i += 2 {
			key, text := value.Content[i], ""
			if _, twice := texts[key.Value]; twice {
				r.Refuse(key, field, "has a key twice")
			}
			at := field
			if plainKey.MatchString(key.Value) {
				at = Below(field, key.Value)
			}
			if r.Text(&text)(value.Content[i+1], at); text != "" {
				texts[key.Value] = text
			}
		}
		*into = texts
	}
}

// Words reads a list of texts.
func (r *Reader) Words(into **[]string) Member {
	return func(value *Node, field string) {
		words := []string{}
		read := r.Sequence(value, field, func(n *Node, field string) {
			var text string
			if r.Text(&text)(n, field); text != "" {
				words = append(words, text)
			}
		})
		if read {
			*into = &words
		}
	}
}

// Optional is text into a place that is nil until then.
func (r *Reader) Optional(into **string) Member {
	return func(value *Node, field string) {
		var text string
		if r.Text(&text)(value, field); text != "" {
			*into = &text
		}
	}
}

// Number reads a whole number.
func (r *Reader) Number(into **int) Member {
	return func(value *Node, field string) {
		n := new(int)
		if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!int" || value.Decode(n) != nil {
			r.Refuse(value, field, "must be a whole number")
			return
		}
		*into = n
	}
}

// Decimal reads a number.
func (r *Reader) Decimal(into **float64) Member {
	return func(value *Node, field string) {
		n, tag := new(float64), value.ShortTag()
		if value.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" || value.Decode(n) != nil || math.IsNaN(*n) || math.IsInf(*n, 0) {
			r.Refuse(value, field, "must be a number")
			return
		}
		*into = n
	}
}

// Truth reads true or false.
func (r *Reader) Truth(into **bool) Member {
	return func(value *Node, field string) {
		is := new(bool)
		if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!bool" || value.Decode(is) != nil {
			r.Refuse(value, field, "must be true or false")
			return
		}
		*into = is
	}
}

// Instant reads a time.
func (r *Reader) Instant(into *time.Time) Member {
	return func(value *Node, field string) {
		var text string
		r.Text(&text)(value, field)
		if text == "" {
			return
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			r.Refuse(value, field, "must be an RFC 3339 time (2027-03-01T00:00:00Z)")
			return
		}
		*into = at
	}
}

// OneOf reads one of some words.
func (r *Reader) OneOf(into *string, words ...string) Member {
	return func(value *Node, field string) {
		var text string
		r.Text(&text)(value, field)
		switch {
		case text == "":
		case !slices.Contains(words, text):
			r.Refuse(value, field, "must be one of "+strings.Join(words, ", "))
		default:
			*into = text
		}
	}
}
