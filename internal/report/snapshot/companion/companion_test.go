package companion_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/companion"
	"muster/internal/report/snapshot/snapshottest"
)

// read is a table as a program reads it: its rows by the names of their columns.
func read(t *testing.T, name string, doc snapshot.Document) []map[string]string {
	t.Helper()
	var out bytes.Buffer
	if err := companion.Write(&out, name, doc); err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(out.Bytes()) || strings.Contains(strings.ReplaceAll(out.String(), "\r\n", ""), "\n") || !strings.HasSuffix(out.String(), "\r\n") {
		t.Errorf("%s is not in the form of RFC 4180", name)
	}
	if !bytes.HasPrefix(out.Bytes(), []byte("\uFEFF")) {
		t.Errorf("%s has no byte order mark", name)
	}
	out.Next(len("\uFEFF"))
	all, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, column := range all[0] {
			row[column] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// Every finding that the report lists is a row, and nothing else is.
func TestEachFindingIsARow(t *testing.T) {
	t.Parallel()
	for _, kind := range []report.Kind{report.Security, report.InstanceScorecard} {
		doc := snapshottest.Rich(kind)
		rows := read(t, report.FindingsFile, doc)
		want := map[string]int{}
		for _, g := range analysis.Findings(doc) {
			want["open "+g.Check.Severity] += len(g.Findings)
		}
		for _, g := range analysis.Accepted(doc) {
			want["accepted "+g.Check.Severity] += len(g.Findings)
		}
		severity := map[string]string{}
		for _, c := range doc.Checks {
			severity[c.ID] = c.Severity
		}
		for i := range doc.Instances {
			for _, r := range analysis.Results(doc, &doc.Instances[i]) {
				if r.Status == snapshot.StatusNotAssessed {
					want["notAssessed "+severity[r.CheckID]]++
				}
			}
		}
		ids := map[string]bool{}
		for _, row := range rows {
			want[row["status"]+" "+row["severity"]]--
			if ids[row["id"]] {
				t.Errorf("%s: two rows have the id %s", kind, row["id"])
			}
			ids[row["id"]] = true
			if (row["status"] == "accepted") != (row["exceptionId"] != "" && row["acceptedUntil"] != "" && row["reason"] != "") {
				t.Errorf("%s: %v", kind, row)
			}
		}
		for key, n := range want {
			if n != 0 {
				t.Errorf("%s, %s: %d rows are missing", kind, key, n)
			}
		}
	}
}

func TestEachSensitiveColumnIsARow(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.DataInventory)
	doc.Instances[slices.IndexFunc(doc.Instances, assessed)].Databases[0].Classification.Own = true
	rows := read(t, report.InventoryFile, doc)
	n := 0
	for _, in := range doc.Instances {
		for _, db := range in.Databases {
			if db.Classification == nil {
				continue
			}
			for _, table := range db.Classification.Tables {
				for _, c := range table.Columns {
					row := rows[n]
					n++
					if row["instance"] != in.Name || row["database"] != db.Name || row["table"] != table.Name || row["column"] != c.Name {
						t.Fatalf("row %d is %v, want column %s of %s", n, row, c.Name, table.Name)
					}
					if own := strconv.FormatBool(db.Classification.Own); row["own"] != own || own == "true" && row["risk"] == "0" {
						t.Errorf("%s: own %q, risk %s, want %s", table.Name, row["own"], row["risk"], own)
					}
					if _, known := table.Rows(); known != (row["rows"] != "") {
						t.Errorf("%s: rows %q, known %v", table.Name, row["rows"], known)
					}
				}
			}
		}
	}
	if n != len(rows) || n == 0 {
		t.Errorf("%d rows, want %d", len(rows), n)
	}
}

func assessed(in snapshot.Instance) bool { return in.Active && in.Assessment != nil }

// cells are texts with what a spreadsheet shows of them. The pages hold their own files to the
// same table (web/src/ui/csv.test.ts).
func cells(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.ReadFile("testdata/cells.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	if err := json.Unmarshal(file, &all); err != nil || len(all) < 30 {
		t.Fatalf("%d cells: %v", len(all), err)
	}
	all["bad\xffutf8"] = "bad‹0xFF›utf8" // which JSON cannot say
	all[strings.Repeat("据", 21)] = strings.Repeat("据", 21)
	return all
}

// Any name of an object reaches the reader as it is, and runs nowhere.
func TestNamesThatSpreadsheetsWouldExecute(t *testing.T) {
	t.Parallel()
	for name, want := range cells(t) {
		doc := snapshottest.Rich(report.Security)
		doc.Exceptions = nil
		doc.Instances = doc.Instances[slices.IndexFunc(doc.Instances, assessed):][:1]
		in := &doc.Instances[0]
		in.Name = name
		in.Assessment.Results = []snapshot.CheckResult{{
			CheckID: "PG-S17", Database: name, Status: snapshot.StatusFail, Measured: name, Threshold: name, Total: 1,
			Violations: []snapshot.Violation{{Object: name, Evidence: name, Fix: &snapshot.Fix{Database: name, Statement: name, Rollback: name}}},
		}}
		row := read(t, report.FindingsFile, doc)[0]
		for _, column := range []string{"instance", "database", "object", "evidence", "measured", "threshold", "statement", "rollback", "runIn"} {
			if row[column] != want {
				t.Errorf("%q is %q in column %s, want %q", name, row[column], column, want)
			}
		}
	}
}

// tablesOf are the companions that are tables.
func tablesOf(kind report.Kind) []string {
	return slices.DeleteFunc(report.Companions(kind), func(name string) bool { return report.MediaTypeOf(name) != report.MediaTypeCSV })
}

// No text of a hostile document begins a formula, whichever column it is in.
func TestNoCellIsAFormula(t *testing.T) {
	t.Parallel()
	for _, kind := range report.Kinds() {
		for _, name := range tablesOf(kind) {
			for _, row := range read(t, name, snapshottest.Hostile(kind)) {
				for column, cell := range row {
					if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r\n") || strings.ContainsFunc(cell, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }) {
						t.Errorf("%s of %s: %s is %q", name, kind, column, cell)
					}
				}
			}
		}
	}
}

