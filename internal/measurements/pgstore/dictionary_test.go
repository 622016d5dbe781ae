package pgstore

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/dictionary"
	"muster/internal/postgres/statement"
)

// noted is a row of the dictionary.
type noted struct {
	ID, Database uuid.UUID
	Key          string
	Text         *string
	First, Last  time.Time
}

func (n noted) text() string {
	if n.Text == nil {
		return ""
	}
	return *n.Text
}

func dictionaryOf(t testing.TB, s *Store) map[uuid.UUID]noted {
	t.Helper()
	rows, err := statement.All[noted](t.Context(), s.db, "read the dictionary",
		`SELECT id, database_id AS database, key, text, first_seen AS first, last_seen AS last FROM measured_statements`)
	if err != nil {
		t.Fatal(err)
	}
	of := make(map[uuid.UUID]noted)
	for _, row := range rows {
		of[row.ID] = row
	}
	return of
}

// keepsTexts is an organization's decision.
func keepsTexts(keeps bool) func(context.Context, *sqlx.Tx, uuid.UUID) (bool, error) {
	return func(context.Context, *sqlx.Tx, uuid.UUID) (bool, error) { return keeps, nil }
}

// textOf is the text of a statement; statements from d on have none.
func textOf(key string) string {
	if key > "c" {
		return ""
	}
	return "SELECT " + key
}

// replicaOf is the store of another process.
func replicaOf(s *Store) *Store {
	other := New(s.db, slog.New(slog.DiscardHandler))
	other.KeepsTexts = s.KeepsTexts
	return other
}

// executed is a sample of a database's statements, once each.
func executed(instance, database uuid.UUID, at time.Time, text string, keys ...string) measurements.StatementSample {
	s := measurements.StatementSample{Instance: instance, Engine: fleet.PostgreSQL, Database: database, At: at, Interval: time.Minute}
	for _, key := range keys {
		s.Statements = append(s.Statements, measurements.Statement{Key: key, Calls: 1, TotalMs: 1, Text: text})
	}
	return s
}

// TestDictionary: every statement that was executed in a sample that was kept is there,
// with its oldest sample and, to the hour, its newest, in whatever order they come, and to
// whichever process.
func TestDictionary(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.KeepsTexts = keepsTexts(true)
	processes := []*Store{s, replicaOf(s)}
	begin := time.Now().Add(-5 * time.Hour).Truncate(time.Minute)
	random := rand.New(rand.NewPCG(14, 21))
	type statementOf struct {
		instance, database int
		key                string
	}
	organization := uuid.New()
	kept := make(map[[3]int]bool) // instance, database, minute
	first, last := make(map[statementOf]time.Time), make(map[statementOf]time.Time)
	for range 60 {
		b := measurements.Batch{Organization: organization}
		for range random.IntN(4) + 1 {
			instance, database, minute := random.IntN(3), random.IntN(2), random.IntN(300)
			at := begin.Add(time.Duration(minute) * time.Minute)
			sample := executed(uuid.UUID{1, byte(instance)}, uuid.UUID{2, byte(instance), byte(database)}, at, "")
			for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
				one := measurements.Statement{Key: key, Calls: random.Int64N(2), TotalMs: 1, Text: textOf(key)}
				if sample.Statements = append(sample.Statements, one); one.Calls == 0 || kept[[3]int{instance, database, minute}] {
					continue // the first content stays
				}
				key := statementOf{instance, database, key}
				if known, ok := first[key]; !ok || at.Before(known) {
					first[key] = at
				}
				if at.After(last[key]) {
					last[key] = at
				}
			}
			kept[[3]int{instance, database, minute}] = true
			b.Statements = append(b.Statements, sample)
		}
		write(t, processes[random.IntN(2)], b)
	}
	got := dictionaryOf(t, s)
	if len(got) != len(first) {
		t.Errorf("%d statements, want %d", len(got), len(first))
	}
	for of, seen := range first {
		instance, database := uuid.UUID{1, byte(of.instance)}, uuid.UUID{2, byte(of.instance), byte(of.database)}
		row, ok := got[measurements.StatementID(instance, measurements.HashStatement(database, of.key))]
		behind := last[of].Sub(row.Last)
		if !ok || row.Database != database || row.Key != of.key || row.text() != textOf(of.key) ||
			!row.First.Equal(seen) || behind < 0 || behind >= time.Hour {
			t.Errorf("%+v: %+v, want from %s to %s", of, row, seen, last[of])
		}
	}
}

