package pdf_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/domain/report"
	"muster/internal/report/pdf/blocks"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/analysis/window"
	"muster/internal/report/snapshot/day"
	"muster/internal/report/snapshot/snapshottest"
)

// TestFault01OverdueFindingsAreOnPageOne of the demo's Security report, in the plan with the first sight, and
// in the table of severities.
func TestFault01OverdueFindingsAreOnPageOne(t *testing.T) {
	t.Parallel()
	doc := demoDocument(t, "security")
	if n := analysis.DebtOf(doc, analysis.Findings(doc)).Grave(); n != 43 {
		t.Errorf("%d are overdue, by the first sights of findings.csv 43", n)
	}
	file, _ := render(t, renderer(t), doc)
	pages := words(t, file)
	for _, want := range []string{"43 critical and high findings are overdue, 34 of them on demo-mssql-erp-02 and demo-pg-legacy-01.", "OVERDUE 43 by 27 days at most"} {
		if !strings.Contains(pages[0], want) {
			t.Errorf("no %q on page 1: %s", want, pages[0])
		}
	}
	if all := strings.Join(pages, " "); !strings.Contains(all, "First seen Due") || !strings.Contains(all, "2026-09-28 2026-10-28 27 days overdue") {
		t.Error("the plan does not say since when")
	}
}

// TestFault02PageOneHasTheWorstActions: the critical CVEs of servers without checks, too.
func TestFault02PageOneHasTheWorstActions(t *testing.T) {
	t.Parallel()
	file, _ := demoFile(t, "security")
	page := words(t, file)[0]
	for _, want := range []string{"Update Oracle 19.24 to 19.32 Critical · demo-ora-core-01", "Update MongoDB 7.0.12 to 7.0.40 Critical · demo-mongo-events-01 · 53 open CVEs", "; after these, 0 critical and "} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q: %s", want, page)
		}
	}
}

// TestFault03EachActionNamesObjectAndServer, on page 1 and in the plan.
func TestFault03EachActionNamesObjectAndServer(t *testing.T) {
	t.Parallel()
	file, _ := demoFile(t, "security")
	const want = "Logins have no password, or their name as one: tmp_migration Critical · demo-mssql-erp-02"
	pages := words(t, file)
	if !strings.Contains(pages[0], want) {
		t.Errorf("no %q: %s", want, pages[0])
	}
	plan := regexp.MustCompile(`name as one: tmp_migration Critical · MS-48 · effort S demo-mssql-erp-02`)
	if all := strings.Join(pages[1:], " "); !plan.MatchString(all) {
		t.Error("the plan does not name the login")
	}
}

// TestFault10PageOneComparesWithDays, and never with a report of minutes before.
func TestFault10PageOneComparesWithDays(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	doc.Previous.AsOf = doc.AsOf.Add(-7 * 60e9)
	file, _ := render(t, renderer(t), doc)
	page := words(t, file)[0]
	if !strings.Contains(page, "Since 2026-10-21 Critical and high: ") || strings.Contains(page, "Since 11:53 UTC") {
		t.Error(page)
	}
}

// TestFault04PageOneOfAScorecardHasAlertsCapacityAndBackup, and says what caps the score.
func TestFault04PageOneOfAScorecardHasAlertsCapacityAndBackup(t *testing.T) {
	t.Parallel()
	doc := faultless(report.InstanceScorecard)
	doc.Instances[0].OpenAlerts = &snapshot.OpenAlerts{Open: 3, Critical: 1}
	file, _ := render(t, renderer(t), doc)
	page := words(t, file)[0]
	for _, want := range []string{
		"OPEN ALERTS 3 1 critical", "FULLEST VOLUME ", "Score caps", "Open critical alert at most 69 applies 1 critical alert is open",
		"No recent backup at most 59 not known Muster has no check of the backups of PostgreSQL", "capped at 69 because 1 critical alert is open",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q: %s", want, page)
		}
	}
	if n := green(picture(t, file, 1)); n > 0 {
		t.Errorf("%d green pixels over an open critical alert", n)
	}
}

// TestFault06ASecurityReportOfAnInactiveServer has its end of support and its CVEs.
func TestFault06ASecurityReportOfAnInactiveServer(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	doc.Instances = slices.DeleteFunc(doc.Instances, func(in snapshot.Instance) bool { return in.Name != "pg-legacy-01" })
	doc.Instances[0].Active, doc.Instances[0].Assessment, doc.Instances[0].NotAssessed = false, nil, "the instance is inactive"
	file, _ := render(t, renderer(t), doc)
	all := strings.Join(words(t, file), " ")
	if !strings.Contains(all, "OUT OF SUPPORT 1 ") || !strings.Contains(all, "13.4, as registered, inactive") || strings.Contains(all, "knows the version of none") {
		t.Error(all)
	}
}

