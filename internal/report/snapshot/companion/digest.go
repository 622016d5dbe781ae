package companion

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/day"
)

// digestOf is a digest in figures and in words.
func digestOf(doc snapshot.Document) (any, error) {
	if doc.Day == nil {
		return nil, errors.New("the document has no day")
	}
	return day.FileOf(*doc.Day), nil
}

func writeObject(w io.Writer, name string, doc snapshot.Document, of func(snapshot.Document) (any, error)) error {
	object, err := of(doc)
	if err == nil {
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		err = out.Encode(object)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
