package handlers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers"
	"muster/internal/assessment"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
)

// looked records a look at a server, and its event.
func (e *estate) looked(instance uuid.UUID, a snapshot.Assessment, classified ...assessment.DatabaseClassification) {
	e.t.Helper()
	a.StartedAt, a.FinishedAt = e.clock.Now(), e.clock.Now()
	if err := e.facts.Record(e.t.Context(), e.claim(instance), a, classified, time.Hour, e.tell); err != nil {
		e.t.Fatal(err)
	}
}

func failing(status string) snapshot.Assessment {
	return snapshot.Assessment{Outcome: snapshot.OutcomeComplete, VersionNum: 150018, CatalogueVersion: "7", Results: []snapshot.CheckResult{{CheckID: "PG-S17", Status: status, Total: 1}}}
}

// TestAReportOverAlteredFacts fails: with SQL alone, an attacker makes a failing server pass
// before the report is requested. The sentence names the server and the time.
func TestAReportOverAlteredFacts(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	legacy, billing := e.register("legacy", true), e.register("billing", true)
	for _, id := range []uuid.UUID{legacy, billing} {
		e.connect(id)
	}
	gather := func() (snapshot.Document, error) {
		return e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{InstanceIDs: []uuid.UUID{legacy}}))
	}
	e.looked(legacy, failing(snapshot.StatusPass))
	for range 6 { // the log has more events than are read at first
		e.looked(billing, failing(snapshot.StatusPass))
		e.looked(legacy, snapshot.Assessment{Outcome: snapshot.OutcomeUnreachable})
	}
	e.looked(legacy, failing(snapshot.StatusFail))
	doc, err := gather()
	if err != nil {
		t.Fatal(err)
	}
	used := doc.Instances[0].Logged
	var digest string
	if err := e.db.Get(&digest, `SELECT convert_from(data, 'UTF8')::json ->> 'factsSha256' FROM events WHERE log = 'fleet' AND position = $1`, used.Event); err != nil {
		t.Fatal(err)
	}
	if digest != used.FactsSHA256 || used.RecordedAt == nil || used.Late {
		t.Errorf("the inputs name %+v, and the log has %s", used, digest)
	}
	e.looked(billing, failing(snapshot.StatusPass))

	for name, sql := range map[string]string{
		"facts":    `UPDATE assessments SET facts = replace(facts::text, '"fail"', '"pass"')::json WHERE instance_id = '%[1]s'`,
		"no facts": `UPDATE assessments SET facts = '[]' WHERE id = '%[3]s'`,
		"deleted":  `DELETE FROM assessments WHERE id = '%[3]s'`,
		"moved":    `UPDATE assessments SET recorded_at = recorded_at - interval '3 days' WHERE id = '%[3]s'`,
		"all gone": `DELETE FROM assessments WHERE instance_id = '%[1]s' AND outcome <> 'unreachable'`,
		"swapped":  `UPDATE assessments SET instance_id = CASE instance_id WHEN '%[1]s' THEN '%[2]s'::uuid ELSE '%[1]s' END`,
		"outcome":  `UPDATE assessments SET outcome = 'unreachable' WHERE id = '%[3]s'`,
		"attempt":  `UPDATE assessments SET outcome = 'complete' WHERE instance_id = '%[1]s' AND facts ->> 'outcome' = 'unreachable'; UPDATE assessments SET outcome = 'unreachable' WHERE id = '%[3]s'`,
		"inserted": `INSERT INTO assessments SELECT gen_random_uuid(), organization_id, '%[1]s', now(), outcome, facts, answers FROM assessments WHERE instance_id = '%[2]s' LIMIT 1`,
	} {
		e.db.MustExec(`CREATE TABLE as_it_was AS SELECT * FROM assessments`)
		e.db.MustExec(fmt.Sprintf(sql, legacy, billing, used.ID))
		var altered *handlers.AlteredFactsError
		_, err := gather()
		if !errors.As(err, &altered) || altered.Altered[0].Server != "legacy" || !strings.Contains(err.Error(), altered.Altered[0].At.Format(time.RFC3339)) {
			t.Errorf("%s: %v", name, err)
		}
		_, err = e.inputs().Findings(t.Context(), e.gathering(report.Security, report.Scope{InstanceIDs: []uuid.UUID{legacy}}))
		if !errors.As(err, &altered) {
			t.Errorf("%s: a schedule compares with the altered findings: %v", name, err)
		}
		e.db.MustExec(`DELETE FROM assessments`)
		e.db.MustExec(`INSERT INTO assessments SELECT * FROM as_it_was`)
		e.db.MustExec(`DROP TABLE as_it_was`)
	}

	// A look that is recorded while the report is gathered is no fault.
	if _, err := gather(); err != nil {
		t.Error(err)
	}
	e.db.MustExec(`UPDATE assessments SET facts = replace(facts::text, '"fail"', '"pass"')::json WHERE instance_id = $1`, legacy)
	id := e.request(e.ana)
	builder := e.builder()
	builder.Gatherer = e.inputs()
	stop := e.work("w-"+id.String(), builder.Task(1))
	defer stop()
	e.until("Failed", func() bool { return e.has(id, "report.failed") })
	failed, _ := last[report.Failed](e.scene, id)
	if failed.Code != report.CodeFactsAltered || !strings.Contains(failed.Message, "legacy at "+used.At.Format(time.RFC3339)) {
		t.Errorf("the report failed with %s: %s", failed.Code, failed.Message)
	}
}