// TestFault08TheScaleIsPrinted: weights, grades and caps.
func TestFault08TheScaleIsPrinted(t *testing.T) {
	t.Parallel()
	says(t, renderer(t), snapshottest.Rich(report.InstanceScorecard), []string{
		"Critical 20, High 8, Medium 3, Low 1", "Security 30%, Performance 25%, Maintenance 20%, Configuration 15%, Schema 10%",
		"Grades: A from 90, B from 80, C from 70, D from 60, E from 40, F below.", "Past end of support at most 69", "Five failed high checks at most 69",
	}, nil)
}

// TestFault14AnExploitedVulnerabilityIsOnPageOne, with the server, and in the appendix with the day since which
// it is exploited.
func TestFault14AnExploitedVulnerabilityIsOnPageOne(t *testing.T) {
	t.Parallel()
	doc := demoDocument(t, "security")
	since := time.Date(2025, 12, 29, 0, 0, 0, 0, time.UTC)
	for i := range doc.Vulnerabilities {
		if doc.Vulnerabilities[i].ID == "CVE-2025-14847" {
			doc.Vulnerabilities[i].ExploitedSince = &since
		}
	}
	file, _ := render(t, renderer(t), doc)
	pages := words(t, file)
	if !strings.Contains(pages[0], "Known to be exploited: CVE-2025-14847 on demo-mongo-events-01.") || !strings.Contains(pages[0], "CVE-2025-14847 is being exploited") {
		t.Error(pages[0])
	}
	if all := strings.Join(pages, " "); !strings.Contains(all, "Exploited in the wild: on CISA’s list since 2025-12-29") {
		t.Error("the appendix does not say it")
	}
}

// TestFault33DaysFollowTheCalendar, whatever the time of day.
func TestFault33DaysFollowTheCalendar(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	doc.AsOf = time.Date(2026, 11, 26, 17, 26, 0, 0, time.UTC)
	for i := range doc.Instances {
		if r := doc.Instances[i].Release; r != nil {
			end := time.Date(2029, 12, 31, 0, 0, 0, 0, time.UTC)
			r.EndOfLife = &end
		}
	}
	says(t, renderer(t), doc, []string{"2029-12-31 1,131 days left"}, []string{"1,130 days left"})
}

// TestFault31TheColumnNamesTheEndOfTheList.
func TestFault31TheColumnNamesTheEndOfTheList(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	until := time.Date(2026, 8, 21, 0, 0, 0, 0, time.UTC)
	for i := range doc.Instances {
		if r := doc.Instances[i].Release; r != nil {
			r.KnownUntil = &until
		}
	}
	says(t, renderer(t), doc, []string{"Latest known release", "list known until 2026-08-21"}, nil)
}

// TestFault16NothingIsAcceptedByDefault: a low risk waits for its owner.
func TestFault16NothingIsAcceptedByDefault(t *testing.T) {
	t.Parallel()
	demoSays(t, "inventory", []string{"Muster accepts no risk: people do, with a name and an end, by an exception for the risk’s id."}, []string{" accept –", "a low risk may be accepted"})
}

// TestFault18TheRegisterNamesRegulations, and TestFault17 ids that are no ranks.
func TestFault17AndFault18TheRegisterNamesIDsAndRegulations(t *testing.T) {
	t.Parallel()
	demoSays(t, "inventory", []string{"Data, regulation", "GDPR"}, []string{"R-001", "R-002"})
}

// TestFault26AccountsThatDisagreeAreSaid, and TestFault27 the accounts are those of the instances that have some.
func TestFault26AndFault27AccountsAreComparedWithChecks(t *testing.T) {
	t.Parallel()
	doc := demoDocument(t, "security")
	on := map[string]bool{}
	for _, in := range doc.Instances {
		if in.Active && in.Assessment != nil && len(in.Assessment.Roles) > 0 {
			on[in.Name] = true
		}
	}
	says(t, renderer(t), doc, []string{
		"the accounts of demo-pg-orders-02 disagree with PG-S14, which does not name repl.",
		"ordinary rights on " + strconv.Itoa(len(on)) + " instances.",
	}, nil)
}

// TestFault19AndFault20ControlsAndBackupsAreListed in the method and in the summary of a Security report.
func TestFault19AndFault20ControlsAndBackupsAreListed(t *testing.T) {
	t.Parallel()
	demoSays(t, "security", []string{
		"Controls by framework", "ISO/IEC 27001:2022, Annex A", "PCI DSS 4.0.1", "A.8.8 Technical vulnerabilities", "8.3.6 (1)",
		"No recent backup of demo-mssql-erp-02.", "Backups: 1 server has no recent one (demo-mssql-erp-02; the scorecard has the finding and its fix), ",
	}, nil)
}

