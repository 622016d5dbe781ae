package codec

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// TestDetailsFromBeforeDatabases: what was kept of statements without their database is
// theirs as soon as another detail tells it, and otherwise nobody's.
func TestDetailsFromBeforeDatabases(t *testing.T) {
	t.Parallel()
	shop := uuid.UUID{1}
	before := Deltas{{Hash: 1, Calls: 2, Total: 3, Max: 1, Samples: 4}, {Hash: 7, Calls: 1, Total: 1, Max: 1, Samples: 1}}
	old := []byte{byte(len(before))}
	for _, d := range before {
		old = append(appendDelta(old, d), byte(d.Samples))
	}
	since := Detail{{shop, Deltas{{Hash: 1, Calls: 10, Total: 5, Max: 2, Samples: 6}}}}
	joined, err := statementKind{}.Join([][]byte{old, since.encode()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeDetail(joined)
	want := Detail{{uuid.Nil, before[1:]}, {shop, Deltas{{Hash: 1, Calls: 12, Total: 8, Max: 2, Samples: 10}}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(DatabaseStatements{}, Delta{})); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, none := range [][]byte{{0}, Detail{}.encode()} {
		if got, err := DecodeDetail(none); err != nil || len(got) > 0 {
			t.Errorf("%x is %v, %v", none, got, err)
		}
	}
}