// TestAnUnknownTextIsKept, another one takes its place, and none takes it away; only
// where the organization keeps them.
func TestAnUnknownTextIsKept(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	organization, instance, database := uuid.New(), uuid.New(), uuid.New()
	for minute, c := range []struct {
		keeps      func(context.Context, *sqlx.Tx, uuid.UUID) (bool, error)
		text, want string
	}{
		{nil, "SELECT ?", ""}, {keepsTexts(false), "SELECT ?", ""}, {keepsTexts(true), "", ""}, {keepsTexts(true), "SELECT ?", "SELECT ?"},
		{keepsTexts(true), "", "SELECT ?"}, {keepsTexts(true), "SELECT a, ?", "SELECT a, ?"}, {keepsTexts(false), "SELECT b", "SELECT a, ?"},
	} {
		s.KeepsTexts = c.keeps
		write(t, s, measurements.Batch{Organization: organization, Statements: []measurements.StatementSample{
			executed(instance, database, monday.Add(time.Duration(minute)*time.Minute), c.text, "q"),
		}})
		for _, row := range dictionaryOf(t, s) {
			if got := row.Text; got == nil && c.want != "" || got != nil && *got != c.want {
				t.Errorf("minute %d: the text is %v, want %q", minute, got, c.want)
			}
		}
	}
	foreign := uuid.New()
	write(t, s, measurements.Batch{Organization: foreign, Statements: []measurements.StatementSample{executed(instance, database, monday, "", "q")}})
	drop := func(organization uuid.UUID) (texts int) {
		t.Helper()
		tx := s.db.MustBegin()
		if err := s.DropTexts(t.Context(), tx, organization); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := s.db.Get(&texts, `SELECT count(text) FROM measured_statements`); err != nil {
			t.Fatal(err)
		}
		return texts
	}
	if n := drop(foreign); n != 1 {
		t.Errorf("%d texts are left of an organization when another drops its own", n)
	}
	if n := drop(organization); n != 0 {
		t.Errorf("%d texts are left", n)
	}
}

// TestARunningStatementIsWrittenOnceAnHour for its series, whichever process stores its
// samples: writing it with every sample of 200,000 statements would be most of the database's
// writes.
func TestARunningStatementIsWrittenOnceAnHour(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, text := range []string{"", "SELECT ?"} {
		s.KeepsTexts = keepsTexts(true)
		processes := []*Store{s, replicaOf(s)}
		organization, instance, database := uuid.New(), uuid.New(), uuid.New()
		begin := time.Now().Add(-3 * time.Hour).Truncate(time.Minute)
		var written, want []time.Time
		seen := make(map[string]bool)
		for minute := range 130 {
			at := begin.Add(time.Duration(minute) * time.Minute)
			write(t, processes[minute%2], measurements.Batch{Organization: organization, Statements: []measurements.StatementSample{
				executed(instance, database, at, text, "a", "b"),
			}})
			type version struct {
				XMin   string
				Series int64
			}
			rows, err := statement.All[version](t.Context(), s.db, "read versions", `SELECT DISTINCT xmin::text, series_id AS series FROM measured_statements WHERE database_id = $1`, database)
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) != 1 || !seen[rows[0].XMin] {
				written = append(written, at)
			}
			for _, row := range rows {
				seen[row.XMin] = true
			}
			if hour := dictionary.NoteHour(rows[0].Series, at); len(want) == 0 || dictionary.NoteHour(rows[0].Series, want[len(want)-1]).Before(hour) {
				want = append(want, at)
			}
		}
		if diff := cmp.Diff(want, written); diff != "" || len(want) < 3 {
			t.Errorf("text %q: the minutes in which statements were written (-want +got):\n%s", text, diff)
		}
	}
}

// TestStatementsAreForgotten when no detail of them can be left, 401 days after they
// were seen for the last time; looked for once a day.
func TestStatementsAreForgotten(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	organization, instance, database := uuid.New(), uuid.New(), uuid.New()
	write(t, s, measurements.Batch{Organization: organization, Statements: []measurements.StatementSample{
		executed(instance, database, time.Now(), "", "new", "old", "older"),
	}})
	age := func(key string, days float64) {
		s.db.MustExec(`UPDATE measured_statements SET last_seen = now() - make_interval(secs => $2 * 86400) WHERE key = $1`, key, days)
	}
	left := func() (keys []string) {
		t.Helper()
		if _, err := s.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, row := range dictionaryOf(t, s) {
			keys = append(keys, row.Key)
		}
		slices.Sort(keys)
		return keys
	}
	age("old", 400.9)
	age("older", 401.1)
	if diff := cmp.Diff([]string{"new", "old"}, left()); diff != "" {
		t.Error(diff)
	}
	age("old", 402)
	if diff := cmp.Diff([]string{"new", "old"}, left()); diff != "" {
		t.Errorf("looked for again at once:\n%s", diff)
	}
	s = replicaOf(s) // which has not looked
	if diff := cmp.Diff([]string{"new"}, left()); diff != "" {
		t.Error(diff)
	}
}
