package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/domain/fleet"
	"muster/internal/assessment/changes"
	"muster/internal/httpapi/api"
	"muster/internal/measurements"
	"muster/internal/report/snapshot"
	"muster/internal/watch"
)

// TestTheFormatOfASentAssessment: one item a check, with every outcome, whatever the databases of the server
// say of it.
func TestTheFormatOfASentAssessment(t *testing.T) {
	t.Parallel()
	in := func(check, database, status string) snapshot.CheckResult {
		return snapshot.CheckResult{CheckID: check, Database: database, Status: status}
	}
	fails := func(r snapshot.CheckResult, measured string, objects ...string) snapshot.CheckResult {
		r.Measured = measured
		for _, o := range objects {
			r.Violations = append(r.Violations, snapshot.Violation{Object: o, Evidence: "seen", Fix: &snapshot.Fix{Statement: "DROP TABLE x"}})
		}
		return r
	}
	partly := func(r snapshot.CheckResult, share float64, severity string) snapshot.CheckResult {
		r.FailFraction, r.Violations[1].Severity = share, severity
		return r
	}
	says := func(r snapshot.CheckResult, reason string) snapshot.CheckResult {
		r.Reason, r.ReasonCode = reason, snapshot.ReasonPermissionDenied
		return r
	}
	measured := func(r snapshot.CheckResult, text string) snapshot.CheckResult {
		r.Measured = text
		return r
	}
	found := snapshot.Assessment{
		VersionText: "PostgreSQL 17.2 (Debian)", VersionNum: 170002, Edition: "x",
		Databases: []snapshot.DatabaseFact{
			{Name: "a", AllowsConn: true, SizeBytes: new(int64(7))}, {Name: "b", AllowsConn: true, EncryptedAtRest: new(true)}, {Name: "closed"}, {Name: "a\nb", AllowsConn: true},
		},
		Results: []snapshot.CheckResult{
			in("D1", "a", snapshot.StatusPass), in("D1", "a\nb", snapshot.StatusFail), in("D1", "b", snapshot.StatusPass),
			partly(fails(in("D2", "a", snapshot.StatusFail), "2 of 3", "x", "y"), 0.5, "High"), says(in("D2", "b", snapshot.StatusNotAssessed), "Denied."),
			measured(in("D3", "a", snapshot.StatusPass), "none of 2"), in("D3", "b", snapshot.StatusNotApplicable),
			measured(in("D4", "a", snapshot.StatusPass), "none of 2"), measured(in("D4", "b", snapshot.StatusPass), "none of 3"),
			says(in("D5", "a", snapshot.StatusNotAssessed), "Denied."), in("D5", "b", snapshot.StatusNotApplicable),
			measured(in("D6", "a", snapshot.StatusPass), "none"),
			fails(in("I1", "", snapshot.StatusFail), "off", "ssl"), in("I2", "", snapshot.StatusFail), measured(in("I3", "", snapshot.StatusPass), "on"),
			says(in("I4", "", snapshot.StatusNotAssessed), "Denied."), in("I5", "", snapshot.StatusNotAssessed), in("I6", "", snapshot.StatusNotApplicable),
		},
		Roles: []snapshot.DatabaseRole{{Name: "dana", Login: true, Superuser: true, Attributes: []string{"CREATEDB", ""}, PasswordKind: "md5"}, {Name: "dana"}, {Name: ""}},
	}
	settings := changes.Scope{Kind: fleet.ChangedSetting}
	state := changes.State{Seen: []changes.Scope{settings}, Items: []changes.Item{
		{Scope: settings, Name: "work_mem", Value: "4", Unit: "MB"}, {Scope: settings, Name: "primary_conninfo", Value: "password=planted", Secret: true}, {Scope: settings, Name: "empty"},
		{Scope: changes.Scope{Kind: fleet.ChangedRole}, Name: "dana", Value: "x"},
	}}
	classified := map[string]snapshot.Classification{
		"a": {Status: snapshot.ClassificationPartial, FinishedAt: noon, Tables: []snapshot.ClassifiedTable{{Schema: "s", Name: "t", EstimatedRows: 3, PublicAccess: true, Readers: []string{"app"},
			Columns: []snapshot.ClassifiedColumn{{Name: "mail", Category: "Contact", InfoType: "E-mail", Confidence: "Certain"}}}}},
		"b": {Status: snapshot.ClassificationFailed, FinishedAt: noon},
	}
	got, err := marshal(sentAssessment("db", fleet.PostgreSQL, noon, found, state, classified))
	must(t, err)
	want := `{"instance": "db", "at": "2026-11-20T12:00:00Z", "version": "17.2", "edition": "x",
	"checks": [
		{"id": "D1", "outcome": "pass"},
		{"id": "D2", "outcome": "fail", "measured": "2 of 3", "objects": [{"database": "a", "object": "x", "evidence": "seen"}, {"database": "a", "object": "y", "evidence": "seen", "severity": "High"}],
			"notAssessedIn": [{"database": "b", "reason": "Denied."}], "measuredIn": [{"database": "a", "measured": "2 of 3", "failFraction": 0.5}]},
		{"id": "D3", "outcome": "pass", "measured": "none of 2", "notAssessedIn": [{"database": "b", "reason": "Not assessed."}], "measuredIn": [{"database": "a", "measured": "none of 2"}]},
		{"id": "D4", "outcome": "pass", "measured": "none of 2", "measuredIn": [{"database": "a", "measured": "none of 2"}, {"database": "b", "measured": "none of 3"}]},
		{"id": "D5", "outcome": "notAssessed", "reason": "Denied."},
		{"id": "D6", "outcome": "pass", "measured": "none", "notAssessedIn": [{"database": "b", "reason": "Not assessed."}], "measuredIn": [{"database": "a", "measured": "none"}]},
		{"id": "I1", "outcome": "fail", "measured": "off", "objects": [{"object": "ssl", "evidence": "seen"}]},
		{"id": "I2", "outcome": "fail", "measured": "fails", "objects": []},
		{"id": "I3", "outcome": "pass", "measured": "on"},
		{"id": "I4", "outcome": "notAssessed", "reason": "Denied."}, {"id": "I5", "outcome": "notAssessed", "reason": "Not assessed."}, {"id": "I6", "outcome": "notApplicable", "reason": "Does not apply."}],
	"accounts": [{"name": "dana", "canLogin": true, "superuser": true, "privileges": ["CREATEDB"]}],
	"settings": [{"name": "work_mem", "value": "4", "unit": "MB"}, {"name": "primary_conninfo"}, {"name": "empty", "value": ""}],
	"databases": [
		{"database": "a", "sizeBytes": 7, "classification": {"completedAt": "2026-11-20T12:00:00Z", "method": "names", "tables": [
			{"schema": "s", "table": "t", "rows": 3, "readers": ["PUBLIC", "app"], "columns": [{"column": "mail", "category": "Contact", "confidence": 0.95}]}]}},
		{"database": "b", "encryptedAtRest": true}]}`
	if diff := cmp.Diff(asAny(t, want), asAny(t, string(got))); diff != "" {
		t.Errorf("sent (-want +got):\n%s\n%s", diff, got)
	}
}