// TestFault19AFewServersHaveAColumnEach in the tables of controls, of each framework. That of CIS leaves out what holds.
func TestFault19AFewServersHaveAColumnEach(t *testing.T) {
	t.Parallel()
	doc := demoDocument(t, "security")
	keep := []string{"demo-mssql-erp-02", "demo-mongo-events-01", "demo-pg-identity-01", "demo-pg-legacy-01"}
	doc.Instances = slices.DeleteFunc(doc.Instances, func(in snapshot.Instance) bool { return !slices.Contains(keep, in.Name) })
	says(t, renderer(t), doc, []string{
		"A.8.24 Use of cryptography – fails holds fails", "A.8.8 Technical vulnerabilities – fails holds fails", "–: not looked at. n.a.: no check of the control is for the engine.",
		"8.3.2 Strong cryptography of sign-in – n.a. holds fails", "10.2.1 Audit logs are on – fails holds fails",
		"PostgreSQL 17 Benchmark 1.1.0, 5.4 n.a. n.a. holds fails", "Microsoft SQL Server 2019 Benchmark 1.0.0, 5.4 n.a. fails n.a. n.a.",
		"n.a.: no check of the control is for the engine. 19 further controls hold wherever they apply.",
	}, []string{"Oracle Database 19c Benchmark", "Failing, with the number of servers"})
	doc.Instances = doc.Instances[:1] // one server needs no columns: of ISO and PCI DSS the numbers, of CIS a sentence
	says(t, renderer(t), doc, []string{"A.5.17 Authentication information 0 0 1 A.8.9 Configuration management 0 0 1", "10.2.2 Details of audit logs 0 0 1"}, nil)
}

// TestAReportNamesTheDateOfTheListOfExploitedCVEs: an update may bring it later than the tables.
func TestAReportNamesTheDateOfTheListOfExploitedCVEs(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	until := doc.Feed.Date.AddDate(0, 0, 5)
	doc.Feed.ExploitedUntil = &until
	says(t, renderer(t), doc, []string{"known exploited vulnerabilities, which the feed has until " + until.Format(time.DateOnly) + "."}, nil)
}

// TestFault51TheScorecardHasTheFactsOfItsServer: version, host, databases with their growth, role and last backup, on page
// 1 where it has room, else where the score is explained; and what is not known is said.
func TestFault51TheScorecardHasTheFactsOfItsServer(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.InstanceScorecard)
	doc.Instances[0].Assessment.Edition = "Enterprise"
	says(t, renderer(t), doc, []string{
		"Version PostgreSQL 15.3, Enterprise Role primary", "Host pg-orders-01.db.nordlicht.example, 64 GB, 16 CPUs Registered " + blocks.Day(doc.Instances[0].CreatedAt), "(+1.5 GB since 2026-10-24)", "Last backup 20 Nov 2026 03:00 UTC",
	}, nil)
	doc.Server.Before.Change, doc.Server.Backup.Databases = -(1 << 30), 4
	says(t, renderer(t), doc, []string{"(−1 GB since 2026-10-24)", "Last backup 20 Nov 2026 03:00 UTC, the oldest of 4 databases"}, nil)
	doc.Server, doc.Tuning = nil, nil
	for i := range doc.Instances[0].Databases {
		doc.Instances[0].Databases[i].SizeBytes = nil
	}
	says(t, renderer(t), doc, []string{"Host pg-orders-01.db.nordlicht.example, size not known", "Databases 2, size not known", "Role not known", "Last backup none known"}, nil)
	file, _ := demoFile(t, "scorecard")
	if page := words(t, file)[0]; !strings.Contains(page, "Server Version PostgreSQL 12.22") {
		t.Errorf("page 1 has no facts: %s", page)
	}
}

