package truth_test

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"muster/internal/measurements/measurementstest"
	"muster/internal/measurements/pgstore"
	"muster/internal/measurements/pgstore/pgstoretest"
	"muster/internal/testing/pgtest"
	"muster/internal/testing/truth"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

func reference() measurementstest.Harness { return measurementstest.NewReference().Harness() }

// played is the whole table, for all tests.
var played = sync.OnceValues(func() ([]truth.Cell, error) { return truth.Run(context.Background(), reference) })

func play(t *testing.T) []truth.Cell {
	t.Helper()
	cells, err := played()
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// TestFiguresAreTrueOrNameTheirGaps is the claim.
func TestFiguresAreTrueOrNameTheirGaps(t *testing.T) {
	t.Parallel()
	for _, c := range play(t) {
		for _, wrong := range c.Wrong {
			t.Errorf("%s on %s: it was told what did not happen: %s", c.Scene, c.Engine, wrong)
		}
		if !c.Exact() && len(c.Said) == 0 {
			t.Errorf("%s on %s: %+v, really %+v, and nothing says so", c.Scene, c.Engine, c.Ours, c.Truth)
		}
		if c.Ours.Calls > c.Truth.Calls || c.Ours.TotalMs > c.Truth.TotalMs {
			t.Errorf("%s on %s: more than there was: %+v, really %+v", c.Scene, c.Engine, c.Ours, c.Truth)
		}
		if c.Scene == "nothing happens" && (!c.Exact() || len(c.Said) > 0) {
			t.Errorf("nothing happens on %s: %+v, really %+v, said %q", c.Engine, c.Ours, c.Truth, c.Said)
		}
	}
}

// TestThePageHasTheTable holds docs/truth.md to what make truth prints.
func TestThePageHasTheTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/truth.md")
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := playedSessions()
	if err != nil {
		t.Fatal(err)
	}
	want, err := truth.Into(string(page), truth.Table(play(t)), truth.SessionTable(sessions))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(page), "\n"), strings.Split(want, "\n")); diff != "" {
		t.Errorf("docs/truth.md is not what is printed now (+); make truth-page writes it:\n%s", diff)
	}
}

// TestTheRealStoreAgrees plays what is late and what comes twice into PostgreSQL: the
// table itself is made with a store that is plain.
func TestTheRealStoreAgrees(t *testing.T) {
	t.Parallel()
	store := onPostgreSQL(t)
	real := func() measurementstest.Harness { return store }
	for _, scene := range []string{"71 h late", "double delivery"} {
		want, err1 := truth.Run(t.Context(), reference, scene)
		got, err2 := truth.Run(t.Context(), real, scene)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-9, 0)); diff != "" || len(want) != 5 {
			t.Errorf("%s: %d cells, %s", scene, len(want), diff)
		}
	}
}

// onPostgreSQL is the real store, whose time passes when it is told.
func onPostgreSQL(t *testing.T) measurementstest.Harness {
	db := pgtest.DB(t)
	store := pgstore.New(db, slog.New(slog.DiscardHandler))
	return pgstoretest.Harness(t, db, store, func(ctx context.Context) error { _, err := store.Roll(ctx); return err })
}
