package companion_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/companion"
	"muster/internal/report/snapshot/sheets"
	"muster/internal/report/snapshot/snapshottest"
)

// Each table has the columns by which they and the pages are joined, and their values lead to a row, an action or a risk.
func TestFault56TablesCanBeJoined(t *testing.T) {
	t.Parallel()
	for _, kind := range report.Kinds() {
		if d, err := report.Find(kind); err != nil || sheets.Has(d) { // a summary has no findings, and the contract names its columns
			continue
		}
		doc := snapshottest.Rich(kind)
		plan, risks, findings := analysis.Plan(doc), map[string]bool{}, map[string]map[string]string{}
		for _, r := range analysis.Risks(doc) {
			risks[r.ID] = true
		}
		for _, row := range read(t, report.FindingsFile, doc) {
			findings[row["findingId"]] = row
		}
		for _, name := range tablesOf(kind) {
			rows, steps := read(t, name, doc), 0
			for _, row := range rows {
				for _, column := range []string{"findingId", "step", "riskId"} {
					if _, ok := row[column]; !ok {
						t.Fatalf("%s of %s has no column %s", name, kind, column)
					}
				}
				for id := range strings.SplitSeq(row["findingId"], "; ") {
					if id != "" && (findings[id] == nil || findings[id]["instance"] != row["instance"]) {
						t.Errorf("%s: finding %s is not in findings.csv for %s", name, id, row["instance"])
					}
				}
				for number := range strings.SplitSeq(row["step"], "; ") {
					if number == "" {
						continue
					}
					steps++
					n, err := strconv.Atoi(number)
					if err != nil || n < 1 || n > len(plan) || plan[n-1].Where != row["instance"] {
						t.Errorf("%s: step %q is no action on %s", name, number, row["instance"])
					}
				}
				if row["riskId"] != "" && !risks[row["riskId"]] {
					t.Errorf("%s: risk %s is in no register", name, row["riskId"])
				}
			}
			if kind == report.Security && name != report.AccountsFile && steps == 0 {
				t.Errorf("%s: no row has a step", name)
			}
		}
	}
}

// A finding says by when it is due, by how much it is overdue, and by which action it is closed; one that is accepted
// says neither.
func TestFault56AFindingHasItsDueDay(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	for _, row := range read(t, report.FindingsFile, doc) {
		if open := row["status"] == "open"; open != (row["dueAt"] != "") || open != (row["step"] != "") || open != (row["overdueDays"] != "") {
			t.Errorf("%s %s: due %q, overdue %q, step %q", row["checkId"], row["status"], row["dueAt"], row["overdueDays"], row["step"])
		}
	}
}

// A check that could not be run says which grant would let it run.
func TestFault56AGapHasItsGrant(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	granted := 0
	for _, row := range read(t, report.FindingsFile, doc) {
		if row["status"] == "notAssessed" && strings.Contains(row["remediation"], "GRANT ") {
			granted++
		}
	}
	if granted == 0 {
		t.Error("no row says what to grant")
	}
}

// Every CVE of every instance and every account is a row.
func TestFault56CVEsAndAccountsAreRows(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	cves, accounts := 0, 0
	for _, in := range doc.Instances {
		cves += len(in.CVEs)
		if in.Assessment != nil {
			accounts += len(in.Assessment.Roles)
		}
	}
	if rows := read(t, report.CVEsFile, doc); len(rows) != cves || cves == 0 {
		t.Errorf("%d CVEs, want %d", len(rows), cves)
	}
	if rows := read(t, report.AccountsFile, doc); len(rows) != accounts || accounts == 0 {
		t.Errorf("%d accounts, want %d", len(rows), accounts)
	}
}

// An account that can sign in and was not seen for 90 days is dormant; one that was never seen is not known to be.
func TestFault15DormantAccounts(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	i := slices.IndexFunc(doc.Instances, assessed)
	long, short := doc.AsOf.AddDate(0, 0, -91), doc.AsOf.AddDate(0, 0, -89)
	doc.Instances[i].Assessment.Roles = []snapshot.DatabaseRole{
		{Name: "consultant", Login: true, Superuser: true, LastSeen: &long}, {Name: "dba", Login: true, Superuser: true, LastSeen: &short},
		{Name: "group", Superuser: true, LastSeen: &long}, {Name: "never", Login: true, Superuser: true},
	}
	dormant := map[string]string{}
	for _, row := range read(t, report.AccountsFile, doc) {
		if row["instance"] == companion.Cell(doc.Instances[i].Name) {
			dormant[row["account"]] = row["dormant"]
		}
	}
	for account, want := range map[string]string{"consultant": "true", "dba": "false", "group": "false", "never": "false"} {
		if dormant[account] != want {
			t.Errorf("%s: dormant %q, want %s", account, dormant[account], want)
		}
	}
}
