package eventstore_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/testing/pgtest"
)

var (
	streamA = uuid.MustParse("0199f0d2-0000-7000-8000-0000000000aa")
	streamB = uuid.MustParse("0199f0d2-0000-7000-8000-0000000000bb")
	streamC = uuid.MustParse("0199f0d2-0000-7000-8000-0000000000cc")
)

// fill writes positions 1 to 9: A B A C A B A B A, where C is another organization's.
func fill(t testing.TB, db *sqlx.DB) *eventstore.Store {
	t.Helper()
	store := eventstore.New(db)
	versions := make(map[uuid.UUID]int64)
	for _, stream := range []uuid.UUID{streamA, streamB, streamA, streamC, streamA, streamB, streamA, streamB, streamA} {
		organization := ours
		if stream == streamC {
			organization = theirs
		}
		mustAppend(t, store, eventstore.Reports, batch(organization, stream, versions[stream], 1))
		versions[stream]++
	}
	return store
}

// rechain computes every digest and hash anew from a position on, and the head with them, as an
// owner of the database would.
func rechain(t testing.TB, db *sqlx.DB, store *eventstore.Store, from int64) {
	t.Helper()
	previous := make([]byte, sha256.Size)
	var last eventstore.Event
	for _, e := range collect(t, store.Read(context.Background(), eventstore.Reports, eventstore.Filter{})) {
		if e.Position >= from {
			digest := eventstore.Digest(e)
			link := eventstore.Link(previous, digest[:], e.RecordedAt)
			db.MustExec(`UPDATE events SET digest = $2, hash = $3 WHERE log = 'reports' AND position = $1`, e.Position, digest[:], link[:])
			e.Hash = link[:]
		}
		previous, last = e.Hash, e
	}
	db.MustExec(`UPDATE log_head SET position = $1, hash = $2 WHERE log = 'reports'`, last.Position, last.Hash)
}

