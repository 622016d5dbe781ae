package blocking_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/measurements/blocking"
	"muster/internal/testing/pgtest"
)

// deadlock is a sample of one in database shop, so many seconds after noon, whose victim is the first session.
func deadlock(t *testing.T, instance uuid.UUID, seconds int, lines ...string) blocking.Sample {
	t.Helper()
	s := sample(t, instance, seconds, lines...)
	s.Deadlock = &blocking.Deadlock{Database: "shop", Count: 1}
	for i := range s.Nodes {
		s.Nodes[i].User, s.Nodes[i].Application, s.Nodes[i].Client, s.Nodes[i].Statement = "bill", "billing", "web01", "UPDATE orders"
	}
	if len(s.Nodes) > 0 {
		s.Deadlock.Victims = []string{s.Nodes[0].Session}
	}
	return s
}

// sides writes the newest deadlock of each database, between two times in seconds after noon.
func sides(t *testing.T, db *sqlx.DB, organization uuid.UUID, scope fleet.Scope, from, to int) (out []string) {
	t.Helper()
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	found, err := blocking.NewestDeadlocks(t.Context(), db, organization, scope, at(from), at(to))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		out = append(out, fmt.Sprintf("%s at %g: %s, victims %v, reported %t", f.Database, f.At.Sub(noon).Seconds(), written(f.Tree.Nodes), f.Tree.Victims, f.Reported))
	}
	slices.Sort(out)
	return out
}

