package oracle

import (
	"fmt"
	"math"
	"testing"
	"time"

	"muster/internal/servers/tnstest"
	"muster/internal/testing/longtest"
)

// TestTwentyThousandCursors of a shared pool are read in time, and compared by entry.
func TestTwentyThousandCursors(t *testing.T) {
	t.Parallel()
	cursors(t, 20_000, 5*time.Second)
}

// TestLongTwoHundredThousandCursors likewise.
func TestLongTwoHundredThousandCursors(t *testing.T) {
	longtest.Only(t)
	cursors(t, 200_000, time.Minute) // it takes 1.3 s; a machine that runs all tests may need more
}

// cursors reads a list twice, in which the last statement was executed in between.
func cursors(t *testing.T, n int, timeout time.Duration) {
	t.Helper()
	l := answered(t, began, 10)
	server, home, clock := overTheDriver(t, l, timeout)
	rows := make([][]string, n)
	for i := range rows {
		rows[i] = []string{"0", "3", sqlID(uint64(i)), fmt.Sprint(i + 1), "1", "10", "5000"}
	}
	for look := range 2 {
		answer(l, clock.Now(), 10)
		rows[n-1][5], rows[n-1][6] = fmt.Sprint(10+look), fmt.Sprint(5000+700*look)
		l.Answer(sent(statementsQuery), tnstest.Answer{Columns: 7, Numbers: []int{0, 1, 3, 4, 5, 6}, Rows: rows})
		from := time.Now()
		if err := server.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d cursors took %s", n, time.Since(from))
		clock.Advance(20 * time.Second)
	}
	got := home.Batches[1].Statements[0].Statements
	if len(got) != 1 || got[0].Calls != 1 || math.Abs(got[0].TotalMs-0.7) > 1e-9 || len(home.Batches[1].Sessions) != 1 {
		t.Errorf("kept %+v", got)
	}
}
