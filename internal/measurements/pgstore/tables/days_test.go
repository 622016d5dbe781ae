package tables

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
	"golang.org/x/sync/errgroup"

	"muster/domain/fleet"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/blocks/blockstest"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/statement"
	"muster/internal/postgres/transact"
	"muster/internal/testing/pgtest"
	"muster/migrations"
)

// rawDaysOf is a store in which only the blocks of raw samples of a series are checked.
type rawDaysOf struct {
	*testing.T
	Blocks
	series blocks.Series
}

func newRawDays(t *testing.T) rawDaysOf {
	return rawDaysOf{t, Blocks{pgtest.DB(t)}, blocks.Series{ID: 1, Organization: uuid.New(), Kind: codec.Sessions, Subject: "a", Engine: fleet.PostgreSQL}}
}

// put puts a block at each of these times after the suite's Monday.
func (r rawDaysOf) put(after ...time.Duration) error {
	list := make([]blocks.Block, len(after))
	for i, one := range after {
		list[i] = blocks.Block{Series: r.series, Start: blockstest.Hour.Add(one), Body: []byte(one.String())}
	}
	return transact.Once(r.Context(), r.DB, nil, func(tx *sqlx.Tx) error { return r.Put(r.Context(), tx, blocks.Raw, list) })
}

func (r rawDaysOf) has(after ...time.Duration) {
	r.Helper()
	var got []time.Duration
	err := r.Each(r.Context(), nil, blocks.Raw, []blocks.Range{{Series: r.series, From: time.Unix(0, 0), To: blockstest.Hour.AddDate(1, 0, 0)}}, func(_ int, start time.Time, body []byte) error {
		if after := start.Sub(blockstest.Hour); string(body) == after.String() {
			got = append(got, after)
		}
		return nil
	})
	if err != nil || !slices.Equal(got, after) {
		r.Errorf("%v: blocks of %v, want %v", err, got, after)
	}
}

// named are the tables that there are.
func (r rawDaysOf) named() (names []string) {
	r.Helper()
	if err := r.DB.SelectContext(r.Context(), &names, `SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'block_raw'::regclass ORDER BY 1`); err != nil {
		r.Fatal(err)
	}
	return names
}

func (r rawDaysOf) forgets(before time.Duration) {
	r.Helper()
	if err := r.Forget(r.Context(), blocks.Raw, blocks.AnyKind, blockstest.Hour.Add(before)); err != nil {
		r.Error(err)
	}
}

const aDay = 24 * time.Hour

// TestDaysAreDropped: data beyond its retention is dropped by whole days, with its table, and
// counts as disk before and not after.
func TestDaysAreDropped(t *testing.T) {
	t.Parallel()
	r := newRawDays(t)
	for _, after := range []time.Duration{aDay, -time.Second, 2*aDay - time.Second, 0} { // in any order
		if err := r.put(after); err != nil {
			t.Fatal(err)
		}
	}
	before, err := r.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if names := r.named(); !slices.Equal(names, []string{"block_raw_20261115", "block_raw_20261116", "block_raw_20261117"}) {
		t.Errorf("tables %v", names)
	}
	r.forgets(aDay - time.Second) // not all of Monday
	r.has(0, aDay, 2*aDay-time.Second)
	r.forgets(aDay)
	r.has(aDay, 2*aDay-time.Second)
	if names := r.named(); !slices.Equal(names, []string{"block_raw_20261117"}) {
		t.Errorf("tables %v are left", names)
	}
	if after, err := r.Size(t.Context()); err != nil || before-after < 2*24<<10 { // of each day a page of rows, two of the key
		t.Errorf("%v: %d bytes, and %d after two days were dropped", err, before, after)
	}
	if err := r.put(0); err != nil { // of a day that was dropped
		t.Fatal(err)
	}
	r.has(0, aDay, 2*aDay-time.Second)
}

