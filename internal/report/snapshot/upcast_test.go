package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func TestDecodeLiftsOldForms(t *testing.T) {
	t.Parallel()
	data, err := Encode(Document{Kind: "Security", ScopeLabel: "old words"})
	if err != nil {
		t.Fatal(err)
	}
	const n = SchemaVersion // as if two more forms had come since
	form := func(n int) string { return fmt.Sprintf(`"schema":%d`, n) }
	rename := func(from, to string) upcaster {
		return func(b []byte) ([]byte, error) { return bytes.Replace(b, []byte(from), []byte(to), 1), nil }
	}
	lift := map[int]upcaster{
		n: rename(form(n), form(n+1)),
		n + 1: func(b []byte) ([]byte, error) {
			b, _ = rename("old words", "new words")(b)
			return rename(form(n+1), form(n+2))(b)
		},
	}
	doc, err := decode(data, n+2, lift)
	if err != nil || doc.ScopeLabel != "new words" || doc.Schema != n+2 {
		t.Errorf("lifted to %q in form %d: %v", doc.ScopeLabel, doc.Schema, err)
	}
	broken := errors.New("broken")
	_, err = decode(data, n+1, map[int]upcaster{n: func([]byte) ([]byte, error) { return nil, broken }})
	if !errors.Is(err, broken) {
		t.Errorf("upcaster's error lost: %v", err)
	}
	var missing *VersionError
	if _, err = decode(data, n+2, map[int]upcaster{n + 1: lift[n+1]}); !errors.As(err, &missing) || missing.Got != n {
		t.Errorf("a gap in the upcasters: %v", err)
	}
}
