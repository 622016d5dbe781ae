package blockstest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements/blocks"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/postgres/transact"
)

// Backend is a store and what stands in front of it.
type Backend struct {
	Store  blocks.Store
	Ledger *sqlx.DB
	// Series is a series in the ledger, created if it had none; nil: the requested one.
	Series func(blocks.Series) blocks.Series
}

// Open returns a store that no other test uses while the test runs.
type Open func(t testing.TB) Backend

// Run holds a store to its interface. Tests share one, each with organizations of its own. A test that
// forgets the blocks of all organizations has one to itself.
func Run(t *testing.T, open Open) {
	shared := open(t)
	for _, one := range []struct {
		name  string
		test  func(*testing.T, backend)
		alone bool
	}{
		{"what is put comes back", testPut, false},
		{"the last Put counts", testAgain, false},
		{"a nil body takes a block away", testTombstone, false},
		{"ranges come in their order", testOrder, false},
		{"a front is a part of a row", testFront, false},
		{"organizations are apart", testOrganizations, false},
		{"what is forgotten is gone, and no more", testForget, true},
		{"a kind that is apart is forgotten by itself", testForgetKind, true},
		{"a deleted organization has nothing", testDelete, false},
		{"a Put that was given up is put again", testGivenUp, false},
		{"names are any text", testNames, false},
		{"a block may be large", testLarge, false},
		{"statements mean the same", testStatements, false},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			if one.alone {
				one.test(t, backend{t, open(t)})
			} else {
				one.test(t, backend{t, shared})
			}
		})
	}
}

type backend struct {
	t testing.TB
	Backend
}

// Hour is when the suite's blocks begin: a Monday, some weeks after Forget's first.
var Hour = time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)

// series is one of an organization.
func (b backend) series(organization uuid.UUID, kind, subject string, engine fleet.Engine) blocks.Series {
	is := blocks.Series{Organization: organization, Kind: kind, Subject: subject, Engine: engine}
	if b.Series != nil {
		is = b.Series(is)
	}
	return is
}

func (b backend) host(organization uuid.UUID, n int) blocks.Series {
	return b.series(organization, codec.Hosts, fmt.Sprintf("host-%d", n), "")
}

func (b backend) put(table blocks.Table, list ...blocks.Block) {
	b.t.Helper()
	err := transact.Once(b.t.Context(), b.Ledger, nil, func(tx *sqlx.Tx) error { return b.Store.Put(b.t.Context(), tx, table, list) })
	if err != nil {
		b.t.Fatal(err)
	}
}

// got is a block that Each handed out.
type got struct {
	Place int
	Start time.Time
	Body  string
}

