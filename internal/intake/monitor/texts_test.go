package monitor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/intake/measure/measuretest"
)

// textReads is how often the server was asked for texts, by itself.
func textReads(t *testing.T, w *measuretest.Watched) (calls int64) {
	t.Helper()
	err := w.Admin.Get(&calls, `SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query LIKE '%left(query%pg_stat_statements(%ANY%'`)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

func textsAreToldOnce(t *testing.T, s *scene, w *measuretest.Watched, one *server) {
	defer s.texts.set(false)
	const sent, kept = `SELECT 'a secret' AS told -- of a secret`, "SELECT ? AS told"
	tells := func(name string, want bool) {
		t.Helper()
		w.Run(t, "app", 2, sent)
		r := s.round(one)
		calls, _, ok := r.statements("app")
		if r.err != nil || !ok || calls != 2 || slices.Contains(r.texts("app"), kept) != want {
			t.Errorf("%s: %v, %d calls, texts %q", name, r.err, calls, r.texts("app"))
		}
		for _, b := range s.intake.batches {
			for _, sample := range b.Statements {
				for _, statement := range sample.Statements {
					if strings.Contains(statement.Text, "secret") {
						t.Errorf("%s: told %q", name, statement.Text)
					}
				}
			}
		}
	}
	s.round(one)
	tells("switched off", false)
	tells("switched off", false)
	if n := textReads(t, w); n != 0 {
		t.Errorf("texts were read %d times while nobody keeps them", n)
	}
	s.texts.set(true)
	tells("switched on", true)
	tells("told", false) // the statement that reads texts came with it: it was executed once before
	for range 10 {       // what is read every ten minutes (backups) is told, too, whenever the clock began
		s.round(one)
	}
	before := textReads(t, w)
	for range 3 {
		tells("told", false)
	}
	if n := textReads(t, w) - before; n != 0 || before == 0 {
		t.Errorf("texts were read %d times where all are known, and %d times before", n, before)
	}
	w.Run(t, "app", 1, `SELECT 2.5 AS newcomer`)
	if got := s.round(one).texts("app"); !slices.Equal(got, []string{"SELECT ? AS newcomer"}) {
		t.Errorf("of one that is new %q were told", got)
	}

	s.texts.set(false)
	tells("switched off again", false)
	s.texts.set(true)
	tells("switched on again", true)
	s.intake.fail = measure.ErrNonsense
	w.Run(t, "app", 1, `SELECT 3.5 AS unkept, 1`)
	s.round(one)
	if got := s.round(one).texts("app"); !slices.Contains(got, "SELECT ? AS unkept, ?") {
		t.Errorf("of one that was not kept %q were told with the next interval", got)
	}
}

func activeTimeAgrees(t *testing.T, s *scene, w *measuretest.Watched, one *server) {
	if w.Major < 14 {
		s.round(one)
		w.Run(t, "app", 1, `SELECT count(*) FROM generate_series(1, 100000)`)
		if busy := s.round(one).busy("app"); busy != nil {
			t.Errorf("a server that does not count it was busy for %g ms", *busy)
		}
		return
	}
	active := func() (ms float64) {
		if err := w.Admin.Get(&ms, `SELECT active_time FROM pg_stat_database WHERE datname = 'app'`); err != nil {
			t.Fatal(err)
		}
		return ms
	}
	// Both looks at the server's own figure enclose the round's: a session's execution is
	// counted up to a second later, which may be between two of them.
	first := active()
	s.round(one)
	before := active()
	w.Run(t, "app", 3, `SELECT count(*) FROM generate_series(1, 100000)`)
	var after float64
	for deadline := time.Now().Add(time.Minute); after == 0 || after == before; after = active() {
		if time.Now().After(deadline) {
			t.Fatal("the server does not count what it executes")
		}
		w.Admin.MustExec(`SELECT pg_sleep(0.01)`)
	}
	r := s.round(one)
	_, attributed, _ := r.statements("app")
	last := active()
	switch busy, noise := r.busy("app"), 1e-6*last; {
	case busy == nil:
		t.Errorf("%v: nobody knows for how long it was busy", r.err)
	case *busy < after-before-noise || *busy > last-first+noise || attributed <= 0 || attributed > *busy:
		t.Errorf("%v: busy for %g ms, by the server %g to %g, its statements %g", r.err, *busy, after-before, last-first, attributed)
	}
	if busy := s.round(one).busy("tools"); busy == nil || *busy != 0 {
		t.Errorf("where nothing was executed: %v", busy)
	}
	var reset string
	if err := w.Admin.Get(&reset, `SELECT coalesce(stats_reset::text, '-infinity') FROM pg_stat_database WHERE datname = 'app'`); err != nil {
		t.Fatal(err)
	}
	w.Run(t, "app", 1, `SELECT pg_stat_reset()`)
	w.Run(t, "app", 9, `SELECT count(*) FROM generate_series(1, 200000)`) // more than before: nothing fell
	// Up to 14, a collector process gets the reset, and the reset shows when the collector has
	// it.
	w.Until(t, 1, fmt.Sprintf(`SELECT count(*) FROM pg_stat_database WHERE datname = 'app' AND active_time > 10 AND stats_reset > '%s'`, reset))
	if busy := s.round(one).busy("app"); busy != nil {
		t.Errorf("after a reset: %g ms", *busy)
	}
	if busy := s.round(one).busy("app"); busy == nil {
		t.Error("it does not go on after a reset")
	}
	w.Admin.MustExec(`CREATE DATABASE late`)
	defer w.Admin.MustExec(`DROP DATABASE late`)
	if r := s.round(one); r.busy("late") != nil {
		t.Errorf("at first sight: %v", *r.busy("late"))
	}
	if r := s.round(one); r.busy("late") == nil {
		t.Errorf("at second sight it is unknown: %v", r.err)
	}
}
