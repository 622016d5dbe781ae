package findings

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/internal/assessment/catalogue"
	"muster/internal/postgres/transact"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/testing/pgtest"
)

func inTx(t *testing.T, db *sqlx.DB, do func(tx *sqlx.Tx) error) {
	t.Helper()
	if err := transact.Once(t.Context(), db, nil, do); err != nil {
		t.Fatal(err)
	}
}

// keep stores an assessment as Record does, and its findings.
func keep(t *testing.T, db *sqlx.DB, organization, instance uuid.UUID, a snapshot.Assessment, at time.Time) {
	t.Helper()
	facts, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	inTx(t, db, func(tx *sqlx.Tx) error {
		tx.MustExec(`INSERT INTO assessments (id, organization_id, instance_id, outcome, facts, recorded_at) VALUES ($1, $2, $3, $4, $5, $6)`,
			uuid.New(), organization, instance, a.Outcome, string(facts), at)
		return Keep(t.Context(), tx, organization, instance, a, at)
	})
}

func all(t *testing.T, db *sqlx.DB) (rows []Finding) {
	t.Helper()
	if err := db.Select(&rows, `SELECT id, organization_id, instance_id, check_id, database_name, object, assessed, severity, evidence,
		measured, threshold, reason, fix_database, fix_statement, fix_rollback, first_seen_at, last_seen_at, gone_at,
		earlier_first_seen_at, earlier_gone_at FROM findings ORDER BY id`); err != nil {
		t.Fatal(err)
	}
	return rows
}

// somewhere is an assessment of what may be anything.
func somewhere(r *rand.Rand) snapshot.Assessment {
	a := looked()
	for _, database := range []string{"app", "stock"} {
		for _, check := range []string{"PG-C04", "PG-S17", "PG-C01"} {
			switch r.IntN(5) {
			case 0:
				a.Results = append(a.Results, passes(check, database))
			case 1:
				a.Results = append(a.Results, blind(check, database, "no grant"))
			default:
				objects := slices.DeleteFunc([]string{"a", "b", "c", "d"}, func(string) bool { return r.IntN(2) == 0 })
				if len(objects) > 0 {
					a.Results = append(a.Results, fails(check, database, objects...))
				}
			}
		}
	}
	if r.IntN(6) == 0 {
		a = snapshot.Assessment{Outcome: snapshot.OutcomeUnreachable}
	}
	return a
}

// TestReplayMakesTheSameRows as were kept one assessment after the other.
func TestReplayMakesTheSameRows(t *testing.T) {
	t.Parallel()
	db, r := pgtest.DB(t), rand.New(rand.NewPCG(1, 2))
	billing := uuid.New()
	for i := range 30 {
		for _, instance := range []uuid.UUID{orders, billing} {
			keep(t, db, acme, instance, somewhere(r), noon.Add(time.Duration(i)*time.Hour))
		}
	}
	kept := all(t, db)
	if len(kept) < 20 {
		t.Fatalf("only %d rows", len(kept))
	}
	db.MustExec(`UPDATE findings SET first_seen_at = now(), evidence = 'spoilt'`)
	for _, instance := range []uuid.UUID{orders, billing} {
		inTx(t, db, func(tx *sqlx.Tx) error { return Replay(t.Context(), tx, acme, instance) })
	}
	if diff := cmp.Diff(kept, all(t, db)); diff != "" {
		t.Errorf("kept (-) and replayed (+):\n%s", diff)
	}
}

