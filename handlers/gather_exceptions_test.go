package handlers_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/exception"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/companion"
	"muster/projections/exceptions"
)

func (e *estate) as(member uuid.UUID) usecase.Actor {
	return usecase.Actor{OrganizationID: e.organization, MemberID: member}
}

// asked has Ana ask to live with a check for a month; change says with what.
func (e *estate) asked(check string, change func(r *commands.RequestException)) uuid.UUID {
	e.t.Helper()
	r := commands.RequestException{
		Subject: exception.Subject{CheckID: check}, Reason: "because of " + check, Until: e.clock.Now().AddDate(0, 1, 0),
	}
	if change != nil {
		change(&r)
	}
	id, _, err := e.commands.RequestException(e.t.Context(), e.as(e.ana), r)
	if err != nil {
		e.t.Fatal(err)
	}
	return id
}

// granted has Bob grant it. It does not wait for a read model.
func (e *estate) granted(check string, change func(r *commands.RequestException)) uuid.UUID {
	e.t.Helper()
	id := e.asked(check, change)
	if _, err := e.commands.GrantException(e.t.Context(), e.as(e.bob), id); err != nil {
		e.t.Fatal(err)
	}
	return id
}

func (e *estate) revoked(id uuid.UUID) {
	e.t.Helper()
	if _, err := e.commands.RevokeException(e.t.Context(), e.as(e.bob), id); err != nil {
		e.t.Fatal(err)
	}
}

// databases registers those of an instance and returns their ids by name.
func (e *estate) databases(instance uuid.UUID, names ...string) map[string]uuid.UUID {
	e.t.Helper()
	mark, err := e.commands.RecordDatabases(e.t.Context(), e.actor(), instance, names)
	if err != nil {
		e.t.Fatal(err)
	}
	e.wait(mark)
	found, _, err := e.inputs().Fleet.Databases(e.t.Context(), e.organization, instance, "", 1, len(names))
	if err != nil || len(found) != len(names) {
		e.t.Fatal(found, err)
	}
	ids := map[string]uuid.UUID{}
	for _, db := range found {
		ids[db.Name] = db.ID
	}
	return ids
}

// reasons are those of a document's exceptions, sorted.
func reasons(doc snapshot.Document) []string {
	out := []string{}
	for _, x := range doc.Exceptions {
		out = append(out, x.Reason)
	}
	slices.Sort(out)
	return out
}

func TestGatherIncludesExceptions(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	here, there := e.register("here", true), e.register("there", true)
	databases := e.databases(here, "sales", "other")
	sales, other := databases["sales"], databases["other"]
	on := func(instance, database uuid.UUID) func(*commands.RequestException) {
		return func(r *commands.RequestException) {
			r.InstanceID = &instance
			if database != uuid.Nil {
				r.DatabaseID = &database
			}
		}
	}
	e.granted("PG-S01", nil)
	inSales := e.granted("PG-S18", on(here, sales))
	e.granted("PG-S19", on(here, other))
	e.granted("PG-S02", on(there, uuid.Nil))
	e.asked("PG-S04", nil)
	e.revoked(e.granted("PG-S05", nil))
	e.revoked(e.asked("PG-S07", nil))
	e.granted("PG-S11", func(r *commands.RequestException) { r.Until = e.clock.Now().Add(time.Hour) })
	e.exec(`DELETE FROM members WHERE name = 'Bob'`) // as if erased: an id without a name
	e.clock.Advance(time.Hour)                       // by now it has lapsed

	for name, c := range map[string]struct {
		kind  report.Kind
		scope report.Scope
		want  []string
	}{
		"everything":    {report.Security, report.Scope{}, []string{"because of PG-S01", "because of PG-S02", "because of PG-S18", "because of PG-S19"}},
		"one instance":  {report.Security, report.Scope{InstanceIDs: []uuid.UUID{here}}, []string{"because of PG-S01", "because of PG-S18", "because of PG-S19"}},
		"the other one": {report.Security, report.Scope{InstanceIDs: []uuid.UUID{there}}, []string{"because of PG-S01", "because of PG-S02"}},
		"one database": {report.InstanceScorecard, report.Scope{InstanceIDs: []uuid.UUID{here}, DatabaseID: &sales},
			[]string{"because of PG-S01", "because of PG-S18"}},
	} {
		doc, err := e.inputs().Gather(t.Context(), e.gathering(c.kind, c.scope))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, reasons(doc)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if i := slices.IndexFunc(doc.Exceptions, func(x snapshot.Exception) bool { return x.ID == inSales }); i >= 0 {
			x := doc.Exceptions[i]
			if x.RequestedBy != (snapshot.Person{ID: e.ana, Name: "Ana"}) || x.GrantedBy != (snapshot.Person{ID: e.bob}) ||
				x.Database == nil || *x.Database != (snapshot.DatabaseRef{ID: sales, Name: "sales"}) || x.GrantedAt.IsZero() {
				t.Errorf("%s: %+v", name, x)
			}
		}
		if !slices.Equal(doc.People(), []uuid.UUID{e.ana}) {
			t.Errorf("%s names %v", name, doc.People())
		}
	}
	foreign := e.gathering(report.Security, report.Scope{})
	foreign.OrganizationID = e.stranger()
	if doc, err := e.inputs().Gather(t.Context(), foreign); err != nil || len(doc.Exceptions) != 0 {
		t.Errorf("a stranger's report has %+v, %v", doc.Exceptions, err)
	}
}