// A document whose facts came in another order, or that was stored and read, gives the
// same bytes.
func TestTheSameInputsGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, kind := range report.Kinds() {
		doc := snapshottest.Rich(kind)
		stored, err := snapshot.Encode(doc)
		if err != nil {
			t.Fatal(err)
		}
		again, err := snapshot.Decode(stored)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range report.Companions(kind) {
			var first, second bytes.Buffer
			if err := companion.Write(&first, name, doc); err != nil {
				t.Fatal(err)
			}
			if err := companion.Write(&second, name, again); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
				t.Errorf("%s of %s: other bytes (%v)", name, kind, err)
			}
		}
	}
	if err := companion.Write(&bytes.Buffer{}, report.PDFFile, snapshottest.Rich(report.Security)); err == nil {
		t.Error("the PDF is a table")
	}
}

// What is found beyond the listed objects is said in each row of the check.
func TestUnlistedFindingsAreCounted(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	doc.Exceptions = nil
	doc.Instances = doc.Instances[slices.IndexFunc(doc.Instances, assessed):][:1]
	doc.Instances[0].Assessment.Results = []snapshot.CheckResult{
		{CheckID: "PG-S17", Status: snapshot.StatusFail, Total: 3000, Violations: []snapshot.Violation{{Object: "a"}, {Object: "b"}}},
		{CheckID: "PG-S25", Status: snapshot.StatusFail, Total: 1, Measured: "off"},
	}
	for _, row := range read(t, report.FindingsFile, doc) {
		if want := map[string]string{"PG-S17": "2998", "PG-S25": "0"}[row["checkId"]]; row["unlisted"] != want {
			t.Errorf("%s: %s are not listed, want %s", row["checkId"], row["unlisted"], want)
		}
	}
}