func (b backend) each(table blocks.Table, ranges ...blocks.Range) (all []got) {
	b.t.Helper()
	err := b.Store.Each(b.t.Context(), nil, table, ranges, func(place int, start time.Time, body []byte) error {
		all = append(all, got{place, start, string(body)})
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func (b backend) holds(table blocks.Table, ranges []blocks.Range, want ...got) {
	b.t.Helper()
	if all := b.each(table, ranges...); !slices.Equal(all, want) {
		b.t.Fatalf("%s has\n%v, not\n%v", table, brief(all), brief(want))
	}
}

func brief(all []got) (lines []string) {
	for _, one := range all {
		lines = append(lines, fmt.Sprintf("%d: %s %.20q (%d)", one.Place, one.Start.Format(time.RFC3339), one.Body, len(one.Body)))
	}
	return lines
}

func all(s blocks.Series) blocks.Range {
	return blocks.Range{Series: s, From: Hour.AddDate(-2, 0, 0), To: Hour.AddDate(2, 0, 0)}
}

func testPut(t *testing.T, b backend) {
	s := b.host(uuid.New(), 1)
	for i, table := range blocks.Tables() {
		body := fmt.Sprint("of ", table, "\x00\xff")
		b.put(table, blocks.Block{Series: s, Start: Hour, Body: []byte(body)}, blocks.Block{Series: s, Start: Hour.Add(time.Hour), Body: []byte{}})
		b.holds(table, []blocks.Range{all(s)}, got{0, Hour, body}, got{0, Hour.Add(time.Hour), ""})
		if i == 0 {
			b.put(table) // nothing
			b.holds(table, nil)
		}
	}
}

func testAgain(t *testing.T, b backend) {
	s := b.host(uuid.New(), 1)
	for n := range 5 {
		b.put(blocks.Minutes, blocks.Block{Series: s, Start: Hour, Body: fmt.Append(nil, n)})
	}
	b.holds(blocks.Minutes, []blocks.Range{all(s)}, got{0, Hour, "4"})
}

func testTombstone(t *testing.T, b backend) {
	s := b.host(uuid.New(), 1)
	b.put(blocks.Raw, blocks.Block{Series: s, Start: Hour, Body: []byte("a")}, blocks.Block{Series: s, Start: Hour.Add(time.Hour), Body: []byte("b")})
	b.put(blocks.Raw, blocks.Block{Series: s, Start: Hour})
	b.holds(blocks.Raw, []blocks.Range{all(s)}, got{0, Hour.Add(time.Hour), "b"})
	b.put(blocks.Raw, blocks.Block{Series: s, Start: Hour, Body: []byte("c")})
	b.holds(blocks.Raw, []blocks.Range{all(s)}, got{0, Hour, "c"}, got{0, Hour.Add(time.Hour), "b"})
}

func testOrder(t *testing.T, b backend) {
	organization := uuid.New()
	var list []blocks.Block
	var ranges []blocks.Range
	var want []got
	const series, hours = 700, 3 // more than a store will read at once
	for n := range series {
		s := b.host(organization, n)
		for hour := range hours {
			list = append(list, blocks.Block{Series: s, Start: Hour.Add(time.Duration(hour) * time.Hour), Body: fmt.Append(nil, n, " ", hour)})
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for place, n := range random.Perm(series) {
		from, to := n%hours, hours-n%2
		ranges = append(ranges, blocks.Range{Series: list[n*hours].Series, From: Hour.Add(time.Duration(from) * time.Hour), To: Hour.Add(time.Duration(to) * time.Hour)})
		for hour := from; hour < to; hour++ {
			want = append(want, got{place, Hour.Add(time.Duration(hour) * time.Hour), fmt.Sprint(n, " ", hour)})
		}
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	b.put(blocks.Hours, list...)
	b.holds(blocks.Hours, ranges, want...)
	again := []blocks.Range{ranges[0], ranges[1], ranges[0]} // one may be asked for twice
	b.holds(blocks.Hours, again, slices.Concat(of(want, 0, 0), of(want, 1, 1), of(want, 0, 2))...)
	stop := fmt.Errorf("enough")
	err := b.Store.Each(t.Context(), nil, blocks.Hours, ranges, func(int, time.Time, []byte) error { return stop })
	if err != stop { //nolint:errorlint // the same one
		t.Fatalf("take's error came back as %v", err)
	}
}

func of(all []got, from, to int) (some []got) {
	for _, one := range all {
		if one.Place == from {
			one.Place = to
			some = append(some, one)
		}
	}
	return some
}

func testFront(t *testing.T, b backend) {
	s := b.series(uuid.New(), codec.Sessions, uuid.NewString(), fleet.PostgreSQL)
	row := append([]byte{1, 4}, bytes.Repeat([]byte("front"), 52)...) // 260
	b.put(blocks.Minutes, blocks.Block{Series: s, Start: Hour, Body: append(row, "and the rest"...)})
	front := all(s)
	front.Front = true
	b.holds(blocks.Minutes, []blocks.Range{front, all(s)}, got{0, Hour, string(row[2:])}, got{1, Hour, string(row) + "and the rest"})
}

func testOrganizations(t *testing.T, b backend) {
	one, other := b.host(uuid.New(), 1), b.host(uuid.New(), 1)
	b.put(blocks.Days, blocks.Block{Series: one, Start: Hour, Body: []byte("one")}, blocks.Block{Series: other, Start: Hour, Body: []byte("other")})
	b.put(blocks.Days, blocks.Block{Series: other, Start: Hour, Body: []byte("changed")})
	b.holds(blocks.Days, []blocks.Range{all(other), all(one)}, got{0, Hour, "changed"}, got{1, Hour, "one"})
	busy := one
	busy.Kind, busy.ID = codec.Busy, 0
	busy = b.series(busy.Organization, busy.Kind, busy.Subject, fleet.PostgreSQL)
	b.holds(blocks.Days, []blocks.Range{all(busy)})
}

func testForget(t *testing.T, b backend) {
	s := b.host(uuid.New(), 1)
	var list []blocks.Block
	var kept []got
	before := Hour.AddDate(0, 0, 3).Add(5 * time.Hour)
	for day := -70; day < 10; day++ {
		start := Hour.AddDate(0, 0, day)
		list = append(list, blocks.Block{Series: s, Start: start, Body: fmt.Append(nil, day)})
		if !start.Before(before) {
			kept = append(kept, got{0, start, fmt.Sprint(day)})
		}
	}
	for _, table := range []blocks.Table{blocks.Raw, blocks.Minutes, blocks.HourDetails} {
		b.put(table, list...)
		for range 100 { // it may take some
			if err := b.Store.Forget(t.Context(), table, blocks.AnyKind, before); err != nil {
				t.Fatal(err)
			}
		}
		rest := b.each(table, all(s))
		if len(rest) < len(kept) || !slices.Equal(rest[len(rest)-len(kept):], kept) {
			t.Fatalf("of %s, %d blocks are left, which are not all from %s on", table, len(rest), before)
		}
		if oldest := rest[0].Start; before.Sub(oldest) > 35*24*time.Hour {
			t.Fatalf("%s still has a block of %s", table, oldest)
		}
	}
}

func testForgetKind(t *testing.T, b backend) {
	organization, id := uuid.New(), uuid.UUID{7, 15: 1}.String()
	goes, stays := b.series(organization, codec.Activity, id, fleet.PostgreSQL), b.series(organization, codec.Sessions, id, fleet.PostgreSQL)
	before := Hour.AddDate(0, 0, 3).Add(5 * time.Hour)
	for _, table := range []blocks.Table{blocks.Minutes, blocks.Hours, blocks.Days} {
		var whole, kept []got
		for day := -70; day < 10; day++ {
			start := Hour.AddDate(0, 0, day)
			body := fmt.Append(nil, day)
			b.put(table, blocks.Block{Series: goes, Start: start, Body: body}, blocks.Block{Series: stays, Start: start, Body: body})
			one := got{0, start, string(body)}
			if whole = append(whole, one); !start.Before(before) {
				kept = append(kept, one)
			}
		}
		for range 100 { // it may take some
			if err := b.Store.Forget(t.Context(), table, codec.Activity, before); err != nil {
				t.Fatal(err)
			}
		}
		b.holds(table, []blocks.Range{all(stays)}, whole...)
		rest := b.each(table, all(goes))
		if len(rest) < len(kept) || !slices.Equal(rest[len(rest)-len(kept):], kept) {
			t.Fatalf("of %s, %d blocks are left, which are not all from %s on", table, len(rest), before)
		}
		if oldest := rest[0].Start; before.Sub(oldest) > 35*24*time.Hour {
			t.Fatalf("%s still has a block of %s", table, oldest)
		}
	}
}

func testDelete(t *testing.T, b backend) {
	gone, stays := uuid.New(), uuid.New()
	series := map[uuid.UUID][]blocks.Series{}
	for _, organization := range []uuid.UUID{gone, stays} {
		for n := range 8 {
			series[organization] = append(series[organization], b.host(organization, n),
				b.series(organization, codec.Statements, uuid.UUID{byte(n), 15: 1}.String(), fleet.PostgreSQL))
		}
	}
	for _, list := range series {
		for _, table := range blocks.Tables() {
			for _, s := range list {
				b.put(table, blocks.Block{Series: s, Start: Hour, Body: bodyOf(t, table, s)})
			}
		}
	}
	for range 2 { // again: somebody was killed
		if err := b.Store.DeleteOrganization(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range blocks.Tables() {
		for _, s := range series[gone] {
			b.holds(table, []blocks.Range{all(s)})
		}
		for _, s := range series[stays] {
			if len(b.each(table, all(s))) != 1 {
				t.Fatalf("another organization lost its %s of %s %s", table, s.Kind, s.Subject)
			}
		}
	}
}

func bodyOf(t testing.TB, table blocks.Table, s blocks.Series) []byte {
	switch {
	case s.Kind != codec.Statements:
		return []byte("body")
	case table == blocks.Raw:
		return Samples(t, Hour, 2, 3, fleet.PostgreSQL, 1)
	case table == blocks.Minutes || table == blocks.Hours || table == blocks.Days:
		return []byte("row")
	}
	return Detail(t, 3, fleet.PostgreSQL, 1)
}

func testGivenUp(t *testing.T, b backend) {
	s := b.host(uuid.New(), 1)
	b.put(blocks.Raw, blocks.Block{Series: s, Start: Hour, Body: []byte("first")})
	tx, err := b.Ledger.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Store.Put(t.Context(), tx, blocks.Raw, []blocks.Block{{Series: s, Start: Hour, Body: []byte("second")}}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil { // as when the process dies: the hour is still in the head
		t.Fatal(err)
	}
	b.put(blocks.Raw, blocks.Block{Series: s, Start: Hour, Body: []byte("third")})
	b.holds(blocks.Raw, []blocks.Range{all(s)}, got{0, Hour, "third"})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Store.Each(canceled, nil, blocks.Raw, []blocks.Range{all(s)}, func(int, time.Time, []byte) error { return nil }); err == nil {
		t.Fatal("a read that nobody waits for read all")
	}
}

func testNames(t *testing.T, b backend) {
	organization := uuid.New()
	var list []blocks.Block
	var ranges []blocks.Range
	var want []got
	for i, name := range []string{"it's", `back\slash`, `\'`, "?", "$1 {x:String}", "ünïcødé", "a b", "tab\there", "%s"} {
		s := b.series(organization, codec.Hosts, name, "")
		list = append(list, blocks.Block{Series: s, Start: Hour, Body: []byte(name)})
		ranges, want = append(ranges, all(s)), append(want, got{i, Hour, name})
	}
	b.put(blocks.Hours, list...)
	b.holds(blocks.Hours, ranges, want...)
}

func testLarge(t *testing.T, b backend) {
	s := b.host(uuid.New(), 1)
	body := make([]byte, 20<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(body)
	b.put(blocks.Raw, blocks.Block{Series: s, Start: Hour, Body: body}, blocks.Block{Series: s, Start: Hour.Add(time.Hour), Body: []byte("small")})
	b.holds(blocks.Raw, []blocks.Range{all(s)}, got{0, Hour, string(body)}, got{0, Hour.Add(time.Hour), "small"})
}