// stranger is another organization.
func (e *estate) stranger() uuid.UUID {
	e.t.Helper()
	id := uuid.New()
	tx, err := e.db.BeginTxx(e.t.Context(), nil)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.accounts.InsertOrganization(e.t.Context(), tx, id, "Strangers", false); err != nil {
		e.t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		e.t.Fatal(err)
	}
	return id
}

// slowExceptions is a read model that passes nothing until told to; no other one
// ever passes anything.
type slowExceptions struct{ asked, passAfter int }

func (s *slowExceptions) Wait(_ context.Context, log eventstore.Log, _ int64, only ...string) bool {
	s.asked++
	return log == eventstore.Organization && slices.Equal(only, []string{exceptions.Name}) && s.asked > s.passAfter
}

func TestGatherWaitsForDecidedExceptions(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	inputs, model := e.inputs(), &slowExceptions{passAfter: 3}
	inputs.Waiter = model
	if _, err := inputs.Gather(t.Context(), e.gathering(report.Security, report.Scope{})); err != nil || model.asked != 4 {
		t.Errorf("asked %d times, %v", model.asked, err)
	}
	model.passAfter = 1000
	var source *handlers.SourceError
	if _, err := inputs.Gather(t.Context(), e.gathering(report.Security, report.Scope{})); !errors.As(err, &source) || source.What != "the exceptions" {
		t.Errorf("a read model that stands still: %v, want *SourceError", err)
	}
}

// A clock ahead of the worker's decided: the document's instant is not before
// what it knows, and what has lapsed by then is not in force.
func TestAnExceptionOfAClockAhead(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	e.granted("PG-S02", func(r *commands.RequestException) { r.Until = e.clock.Now().Add(30 * time.Second) })
	e.clock.Advance(time.Minute)
	e.granted("PG-S01", nil)
	inputs := e.inputs()
	inputs.Now = func() time.Time { return e.clock.Now().Add(-time.Minute) }
	doc, err := inputs.Gather(t.Context(), e.gathering(report.Security, report.Scope{}))
	if err != nil || !slices.Equal(reasons(doc), []string{"because of PG-S01"}) || doc.AsOf.Before(doc.Exceptions[0].GrantedAt) {
		t.Errorf("as of %s: %+v, %v", doc.AsOf, doc.Exceptions, err)
	}
}