// A value that a feed did not send is an empty cell, and its value for the database applies to
// a table for which it sent nothing else.
func TestUnknownAccessIsAnEmptyCell(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	table := func(name string, encrypted *bool, unknown bool, readers ...string) snapshot.ClassifiedTable {
		return snapshot.ClassifiedTable{Name: name, Encrypted: encrypted, AccessUnknown: unknown, Readers: readers, Columns: []snapshot.ClassifiedColumn{{Name: "c"}}}
	}
	doc := snapshottest.Rich(report.DataInventory)
	doc.Instances = []snapshot.Instance{{Name: "ora", Active: true, Databases: []snapshot.Database{{Name: "erp", Encrypted: &yes, Classification: &snapshot.Classification{
		Status: snapshot.ClassificationCompleted, Tables: []snapshot.ClassifiedTable{table("a", nil, true), table("b", &no, false, "APP", "=HR")},
	}}}}}
	doc.Instances[0].Databases[0].Classification.Tables = append(doc.Instances[0].Databases[0].Classification.Tables, snapshot.ClassifiedTable{Name: "c", ReadersUnlisted: 7, Columns: []snapshot.ClassifiedColumn{{Name: "c"}}})
	rows := read(t, report.InventoryFile, doc)
	for i, want := range []map[string]string{
		{"table": "a", "encryptedAtRest": "true", "publicAccess": "", "grantees": "", "readers": "", "rows": "", "matchedPercent": "", "readerPaths": ""},
		{"table": "b", "encryptedAtRest": "false", "publicAccess": "false", "grantees": "0", "readers": "APP; =HR", "readerPaths": "'=HR → SELECT; APP → SELECT"},
		{"table": "c", "readerPaths": "7 roles"},
	} {
		for column, value := range want {
			if rows[i][column] != value {
				t.Errorf("row %d: %s is %q, want %q", i+1, column, rows[i][column], value)
			}
		}
	}
}

// How to see that a fix helped is the check's statement about this object, quoted; a rule
// and half a name have none.
func TestEachRowExplainsItsVerification(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	doc.Exceptions = nil
	doc.Instances = doc.Instances[slices.IndexFunc(doc.Instances, assessed):][:1]
	for i := range doc.Checks {
		if doc.Checks[i].ID == "PG-S17" {
			doc.Checks[i].Verify = &snapshot.Verification{Before: "SELECT 1 WHERE 'x' = ", After: ";"}
		}
	}
	want := map[string]string{
		"it's": "SELECT 1 WHERE 'x' = 'it''s';", "据\u202e": `SELECT 1 WHERE 'x' = U&'\636E\202E';`, "": "", "half… #0a1b2c3d": "", "bad\uFFFD": "",
	}
	failed := snapshot.CheckResult{CheckID: "PG-S17", Status: snapshot.StatusFail, Total: len(want)}
	for object := range want {
		failed.Violations = append(failed.Violations, snapshot.Violation{Object: object})
	}
	rule := snapshot.CheckResult{CheckID: "PG-S25", Status: snapshot.StatusFail, Total: 1, Violations: []snapshot.Violation{{Object: "log"}}}
	blind := snapshot.CheckResult{CheckID: "PG-S17", Database: "crm", Status: snapshot.StatusNotAssessed, Reason: "hidden"}
	doc.Instances[0].Assessment.Results = []snapshot.CheckResult{failed, rule, blind}
	for _, row := range read(t, report.FindingsFile, doc) {
		shown := map[string]string{"据‹U+202E›": "据\u202e"}
		object := row["object"]
		if was, ok := shown[object]; ok {
			object = was
		}
		if row["checkId"] != "PG-S17" || row["status"] == "notAssessed" {
			if row["verify"] != "" {
				t.Errorf("%s is verified by %s", row["checkId"], row["verify"])
			}
			continue
		}
		if row["verify"] != want[object] {
			t.Errorf("%q is verified by %q, want %q", object, row["verify"], want[object])
		}
	}
}

// TestTheOwnerIsAColumn of both tables, in the documents of before an empty one.
func TestTheOwnerIsAColumn(t *testing.T) {
	t.Parallel()
	for kind, name := range map[report.Kind]string{report.Security: report.FindingsFile, report.DataInventory: report.InventoryFile} {
		doc := snapshottest.Owned(snapshottest.Rich(kind), "=Payments", "")
		owners := map[string]snapshot.Owner{}
		for _, in := range doc.Instances {
			if in.Owner != nil {
				owners[in.ID.String()] = snapshot.Owner{ID: in.Owner.ID, Name: "'=Payments"}
			}
		}
		seen := map[string]bool{}
		for _, row := range read(t, name, doc) {
			seen[row["owner"]] = true
			want, id := owners[row["instanceId"]], ""
			if want.Name != "" {
				id = want.ID.String()
			}
			if row["owner"] != want.Name || row["ownerId"] != id {
				t.Fatalf("%s: %v, want %+v", name, row, want)
			}
		}
		if len(seen) != 2 {
			t.Errorf("%s: owners %v", name, seen)
		}
		for _, row := range read(t, name, snapshottest.Rich(kind)) {
			if row["owner"]+row["ownerId"] != "" {
				t.Fatalf("%s of before: %v", name, row)
			}
		}
	}
}