func TestVerifyNamesTheMismatch(t *testing.T) {
	t.Parallel()
	type first struct {
		misfit          eventstore.Misfit
		position, until int64
		stream          uuid.UUID
		version         int64
	}
	const swap = `UPDATE events SET position = -3 WHERE log = 'reports' AND position = 3; ` +
		`UPDATE events SET position = 3 WHERE log = 'reports' AND position = 7; ` +
		`UPDATE events SET position = 7 WHERE log = 'reports' AND position = -3`
	for _, tc := range []struct {
		name    string
		tamper  string // SQL statements
		rewrite int64  // rechain from here
		witness bool
		want    first
	}{
		{name: "untouched", witness: true},
		{name: "data", tamper: `UPDATE events SET data = '{"n":7}' WHERE log = 'reports' AND position = 5`,
			want: first{eventstore.Altered, 5, 5, streamA, 3}},
		{name: "metadata", tamper: `UPDATE events SET metadata = '{}' WHERE log = 'reports' AND position = 5`,
			want: first{eventstore.Altered, 5, 5, streamA, 3}},
		{name: "type", tamper: `UPDATE events SET type = 'report.ready' WHERE log = 'reports' AND position = 1`,
			want: first{eventstore.Altered, 1, 1, streamA, 1}},
		{name: "schema version", tamper: `UPDATE events SET schema_version = 2 WHERE log = 'reports' AND position = 9`,
			want: first{eventstore.Altered, 9, 9, streamA, 5}},
		{name: "organization", tamper: `UPDATE events SET organization_id = gen_random_uuid() WHERE log = 'reports' AND position = 6`,
			want: first{misfit: eventstore.Altered, position: 6, until: 6, stream: streamB, version: 2}},
		{name: "occurred at", tamper: `UPDATE events SET occurred_at = occurred_at + '1 microsecond' WHERE log = 'reports' AND position = 2`,
			want: first{eventstore.Altered, 2, 2, streamB, 1}},
		{name: "recorded at", tamper: `UPDATE events SET recorded_at = recorded_at + '1 microsecond' WHERE log = 'reports' AND position = 2`,
			want: first{eventstore.Unchained, 2, 2, streamB, 1}},
		{name: "hash", tamper: `UPDATE events SET hash = sha256('x') WHERE log = 'reports' AND position = 4`,
			want: first{eventstore.Unchained, 4, 4, streamC, 1}},
		{name: "digest", tamper: `UPDATE events SET digest = sha256('x') WHERE log = 'reports' AND position = 4`,
			want: first{eventstore.Altered, 4, 4, streamC, 1}},
		{name: "version", tamper: `UPDATE events SET version = 9 WHERE log = 'reports' AND position = 8`,
			want: first{eventstore.StreamGap, 8, 8, streamB, 3}},
		{name: "one in the middle deleted", tamper: `DELETE FROM events WHERE log = 'reports' AND position = 5`,
			want: first{eventstore.Deleted, 5, 5, streamA, 3}},
		{name: "several in the middle deleted", tamper: `DELETE FROM events WHERE log = 'reports' AND position BETWEEN 5 AND 6`,
			want: first{misfit: eventstore.Deleted, position: 5, until: 6}},
		{name: "the first deleted", tamper: `DELETE FROM events WHERE log = 'reports' AND position = 1`,
			want: first{eventstore.Deleted, 1, 1, streamA, 1}},
		{name: "the last deleted", tamper: `DELETE FROM events WHERE log = 'reports' AND position = 9`,
			want: first{misfit: eventstore.DeletedTail, position: 9, until: 9}},
		{name: "everything deleted", tamper: `DELETE FROM events; DELETE FROM streams`,
			want: first{misfit: eventstore.DeletedTail, position: 1, until: 9}},
		{name: "the last deleted and the head set back", witness: true,
			tamper: `DELETE FROM events WHERE log = 'reports' AND position = 9; UPDATE log_head SET (position, hash) = (SELECT position, hash FROM events WHERE position = 8) WHERE log = 'reports'`,
			want:   first{misfit: eventstore.Rewritten, position: 9, until: 9}},
		{name: "a stream deleted", tamper: `DELETE FROM events WHERE stream_id = '0199f0d2-0000-7000-8000-0000000000bb'`,
			want: first{eventstore.DeletedStream, 2, 2, streamB, 1}},
		{name: "two swapped", tamper: swap,
			want: first{eventstore.Reordered, 3, 3, streamA, 4}},
		{name: "one slipped in behind", tamper: `INSERT INTO events SELECT log, 10, organization_id, stream_type, gen_random_uuid(), 1, type, schema_version, occurred_at, recorded_at, data, metadata, digest, hash FROM events WHERE position = 9`,
			want: first{misfit: eventstore.Altered, position: 10, until: 10, version: 1}},
		{name: "the head row's hash", tamper: `UPDATE log_head SET hash = sha256('x') WHERE log = 'reports'`,
			want: first{misfit: eventstore.HeadDiffers, position: 9, until: 9}},
		{name: "rewritten from the middle", witness: true, rewrite: 5, tamper: `UPDATE events SET data = '{"n":7}' WHERE log = 'reports' AND position = 5`,
			want: first{eventstore.Rewritten, 9, 9, streamA, 5}},
		{name: "rewritten without a witness", rewrite: 5, tamper: `UPDATE events SET data = '{"n":7}' WHERE log = 'reports' AND position = 5`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			db := pgtest.DB(t)
			store := fill(t, db)
			options := eventstore.VerifyOptions{}
			if tc.witness {
				head, err := store.Head(ctx, nil, eventstore.Reports)
				if err != nil {
					t.Fatal(err)
				}
				options.Witness = &head
			}
			pgtest.Unguard(t, db)
			for statement := range strings.SplitSeq(tc.tamper, "; ") {
				db.MustExec(statement)
			}
			if tc.rewrite > 0 {
				rechain(t, db, store, tc.rewrite)
			}
			report, err := store.Verify(ctx, eventstore.Reports, options)
			if err != nil {
				t.Fatal(err)
			}
			f, broken := report.First()
			got := first{f.Misfit, f.Position, f.Until, f.Stream, f.Version}
			if f.Position == 10 {
				got.stream = uuid.Nil // a random one
			}
			if got != tc.want || broken == report.OK() {
				t.Fatalf("first finding %+v, want %+v; all:\n%v", got, tc.want, report.Findings)
			}
			// An export of the same log says the same, as far as a file can know.
			wantSameOffline(t, store, options, report)
			if !tc.witness {
				wantSameInPieces(t, store, report)
			}
		})
	}
}

// wantSameInPieces verifies the log some events at a time: the findings are the same as in one
// pass.
func wantSameInPieces(t *testing.T, store *eventstore.Store, whole eventstore.Verification) {
	t.Helper()
	want, _ := whole.First()
	for size := int64(1); size <= whole.Head.Position; size++ {
		end, err := store.VerifyEnd(t.Context(), eventstore.Reports)
		if err != nil {
			t.Fatal(err)
		}
		first := eventstore.Mismatch{}
		found := func(v eventstore.Verification) {
			if f, ok := v.First(); ok && (first.Position == 0 || f.Position < first.Position) {
				first = f
			}
		}
		found(end)
		reached := eventstore.Reached{}
		for reached.Position < end.Head.Position {
			var v eventstore.Verification
			if reached, v, err = store.VerifyOn(t.Context(), eventstore.Reports, reached, min(reached.Position+size, end.Head.Position)); err != nil {
				t.Fatal(err)
			}
			found(v)
		}
		if first.Position != want.Position {
			t.Errorf("in pieces of %d: %v, want %v", size, first, want)
		}
	}
}

