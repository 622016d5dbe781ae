package tree_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// mth is the definition of RFC 6962, §2.1, word by word.
func mth(leaves [][]byte) [32]byte {
	switch n := len(leaves); n {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return sha256.Sum256(append([]byte{0}, leaves[0]...))
	default:
		k := 1
		for k*2 < n {
			k *= 2
		}
		left, right := mth(leaves[:k]), mth(leaves[k:])
		return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// insert writes the first n events of a log. The tree reads digest and time, so these
// need no chain.
const insert = `INSERT INTO events (log, position, organization_id, stream_type, stream_id, version, type, schema_version, occurred_at, recorded_at, data, metadata, digest, hash)
	SELECT 'fleet', n, gen_random_uuid(), 'x', gen_random_uuid(), 1, 'x', 1, now(), now() + n * interval '1 microsecond', '', '{}', sha256(int8send(n)), sha256('') FROM generate_series(1::bigint, $1) n`

const moveHead = `UPDATE log_head SET position = $1 WHERE log = 'fleet'`

// filled is a log of n events, without tiles.
func filled(t testing.TB, n int) (*tree.Trees, *sqlx.DB) {
	t.Helper()
	db := pgtest.DB(t)
	db.MustExec(insert, n)
	db.MustExec(moveHead, n)
	return tree.New(db), db
}

// Few events have five whole tiles; many reach level 2, which begins behind 65,536.
const few, many = 1300, 70_000

// forked is a copy of a log of n events with its whole tiles.
func forked(t testing.TB, n int) (*tree.Trees, *sqlx.DB) {
	t.Helper()
	db := pgtest.Connect(t, pgtest.FilledURL(t, fmt.Sprint("trees_of_", n), func(url string) error {
		db, err := sqlx.Open("pgx", url)
		if err != nil {
			return err
		}
		defer db.Close()
		db.MustExec(insert, n)
		db.MustExec(moveHead, n)
		for trees := tree.New(db); ; {
			if n, err := trees.Fill(context.Background(), eventstore.Fleet); err != nil || n == 0 {
				return err
			}
		}
	}))
	return tree.New(db), db
}

// leavesOf are those of a log.
func leavesOf(t testing.TB, db *sqlx.DB) (leaves [][]byte) {
	t.Helper()
	rows, err := db.Query(`SELECT digest, recorded_at FROM events WHERE log = 'fleet' ORDER BY position`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var digest []byte
		var at time.Time
		must(t, rows.Scan(&digest, &at))
		leaves = append(leaves, tree.Leaf(digest, at))
	}
	must(t, rows.Err())
	return leaves
}

// fill keeps all whole tiles.
func fill(t testing.TB, trees *tree.Trees) (events int64) {
	t.Helper()
	for {
		n, err := trees.Fill(t.Context(), eventstore.Fleet)
		must(t, err)
		if n == 0 {
			return events
		}
		events += n
	}
}

func TestLeaf(t *testing.T) {
	t.Parallel()
	digest := bytes.Repeat([]byte{0xd}, 32)
	got := tree.Leaf(digest, time.UnixMicro(0x0102030405060708))
	if want := slices.Concat(digest, []byte{1, 2, 3, 4, 5, 6, 7, 8}); !bytes.Equal(got, want) || len(got) != tree.LeafSize {
		t.Errorf("got %x, want %x", got, want)
	}
}

// TestTreeOfALog holds roots and proofs against the definition, before tiles are kept,
// after some are, and after all are.
func TestTreeOfALog(t *testing.T) {
	t.Parallel()
	const n = few
	trees, db := filled(t, n)
	leaves := leavesOf(t, db)
	for _, state := range []string{"no tile", "whole tiles"} {
		if state == "whole tiles" {
			if got := fill(t, trees); got != n/256*256 {
				t.Fatalf("%d events are in whole tiles", got)
			}
		}
		var roots []tlog.Hash
		for size := range int64(n + 1) {
			if size > 12 && size%97 != 0 && size%256 > 1 && size%256 != 255 && size != n {
				roots = append(roots, tlog.Hash{})
				continue
			}
			root, err := trees.Root(t.Context(), eventstore.Fleet, size)
			must(t, err)
			if want := mth(leaves[:size]); root != want {
				t.Fatalf("%s: the root of %d is %v, want %x", state, size, root, want)
			}
			roots = append(roots, root)
		}
		for _, size := range []int64{1, 2, 7, 255, 256, 257, 512, 513, n} {
			for _, position := range []int64{1, 2, 7, 256, 257, size} {
				if position > size {
					continue
				}
				proof, err := trees.Inclusion(t.Context(), eventstore.Fleet, position, size)
				must(t, err)
				must(t, tlog.CheckRecord(proof, size, roots[size], position-1, tlog.RecordHash(leaves[position-1])))
				if tlog.CheckRecord(proof, size, roots[size], position-1, tlog.RecordHash(leaves[position%n])) == nil {
					t.Errorf("another event is at %d of %d", position, size)
				}
			}
			for _, old := range []int64{1, 2, 7, 255, 256, 512} {
				if old > size {
					continue
				}
				proof, err := trees.Consistency(t.Context(), eventstore.Fleet, old, size)
				must(t, err)
				must(t, tlog.CheckTree(proof, size, roots[size], old, roots[old]))
			}
		}
	}
	var missing *tree.MissingError
	if _, err := trees.Root(t.Context(), eventstore.Fleet, n+1); !errors.As(err, &missing) || missing.Has != n {
		t.Errorf("one more than there are: %v", err)
	}
}

func TestTilesMatchTheStandard(t *testing.T) {
	t.Parallel()
	tilesAreThoseOfTheStandard(t, few)
}

func TestLongTilesOfThreeLevels(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	tilesAreThoseOfTheStandard(t, many)
}

// tilesAreThoseOfTheStandard holds them against those of the library that made the form.
func tilesAreThoseOfTheStandard(t *testing.T, n int) {
	t.Helper()
	trees, db := forked(t, n)
	leaves := leavesOf(t, db)
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (out []tlog.Hash, err error) {
		for _, i := range indexes {
			out = append(out, stored[i])
		}
		return out, nil
	})
	for i, leaf := range leaves {
		more, err := tlog.StoredHashes(int64(i), leaf, reader)
		must(t, err)
		stored = append(stored, more...)
	}
	for _, one := range tlog.NewTiles(tree.Height, 0, int64(n)) {
		want, err := tlog.ReadTileData(one, reader)
		must(t, err)
		got, err := trees.Tile(t.Context(), eventstore.Fleet, one.L, one.N, one.W)
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Fatalf("tile %s differs", one.Path())
		}
	}
	root, err := trees.Check(t.Context(), eventstore.Fleet, int64(n))
	must(t, err)
	if want := mth(leaves); root != want {
		t.Errorf("the root is %v, want %x", root, want)
	}
}

