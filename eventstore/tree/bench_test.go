package tree_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"muster/eventstore"
)

// treeEvents is how many events the log of the benchmarks has.
func treeEvents(b *testing.B) int {
	b.Helper()
	n, err := strconv.Atoi(os.Getenv("MUSTER_BENCH_TREE"))
	if err != nil {
		return 1_000_000
	}
	return n
}

// BenchmarkTree is a log of 1,000,000 events without a tile: how long its root takes, how
// long until its tiles are kept, and then root and proofs of one event and of growth at a
// checkpoint, which a report waits for.
func BenchmarkTree(b *testing.B) {
	n := int64(treeEvents(b))
	trees, _ := filled(b, int(n))
	begun := time.Now()
	root, err := trees.Root(b.Context(), eventstore.Fleet, n)
	must(b, err)
	fromNothing := time.Since(begun)
	begun = time.Now()
	fill(b, trees)
	filling := time.Since(begun)
	var rooted, included, consistent time.Duration
	rounds := 0
	for b.Loop() {
		rounds++
		at := time.Now()
		again, err := trees.Root(b.Context(), eventstore.Fleet, n)
		must(b, err)
		if again != root {
			b.Fatal("tiles have another root than events")
		}
		rooted += time.Since(at)
		at = time.Now()
		_, err = trees.Inclusion(b.Context(), eventstore.Fleet, 1+rand.Int64N(n), n)
		must(b, err)
		included += time.Since(at)
		at = time.Now()
		_, err = trees.Consistency(b.Context(), eventstore.Fleet, 1+rand.Int64N(n), n)
		must(b, err)
		consistent += time.Since(at)
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 / float64(rounds) }
	b.ReportMetric(fromNothing.Seconds(), "root-from-nothing-s")
	b.ReportMetric(filling.Seconds(), "fill-s")
	b.ReportMetric(ms(rooted), "root-ms")
	b.ReportMetric(ms(included), "inclusion-ms")
	b.ReportMetric(ms(consistent), "consistency-ms")
}