// TestTheScorecardNamesBrokenReplicationAndTheFirstFullVolume: beside the last backup, and whether that is
// beyond the RPO.
func TestTheScorecardNamesBrokenReplicationAndTheFirstFullVolume(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.InstanceScorecard)
	of := doc.Server
	of.Backups = &snapshot.Backups{RPOSeconds: 900, Late: 1, Worst: &day.Backup{Seconds: 9 * 3600}}
	of.Replication = &snapshot.Replication{Broken: 2, First: "standby pg-02", Why: "its receiver is not connected"}
	of.Room = &day.Fill{Name: "/data", Percent: 81.4, Days: new(12.4)}
	says(t, renderer(t), doc, []string{
		"Last backup 20 Nov 2026 03:00 UTC, beyond the RPO", "Replication standby pg-02 and 1 more do not follow: its receiver is not connected", "Room /data at 81.4%, full in about 12 days",
		"No recent backup at most 59 applies newest backup is 9 hours old, RPO 15 min",
	}, nil)
	of.Replication, of.Room = &snapshot.Replication{LagSeconds: new(5400.0), Laggard: "pg-03"}, &day.Fill{Name: "/data", Percent: 81.4, Why: "noise"}
	of.Backups = &snapshot.Backups{RPOSeconds: 86400, Late: 1, Worst: &day.Backup{Database: "db1", Seconds: 48*3600 - 60}}
	says(t, renderer(t), doc, []string{
		"Replication pg-03 is 1 h 30 min behind", "Room /data at 81.4%, no date when it is full",
		"at most 59 applies newest backup of db1 is 47 h 59 min old, RPO 24 h",
	}, nil)
	of.Room, of.Undated = &day.Fill{Name: "/data", Percent: 40, Days: new(30.0)}, &day.Fill{Name: "/wal", Percent: 97, Why: "sawTooth"}
	says(t, renderer(t), doc, []string{
		"Room /data at 40.0%, full in about 30 days; /wal at 97.0%, no date", "at most 69 not known /wal is at 97.0%, and there is no date when it is full",
	}, nil)
	of.Undated = nil
	of.Replication, of.Room = &snapshot.Replication{LagSeconds: new(0.2)}, nil
	says(t, renderer(t), doc, []string{"Replication follows, lag below 1 second"}, []string{"Room /data"})
	of.Replication = &snapshot.Replication{}
	says(t, renderer(t), doc, []string{"Replication follows, lag not known"}, nil)
}

// TestTheReasonOfACapIsPrintedCompletely: the age of a backup and its RPO are not cut off.
func TestTheReasonOfACapIsPrintedCompletely(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.InstanceScorecard)
	doc.Server.Backups = &snapshot.Backups{RPOSeconds: 86400, Late: 1, Worst: &day.Backup{Database: "warehouse", Seconds: 32*3600 + 58*60}}
	says(t, renderer(t), doc, []string{"No recent backup at most 59 applies newest backup of warehouse is 32 h 58 min old, RPO 24 h"}, nil)
}

// TestTheScorecardNamesContradictionsOfItsSources: a backup that was reported beside a check that finds none,
// and a date of another source for a volume whose hours rise and fall.
func TestTheScorecardNamesContradictionsOfItsSources(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.InstanceScorecard)
	doc.Server.Backups = &snapshot.Backups{RPOSeconds: 86400, InTime: 2}
	in := &doc.Instances[0]
	in.Engine = "sqlserver"
	in.Assessment.Results = append(in.Assessment.Results, snapshot.CheckResult{CheckID: "MS-16", Status: snapshot.StatusFail, Total: 1, Violations: []snapshot.Violation{{Object: "erp"}}})
	doc.Checks = append(doc.Checks, snapshot.Check{ID: "MS-16", Engine: "sqlserver", Domain: "Maintenance", Severity: "Critical", Title: "Databases have no recent backup"})
	for i, level := range doc.Utilization.DiskPercent { // cleaned up every third day
		if level != nil {
			doc.Utilization.DiskPercent[i] = new(50 + float64(i%72)/2)
		}
	}
	full, ok := window.Utilization(doc)
	if !ok || full.Full.Reason == "" {
		t.Fatalf("the fullest volume: %+v", full.Full)
	}
	doc.Server.Room = &day.Fill{Name: "/data", Percent: full.Full.Level, Days: new(138.0)}
	says(t, renderer(t), doc, []string{
		"Last backup 20 Nov 2026 03:00 UTC, though the check of backups fails", "No recent backup at most 59 applies MS-16 fails, though backups are in time", "no date when it is full",
	}, []string{"138 days"})
}

// TestFault55APercentHasNoSpace in the words of Muster, as in its figures, and a negative number has a minus.
func TestFault55APercentHasNoSpace(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.InstanceScorecard)
	doc.Alerts = nil // others write their titles
	file, _ := render(t, renderer(t), doc)
	if found := regexp.MustCompile(`.{20}[0-9] % .{10}`).FindAllString(strings.Join(words(t, file), " "), -1); len(found) > 0 {
		t.Errorf("%q", found)
	}
	if is := blocks.Decimals(-0.45) + " " + blocks.Decimal(-1.25) + " " + blocks.Decimal(2); is != "−0.45 −1.2 2.0" {
		t.Error(is)
	}
}