// TestAnExceptionFromAskingToLapsing builds a report at every turn of its life.
func TestAnExceptionFromAskingToLapsing(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	server := e.register("orders", true)
	e.connect(server)
	e.found(server, snapshot.CheckResult{CheckID: "PG-S01", Status: snapshot.StatusFail, FailFraction: 1, Total: 2,
		Violations: []snapshot.Violation{{Object: "line 94"}, {Object: "line 97"}}},
		snapshot.CheckResult{CheckID: "PG-S26", Status: snapshot.StatusPass})
	type told struct {
		Open, Accepted, Score int
		Change                analysis.Change
	}
	build := func() told {
		t.Helper()
		doc := e.built()
		change, _ := analysis.ChangeSince(doc)
		return told{
			analysis.CountBySeverity(analysis.Findings(doc)).Total(), analysis.CountBySeverity(analysis.Accepted(doc)).Total(),
			analysis.HealthScore(doc, &doc.Instances[0]).Overall, change,
		}
	}
	says := func(when string, want told) {
		t.Helper()
		if diff := cmp.Diff(want, build()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	const failing, clean = 5, 100 // one critical of weight 20 fails, one low of weight 1 passes
	says("before", told{Open: 2, Score: failing})
	id := e.asked("PG-S01", nil)
	says("asked for", told{Open: 2, Score: failing, Change: analysis.Change{Unchanged: 2}})
	if _, err := e.commands.GrantException(t.Context(), e.as(e.bob), id); err != nil {
		t.Fatal(err)
	}
	says("granted", told{Accepted: 2, Score: clean, Change: analysis.Change{Accepted: 2}})
	e.revoked(id)
	says("revoked", told{Open: 2, Score: failing, Change: analysis.Change{Reopened: 2, NewBy: analysis.SeverityCounts{2}}})
	e.granted("PG-S01", func(r *commands.RequestException) { r.InstanceID, r.ObjectRef = &server, "line 94" })
	says("one object granted", told{Open: 1, Accepted: 1, Score: failing, Change: analysis.Change{Unchanged: 1, Accepted: 1}})
	e.clock.Advance(31 * 24 * time.Hour)
	says("lapsed", told{Open: 2, Score: failing, Change: analysis.Change{Unchanged: 1, Reopened: 1, NewBy: analysis.SeverityCounts{1}}})
}

// If the member who requested an exception in a report, or the one who granted it, is erased,
// the report's inputs are erased, too. A member who only requested one that was not granted
// does not cause that.
func TestErasingAMemberWhoAcceptedAFinding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bobAsks, granted bool
		erasures         int
	}{
		"who asked":            {true, true, 2},
		"who granted":          {false, true, 2},
		"who asked for no use": {true, false, 1}, // the one at the end of the retention
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEstate(t)
			e.join(e.ana, e.bob, e.eva)
			e.connect(e.register("orders", true))
			asks, grants := e.ana, e.bob
			if c.bobAsks {
				asks, grants = e.bob, e.ana
			}
			id, _, err := e.commands.RequestException(t.Context(), e.as(asks), commands.RequestException{
				Subject: exception.Subject{CheckID: "PG-S01"}, Reason: "because", Until: e.clock.Now().AddDate(0, 1, 0),
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.granted {
				if _, err := e.commands.GrantException(t.Context(), e.as(grants), id); err != nil {
					t.Fatal(err)
				}
			}
			e.built() // at Ana's request
			e.erase(e.bob)
			if rows := e.jobs(jobs.Erase); len(rows) != c.erasures {
				t.Errorf("erasures waiting: %+v, want %d", rows, c.erasures)
			}
		})
	}
}

// found records a look at a server.
func (e *estate) found(instance uuid.UUID, results ...snapshot.CheckResult) {
	e.t.Helper()
	claim := e.claim(instance)
	at := e.clock.Now().Add(-time.Hour)
	a := snapshot.Assessment{StartedAt: at, FinishedAt: at, Outcome: snapshot.OutcomeComplete, VersionNum: 150018, Results: results}
	if err := e.facts.Record(e.t.Context(), claim, a, nil, time.Hour, e.tell); err != nil {
		e.t.Fatal(err)
	}
}

// built requests a Security report, has it built from what is known, and reads
// the inputs that it was rendered from.
func (e *estate) built() snapshot.Document {
	e.t.Helper()
	doc := e.build(e.request(e.ana))
	// The next report finds this one in the history.
	head, err := e.events.Head(e.t.Context(), e.db, eventstore.Reports)
	if err != nil {
		e.t.Fatal(err)
	}
	e.wait(usecase.Mark{Log: head.Log, Position: head.Position})
	return doc
}

// build has a requested report built from what is known, and reads the inputs that it was rendered from.
func (e *estate) build(id uuid.UUID) snapshot.Document {
	e.t.Helper()
	builder := e.builder()
	builder.Gatherer = e.inputs()
	stop := e.work("w-"+id.String(), builder.Task(1))
	e.until("Ready", func() bool { return e.has(id, "report.ready") })
	stop()
	ready, _ := last[report.Ready](e.scene, id)
	inputs, digest, err := e.blobs.ReadInputs(e.t.Context(), ready.InputsKey)
	if err != nil || digest != ready.InputsSHA256 {
		e.t.Fatal(digest, err)
	}
	doc, err := snapshot.Decode(inputs)
	if err != nil {
		e.t.Fatal(err)
	}
	return doc
}