// TestALookFindsDeadlocks however long the sessions have waited, and only the sessions in the circle.
func TestALookFindsDeadlocks(t *testing.T) {
	t.Parallel()
	for look, want := range map[string]string{
		"1<-2:0.4 2<-1:0.1":                 "1<-2 2<-1",
		"1<-2:0.4 2<-1:0.1 3<-1:9 4 5<-4:9": "1<-2 2<-1",
		"1<-2:5 2<-3:4 3<-1:3":              "1<-2 2<-3 3<-1",
		"1<-2:5 2<-1,3:4 3":                 "", // a free one holds it
		"1<-1:5":                            "",
		"1 2<-1:9":                          "",
		"":                                  "",
	} {
		var got []string
		for _, s := range (blocking.Look{At: noon, Nodes: nodes(t, strings.Fields(look)...)}).Circles(uuid.New(), 10*time.Second) {
			got = append(got, written(s.Nodes))
			if s.Deadlock == nil || !s.Deadlock.Seen || s.Deadlock.Count != 1 {
				t.Errorf("%q: %+v", look, s.Deadlock)
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q: %q, want %q", look, got, want)
		}
	}
}

// TestTheNewestDeadlockOfADatabaseIsKept with its sides, in ten minutes, whatever the order in which they come and however
// often; those of other servers and organizations are apart, and none is an episode.
func TestTheNewestDeadlockOfADatabaseIsKept(t *testing.T) {
	t.Parallel()
	db, organization, a, b := pgtest.DB(t), uuid.New(), uuid.New(), uuid.New()
	seen := deadlock(t, a, 100, "7<-8:1", "8<-7:1")
	seen.Deadlock.Seen, seen.Deadlock.Victims = true, nil
	elsewhere := deadlock(t, a, 30, "1<-2:1", "2<-1:1")
	elsewhere.Deadlock.Database = "crm"
	samples := []blocking.Sample{
		deadlock(t, a, 60, "3<-4:1", "4<-3:1"), deadlock(t, a, 20, "1<-2:1", "2<-1:1"), deadlock(t, a, 60, "5<-6:1", "6<-5:1"), seen, elsewhere,
		deadlock(t, a, 1300, "1<-2:1", "2<-1:1"), deadlock(t, b, 10, "1<-2:1", "2<-1:1"),
	}
	for _, s := range append(samples, samples...) {
		record(t, db, organization, s)
	}
	record(t, db, uuid.New(), deadlock(t, a, 99, "1<-2:1", "2<-1:1"))
	of := fleet.Scope{Filtered: true, Instances: []uuid.UUID{a}}
	crm := "crm at 30: 1<-2 2<-1, victims [1], reported true"
	for _, test := range []struct {
		from, to int
		want     []string
	}{
		{0, 100, []string{crm, "shop at 60: 3<-4 4<-3, victims [3], reported true"}},
		{0, 101, []string{crm, "shop at 100: 7<-8 8<-7, victims [], reported false"}},
		{0, 3600, []string{crm, "shop at 1300: 1<-2 2<-1, victims [1], reported true"}},
		{2000, 3000, nil},
	} {
		if got := sides(t, db, organization, of, test.from, test.to); !slices.Equal(got, test.want) {
			t.Errorf("%d to %d: %q, want %q", test.from, test.to, got, test.want)
		}
	}
	if all := sides(t, db, organization, fleet.Scope{}, 0, 3600); len(all) != 3 {
		t.Errorf("of all servers: %q", all)
	}
	if of := episodes(t, db, organization, a); len(of) != 0 {
		t.Errorf("episodes %+v", of)
	}
}

// TestDeadlocksWithoutSidesAreANumber that is kept once, however often it comes.
func TestDeadlocksWithoutSidesAreANumber(t *testing.T) {
	t.Parallel()
	db, organization, a := pgtest.DB(t), uuid.New(), uuid.New()
	bare := func(seconds, count int) blocking.Sample {
		s := deadlock(t, a, seconds)
		s.Deadlock = &blocking.Deadlock{Count: count}
		return s
	}
	record(t, db, organization, bare(10, 3), bare(10, 3), bare(70, -4), bare(130, 1<<40))
	found, err := blocking.BareDeadlocks(t.Context(), db, organization, fleet.Scope{}, noon, noon.Add(time.Hour))
	if err != nil || len(found) != 3 || found[0].Count != 3 || found[1].Count != 1 || found[2].Count != blocking.MaxDeadlocks || found[0].Instance != a {
		t.Errorf("%+v, %v", found, err)
	}
	if got := sides(t, db, organization, fleet.Scope{}, 0, 3600); got != nil {
		t.Errorf("sides %q", got)
	}
}

// TestDeadlocksFollowTheSettingForNames: people and statements are neither kept nor left where an organization
// keeps none, texts are clean, and what is old is forgotten: sides after 35 days, numbers after 400.
func TestDeadlocksFollowTheSettingForNames(t *testing.T) {
	t.Parallel()
	db, organization, other, a := pgtest.DB(t), uuid.New(), uuid.New(), uuid.New()
	wide := deadlock(t, a, 10, "1<-2:1", "2<-1:1")
	for n := range 40 {
		wide.Nodes = append(wide.Nodes, blocking.Node{Session: fmt.Sprint(n + 3), Kind: blocking.Client})
	}
	wide.Nodes[0].Application, wide.Deadlock.Victims = "bill\x00ing\n", []string{"1\x00"}
	record(t, db, organization, wide)
	record(t, db, other, deadlock(t, a, 10, "1<-2:1", "2<-1:1"))
	tree := func(of uuid.UUID) blocking.Tree {
		t.Helper()
		found, err := blocking.NewestDeadlocks(t.Context(), db, of, fleet.Scope{}, noon, noon.Add(time.Hour))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		return found[0].Tree
	}
	if kept := tree(organization); len(kept.Nodes) != blocking.MaxSides || kept.Nodes[0].Application != "billing�" || kept.Victims[0] != "1" {
		t.Errorf("%d sides, %q, %q", len(kept.Nodes), kept.Nodes[0].Application, kept.Victims)
	}
	tx := db.MustBegin()
	if err := blocking.DropTexts(t.Context(), tx, organization); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := tree(organization).Nodes[0]; n.Statement != "" || n.User != "bill" {
		t.Errorf("without texts: %+v", n)
	}
	tx = db.MustBegin()
	if err := blocking.DropPeople(t.Context(), tx, organization); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := tree(organization).Nodes[0]; n.User != "" || n.Application != "" || n.Client != "" || n.Session != "1" {
		t.Errorf("without people: %+v", n)
	}
	if n := tree(other).Nodes[0]; n.User != "bill" || n.Statement == "" {
		t.Errorf("another organization: %+v", n)
	}
	number := deadlock(t, a, 20)
	record(t, db, organization, number)
	left := func() (n int) {
		t.Helper()
		if err := blocking.Forget(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if err := db.Get(&n, `SELECT count(*) FROM blocking_deadlocks WHERE organization_id = $1`, organization); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for days, want := range map[int]int{34: 2, 36: 1, 399: 1, 401: 0} {
		db.MustExec(`DELETE FROM blocking_deadlocks WHERE organization_id = $1`, organization)
		record(t, db, organization, wide, number)
		db.MustExec(`UPDATE blocking_deadlocks SET at = now() - make_interval(days => $1)`, days)
		if got := left(); got != want {
			t.Errorf("after %d days %d are left, want %d", days, got, want)
		}
	}
}
