package roster

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// walker goes through the nodes of a file and collects what is wrong with them.
type walker struct{ faults []Fault }

func (w *walker) refuse(node *yaml.Node, field, rule string) {
	w.faults = append(w.faults, Fault{Line: node.Line, Field: field, Rule: rule})
}

// member is what reads the value of a key.
type member func(value *yaml.Node, field string)

// plainKey is what a key may look like to be repeated: one that was meant to be a value
// may hold a password.
var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,39}$`)

// mapping reads the keys that it knows and refuses all others. The keys in needed must
// be there.
func (w *walker) mapping(node *yaml.Node, field string, needed []string, known map[string]member) {
	if node.Kind != yaml.MappingNode {
		w.refuse(node, field, "must be a mapping")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		read, ok := known[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || !plainKey.MatchString(key.Value):
			w.refuse(key, field, "has a key that is not one of "+listed(known))
		case !ok:
			w.refuse(key, below(field, key.Value), "is not known here; there are "+listed(known))
		case seen[key.Value]:
			w.refuse(key, below(field, key.Value), "is given twice")
		default:
			seen[key.Value] = true
			read(value, below(field, key.Value))
		}
	}
	for _, key := range needed {
		if !seen[key] {
			w.refuse(node, below(field, key), "is required")
		}
	}
}

func below(field, key string) string {
	if field == "" {
		return key
	}
	return field + "." + key
}

func listed(known map[string]member) string {
	var names []string
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// sequence reads the items of a list.
func (w *walker) sequence(node *yaml.Node, field string, item member) (ok bool) {
	if node.Kind != yaml.SequenceNode {
		w.refuse(node, field, "must be a list; without any it is written []")
		return false
	}
	for i, n := range node.Content {
		item(n, fmt.Sprintf("%s[%d]", field, i))
	}
	return true
}

// text reads a text that is not empty. A number or a truth is none: 0123 and 1_0 would
// become other than they were written.
func (w *walker) text(into *string) member {
	return func(value *yaml.Node, field string) {
		tag := value.ShortTag()
		switch {
		case value.Kind != yaml.ScalarNode:
			w.refuse(value, field, "must be a text")
		case tag == "!!null" || value.Value == "":
			w.refuse(value, field, "is empty; leave the key out instead")
		case tag != "!!str" && tag != "!!timestamp":
			w.refuse(value, field, "must be a text; put it into quotation marks")
		default:
			*into = value.Value
		}
	}
}

// texts reads a mapping of texts by keys, which its user holds to their rules.
func (w *walker) texts(into *map[string]string) member {
	return func(value *yaml.Node, field string) {
		if value.Kind != yaml.MappingNode {
			w.refuse(value, field, "must be a mapping; without any it is written {}")
			return
		}
		texts := make(map[string]string, len(value.Content)/2)
		for i := 0; i+1 < len(value.Content); i += 2 {
			key, text := value.Content[i], ""
			if _, twice := texts[key.Value]; twice {
				w.refuse(key, field, "has a key twice")
			}
			at := field
			if plainKey.MatchString(key.Value) {
				at = below(field, key.Value)
			}
			if w.text(&text)(value.Content[i+1], at); text != "" {
				texts[key.Value] = text
			}
		}
		*into = texts
	}
}

// words reads a list of texts.
func (w *walker) words(into **[]string) member {
	return func(value *yaml.Node, field string) {
		words := []string{}
		read := w.sequence(value, field, func(n *yaml.Node, field string) {
			var text string
			if w.text(&text)(n, field); text != "" {
				words = append(words, text)
			}
		})
		if read {
			*into = &words
		}
	}
}

// optional is text into a place that is nil until then.
func (w *walker) optional(into **string) member {
	return func(value *yaml.Node, field string) {
		var text string
		if w.text(&text)(value, field); text != "" {
			*into = &text
		}
	}
}

func (w *walker) number(into **int) member {
	return func(value *yaml.Node, field string) {
		n := new(int)
		if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!int" || value.Decode(n) != nil {
			w.refuse(value, field, "must be a whole number")
			return
		}
		*into = n
	}
}

func (w *walker) truth(into **bool) member {
	return func(value *yaml.Node, field string) {
		is := new(bool)
		if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!bool" || value.Decode(is) != nil {
			w.refuse(value, field, "must be true or false")
			return
		}
		*into = is
	}
}

func (w *walker) instant(into *time.Time) member {
	return func(value *yaml.Node, field string) {
		var text string
		w.text(&text)(value, field)
		if text == "" {
			return
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			w.refuse(value, field, "must be an RFC 3339 time (2027-03-01T00:00:00Z)")
			return
		}
		*into = at
	}
}

// oneOf reads one of some words.
func (w *walker) oneOf(into *string, words ...string) member {
	return func(value *yaml.Node, field string) {
		var text string
		w.text(&text)(value, field)
		switch {
		case text == "":
		case !slices.Contains(words, text):
			w.refuse(value, field, "must be one of "+strings.Join(words, ", "))
		default:
			*into = text
		}
	}
}