// TestADayInUseIsDroppedLater, as by a backup, which reads for hours. New days are made meanwhile.
func TestADayInUseIsDroppedLater(t *testing.T) {
	t.Parallel()
	r := newRawDays(t)
	if err := r.put(0); err != nil {
		t.Fatal(err)
	}
	reader, err := r.DB.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.ExecContext(t.Context(), `LOCK TABLE block_raw IN ACCESS SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	if err := r.put(aDay); err != nil {
		t.Fatal(err)
	}
	r.forgets(aDay)
	r.has(0, aDay)
	if err := reader.Commit(); err != nil {
		t.Fatal(err)
	}
	r.forgets(aDay)
	r.has(aDay)
}

// TestDaysAreMadeConcurrently by several processes that put and drop, each its own series' blocks.
func TestDaysAreMadeConcurrently(t *testing.T) {
	t.Parallel()
	r := newRawDays(t)
	var all errgroup.Group
	for n := range 6 {
		all.Go(func() error {
			r := r
			r.series.ID = int64(n)
			for day := range 8 {
				if err := r.put(time.Duration(day)*aDay, time.Duration(day+1)*aDay); err != nil {
					return fmt.Errorf("series %d, day %d: %w", n, day, err)
				}
			}
			return nil
		})
	}
	all.Go(func() error {
		for range 8 {
			if err := r.Forget(t.Context(), blocks.Raw, blocks.AnyKind, blockstest.Hour); err != nil {
				return err
			}
		}
		return nil
	})
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	n, err := statement.One[int](t.Context(), r.DB, "count blocks", `SELECT count(*) FROM block_raw`)
	if err != nil || n != 6*9 || len(r.named()) != 9 {
		t.Errorf("%d blocks in %v, want 54 in 9; %v", n, r.named(), err)
	}
}

// TestAnInstallationWithoutDays has one table for the earlier blocks, until all of it is too old, and goes back
// to one without a loss.
func TestAnInstallationWithoutDays(t *testing.T) {
	t.Parallel()
	r := newRawDays(t)
	provider, err := goose.NewProvider(goose.DialectPostgres, r.DB.DB, migrations.FS, goose.WithDisableVersioning(true))
	if err != nil {
		t.Fatal(err)
	}
	taken := func(up bool) {
		t.Helper()
		if _, err := provider.ApplyVersion(t.Context(), 63, up); err != nil {
			t.Fatal(err)
		}
	}
	before, after := func() { t.Helper(); taken(false) }, func() { t.Helper(); taken(true) }
	before()
	soon := 4000 * aDay // a clock that was far ahead
	for _, one := range []time.Duration{-3 * aDay, 0, soon} {
		r.DB.MustExec(`INSERT INTO block_raw VALUES (1, $1, convert_to($2, 'UTF8'))`, blockstest.Hour.Add(one), one.String())
	}
	after()
	r.DB.MustExec(`DELETE FROM block_raw WHERE start = $1`, blockstest.Hour.Add(soon))
	for _, one := range []time.Duration{-40 * aDay, time.Hour, soon + aDay, soon + 2*aDay} {
		if err := r.put(one); err != nil {
			t.Fatal(err)
		}
	}
	if names := r.named(); !slices.Equal(names, []string{"block_raw_20371031", "block_raw_before"}) {
		t.Errorf("tables %v", names)
	}
	r.forgets(soon)
	before()
	r.DB.MustExec(`DELETE FROM block_raw WHERE start >= $1`, blockstest.Hour.Add(soon))
	r.has(-40*aDay, -3*aDay, 0, time.Hour)
	after()
	r.DB.MustExec(`INSERT INTO block_raw VALUES (1, now() + interval '12 hours', 'by a binary from before')`)
	r.forgets(time.Since(blockstest.Hour) + 3*aDay)
	r.has()
	if err := r.put(0); err != nil || !slices.Equal(r.named(), []string{"block_raw_20261116"}) {
		t.Errorf("%v: tables %v, want one of Monday", err, r.named())
	}
}
