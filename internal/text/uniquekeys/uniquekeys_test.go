package uniquekeys_test

import (
	"errors"
	"testing"

	"muster/internal/text/uniquekeys"
)

func TestDuplicateNamesAreFound(t *testing.T) {
	t.Parallel()
	for document, pointer := range map[string]string{
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}`: "",
		`{"a":"a","b":"a","c":["a","a"]}`:           "",
		`[]`:                                        "",
		`1`:                                         "",
		`{"a":1,"a":1}`:                             "/a",
		`{"a":1,"b":[],"a":{}}`:                     "/a",
		`{"a":1,"\u0061":1}`:                        "/a",
		`{"a":1,"A":1}`:                             "/A",
		`{"key":1,"` + "\u212a" + `ey":1}`:          "/\u212aey", // the Kelvin sign folds to k
		`{"x":[1,{"y":{"b/c":1,"b/c":2}}]}`:         "/x/1/y/b~1c",
		`{"evidence":{"from":"1"},"evidence":{"from":"2"}}`: "/evidence",
	} {
		err := uniquekeys.Check([]byte(document))
		var twice *uniquekeys.TwiceError
		errors.As(err, &twice)
		if found := twice; (found == nil) != (pointer == "") || found != nil && found.Pointer != pointer {
			t.Errorf("%s: %v, want %q", document, err, pointer)
		}
	}
	if uniquekeys.Check([]byte(`{"a":`)) == nil || uniquekeys.Check([]byte(`{]`)) == nil {
		t.Error("what is no JSON passes")
	}
}
