package accounts_test

import (
	"log/slog"
	"math"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"muster/domain/organization"
	"muster/internal/postgres"
	"muster/internal/testing/pgtest"
)

// TestTheTimeOfARefusal measures whether a refused sign-in tells by its time whether the
// account exists, in pairs that take turns, on a server that flushes to the disk. It judges
// nothing, because a machine is never quiet enough:
//
//	MUSTER_TEST_PAIRS=1000 go test -count=1 -v -run TestTheTimeOfARefusal ./internal/accounts
func TestTheTimeOfARefusal(t *testing.T) {
	pairs, _ := strconv.Atoi(os.Getenv("MUSTER_TEST_PAIRS"))
	if pairs == 0 {
		t.Skip("MUSTER_TEST_PAIRS says how many pairs to measure")
	}
	server := pgtest.Cluster(t, pgtest.Options{Fsync: true})
	statements := &said{}
	db, pool, err := postgres.Connect(t.Context(), server.Superuser(), postgres.PoolOptions{Name: "traced", Max: 1, Tracer: statements})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := postgres.Migrate(t.Context(), db, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	d := newDoorOn(t, db)
	d.Unthrottled = true
	d.member("known@example.org", organization.Member, "")
	took, spent, waited := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for n := range pairs + 10 {
		order := []string{"known@example.org", "nobody@example.org"}
		if n%2 == 1 {
			slices.Reverse(order)
		}
		for _, email := range order {
			statements.took = 0
			before, begun := processorTime(), time.Now()
			if _, _, err := d.SignIn(t.Context(), email, "wrong", from("192.0.2.1")); refusal(err) != "invalid_credentials" {
				t.Fatal(err)
			}
			if n >= 10 { // the first ones prepare statements
				took[email] = append(took[email], time.Since(begun).Seconds()*1000)
				spent[email] = append(spent[email], (processorTime()-before).Seconds()*1000)
				waited[email] = append(waited[email], statements.took.Seconds()*1000)
			}
		}
	}
	for what, of := range map[string]map[string][]float64{"elapsed": took, "processor": spent, "in the database": waited} {
		known, nobody := of["known@example.org"], of["nobody@example.org"]
		var differences []float64
		for i := range known {
			differences = append(differences, known[i]-nobody[i])
		}
		low, middle, high := interval(differences)
		t.Logf("%s, %d pairs: known %.2f ms, nobody %.2f ms (medians); known − nobody: median %+.2f ms, 95%% within %+.2f and %+.2f",
			what, pairs, median(known), median(nobody), middle, low, high)
	}
}

// interval is the median with the bounds that hold it in 19 of 20 cases, by order
// statistics: nothing is assumed of how times are spread.
func interval(values []float64) (low, middle, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := float64(len(sorted))
	reach := 0.98 * math.Sqrt(n)
	at := func(i float64) float64 { return sorted[min(max(int(i), 0), len(sorted)-1)] }
	return at(n/2 - reach), median(values), at(n/2 + reach)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// processorTime is what this process has used; the database's is not in it.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
