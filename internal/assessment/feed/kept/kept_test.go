package kept_test

import (
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/feed/kept"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

var now = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)

func record(id string) feed.Record {
	return feed.Record{
		Engine: fleet.MongoDB, ID: id, CVSS: 7.5, Vector: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H", Title: "a flaw",
		Affected: []string{"8.0.0..<8.0.40"}, Published: now, Modified: now, Source: "test",
	}
}

func digestOf(t *testing.T, s *kept.Store) string {
	t.Helper()
	f, err := s.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f.Identity().Digest
}

// One update is what everybody judges by; what is refused or only tried changes nothing.
func TestAnUpdateIsAppliedCompletelyOrNotAtAll(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	one, other := kept.NewStore(db), kept.NewStore(db)
	before := digestOf(t, one)
	broken := record("CVE-2026-99998")
	broken.Affected = nil
	for name, u := range map[string]kept.Update{
		"a dry run":        {Records: []feed.Record{record("CVE-2026-99999")}, DryRun: true},
		"a broken one":     {Records: []feed.Record{record("CVE-2026-99999"), broken}},
		"nothing that new": {},
	} {
		o, err := one.Apply(t.Context(), u, now)
		if err != nil || o.Before != before || digestOf(t, one) != before || digestOf(t, other) != before {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		if (name == "a dry run") != (o.After != before) || (name == "a broken one") != (len(o.Problems) == 1) {
			t.Errorf("%s: %+v", name, o)
		}
	}
	o, err := one.Apply(t.Context(), kept.Update{Records: []feed.Record{record("CVE-2026-99999")}, File: "f", SignedBy: "k"}, now)
	if err != nil || len(o.Changes) != 1 || o.After == before || digestOf(t, one) != o.After || digestOf(t, other) != o.After {
		t.Fatalf("%+v, %v, and the other has %s", o, err, digestOf(t, other))
	}
	if _, err := db.Exec(`UPDATE feed_versions SET records = convert_to(replace(convert_from(records, 'UTF8'), '8.0.40', '8.0.41'), 'UTF8')`); err != nil {
		t.Fatal(err)
	}
	var changed *kept.DigestError
	if _, err := kept.NewStore(db).Current(t.Context()); !errors.As(err, &changed) {
		t.Errorf("a changed version is judged by: %v", err)
	}
}

// Replicas that update at once come after each other: both updates are there, in one feed.
func TestConcurrentUpdatesOfReplicasAreBothKept(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	ids := []string{"CVE-2026-99991", "CVE-2026-99992", "CVE-2026-99993", "CVE-2026-99994"}
	var group sync.WaitGroup
	outcomes := make([]kept.Outcome, 2*len(ids))
	for i := range outcomes { // each update from two of them
		group.Go(func() {
			var err error
			if outcomes[i], err = kept.NewStore(db).Apply(t.Context(), kept.Update{Records: []feed.Record{record(ids[i/2])}}, now); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	changes := 0
	for _, o := range outcomes {
		changes += len(o.Changes)
	}
	known, err := kept.NewStore(db).Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var versions int
	if err := db.Get(&versions, `SELECT count(*) FROM feed_versions`); err != nil || versions != len(ids) || changes != len(ids) || len(known.Updates()) != len(ids) {
		t.Errorf("%d versions, %d changes, %d updates, %v", versions, changes, len(known.Updates()), err)
	}
}
