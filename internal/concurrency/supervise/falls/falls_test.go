package falls_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"time"

	"muster/internal/concurrency/supervise"
	"muster/internal/concurrency/supervise/falls"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// TestTheListHasTheLoopsOfAllProcesses, those in trouble first, and no failure from before
// yesterday.
func TestTheListHasTheLoopsOfAllProcesses(t *testing.T) {
	t.Parallel()
	db, log := pgtest.DB(t), slog.New(slog.DiscardHandler)
	book := func(process string) *falls.Book {
		return &falls.Book{DB: db, Loops: supervise.New(log, supervise.Counts{}), Process: process, Log: log}
	}
	write := func(b *falls.Book) {
		t.Helper()
		if err := b.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	lists := func(want ...falls.Fall) {
		t.Helper()
		got, err := book("reader").List(t.Context())
		if err != nil || len(got) != len(want) {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
		for i := range got {
			if time.Since(got[i].LastAt).Abs() > time.Minute {
				t.Errorf("the last fall is of %s", got[i].LastAt)
			}
			got[i].LastAt = time.Time{}
			if got[i] != want[i] {
				t.Errorf("%+v, want %+v", got[i], want[i])
			}
		}
	}
	a, b := book("a"), book("b")
	turn := func(of *falls.Book, name string, do func(context.Context) error) {
		_ = of.Loops.Turn(t.Context(), name, do)
	}
	panics := func(context.Context) error { panic("broken") }
	turn(a, "well", func(context.Context) error { return errors.New("its own to tell") })
	write(a)
	lists()

	turn(a, "watch servers", panics)
	turn(b, "assess servers", panics)
	turn(b, "assess servers", panics)
	turn(b, "assess servers", func(context.Context) error { return nil })
	write(a)
	write(b)
	troubled, healed := falls.Fall{Process: "a", Loop: "watch servers", Falls: 1, InTrouble: true}, falls.Fall{Process: "b", Loop: "assess servers", Falls: 2}
	lists(troubled, healed)

	db.MustExec(`UPDATE loop_falls SET seen_at = now() - interval '2 minutes' WHERE process = 'a'`) // it has ended, it seems
	troubled.InTrouble = false
	db.MustExec(`UPDATE loop_falls SET last_at = last_at - interval '1 second' WHERE process = 'b'`)
	lists(troubled, healed)
	write(a) // it has not
	troubled.InTrouble = true
	lists(troubled, healed)

	db.MustExec(`UPDATE loop_falls SET last_at = now() - interval '25 hours' WHERE process = 'b'`)
	lists(troubled)
	turn(a, "another", panics)
	write(a)
	var left int
	if err := db.Get(&left, `SELECT count(*) FROM loop_falls WHERE process = 'b'`); err != nil || left != 0 {
		t.Errorf("%d old rows are left, %v", left, err)
	}
}
