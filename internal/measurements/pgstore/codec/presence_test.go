package codec

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"muster/internal/measurements/pgstore/rowbytes"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// presences draws one, as a map.
func presences() *rapid.Generator[map[int64]uint64] {
	return rapid.MapOf(rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, 1<<40)),
		rapid.OneOf(rapid.Just[uint64](AllMinutes), rapid.Uint64Range(1, AllMinutes)))
}

func presenceOf(of map[int64]uint64) (p Presence) {
	for _, id := range slices.Sorted(maps.Keys(of)) {
		p.Series, p.Slots = append(p.Series, id), append(p.Slots, of[id])
	}
	return p
}

// TestPresence: written data is read back, and new knowledge of some slots replaces the
// knowledge of these, and of nothing else.
func TestPresence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		was, anew := presences().Draw(t, "was"), presences().Draw(t, "anew")
		slots := rapid.Uint64Range(0, AllMinutes).Draw(t, "slots")
		want := make(map[int64]uint64)
		for id, set := range was {
			want[id] = set &^ slots
		}
		for id, set := range anew {
			want[id] |= set & slots
		}
		maps.DeleteFunc(want, func(_ int64, set uint64) bool { return set == 0 })
		got := presenceOf(was).Replace(slots, presenceOf(anew))
		read, err := DecodePresence(got.Encode())
		if diff := cmp.Diff(presenceOf(want), read, cmpopts.EquateEmpty()); diff != "" || err != nil || !read.Equal(got) {
			t.Fatalf("%v (-want +got)\n%s", err, diff)
		}
		var in []int64
		for _, id := range presenceOf(want).Series {
			if want[id]&7 != 0 {
				in = append(in, id)
			}
		}
		if !slices.Equal(in, got.In(7)) {
			t.Fatalf("in the first three: %v, want %v", got.In(7), in)
		}
	})
}

// FuzzPresence: bytes that were never written are an error, or are read as what they say.
func FuzzPresence(f *testing.F) {
	f.Add(Presence{Series: []int64{1, 2, 900}, Slots: []uint64{1, AllMinutes, 1}}.Encode())
	f.Add([]byte{1, 1, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodePresence(b)
		if err != nil {
			if !errors.Is(err, rowbytes.ErrBytes) {
				t.Errorf("%v", err)
			}
			return
		}
		if again, err := DecodePresence(p.Encode()); err != nil || !again.Equal(p) {
			t.Errorf("%v: %v, %v", p, again, err)
		}
	})
}
