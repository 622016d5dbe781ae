package handlers_test

import (
	"bytes"
	"encoding/csv"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/companion"
)

// The inputs say when each finding was first seen, under the id of the list: for one from
// before the last assessment, and for one that came with it.
func TestTheInputsStateWhenAFindingWasFirstSeen(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	orders := e.register("pg-orders", true)
	e.connect(orders)
	record := func(results ...snapshot.CheckResult) {
		a := snapshot.Assessment{StartedAt: e.clock.Now(), FinishedAt: e.clock.Now(), Outcome: snapshot.OutcomeComplete, VersionNum: 150003, Results: results}
		if err := e.facts.Record(t.Context(), e.claim(orders), a, nil, time.Hour, e.tell); err != nil {
			t.Fatal(err)
		}
	}
	fails := func(check, database string, objects ...string) snapshot.CheckResult {
		r := snapshot.CheckResult{CheckID: check, Database: database, Status: snapshot.StatusFail, Total: max(1, len(objects)), Measured: "so"}
		for _, o := range objects {
			r.Violations = append(r.Violations, snapshot.Violation{Object: o})
		}
		return r
	}
	denied := snapshot.CheckResult{CheckID: "PG-S12", Status: snapshot.StatusNotAssessed, Reason: "denied"}
	record(fails("PG-S17", "sales", "public"), fails("PG-S25", ""), denied)
	record(fails("PG-S17", "sales", "public", "x\x00y"), fails("PG-S25", ""), denied)
	doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{}))
	if err != nil {
		t.Fatal(err)
	}

	type listed struct {
		ID    uuid.UUID `db:"id"`
		First time.Time `db:"first_seen_at"`
	}
	var rows []listed
	if err := e.db.Select(&rows, `SELECT id, first_seen_at FROM findings WHERE gone_at IS NULL`); err != nil || len(rows) != 4 {
		t.Fatalf("%d findings, %v", len(rows), err)
	}
	want := map[string]string{}
	times := map[string]bool{}
	for _, r := range rows {
		want[r.ID.String()] = r.First.UTC().Format(time.RFC3339Nano)
		times[want[r.ID.String()]] = true
	}
	if len(times) != 2 {
		t.Fatalf("first seen at %v", times)
	}
	var table bytes.Buffer
	if err := companion.Write(&table, report.FindingsFile, doc); err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range all[0] {
		column[name] = i
	}
	for _, row := range all[1:] {
		if got := row[column["firstSeenAt"]]; got == "" || got != want[row[column["id"]]] {
			t.Errorf("%s %q: first seen at %q, the list says %q", row[column["checkId"]], row[column["object"]], got, want[row[column["id"]]])
		}
		if row[column["lastSeenAt"]] < row[column["firstSeenAt"]] {
			t.Errorf("%s: last seen at %s, before it was first", row[column["checkId"]], row[column["lastSeenAt"]])
		}
		delete(want, row[column["id"]])
	}
	if len(want) != 0 {
		t.Errorf("%d findings are not in the table", len(want))
	}
}