func asAny(t *testing.T, text string) (v any) {
	t.Helper()
	must(t, json.Unmarshal([]byte(text), &v))
	return v
}

// TestSettingsThatCouldNotBeReadAreNotSent: an empty list would say that all are gone.
func TestSettingsThatCouldNotBeReadAreNotSent(t *testing.T) {
	t.Parallel()
	if sent := sentAssessment("db", fleet.Oracle, noon, snapshot.Assessment{VersionText: "19.24.0.0.0"}, changes.State{}, nil); sent.Settings != nil || *sent.Version != "19.24.0.0.0" {
		t.Errorf("sent %+v", sent)
	}
}

// TestAnOversizedPartIsLeftOutOfACall, so that the rest of the assessment is taken: where personal data lies in
// the databases that have too many tables.
func TestAnOversizedPartIsLeftOutOfACall(t *testing.T) {
	t.Parallel()
	tables := func(n int) *api.SentClassification {
		c := new(api.SentClassification)
		for range n {
			c.Tables = append(c.Tables, api.SentTable{Columns: make([]api.SentColumn, 2)})
		}
		return c
	}
	sent := api.SentAssessment{
		Accounts: new(make([]api.SentAccount, 3)), Settings: new(make([]api.SentSetting, 4)),
		Checks:    &[]api.SentCheck{{Objects: new(make([]api.SentObject, 1)), NotAssessedIn: new(make([]api.SentUnassessed, 1)), MeasuredIn: new(make([]api.SentMeasured, 1))}},
		Databases: &[]api.SentDatabase{{Database: "a", Classification: tables(10)}, {Database: "b", Classification: tables(100)}, {Database: "c"}, {Database: "d", Classification: tables(20)}},
	}
	if left := fit(&sent, 100); !slices.Equal(left, []string{"b"}) || (*sent.Databases)[0].Classification == nil || (*sent.Databases)[3].Classification == nil {
		t.Errorf("left out are %v", left)
	}
	if left := fit(&sent, 99); !slices.Equal(left, []string{"d"}) {
		t.Errorf("then %v", left)
	}
}

