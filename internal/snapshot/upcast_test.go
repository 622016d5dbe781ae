package snapshot

import (
	"bytes"
	"errors"
	"testing"
)

func TestDecodeLiftsOldForms(t *testing.T) {
	t.Parallel()
	data, err := Encode(Document{Kind: "Security", ScopeLabel: "old words"})
	if err != nil {
		t.Fatal(err)
	}
	rename := func(from, to string) upcaster {
		return func(b []byte) ([]byte, error) { return bytes.Replace(b, []byte(from), []byte(to), 1), nil }
	}
	lift := map[int]upcaster{
		1: rename(`"schema":1`, `"schema":2`),
		2: func(b []byte) ([]byte, error) {
			b, _ = rename("old words", "new words")(b)
			return rename(`"schema":2`, `"schema":3`)(b)
		},
	}
	doc, err := decode(data, 3, lift)
	if err != nil || doc.ScopeLabel != "new words" || doc.Schema != 3 {
		t.Errorf("lifted to %q in form %d: %v", doc.ScopeLabel, doc.Schema, err)
	}
	broken := errors.New("broken")
	_, err = decode(data, 2, map[int]upcaster{1: func([]byte) ([]byte, error) { return nil, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("upcaster's error lost: %v", err)
	}
	var missing *VersionError
	if _, err = decode(data, 3, map[int]upcaster{2: lift[2]}); !errors.As(err, &missing) || missing.Got != 1 {
		t.Errorf("a gap in the upcasters: %v", err)
	}
}
