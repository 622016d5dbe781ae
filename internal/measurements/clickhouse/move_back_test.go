package clickhouse_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/blocks/blockstest"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/clickhouse/clickhousetest"
	"muster/internal/measurements/pgstore"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/placement"
	"muster/internal/testing/pgtest"
)

// TestMoveBack: blocks are moved from ClickHouse into PostgreSQL, which has some earlier ones,
// while other processes put and remove blocks. The old place can be dropped once a process with
// workers was started at the new home, and not before.
func TestMoveBack(t *testing.T) {
	t.Parallel()
	ledger := pgtest.DB(t)
	c := clickhousetest.Shared(t)
	kept := open(t, c.URL(c.Database(t)), ledger, clickhouse.Limits{})
	store := pgstore.New(ledger, quiet())
	here, there := store.Here(), placement.Home{Store: kept, Place: "muster/d"}
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := ledger.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	organization := uuid.New()
	series := func(kind, subject string, engine fleet.Engine) (s blocks.Series) {
		s = blocks.Series{Organization: organization, Kind: kind, Subject: subject, Engine: engine}
		if err := ledger.GetContext(t.Context(), &s.ID, `INSERT INTO measured_series (organization_id, kind, subject, engine) VALUES ($1, $2, $3, $4) RETURNING id`, organization, kind, subject, string(engine)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	host, other, statements := series(codec.Hosts, "a", ""), series(codec.Hosts, "b", ""), series(codec.Statements, uuid.NewString(), fleet.Oracle)
	puts := func(s blocks.Series, body string) {
		t.Helper()
		one := blocks.Block{Series: s, Start: blockstest.Hour}
		if body != "" {
			one.Body = []byte(body)
		}
		put(t, kept, blocks.Minutes, one)
	}
	puts(host, "host")
	puts(other, "other")
	put(t, kept, blocks.Raw, blocks.Block{Series: statements, Start: blockstest.Hour, Body: blockstest.Samples(t, blockstest.Hour, 3, 5, fleet.Oracle, 5)})
	exec(`INSERT INTO block_minutes VALUES ($1, $2, 'of before'), ($1, $3, 'surplus')`, host.ID, blockstest.Hour, blockstest.Hour.AddDate(0, 0, -40))
	exec(`UPDATE block_home SET place = 'muster/d'`)

	needed := func(left placement.Home) {
		t.Helper()
		var is *placement.NeededError
		if err := store.Drop(t.Context(), left); !errors.As(err, &is) {
			t.Fatalf("drop what is in %s: %v", placement.PlaceName(left.Place), err)
		}
	}
	needed(here)
	needed(there)
	during := func(step placement.Step, do func()) error {
		return store.Move(t.Context(), there, here, func(m placement.Moving) {
			if m.Step == step && m.Table == blocks.ClosedDayDetails {
				do()
			}
		})
	}
	var differs *placement.DifferError
	err := during(placement.Copying, func() { exec(`UPDATE block_minutes SET body = 'by hand' WHERE series_id = $1`, other.ID) })
	if !errors.As(err, &differs) || differs.Series.Subject != "b" || !differs.Start.Equal(blockstest.Hour) {
		t.Fatalf("with a block that somebody changed: %v", err)
	}
	var overtaken *placement.OvertakenError
	if err := during(placement.Comparing, func() {
		exec(`UPDATE block_home SET begun = true`)
		if err := store.Drop(t.Context(), here); err != nil {
			t.Fatal(err)
		}
	}); !errors.As(err, &overtaken) {
		t.Fatalf("what was copied is dropped meanwhile: %v", err)
	}
	if n := size(t, ledger); n != 0 {
		t.Fatalf("%d blocks are left", n)
	}
	later := false
	if err := during(placement.Comparing, func() {
		if !later {
			puts(host, "later")
			puts(other, "")
			later = true
		}
	}); err != nil {
		t.Fatal(err)
	}
	all, err := bodiesOf(t.Context(), here.Store, host, other)
	if want := "[0 later]"; err != nil || fmt.Sprint(all) != want {
		t.Errorf("%v, %v, want %s", all, err, want)
	}
	if n := size(t, ledger); n != 2 {
		t.Errorf("%d blocks came back", n)
	}
	if place, err := store.Place(t.Context()); err != nil || place != "" {
		t.Fatalf("blocks are in %q, %v", place, err)
	}
	needed(here)
	needed(there)
	exec(`UPDATE block_home SET begun = true`)
	if err := store.Drop(t.Context(), there); err != nil {
		t.Fatal(err)
	}
	if left, err := kept.Size(t.Context()); err != nil || left != 0 {
		t.Errorf("%d bytes are left, %v", left, err)
	}
	puts(host, "again") // the tables are there
}

// size is how many blocks PostgreSQL has.
func size(t testing.TB, ledger *sqlx.DB) (n int) {
	t.Helper()
	if err := ledger.GetContext(t.Context(), &n, `SELECT (SELECT count(*) FROM block_minutes) + (SELECT count(*) FROM block_raw)`); err != nil {
		t.Fatal(err)
	}
	return n
}