// TestTheServerAcceptsReportsOfTheAgent, whatever they contain: its limits are kept, and illegible
// names are cleaned.
func TestTheServerAcceptsReportsOfTheAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t, taken)
	w := b.watched[0]
	grants := slices.Repeat([]snapshot.MissingGrant{{Object: "database two\nlines " + strings.Repeat("x", 3000), Statement: strings.Repeat("y", 5000)}}, 150)
	must(t, w.Lacks(t.Context(), grants))
	must(t, w.Record(t.Context(), measurements.Batch{}, []watch.Sign{{Rule: watch.LockWait, Value: 7, At: noon}, {Rule: watch.LockWait, Value: 8, At: noon}}))
	must(t, w.Record(t.Context(), measurements.Batch{Reached: []measurements.Reached{{At: noon, Since: noon, Code: "refused", Sentence: "It refuses."}}}, nil))
	must(t, b.reportOnce(t.Context()))
	var report api.AgentReport
	must(t, json.Unmarshal([]byte(b.calls[0].body), &report))
	one := report.Servers[0]
	if len(one.MissingGrants) != 100 || len(one.MissingGrants[0].Object) > 2010 || strings.Contains(one.MissingGrants[0].Object, "\n") || one.MissingGrants[0].Statement != nil {
		t.Errorf("it lacks %d: %.100v", len(one.MissingGrants), one.MissingGrants)
	}
	if len(one.Signs) != 1 || one.Signs[0].Value != 8 || one.Error.Detail != "It refuses." || report.Name != "here" || report.Buffer.Dropped == nil {
		t.Errorf("it says %s", b.calls[0].body)
	}
	must(t, w.Record(t.Context(), measurements.Batch{Reached: []measurements.Reached{{Up: true, At: noon}}}, nil))
	must(t, b.reportOnce(t.Context()))
	if !strings.Contains(b.calls[1].body, `"error":null`) {
		t.Errorf("it says %s", b.calls[1].body)
	}
}

// TestUnreadPartsAreSent: C25. A server that learns of no gap takes all for read.
func TestUnreadPartsAreSent(t *testing.T) {
	t.Parallel()
	sent := sentClassification(snapshot.Classification{
		Status: snapshot.ClassificationPartial, Mode: "values", TablesSeen: 5, TablesClassified: 4, ColumnsSeen: 14, ColumnsClassified: 9,
		FailedTables:  []snapshot.FailedTable{{Schema: "hr", Name: "held", Reason: "Another session has locked it."}},
		UnreadColumns: []snapshot.UnreadColumns{{Schema: "hr", Table: "people", Columns: []string{"a", "b"}, Reason: "They are masked."}},
	})
	text, err := json.Marshal(sent)
	const want = `"coverage":{"columns":14,"columnsRead":9,"tables":5,"tablesRead":4},"method":"values","notRead":[` +
		`{"reason":"Another session has locked it.","schema":"hr","table":"held"},{"columns":["a","b"],"reason":"They are masked.","schema":"hr","table":"people"}]`
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("sent %s, want %s in it: %v", text, want, err)
	}
}

// TestSessionActivityIsSent whole, and of too many kinds of sessions those of which there are most.
func TestSessionActivityIsSent(t *testing.T) {
	t.Parallel()
	s := measurements.SessionSample{Engine: fleet.PostgreSQL, Active: 5000}
	if sent := sessionSample("server", "database", s); sent.Activity != nil {
		t.Errorf("nobody does anything: %v", sent.Activity)
	}
	one := measurements.Doing{State: measurements.Waits, Wait: "Lock", Event: "relation", Statement: "1/10", User: "bill", Application: "billing", Client: "10.4.1.11", Sessions: 4}
	s.Doing = []measurements.Doing{one}
	for range 1500 {
		s.Doing = append(s.Doing, measurements.Doing{State: measurements.OnCPU, Sessions: 1}, measurements.Doing{State: measurements.OnCPU, Sessions: 2})
	}
	sent := *sessionSample("server", "database", s).Activity
	if len(sent) != mostActivity || sent[999].Sessions != "2" {
		t.Errorf("%d are sent, the last of %s sessions", len(sent), sent[len(sent)-1].Sessions)
	}
	text, err := json.Marshal(sent[0])
	if want := `{"application":"billing","client":"10.4.1.11","event":"relation","sessions":4,"state":"waiting","statement":"1/10","user":"bill","wait":"Lock"}`; err != nil || string(text) != want {
		t.Errorf("sent is %s, want %s; %v", text, want, err)
	}
}