func TestConcurrentFillsStoreEachTileOnce(t *testing.T) {
	t.Parallel()
	const n = 256 * 70
	trees, db := filled(t, n)
	leaves, store := leavesOf(t, db), eventstore.New(db)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var sum int64
	for range 4 {
		wait.Go(func() {
			events := fill(t, trees)
			mu.Lock()
			defer mu.Unlock()
			sum += events
		})
	}
	for range 100 { // and the log goes on meanwhile
		_, err := store.Append(t.Context(), eventstore.Fleet, eventstore.Append{Organization: uuid.New(), StreamType: "x", Stream: uuid.New(), Events: []eventstore.NewEvent{{Type: "x", Data: []byte("{}")}}})
		must(t, err)
	}
	wait.Wait()
	if sum != n {
		t.Errorf("%d events were filled in, want %d", sum, n)
	}
	root, err := trees.Root(t.Context(), eventstore.Fleet, n)
	must(t, err)
	if want := mth(leaves); root != want {
		t.Errorf("the root is %v, want %x", root, want)
	}
}

// TestCheck changes tiles and events, and expects to be told where.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change      string
		level       int
		first, last int64 // 0, 0: nothing is wrong
	}{
		"nothing":               {`SELECT`, 0, 0, 0},
		"a leaf's hash":         {`UPDATE log_tiles SET hashes = set_byte(hashes, 40, 255 - get_byte(hashes, 40)) WHERE level = 0 AND index = 3`, 0, 769, 1024},
		"a root above":          {`UPDATE log_tiles SET hashes = set_byte(hashes, 40, 255 - get_byte(hashes, 40)) WHERE level = 1`, 1, 1, 1280},
		"a part is longer":      {`UPDATE log_tiles SET hashes = hashes || sha256('') WHERE level = 1`, 1, 1, 1280},
		"a tile is gone":        {`DELETE FROM log_tiles WHERE level = 0 AND index = 2`, 0, 513, 768},
		"a changed digest":      {`UPDATE events SET digest = sha256(digest) WHERE position = 70`, 0, 1, 256},
		"a changed time":        {`UPDATE events SET recorded_at = recorded_at - interval '1 us' WHERE position = 1280`, 0, 1025, 1280},
		"behind the whole ones": {`UPDATE events SET digest = sha256(digest) WHERE position = 1281`, 0, 0, 0}, // that is the chain's
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trees, db := forked(t, few)
			pgtest.Unguard(t, db)
			db.MustExec(tc.change)
			root, err := trees.Check(t.Context(), eventstore.Fleet, few)
			var different *tree.DifferentTileError
			switch {
			case tc.last == 0:
				must(t, err)
				if want := mth(leavesOf(t, db)); root != want {
					t.Errorf("the root is %v, want %x", root, want)
				}
			case !errors.As(err, &different) || different.Level != tc.level || different.First != tc.first || different.Last != tc.last:
				t.Errorf("%+v", err)
			}
			// A part at a time finds it, too: the leaves' tiles by themselves, and those above by them.
			below := trees.CheckLeaves(t.Context(), eventstore.Fleet, 0, 512)
			if err := trees.CheckLeaves(t.Context(), eventstore.Fleet, 512, few); below == nil {
				below = err
			}
			above := trees.CheckAbove(t.Context(), eventstore.Fleet)
			if tree.Unfit(below) != (tc.last > 0 && tc.level == 0) || tc.level == 1 && !tree.Unfit(above) || tc.last == 0 && above != nil {
				t.Errorf("in parts: %v, %v", below, above)
			}
		})
	}
	trees, db := forked(t, few)
	pgtest.Unguard(t, db)
	db.MustExec(`UPDATE events SET digest = 'short' WHERE position = 1100`)
	var digest *tree.DigestError
	if _, err := trees.Check(t.Context(), eventstore.Fleet, few); !errors.As(err, &digest) || digest.Position != 1100 {
		t.Errorf("a digest that is none: %v", err)
	}
	db.MustExec(`DELETE FROM events WHERE position > 1100 OR position = 1100`)
	var missing *tree.MissingError
	if _, err := trees.Check(t.Context(), eventstore.Fleet, few); !errors.As(err, &missing) || missing.Size != 1280 {
		t.Errorf("events are gone: %v", err)
	}
}

// TestManyRootsEqualTheSingleRoots: across whole tiles, into the last one, and of one size twice.
func TestManyRootsEqualTheSingleRoots(t *testing.T) {
	t.Parallel()
	trees, _ := forked(t, many)
	sizes := []int64{0, 1, 2, 3, 255, 256, 256, 257, 511, 512, 1000, 65_535, 65_536, 65_537, 65_792, 69_999, many}
	roots, err := trees.Roots(t.Context(), eventstore.Fleet, sizes)
	must(t, err)
	for i, size := range sizes {
		want, err := trees.Root(t.Context(), eventstore.Fleet, size)
		must(t, err)
		if roots[i] != want {
			t.Errorf("the root of %d events is %v, want %v", size, roots[i], want)
		}
	}
	var missing *tree.MissingError
	if _, err := trees.Roots(t.Context(), eventstore.Fleet, []int64{many + 1}); !errors.As(err, &missing) {
		t.Errorf("of more than there is: %v", err)
	}
}