// TestAnEventOfAnotherLog counts for nothing: its position may lie before marks in the fleet's log.
func TestAnEventOfAnotherLog(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	legacy := e.register("legacy", true)
	e.connect(legacy)
	for range 9 { // the other logs are shorter
		e.looked(legacy, failing(snapshot.StatusFail))
	}
	if err := secrets.CheckKeys(t.Context(), e.db, e.key); err != nil {
		t.Fatal(err)
	}
	if _, err := e.key.BeginMarks(t.Context(), e.db, "", time.Now(), func(context.Context) (bool, error) { return false, nil }); err != nil {
		t.Fatal(err)
	}
	pgtest.Unguard(t, e.db)
	for _, log := range []eventstore.Log{eventstore.Fleet, eventstore.Organization, eventstore.Reports} {
		id := uuid.New()
		e.db.MustExec(`INSERT INTO assessments SELECT $2, organization_id, instance_id, clock_timestamp(), outcome, replace(facts::text, '"fail"', '"pass"')::json, NULL
			FROM assessments WHERE instance_id = $1 ORDER BY recorded_at LIMIT 1`, legacy, id)
		var forged []byte
		if err := e.db.Get(&forged, `SELECT json_build_object('instanceId', instance_id, 'assessmentId', id, 'at', to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
			'factsSha256', encode(sha256(convert_to(facts::text, 'UTF8')), 'hex'), 'reached', true)::text FROM assessments WHERE id = $1`, id); err != nil {
			t.Fatal(err)
		}
		e.db.MustExec(`DELETE FROM events WHERE stream_id = $1`, domain.KeptOf(legacy))
		e.db.MustExec(`DELETE FROM streams WHERE stream_id = $1`, domain.KeptOf(legacy))
		_, err := e.events.Append(t.Context(), log, eventstore.Append{
			Organization: e.organization, StreamType: domain.KeptStream, Stream: domain.KeptOf(legacy), Expected: eventstore.NoStream,
			Events: []eventstore.NewEvent{{Type: "assessment.kept", Data: forged}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var altered *handlers.AlteredFactsError
		if doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{})); !errors.As(err, &altered) {
			t.Errorf("log %s: a report over %+v, %v", log, doc.Instances[0].Logged, err)
		}
		e.db.MustExec(`DELETE FROM assessments WHERE id = $1`, id)
	}
}

// TestAReportOverAlteredClassifications fails: with SQL alone, an attacker hides the contents
// of the databases' columns. The classification that was known when the assessment was
// recorded, or a later one, counts.
func TestAReportOverAlteredClassifications(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	hr, shop := e.register("hr", true), e.register("shop", true)
	e.connect(hr)
	e.connect(shop)
	columns := func(database, category string) assessment.DatabaseClassification {
		return assessment.DatabaseClassification{Database: database, Classification: snapshot.Classification{
			Status: snapshot.ClassificationCompleted, FinishedAt: e.clock.Now(),
			Tables: []snapshot.ClassifiedTable{{Schema: "public", Name: "people", Columns: []snapshot.ClassifiedColumn{{Name: "a", Category: category, Confidence: "High"}}}},
		}}
	}
	look := failing(snapshot.StatusPass)
	look.Databases = []snapshot.DatabaseFact{{Name: "staff"}, {Name: "wages"}}
	gather := func() (snapshot.Document, error) {
		return e.inputs().Gather(t.Context(), e.gathering(report.DataInventory, report.Scope{InstanceIDs: []uuid.UUID{hr}}))
	}
	e.looked(hr, look, columns("staff", "health"), columns("wages", "email"))
	e.looked(shop, look, columns("staff", "phone"))
	e.looked(hr, look, columns("staff", "email"))
	for range 3 { // the log has more events than are read at first
		e.looked(hr, snapshot.Assessment{Outcome: snapshot.OutcomeUnreachable})
	}
	whole, err := gather()
	if err != nil || len(whole.Instances[0].Databases) != 2 || whole.Instances[0].Databases[1].Classification == nil {
		t.Fatalf("%+v, %v", whole.Instances[0].Databases, err)
	}
	for name, sql := range map[string]string{
		"facts":       `UPDATE assessment_classifications SET facts = replace(facts::text, '"email"', '"none"')::json WHERE instance_id = '%[1]s'`,
		"status":      `UPDATE assessment_classifications SET status = 'failed' WHERE instance_id = '%[1]s' AND database_name = 'wages'`,
		"undecodable": `UPDATE assessment_classifications SET facts = '[]' WHERE instance_id = '%[1]s' AND database_name = 'wages'`,
		"one gone":    `DELETE FROM assessment_classifications WHERE instance_id = '%[1]s' AND database_name = 'wages'`,
		"all gone":    `DELETE FROM assessment_classifications WHERE instance_id = '%[1]s'`,
		"renamed":     `UPDATE assessment_classifications SET database_name = 'wages2' WHERE instance_id = '%[1]s' AND database_name = 'wages'`,
		"another's":   `UPDATE assessment_classifications a SET facts = b.facts FROM assessment_classifications b WHERE a.instance_id = '%[1]s' AND a.database_name = 'wages' AND b.instance_id = '%[2]s'`,
		"as it was":   `UPDATE assessment_classifications SET facts = replace(facts::text, '"email"', '"health"')::json WHERE instance_id = '%[1]s' AND database_name = 'staff'`,
	} {
		e.db.MustExec(`CREATE TABLE as_it_was AS SELECT * FROM assessment_classifications`)
		e.db.MustExec(fmt.Sprintf(sql, hr, shop))
		var altered *handlers.AlteredFactsError
		if _, err := gather(); !errors.As(err, &altered) || !strings.Contains(err.Error(), "the classification of the databases of hr is not the one that the log recorded (fleet:") {
			t.Errorf("%s: %v", name, err)
		}
		e.db.MustExec(`DELETE FROM assessment_classifications`)
		e.db.MustExec(`INSERT INTO assessment_classifications SELECT * FROM as_it_was`)
		e.db.MustExec(`DROP TABLE as_it_was`)
	}
	if _, err := gather(); err != nil {
		t.Error(err)
	}
	switchedOff := snapshot.Classification{Status: snapshot.ClassificationOff}
	e.looked(shop, look, assessment.DatabaseClassification{Database: "staff", Classification: switchedOff})
	if doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{})); err != nil || len(doc.Instances) != 2 {
		t.Errorf("where nothing is known of the databases: %v", err)
	}
	e.db.MustExec(`DELETE FROM assessment_classifications`)
	e.db.MustExec(`DELETE FROM assessment_targets WHERE instance_id = $1`, hr) // as a removal does it, before the fleet knows
	doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{InstanceIDs: []uuid.UUID{hr}}))
	if err != nil || doc.Instances[0].NotAssessed == "" {
		t.Errorf("of a server whose connection was removed: %v", err)
	}
}

// TestAReportAfterTheRetention of facts: they were erased, and not altered.
func TestAReportAfterTheRetention(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	old := e.register("old", true)
	e.connect(old)
	e.looked(old, failing(snapshot.StatusFail))
	e.db.MustExec(`DELETE FROM assessments`)
	e.clock.Advance(assessment.History + 48*time.Hour)
	if _, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{})); err != nil {
		t.Error(err)
	}
}