// TestExceptionsAreJudgedAsInReports: the open and the accepted findings, with their
// exceptions, are those of analysis for a document with the same assessments.
func TestExceptionsAreJudgedAsInReports(t *testing.T) {
	t.Parallel()
	db, r := pgtest.DB(t), rand.New(rand.NewPCG(3, 4))
	catalog, err := catalogue.Load()
	if err != nil {
		t.Fatal(err)
	}
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	doc := snapshot.Document{Kind: string(report.InstanceScorecard), Checks: catalog.Definitions()}
	var instances []Instance
	for n := range 3 {
		a, id := somewhere(r), uuid.New()
		for a.Outcome == snapshot.OutcomeUnreachable {
			a = somewhere(r)
		}
		name := fmt.Sprint("pg-", n)
		instances = append(instances, Instance{id, name})
		doc.Instances = append(doc.Instances, snapshot.Instance{ID: id, Name: name, Engine: "postgresql", Active: true, Assessment: &a})
		keep(t, db, acme, id, a, noon)
	}
	for round := range 40 {
		doc.Exceptions = nil
		var exceptions []Exception
		for range r.IntN(6) {
			x := Exception{ID: uuid.New(), CheckID: pick("PG-C04", "PG-S17", "PG-C01"), Object: pick("", "", "a", "b", "z"), Until: noon.AddDate(0, 0, r.IntN(2))}
			in := snapshot.Exception{ID: x.ID, CheckID: x.CheckID, Object: x.Object, Until: x.Until}
			if r.IntN(2) == 0 {
				id := instances[r.IntN(len(instances))].ID
				x.Instance, in.InstanceID = &id, &id
			}
			if r.IntN(3) == 0 {
				name := pick("app", "stock")
				x.Database, in.Database = &name, &snapshot.DatabaseRef{Name: name}
			}
			exceptions, doc.Exceptions = append(exceptions, x), append(doc.Exceptions, in)
		}
		want := map[string][]string{}
		for status, groups := range map[Status][]analysis.CheckFindings{Open: analysis.Findings(doc), Accepted: analysis.Accepted(doc)} {
			for _, g := range groups {
				for _, f := range g.Findings {
					by := ""
					if f.Exception != nil {
						by = f.Exception.ID.String()
					}
					want[string(status)] = append(want[string(status)], strings.Join([]string{f.InstanceName, g.Check.ID, f.Database, f.Object, g.Check.Severity, by}, " "))
				}
			}
		}
		got := map[string][]string{}
		for _, status := range []Status{Open, Accepted} {
			rows, total, err := List(t.Context(), db, Query{Organization: acme, Instances: instances, Statuses: []Status{status}, Exceptions: exceptions, Page: 1, Size: 200})
			if err != nil || total != int64(len(rows)) {
				t.Fatal(total, len(rows), err)
			}
			for _, f := range rows {
				by := ""
				if x := Narrowest(exceptions, f); x != nil {
					by = x.ID.String()
				}
				name := instances[slices.IndexFunc(instances, func(i Instance) bool { return i.ID == f.Instance })].Name
				got[string(status)] = append(got[string(status)], strings.Join([]string{name, f.CheckID, f.Database, f.Object, f.Severity(), by}, " "))
			}
		}
		for _, m := range []map[string][]string{want, got} {
			for status := range m {
				slices.Sort(m[status])
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d, %d exceptions, reports (-) and list (+):\n%s", round, len(exceptions), diff)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	billing, foreign, other, unlisted := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	keep(t, db, acme, orders, looked(fails("PG-C04", "app", "idx_a")), noon)
	keep(t, db, acme, orders, looked(fails("PG-C04", "app", "idx_a"), fails("PG-S17", "stock", "public"), blind("PG-S30", "", "the feed does not know it")), noon.Add(time.Hour))
	keep(t, db, acme, billing, looked(fails("PG-S01", "", "host all trust")), noon.Add(2*time.Hour))
	keep(t, db, acme, billing, looked(fails("PG-S01", "", "host all trust"), fails("PG-S17", "app", "public")), noon.Add(3*time.Hour))
	keep(t, db, other, foreign, looked(fails("PG-S01", "", "not ours")), noon)
	keep(t, db, acme, unlisted, looked(fails("PG-S01", "", "of an instance that is not listed")), noon)
	both := []Instance{{orders, "orders"}, {billing, "Billing"}}
	app := "app"
	x := []Exception{{ID: uuid.New(), CheckID: "PG-S17", Instance: &billing, Until: noon}}
	for name, c := range map[string]struct {
		query Query
		want  string
		total int64
	}{
		"worst first":       {Query{Order: BySeverity, Descending: true}, "PG-S01 PG-S17 PG-S17 PG-C04", 4},
		"worst last":        {Query{Order: BySeverity}, "PG-C04 PG-S17 PG-S17 PG-S01", 4},
		"by check":          {Query{Order: ByCheck}, "PG-C04 PG-S01 PG-S17 PG-S17", 4},
		"by check, down":    {Query{Order: ByCheck, Descending: true}, "PG-S17 PG-S17 PG-S01 PG-C04", 4},
		"by instance":       {Query{Order: ByInstance, Ranks: []int{0, 3}}, "PG-S01 PG-C04", 2},
		"instance, down":    {Query{Order: ByInstance, Descending: true, Ranks: []int{0, 3}}, "PG-C04 PG-S01", 2},
		"oldest":            {Query{Order: ByFirst}, "PG-C04 PG-S17 PG-S01 PG-S17", 4},
		"youngest":          {Query{Order: ByFirst, Descending: true}, "PG-S17 PG-S01 PG-S17 PG-C04", 4},
		"last seen":         {Query{Order: ByLast, Instances: both[:1], Ranks: []int{3}}, "PG-C04", 1},
		"a page":            {Query{Order: ByCheck, Page: 2, Size: 3}, "PG-S17", 4},
		"past the end":      {Query{Order: ByCheck, Page: 9, Size: 3}, "", 4},
		"one instance":      {Query{Order: ByCheck, Instances: both[1:]}, "PG-S01 PG-S17", 2},
		"a foreign one":     {Query{Instances: []Instance{{foreign, "theirs"}}}, "", 0},
		"the whole but one": {Query{Order: ByCheck, Whole: true, Except: []uuid.UUID{billing, unlisted}}, "PG-C04 PG-S17", 2},
		"the whole":         {Query{Order: ByCheck, Whole: true, Except: []uuid.UUID{unlisted}}, "PG-C04 PG-S01 PG-S17 PG-S17", 4},
		"no instance":       {Query{Instances: []Instance{}}, "", 0},
		"a database":        {Query{Order: ByCheck, Database: &app}, "PG-C04 PG-S17", 2},
		"checks":            {Query{Checks: []string{"PG-S01", "PG-X99"}}, "PG-S01", 1},
		"no check":          {Query{Checks: []string{}}, "", 0},
		"severities":        {Query{Order: ByCheck, Ranks: []int{1, 3}}, "PG-C04 PG-S17 PG-S17", 3},
		"not assessed":      {Query{Statuses: []Status{NotAssessed}}, "PG-S30", 1},
		"accepted":          {Query{Statuses: []Status{Accepted}, Exceptions: x}, "PG-S17", 1},
		"none accepted":     {Query{Statuses: []Status{Accepted}}, "", 0},
		"open, one is not":  {Query{Order: ByCheck, Exceptions: x}, "PG-C04 PG-S01 PG-S17", 3},
		"open and the rest": {Query{Order: ByCheck, Statuses: []Status{NotAssessed, Accepted, Open}, Exceptions: x}, "PG-C04 PG-S01 PG-S17 PG-S17 PG-S30", 5},
		"an object":         {Query{Search: "IDX_"}, "PG-C04", 1},
		"evidence":          {Query{Order: ByCheck, Search: "SEEN", Ranks: []int{0}}, "PG-S01", 1},
		"an instance's":     {Query{Order: ByCheck, Search: "billing"}, "PG-S01 PG-S17", 2},
		"a database's":      {Query{Order: ByCheck, Search: "STO"}, "PG-S17", 1},
		"a title":           {Query{Order: ByCheck, Search: "nowhere", Titled: []string{"PG-S01"}}, "PG-S01", 1},
		"no pattern":        {Query{Search: "%"}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			q := c.query
			q.Organization = acme
			if q.Instances == nil {
				q.Instances = both
			}
			if q.Page == 0 {
				q.Page, q.Size = 1, 20
			}
			rows, total, err := List(t.Context(), db, q)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, len(rows))
			for i, f := range rows {
				got[i] = f.CheckID
				if f.Organization != acme {
					t.Errorf("another organization's: %+v", f)
				}
			}
			if strings.Join(got, " ") != c.want || total != c.total {
				t.Errorf("%v of %d, want %s of %d", got, total, c.want, c.total)
			}
		})
	}
	theirs := slices.IndexFunc(all(t, db), func(f Finding) bool { return f.Organization == other })
	id := all(t, db)[theirs].ID
	if _, ok, err := Find(t.Context(), db, acme, id); ok || err != nil {
		t.Errorf("another organization's is found: %v", err)
	}
	if f, ok, err := Find(t.Context(), db, other, id); !ok || err != nil || f.Object != "not ours" {
		t.Errorf("%+v %v %v", f, ok, err)
	}
}

// TestPagesByInstance: whatever the size of a page, the pages are the whole list, cut,
// instance after instance in the order of their names.
func TestPagesByInstance(t *testing.T) {
	t.Parallel()
	db := pgtest.DB(t)
	var instances []Instance
	for i, name := range []string{"b", "A", "none", "c", "a"} {
		in := Instance{uuid.UUID{15: byte(i + 1)}, name}
		instances = append(instances, in)
		var failed []snapshot.CheckResult
		for n := range map[string]int{"b": 3, "A": 1, "c": 5, "a": 2}[name] {
			failed = append(failed, fails("PG-C04", "app", fmt.Sprint("idx_", n)))
		}
		keep(t, db, acme, in.ID, looked(failed...), noon)
	}
	pages := func(size int, descending bool) (names []string) {
		for page := 1; ; page++ {
			rows, total, err := List(t.Context(), db, Query{
				Organization: acme, Instances: instances, Order: ByInstance, Descending: descending, Page: page, Size: size, Search: "IDX",
			})
			if err != nil || total != 11 {
				t.Fatal(total, err)
			}
			if len(rows) == 0 {
				return names
			}
			for _, f := range rows {
				names = append(names, instances[f.Instance[15]-1].Name+" "+f.ID.String())
			}
		}
	}
	for descending, want := range map[bool]string{false: "Aaabbbccccc", true: "cccccbbbaaA"} {
		whole := pages(20, descending)
		var order strings.Builder
		for _, name := range whole {
			order.WriteByte(name[0])
		}
		if got := order.String(); got != want {
			t.Errorf("descending %t: %s, want %s", descending, got, want)
		}
		for size := 1; size < 12; size++ {
			if diff := cmp.Diff(whole, pages(size, descending)); diff != "" {
				t.Errorf("pages of %d (-whole):\n%s", size, diff)
			}
		}
	}
}
