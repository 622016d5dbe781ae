package measurements_test

import (
	"bytes"
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/internal/measurements"
)

// TestStatementsAreRankedLikeOtherContributors: also those whose id is never made, and of two that
// have as large a part the one with the lesser id is first.
func TestStatementsAreRankedLikeOtherContributors(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		b := measurements.Breakdown{
			Series: rapid.SampledFrom([]measurements.Series{measurements.Average, measurements.Maximum}).Draw(r, "series"),
			By:     measurements.ByStatement, Limit: rapid.IntRange(1, 5).Draw(r, "limit"),
		}
		all, whole := measurements.Ranking{Breakdown: b}, measurements.Ranking{Breakdown: b}
		for range rapid.IntRange(0, 20).Draw(r, "statements") {
			part := float64(rapid.IntRange(1, 5).Draw(r, "part"))
			c := measurements.Contributor{Instance: uuid.UUID{1}, Value: part, Calls: 1, TotalMs: part}
			hash := rapid.Uint64().Draw(r, "hash")
			all.AddStatement(c, hash)
			c.Statement = measurements.StatementID(c.Instance, hash)
			whole.Add(c)
		}
		if diff := gocmp.Diff(whole, all); diff != "" {
			r.Fatalf("(-by ids +by hashes):\n%s", diff)
		}
	})
}

// TestAPageIsOneOfAllSorted: whatever page, size and order, with parts that are alike.
func TestAPageIsOneOfAllSorted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var all measurements.Statements
		for n := range rapid.IntRange(0, 30).Draw(r, "statements") {
			calls := float64(rapid.IntRange(1, 4).Draw(r, "calls"))
			all.Add(measurements.StatementSums{StatementRef: measurements.StatementRef{Instance: uuid.UUID{1}, Hash: uint64(n)}, Calls: calls, TotalMs: float64(rapid.IntRange(1, 4).Draw(r, "time"))})
		}
		inOrder := func(a, b measurements.StatementSums) int {
			one, other := a.ID(), b.ID()
			return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(b.TotalMs, a.TotalMs), bytes.Compare(one[:], other[:]))
		}
		sorted := slices.SortedFunc(slices.Values(all.Items), inOrder)
		number, size := rapid.IntRange(1, 4).Draw(r, "number"), rapid.IntRange(1, 12).Draw(r, "size")
		want := sorted[min((number-1)*size, len(sorted)):min(number*size, len(sorted))]
		if diff := gocmp.Diff(want, all.Page("-calls", number, size)); diff != "" {
			r.Fatalf("(-sorted +page):\n%s", diff)
		}
		if diff := gocmp.Diff(sorted, slices.SortedFunc(slices.Values(all.Items), inOrder)); diff != "" {
			r.Fatalf("other items are left (-before +behind):\n%s", diff)
		}
	})
}