// The tables that go with a report say how to verify an object as the API does. The inputs have
// no query of checks for which no object is verified.
func TestVerificationOfFindingsFollowsTheCatalogue(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	server := e.register("server", true)
	e.connect(server)
	e.found(server,
		snapshot.CheckResult{CheckID: "PG-C04", Database: "postgres", Status: snapshot.StatusFail, Total: 1, Violations: []snapshot.Violation{{Object: "public.\"o'dd\"", Evidence: "x"}}},
		snapshot.CheckResult{CheckID: "PG-S12", Status: snapshot.StatusPass},
	)
	inputs := e.inputs()
	doc, err := inputs.Gather(t.Context(), e.gathering(report.Security, report.Scope{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range doc.Checks {
		if (c.Verify != nil) != (c.ID == "PG-C04") {
			t.Errorf("%s is verified by %v", c.ID, c.Verify)
		}
	}
	doc.Kind = string(report.InstanceScorecard) // which has all domains
	var table bytes.Buffer
	if err := companion.Write(&table, report.FindingsFile, doc); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	check, _ := inputs.Catalogue.Check("PG-C04")
	want := check.Verify("public.\"o'dd\"")
	if got := rows[1][slices.Index(rows[0], "verify")]; want == "" || got != want {
		t.Errorf("verified by %q, want %q", got, want)
	}
}

// TestAReportOverAlteredExceptions fails: with SQL alone, an attacker changes the read model.
// It then says that findings are accepted that no administrator accepted, or other findings, or
// for longer.
func TestAReportOverAlteredExceptions(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	legacy := e.register("legacy", true)
	e.connect(legacy)
	e.looked(legacy, failing(snapshot.StatusFail))
	id := e.granted("PG-S17", nil)
	e.asked("PG-S01", nil)
	gather := func() (snapshot.Document, error) {
		return e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{}))
	}
	doc, err := gather()
	if err != nil || len(doc.Exceptions) != 1 || doc.Exceptions[0].ID != id {
		t.Fatalf("%+v, %v", doc.Exceptions, err)
	}
	for name, sql := range map[string]string{
		"inserted": `INSERT INTO exceptions_v1.exceptions SELECT gen_random_uuid(), organization_id, status, 'PG-S18', instance_id, database_id, object_ref, reason, until, requested_by, requested_at, decided_by, decided_at
			FROM exceptions_v1.exceptions WHERE id = $1`,
		"of another check": `UPDATE exceptions_v1.exceptions SET check_id = 'PG-S18' WHERE id = $1`,
		"of a server":      `UPDATE exceptions_v1.exceptions SET instance_id = gen_random_uuid() WHERE id = $1`,
		"of an object":     `UPDATE exceptions_v1.exceptions SET object_ref = 'x' WHERE id = $1`,
		"for longer":       `UPDATE exceptions_v1.exceptions SET until = until + interval '1 year' WHERE id = $1`,
		"other words":      `UPDATE exceptions_v1.exceptions SET reason = 'approved by the board' WHERE id = $1`,
		"somebody else":    `UPDATE exceptions_v1.exceptions SET decided_by = requested_by WHERE id = $1`,
		"granted by none":  `UPDATE exceptions_v1.exceptions SET status = 'granted', decided_by = requested_by, decided_at = requested_at WHERE id <> $1`,
	} {
		e.db.MustExec(`CREATE TABLE as_it_was AS SELECT * FROM exceptions_v1.exceptions`)
		e.db.MustExec(sql, id)
		var altered *handlers.AlteredFactsError
		if _, err := gather(); !errors.As(err, &altered) || !strings.Contains(err.Error(), "the exception "+altered.Altered[0].Exception.String()+" is not the one") {
			t.Errorf("%s: %v", name, err)
		}
		e.db.MustExec(`DELETE FROM exceptions_v1.exceptions`)
		e.db.MustExec(`INSERT INTO exceptions_v1.exceptions SELECT * FROM as_it_was`)
		e.db.MustExec(`DROP TABLE as_it_was`)
	}
	e.db.MustExec(`CREATE TABLE as_it_was AS SELECT * FROM exceptions_v1.exceptions`)
	e.revoked(id)
	if _, err := gather(); err != nil { // the read model has passed it
		t.Fatal(err)
	}
	e.db.MustExec(`UPDATE exceptions_v1.exceptions SET status = a.status, decided_by = a.decided_by FROM as_it_was a WHERE exceptions_v1.exceptions.id = a.id`)
	if doc, err := gather(); err != nil || len(doc.Exceptions) != 0 {
		t.Errorf("one that was revoked: %+v, %v", doc.Exceptions, err)
	}
}