// wantSameOffline holds the verification of an export against that of the log.
// Only the database knows streams that are gone, where moved events came from,
// and events behind the head.
func wantSameOffline(t *testing.T, store *eventstore.Store, options eventstore.VerifyOptions, online eventstore.Verification) {
	t.Helper()
	var file bytes.Buffer
	if _, err := store.Export(context.Background(), &file, eventstore.Reports, uuid.Nil, nil); err != nil {
		t.Fatal(err)
	}
	offline, err := eventstore.VerifyExport(&file, options)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := online.First()
	got, _ := offline.First()
	switch {
	case want.Misfit == eventstore.DeletedStream || want.Misfit == eventstore.Reordered:
		wantEqual(t, "offline", got.Position, want.Position)
	case want.Position > online.Head.Position && want.Misfit == eventstore.Altered:
	default:
		wantEqual(t, "offline", got, want)
	}
}

func TestVerifyForOneOrganization(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := pgtest.DB(t)
	store := fill(t, db)
	verify := func(organization uuid.UUID) eventstore.Verification {
		report, err := store.Verify(ctx, eventstore.Reports, eventstore.VerifyOptions{Organization: organization})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	report := verify(theirs)
	if !report.OK() || report.Events != 9 || report.Own != 1 || report.Streams != 1 {
		t.Fatalf("got %+v", report)
	}
	pgtest.Unguard(t, db)
	// Others' contents are not ours to judge, but our own are found.
	db.MustExec(`UPDATE events SET data = 'x' WHERE organization_id = $1`, ours)
	if report := verify(theirs); !report.OK() {
		t.Fatalf("judged by the contents of others: %v", report.Findings)
	}
	db.MustExec(`UPDATE events SET data = 'x' WHERE organization_id = $1`, theirs)
	if f, _ := func() (eventstore.Mismatch, bool) { r := verify(theirs); return r.First() }(); f.Misfit != eventstore.Altered || f.Position != 4 {
		t.Fatalf("got %v", f)
	}
	// Of another organization a finding says where, and nothing else.
	db.MustExec(`UPDATE events SET recorded_at = recorded_at + '1 s' WHERE position = 2`)
	db.MustExec(`DELETE FROM events WHERE stream_id = $1 AND version > 1`, streamB)
	report = verify(theirs)
	for _, f := range report.Findings {
		if f.Stream == streamB || f.Organization == ours {
			t.Errorf("tells another organization's stream: %v", f)
		}
	}
}

func TestVerifyDuringAppends(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := eventstore.New(pgtest.DB(t))
	mustAppend(t, store, eventstore.Reports, batch(ours, uuid.New(), 0, 3000))
	appended := make(chan error, 1)
	go func() {
		var err error
		for range 50 {
			if _, err = store.Append(ctx, eventstore.Reports, batch(ours, uuid.New(), 0, 20)); err != nil {
				break
			}
		}
		appended <- err
	}()
	for range 10 {
		wantWhole(t, store, eventstore.Reports)
	}
	if err := <-appended; err != nil {
		t.Fatal(err)
	}
	var calls, last int64
	report, err := store.Verify(ctx, eventstore.Reports, eventstore.VerifyOptions{Progress: func(position, end int64) { calls, last = calls+1, position*10000+end }})
	if err != nil || !report.OK() || report.Events != 4000 || calls == 0 || last != 4000*10000+4000 {
		t.Fatalf("got %+v, %v, %d calls, last %d", report, err, calls, last)
	}
}

func TestVerifyKeepsTheFirstOfManyFindings(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	store := eventstore.New(db)
	mustAppend(t, store, eventstore.Reports, batch(ours, uuid.New(), 0, 2500))
	pgtest.Unguard(t, db)
	db.MustExec(`UPDATE events SET data = 'x' WHERE position > 40`)
	report, err := store.Verify(context.Background(), eventstore.Reports, eventstore.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if f, _ := report.First(); f.Position != 41 || report.Misfits != 2460 || len(report.Findings) != 100 {
		t.Fatalf("first %v of %d, %d kept", f, report.Misfits, len(report.Findings))
	}
}
