package statement_test

import (
	"reflect"
	"testing"

	"muster/internal/postgres/statement"
)

// TestColumnsAreInTheOrderOfTheFields, those of an embedded struct among them, each as
// long as there are rows, also where there are none: an empty array, not a missing one.
func TestColumnsAreInTheOrderOfTheFields(t *testing.T) {
	t.Parallel()
	type counted struct {
		Name  string
		Count *int32
	}
	type row struct {
		counted
		ID [16]byte
	}
	two := int32(2)
	got := statement.Columns([]row{{counted{"a", nil}, [16]byte{1}}, {counted{"b", &two}, [16]byte{2}}})
	want := []any{[]string{"a", "b"}, []*int32{nil, &two}, [][16]byte{{1}, {2}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := statement.Columns([]row{}); !reflect.DeepEqual(got, []any{[]string{}, []*int32{}, [][16]byte{}}) {
		t.Errorf("of no rows: %v", got)
	}
}
