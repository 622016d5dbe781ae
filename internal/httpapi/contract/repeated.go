package contract

import (
	"bytes"
	"encoding/json"
	"strconv"

	"muster/internal/httpapi/wire"
)

// Repeated finds the members that an object of body has twice. JSON leaves open which of them
// counts, and Go takes the last one: what the sender meant is not known. value is body, read.
//
// Reading the body once more by its tokens takes as long as reading it, so the members are
// counted first: value has as many as body has colons outside of texts, unless some are there
// twice.
func Repeated(body []byte, value any) []fault {
	if colons(body) == members(value) {
		return nil
	}
	w := repeats{decoder: json.NewDecoder(bytes.NewReader(body))}
	w.decoder.UseNumber()
	w.value("#")
	return w.found
}

// colons counts the colons of a JSON text that stand outside of its texts.
func colons(body []byte) (n int) {
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case ':':
			n++
		case '"':
			for i++; i < len(body) && body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
		}
	}
	return n
}

// members counts the members of all objects in a value.
func members(value any) (n int) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			n += members(item)
		}
	case map[string]any:
		n = len(v)
		for _, item := range v {
			n += members(item)
		}
	}
	return n
}

// repeats walks a JSON text that is known to be valid.
type repeats struct {
	decoder *json.Decoder
	found   []fault
}

func (w *repeats) value(pointer string) {
	token, err := w.decoder.Token()
	if err != nil {
		return
	}
	switch token {
	case json.Delim('['):
		for i := 0; w.decoder.More(); i++ {
			w.value(pointer + "/" + strconv.Itoa(i))
		}
	case json.Delim('{'):
		w.object(pointer)
	default:
		return
	}
	_, _ = w.decoder.Token() // its end
}

func (w *repeats) object(pointer string) {
	times := map[string]int{}
	for w.decoder.More() {
		token, err := w.decoder.Token()
		if err != nil {
			return
		}
		name, _ := token.(string)
		at := pointer + "/" + wire.EscapePointer(name)
		if times[name]++; times[name] == 2 && len(w.found) < wire.MaxFaults {
			w.found = append(w.found, fault{at, "repeated_field", "is in this object twice"})
		}
		w.value(at)
	}
}
