package codec

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// TestDetailsWithoutDatabases: statements that were stored without their database get it as soon as another
// detail has it, and have none otherwise.
func TestDetailsWithoutDatabases(t *testing.T) {
	t.Parallel()
	shop := uuid.UUID{1}
	before := Deltas{{Hash: 1, Calls: 2, Total: 3, Max: 1, Samples: 4}, {Hash: 7, Calls: 1, Total: 1, Max: 1, Samples: 1}}
	old := []byte{byte(len(before))}
	for _, d := range before {
		old = append(AppendDelta(old, d), byte(d.Samples))
	}
	since := Detail{{shop, Deltas{{Hash: 1, Calls: 10, Total: 5, Max: 2, Samples: 6}}}}
	joined, err := statementKind{}.Join([][]byte{old, since.Encode()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeDetail(joined)
	want := Detail{{uuid.Nil, before[1:]}, {shop, Deltas{{Hash: 1, Calls: 12, Total: 8, Max: 2, Samples: 10}}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(DatabaseStatements{}, Delta{})); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, none := range [][]byte{{0}, Detail{}.Encode()} {
		if got, err := DecodeDetail(none); err != nil || len(got) > 0 {
			t.Errorf("%x is %v, %v", none, got, err)
		}
	}
}

// TestAnAdderAddsUpDetails: its result for the bytes of samples and details, old and new, is
// that of AddUpDetails for the details themselves; again after a reset.
func TestAnAdderAddsUpDetails(t *testing.T) {
	t.Parallel()
	const aSample, aDetail, anOldDetail = 0, 1, 2
	rapid.Check(t, func(r *rapid.T) {
		var a Adder
		for range rapid.IntRange(1, 3).Draw(r, "rounds") {
			var parts []Detail
			a.Reset()
			for range rapid.IntRange(1, 5).Draw(r, "parts") {
				form := rapid.IntRange(aSample, anOldDetail).Draw(r, "form")
				part := drawnDetail(r, form == aSample)
				var body []byte
				switch form {
				case aSample:
					for _, of := range slices.Backward(part) { // in any order
						body = binary.AppendUvarint(append(body, of.Database[:]...), uint64(len(of.Statements)))
						for _, d := range of.Statements {
							body = AppendDelta(body, d)
						}
					}
				case aDetail:
					body = part.Encode()
				case anOldDetail:
					part = Detail{{Statements: append(drawnDeltas(r, false), Delta{Hash: 100, Samples: 1})}}
					body = binary.AppendUvarint(nil, uint64(len(part[0].Statements)))
					for _, d := range part[0].Statements {
						body = binary.AppendUvarint(AppendDelta(body, d), d.Samples)
					}
				}
				parts = append(parts, part)
				if err := a.Add(body, form != aSample); err != nil {
					r.Fatal(err)
				}
			}
			if diff := cmp.Diff(AddUpDetails(parts), a.Sum(), cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
				r.Fatalf("(-details +bytes):\n%s", diff)
			}
		}
	})
}

// drawnDetail has databases in order, each with statements; ofSample: each is in one.
func drawnDetail(r *rapid.T, ofSample bool) (d Detail) {
	ids := rapid.SliceOfNDistinct(rapid.ByteRange(1, 4), 0, 4, rapid.ID).Draw(r, "databases")
	slices.Sort(ids)
	for _, id := range ids {
		d = append(d, DatabaseStatements{uuid.UUID{id}, drawnDeltas(r, ofSample)})
	}
	return d
}

// drawnDeltas are statements whose times are whole numbers, so that no order of adding
// them up makes another sum.
func drawnDeltas(r *rapid.T, ofSample bool) Deltas {
	list := Deltas{}
	hashes := rapid.SliceOfNDistinct(rapid.Uint64Range(1, 12), 0, 8, rapid.ID).Draw(r, "hashes")
	slices.Sort(hashes)
	for _, hash := range hashes {
		d := Delta{Hash: hash, Calls: rapid.Uint64Range(0, 1000).Draw(r, "calls"), Total: float64(rapid.IntRange(0, 1e6).Draw(r, "time")), Max: math.NaN(), Samples: 1}
		if rapid.Bool().Draw(r, "has a maximum") {
			d.Max = float64(rapid.IntRange(0, 1000).Draw(r, "max"))
		}
		if !ofSample {
			d.Samples = rapid.Uint64Range(1, 300).Draw(r, "samples")
		}
		list = append(list, d)
	}
	return list
}
