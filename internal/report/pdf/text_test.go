package pdf_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/domain/report"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// words returns the text of a PDF, page by page, in reading order and with
// single spaces. It needs poppler's pdftotext.
func words(t testing.TB, file []byte) []string {
	t.Helper()
	tool, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Skip("pdftotext is missing: install poppler-utils to check what the reports say")
	}
	path := filepath.Join(t.TempDir(), "report.pdf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	var complaints bytes.Buffer
	cmd := exec.CommandContext(t.Context(), tool, "-raw", "-enc", "UTF-8", path, "-")
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("pdftotext: %v: %s", err, &complaints)
	}
	var pages []string
	for page := range strings.SplitSeq(strings.TrimSuffix(string(out), "\f"), "\f") {
		pages = append(pages, strings.Join(strings.Fields(page), " "))
	}
	return pages
}

// headings are the sections of the specification's §4.10.
var headings = map[report.Kind][]string{
	report.Security: {"Summary", "Versions and known vulnerabilities", "Security findings", "Privileged accounts", "Remediation plan",
		"Coverage and methodology", "CVE appendix"},
	report.InstanceScorecard: {"Overall health", "Resource utilization", "Alert history", "Remediation plan", "Recommendations", "Detailed results"},
	report.DataInventory: {"Summary", "Sensitive tables by category", "Encryption coverage", "Exceptions worklist", "Risk register",
		"Coverage and methodology"},
}

func documents(kind report.Kind) map[string]snapshot.Document {
	return map[string]snapshot.Document{
		"rich": snapshottest.Rich(kind), "empty": snapshottest.Empty(kind), "hostile": snapshottest.Hostile(kind),
	}
}

// Every section is printed in every report, in order, on the page that the
// contents name.
func TestEverySectionIsPrinted(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	for _, kind := range kinds {
		for name, doc := range documents(kind) {
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				t.Parallel()
				file, rendered := render(t, r, doc)
				pages := words(t, file)
				if len(pages) != rendered.Pages {
					t.Errorf("%d pages, Rendered says %d", len(pages), rendered.Pages)
				}
				at := strings.Index(pages[0], "CONTENTS")
				for i, title := range headings[kind] {
					entry := regexp.MustCompile(strconv.Itoa(i+1) + " " + title + ` (\d+)`).FindStringSubmatch(pages[0][at:])
					if entry == nil {
						t.Fatalf("%q is not in the contents: %s", title, pages[0][at:])
					}
					page, _ := strconv.Atoi(entry[1])
					if !strings.Contains(pages[page-1], strconv.Itoa(i+1)+" "+title) {
						t.Errorf("%q is not on page %d: %s", title, page, pages[page-1])
					}
				}
				for i, page := range pages {
					if want := "Page " + strconv.Itoa(i+1) + " of " + strconv.Itoa(len(pages)); !strings.Contains(page, want) {
						t.Errorf("page %d lacks %q", i+1, want)
					}
					if !strings.Contains(page, "Confidential ·") || !strings.Contains(page, "request 0199f0d2-7a10-7c44-9b0e-000000000001") {
						t.Errorf("page %d: footer of %s", i+1, page)
					}
				}
			})
		}
	}
}

func TestDetailedResultsHasAllDomains(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	for _, doc := range []snapshot.Document{snapshottest.Rich(report.InstanceScorecard)} {
		file, _ := render(t, r, doc)
		all := strings.Join(words(t, file), " ")
		all = all[strings.LastIndex(all, "6 Detailed results"):]
		for _, domain := range []string{"Performance", "Security", "Configuration", "Schema", "Maintenance"} {
			i := strings.Index(all, domain)
			if i < 0 {
				t.Fatalf("no subsection %s in order in %s", domain, all)
			}
			all = all[i:]
		}
	}
}

// clean is a document without a finding or an open CVE.
func clean() snapshot.Document {
	doc := snapshottest.Rich(report.Security)
	eachResult(doc, func(r *snapshot.CheckResult) {
		*r = snapshot.CheckResult{CheckID: r.CheckID, Database: r.Database, Status: snapshot.StatusPass}
	})
	current(doc)
	return doc
}

// current lets every server run the latest release of a supported major.
func current(doc snapshot.Document) {
	for i := range doc.Instances {
		doc.Instances[i].CVEs = nil
		if r := doc.Instances[i].Release; r != nil {
			end := snapshottest.AsOf().AddDate(2, 0, 0)
			doc.Instances[i].Release = &snapshot.Release{Major: r.Major, Latest: r.Latest, EndOfLife: &end}
		}
	}
}

// accepted is a document in which every finding is accepted.
func accepted(kind report.Kind) snapshot.Document {
	doc := snapshottest.Rich(kind)
	for i, c := range doc.Checks {
		doc.Exceptions = append(doc.Exceptions, snapshot.Exception{
			ID: snapshottest.ID(6000 + i), CheckID: c.ID, Reason: "All of it, for a test.", Until: snapshottest.AsOf().AddDate(0, 0, 60),
		})
	}
	current(doc)
	return doc
}

// nothingElse is a scorecard with what is accepted and no other answer.
func nothingElse() snapshot.Document {
	doc := accepted(report.InstanceScorecard)
	eachResult(doc, func(r *snapshot.CheckResult) {
		if r.Status == snapshot.StatusPass {
			r.Status = snapshot.StatusNotApplicable
		}
	})
	return doc
}

// forgotten is a document with an exception to a check that is no more.
func forgotten() snapshot.Document {
	doc := snapshottest.Rich(report.Security)
	doc.Exceptions = append(doc.Exceptions, snapshot.Exception{
		ID: snapshottest.ID(6000), CheckID: "PG-OLD", Reason: "Of last year.", Until: snapshottest.AsOf().AddDate(0, 0, 60),
	})
	return doc
}

// unassessed is a scorecard of a server that was not assessed, and whose version has to be
// left.
func unassessed() snapshot.Document {
	doc := snapshottest.Rich(report.InstanceScorecard)
	in := &doc.Instances[0]
	in.Assessment, in.NotAssessed = nil, "no connection is registered"
	in.Release.MinorsBehind = 1
	return doc
}

// fed is a document in which a feed sent the SQL Server and the Oracle, and nothing else.
func fed(kind report.Kind) snapshot.Document {
	doc, yes, no := snapshottest.Rich(kind), true, false
	doc.Checks = append(doc.Checks, snapshot.Check{ID: "MS-13", Engine: "sqlserver", Domain: "Security", Severity: "High", Scope: "instance", Title: "User databases are not encrypted", Pass: "encrypted"})
	doc.Instances = slices.DeleteFunc(doc.Instances, func(in snapshot.Instance) bool { return in.Engine == "postgresql" })
	for i := range doc.Instances {
		in := &doc.Instances[i]
		in.NotAssessed = ""
		in.Assessment = &snapshot.Assessment{
			StartedAt: snapshottest.AsOf().AddDate(0, 0, -3), FinishedAt: snapshottest.AsOf().AddDate(0, 0, -3), Sent: true, Outcome: snapshot.OutcomeComplete, VersionText: "16.0.4135.4", Edition: "Enterprise",
			Results: []snapshot.CheckResult{{CheckID: "MS-13", Status: snapshot.StatusFail, Threshold: "encrypted", Measured: "1 found", FailFraction: 1, Total: 1, Violations: []snapshot.Violation{{Object: "Ledger", Evidence: "is_encrypted 0"}}}},
			Roles:   []snapshot.DatabaseRole{{Name: "sa", Login: true, Superuser: true, MemberOf: []string{"sysadmin"}}},
		}
		in.Databases = []snapshot.Database{{Name: "Ledger", Encrypted: &no, Classification: &snapshot.Classification{
			FinishedAt: snapshottest.AsOf(), Status: snapshot.ClassificationCompleted, Mode: "names", TablesSeen: 2, TablesClassified: 2,
			Tables: []snapshot.ClassifiedTable{
				{Schema: "dbo", Name: "Customer", EstimatedRows: 7, RowsKnown: true, Readers: []string{"app", "report"}, Grantees: 2, Columns: []snapshot.ClassifiedColumn{{Name: "Mail", Category: "Contact", InfoType: "E-mail", Confidence: "Certain", Weight: 5}}},
				{Name: "CARDS", Encrypted: &yes, AccessUnknown: true, Columns: []snapshot.ClassifiedColumn{{Name: "PAN", Category: "Financial", InfoType: "Payment card number", Confidence: "High", Weight: 10}}},
			},
		}}}
	}
	return doc
}

// unlisted is a document with more findings than it lists.
func unlisted() snapshot.Document {
	doc := snapshottest.Rich(report.Security)
	eachResult(doc, func(r *snapshot.CheckResult) {
		if r.CheckID == "PG-S12" && r.Status == snapshot.StatusFail {
			r.Total = 727 + len(r.Violations)
		}
	})
	return doc
}

// quiet is a scorecard of a server that was registered within its window, and on
// which nothing happened but what change adds.
func quiet(listed ...snapshot.Alert) snapshot.Document {
	doc := snapshottest.Rich(report.InstanceScorecard)
	doc.Instances[0].CreatedAt = snapshottest.AsOf().AddDate(0, 0, -10)
	doc.Alerts = &snapshot.AlertHistory{Listed: listed, Total: len(listed)}
	return doc
}

// startedAt is a scorecard of a server that had that score as the window began.
func startedAt(score int) snapshot.Document {
	doc := snapshottest.Rich(report.InstanceScorecard)
	doc.ScoreAtStart = &snapshot.ScoreAtStart{Score: score, Grade: "E", AssessedAt: doc.Window.From.AddDate(0, 0, -1)}
	return doc
}

// ownDatabase is a Data Inventory with Muster's own database.
func ownDatabase() snapshot.Document {
	doc := snapshottest.Rich(report.DataInventory)
	i := slices.IndexFunc(doc.Instances, func(in snapshot.Instance) bool { return in.Name == "pg-orders-01" })
	doc.Instances[i].Databases[0].Classification.Own = true
	return doc
}

// plain is a Data Inventory in which it is known of the tables of some classified servers,
// counted, whether they are not encrypted.
func plain(known map[int]bool) snapshot.Document {
	doc := snapshottest.Rich(report.DataInventory)
	n := 0
	for i := range doc.Instances {
		for j := range doc.Instances[i].Databases {
			db := &doc.Instances[i].Databases[j]
			if db.Classification == nil || len(db.Classification.Tables) != 3 {
				continue
			}
			if plain, ok := known[n]; ok {
				encrypted := !plain
				db.Encrypted = &encrypted
			}
			n++
		}
	}
	return doc
}

// TestEachUnencryptedTableIsListed: the figure of page 1 is the number of rows, and each
// is one of the document's.
func TestEachUnencryptedTableIsListed(t *testing.T) {
	t.Parallel()
	doc := plain(map[int]bool{0: true, 1: false, 2: true})
	file, _ := render(t, renderer(t), doc)
	pages := words(t, file)
	all := strings.Join(pages, " ")
	_, list, _ := strings.Cut(all, "Sensitive tables that are not encrypted at rest Risk")
	list, _, _ = strings.Cut(list, "sensitive tables;")
	want := 0
	for _, in := range doc.Instances {
		for _, db := range in.Databases {
			if db.Encrypted == nil || *db.Encrypted || db.Classification == nil {
				continue
			}
			for _, table := range db.Classification.Tables {
				want++
				if !strings.Contains(list, in.Name+" "+db.Name+" "+table.Schema+"."+table.Name) {
					t.Errorf("%s.%s of %s is not in %s", table.Schema, table.Name, in.Name, list)
				}
			}
		}
	}
	if want == 0 || !strings.Contains(pages[0], "NOT ENCRYPTED AT REST "+strconv.Itoa(want)) || strings.Count(list, " crm ") != want {
		t.Errorf("%d tables: %s", want, list)
	}
}

// unlookedAt is a scorecard of a server that is measured and was not assessed.
func unlookedAt(engine string) snapshot.Document {
	doc := snapshottest.Rich(report.InstanceScorecard)
	in := &doc.Instances[0]
	in.Engine, in.Collected, in.Assessment, in.NotAssessed = engine, false, nil, "no connection is registered"
	doc.Tuning.Settings = nil
	return doc
}

// scored is a scorecard whose window has those scores by day, 0 for a day without one.
func scored(scores ...int) snapshot.Document {
	doc := snapshottest.Rich(report.InstanceScorecard)
	doc.ScoreByDay = &snapshot.ScoreByDay{Start: snapshottest.AsOf().AddDate(0, 0, 1-len(scores)).Truncate(24 * time.Hour), Scores: make([]*int, len(scores))}
	for i := range scores {
		if scores[i] > 0 {
			doc.ScoreByDay.Scores[i] = &scores[i]
		}
	}
	return doc
}

// used is a scorecard with that much known of its hosts.
func used(u *snapshot.Utilization) snapshot.Document {
	doc := snapshottest.Rich(report.InstanceScorecard)
	doc.Utilization = u
	return doc
}

// disk is some days of nothing but a disk that begins at a level and gains something
// every day.
func disk(days int, level, perDay float64) *snapshot.Utilization {
	u := &snapshot.Utilization{Start: snapshottest.AsOf().AddDate(0, 0, -days), Hosts: 1, CPUPercent: make([]*float64, days*24), MemoryPercent: make([]*float64, days*24)}
	for h := range days * 24 {
		v := level + perDay*float64(h)/24
		u.DiskPercent = append(u.DiskPercent, &v)
	}
	return u
}

// minutes is an hour of a busy host with samples for some minutes.
func minutes(n int) *snapshot.Utilization {
	u := &snapshot.Utilization{Start: snapshottest.AsOf().AddDate(0, 0, -30), Hosts: 1, CPUPercent: make([]*float64, 720), CPUMinutes: &n}
	busy := 97.0
	u.CPUPercent[719] = &busy
	return u
}

// gone is u as it would be if nothing had been measured in its last days.
func gone(u *snapshot.Utilization, days int) *snapshot.Utilization {
	clear(u.DiskPercent[len(u.DiskPercent)-24*days:])
	return u
}

// flood is a scorecard with more alerts than its document lists.
func flood() snapshot.Document {
	doc := quiet()
	for n := range 1000 {
		from := snapshottest.AsOf().Add(-time.Duration(n) * 10 * time.Minute)
		ends := from.Add(9 * time.Minute)
		doc.Alerts.Listed = append(doc.Alerts.Listed, snapshot.Alert{
			ID: snapshottest.ID(n), Title: "Title " + strconv.Itoa(n%40) + strings.Repeat(" of many words", 40), Severity: []string{"critical", "warning", "info"}[n%3],
			State: "Resolved", Muted: n%50 == 0, CreatedAt: from, FirstTriggeredAt: from, LastTriggeredAt: from, ResolvedAt: &ends, Occurrences: 1,
		})
	}
	doc.Alerts.Total = 10_000
	return doc
}

func eachResult(doc snapshot.Document, f func(*snapshot.CheckResult)) {
	for i := range doc.Instances {
		if a := doc.Instances[i].Assessment; a != nil {
			for k := range a.Results {
				f(&a.Results[k])
			}
		}
	}
}

// The three different sentences, and what page 1 must say.
func TestSentences(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	scoped := snapshottest.Rich(report.InstanceScorecard)
	scoped.Database = &snapshot.DatabaseRef{ID: snapshottest.ID(1000), Name: "crm"}
	for name, tc := range map[string]struct {
		doc  snapshot.Document
		want []string
		not  []string
	}{
		"security": {unlisted(), []string{
			"SECURITY REPORT Nordlicht Energie AG", "BETA", "DEMO DATA", "Scope All active instances (13 of 14)", "Snapshot 20 Nov 2026 12:00:00 UTC",
			"11:59:58 UTC by Ana Ruiz", "Request 0199f0d2-7a10-7c44-9b0e-000000000001 Built", "Built by Muster 1.0.0, Beta",
			"critical and high findings are overdue, ", "4 of 14 instances were not assessed, and 9 of 140 check runs gave no result on the others.", "2 critical findings on 2 of 10 assessed instances are open.",
			"2 instances run a major version past its end of life: pg-crm-01, pg-legacy-01.", "2 open CVEs of CVSS 7.0 or more concern 7 instances.", "3† to CVSS 7.5; 1 more not ruled out",
			"18.1 to 2030-11-14", "Leave PostgreSQL 14, out of support since 2026-11-12: upgrade to 18.1", "“Security findings” has the fixes, findings.csv all objects and statements.",
			"Not assessed on 3 instances (pg-billing-02, pg-catalog-01, pg-orders-01): the monitoring role muster may not read pg_hba_file_rules (grant in Annex B). Checks: PG-S02, PG-S05.",
			"Not assessed on pg-sandbox-01: the instance is inactive.",
			"Not assessed on pg-metering-02: it could not be reached: no answer from pg-metering-02.db.nordlicht.example:5432 within 10 seconds.",
			"Not applicable to ora-erp-01 19.24: the feed does not cover Oracle.",
			"1 unchanged", "† Stands on partial data", "5 exceptions are in force for this scope and cover 7 findings, which count in no other figure",
			"Until 31 Jan 2027 12:00 UTC, in 72 days Requested by Ana Ruiz, granted by Jonas Weber on 2026-10-21 Why Replaced in the January release.",
			"of 1,503 findings, 7 accepted apart", "Requested by a former member, granted by Jonas Weber", "1 accepted since, 1 no longer accepted",
			"GRANT SELECT ON pg_authid TO muster;",
			"muster verify FILE.pdf", "9f2c41d07be3a5568c1f0e2b7a94d3c6e8f5b1027d6c9a3e4f80b2d517c6a9e3", "0199f0d2-7a10-7c44-9b0e-000000000001",
			"plperl is not installed on any database: not exploitable by this route",
		}, []string{"{nb}", "No data", "PG-C02", "PG-M02", "PG-F03"}},
		"security where everything is accepted": {accepted(report.Security), []string{
			"No findings on 10 assessed instances, 56 accepted apart. 4 of 14 instances were not assessed", "No findings, 56 accepted apart. 10 instances were checked",
			"Nothing to do: no check fails on 10 assessed instances, 56 accepted apart; 4 instances were not assessed, 9 checks not run.", "All of it, for a test.",
		}, []string{"Failed checks by instance"}},
		"clean security": {clean(), []string{"No findings. 10 instances were checked with 12 checks at 20 Nov 2026 12:00 UTC; 4 instances were not assessed.",
			"No findings on 10 assessed instances. 4 of 14 instances were not assessed.", "Nothing to do: no check fails on 10 assessed instances; 4 instances were not assessed.",
			"5 exceptions are in force for this scope and cover no current finding."}, nil},
		"empty security": {snapshottest.Empty(report.Security), []string{"Not applicable: no instance is in scope of this report."}, []string{
			"DEMO", "gave 0 results", "knows the version of none", "its accounts are not known", "there is nothing to plan", "runs a version that the feed knows",
		}},
		"scorecard": {snapshottest.Rich(report.InstanceScorecard), []string{
			"grade", "pg-orders-01 runs on 1 host that was measured between 21 Oct 2026 12:00 UTC and 20 Nov 2026 12:00 UTC. CPU was above 80% in 34 hours of 692 (5%). Memory was never above 80%.",
			"CPU mean of the hour 12.0% 39.7% 79.9% 86.9% 34 692 of 720", "22 Oct",
			"The fullest volume was at 81.5% at the end of the data, as measured. It grows by 0.61 points a day, by 30.0 days of data (Theil–Sen slope of the daily medians). If that goes on, it is full 31 days later, around 2026-12-21; with 90% confidence between 2026-12-19 and 2026-12-22.",
			"31 alerts were raised in the window and 30 resolved; 2 were open at its end. For 2 d 22 h of 30 d (10%) at least one was open. Half of those resolved took no longer than 40 min.",
			"Active and resolved by day", "Warning Replication lag above 60 seconds 14 5 h 57 min 25 min 0", "Auto-resolved 2026-11-05 13:00", "further alerts: see the page Alerts.",
			"No score is kept for the start of the window or a day before it, so there is nothing to compare with.", "Domain Failed Passed", "Checks that could not be run", "41,414 minutes of 41,520",
			"Muted alerts", "capped at 59 because 1 critical check fails", "instance-wide",
			"2 findings are accepted and cost no points.", "0 not applicable, 1 accepted.", "5 exceptions are in force for this scope and cover 2 findings",
		}, []string{"Coverage and methodology", "Before the instance was registered"}},
		"scorecard of a server that got better": {startedAt(47), []string{
			"At the start of the window it was 47 E, 12 points less than now, by the assessment of 20 Oct 2026 12:00:00 UTC and the exceptions in force then.",
		}, []string{"No score is kept for"}},
		"scorecard of a server that got worse": {startedAt(60), []string{"it was 60 E, 1 point more than now"}, nil},
		"scorecard of settings against a machine": {snapshottest.Rich(report.InstanceScorecard), []string{
			"8 hints: 4 to change, 2 that fit, 2 that cannot be judged. Host pg-orders-01.db.nordlicht.example (20 Nov 2026 11:59 UTC): 64 GB of memory, 16 CPUs. In the 692 of 720 hours",
			"shared_buffers = '16GB'", "212 of 400 open at 2026-11-20 11:59 UTC enough at that moment; the peak of the window is not kept", "PostgreSQL 15 documentation, runtime-config-wal",
		}, []string{"gives no hints on memory settings"}},
		"scorecard of a host that nobody measures": {func() snapshot.Document {
			d := snapshottest.Rich(report.InstanceScorecard)
			d.Tuning.Machines, d.Tuning.Waits, d.Tuning.Open = nil, nil, nil
			return d
		}(), []string{"No agent reported the size of the host in the last three days. No sessions were sampled in the window", "not judged"}, []string{"16GB"}},
		"scorecard of an engine without hints": {func() snapshot.Document {
			d := snapshottest.Rich(report.InstanceScorecard)
			d.Instances[0].Engine = "mongodb"
			return d
		}(), []string{"there are no hints for MongoDB"}, nil},
		"scorecard with waits of a part": {func() snapshot.Document {
			d := snapshottest.Rich(report.InstanceScorecard)
			part := *d.Tuning.Waits
			part.Partial = true
			d.Tuning.Waits = &part
			return d
		}(), []string{"0.04 for lightweight locks. This is partial: the sampling role does not see all sessions."}, nil},
		"scorecard of inputs from before hints": {func() snapshot.Document { d := snapshottest.Rich(report.InstanceScorecard); d.Tuning = nil; return d }(), []string{"gives no hints on memory settings"}, []string{"Settings against"}},
		"scorecard of a server that nobody assessed": {unlookedAt("postgresql"), []string{
			"First, have it assessed", "GRANT pg_monitor TO muster", "Known without an assessment", "PostgreSQL 15.3, as it was registered; the server was not asked",
			"15 gets fixes until 2027-11-12, for 11 months", "3 open, 1 not ruled out; the worst open one has CVSS", "Memory at most 71.5% in 95 of 100 hours", "31 alerts raised, 2 open at the end",
			"First, have the instance assessed:", "Update PostgreSQL 15.3 to 15.9", "Install minor release 15.15", "no assessment reported a setting that has hints (shared_buffers",
			"24 of 31 days have a score", "runs on 1 host that was measured",
		}, []string{"without an assessment there is nothing to plan", "8 hints"}},
		"scorecard of an engine without a check": {unlookedAt("mongodb"), []string{"Known without an assessment", "runs on 1 host that was measured"}, []string{"First, have it assessed"}},
		"inventory of Muster's own tables": {ownDatabase(), []string{
			"18 sensitive tables", "3 further tables are Muster's own.", "18 tables have at least one sensitive column", "crm Muster’s own", "Muster’s own tables This installation watches",
			"hr.patient_record_0", "They count in no other figure",
		}, []string{"21 sensitive tables", "tables hold sensitive data in"}},
		"inventory of unencrypted tables": {plain(map[int]bool{0: true, 1: false}), []string{
			"Sensitive tables that are not encrypted at rest Risk Instance, database Table Rows (est.) Holds", "3 of 21 sensitive tables; 3 are encrypted; not known: 15 of PostgreSQL, whose volumes are not visible over SQL.",
		}, nil},
		"inventory of encrypted tables":       {plain(map[int]bool{1: false}), []string{"None: 3 sensitive tables are encrypted at rest; not known: 18 of PostgreSQL"}, nil},
		"inventory of tables nobody knows of": {plain(nil), []string{"Not assessed: of none of 21 sensitive tables it is known (21 of PostgreSQL"}, nil},
		"inventory with readers by path": {snapshottest.Rich(report.DataInventory), []string{
			"every role PUBLIC → SELECT app_orders → SELECT reporting → analysts → SELECT support → SET ROLE support_lead → SELECT on columns (email, iban) and 4 more",
			"10 roles row security, not for 2 app_orders → SELECT", "13 roles app_orders", "Not known: 15 tables, since an older version classified it and did not look.",
		}, []string{"13 roles 5 can sign in"}},
		"scorecard of days with gaps": {scored(0, 71, 64, 0, 80, 80), []string{
			"4 of 6 days have a score: from 71 on 2026-11-16 to 59 on 2026-11-20; the lowest was 59 on 2026-11-20, the highest 80 on 2026-11-19.", "No score of the day",
		}, nil},
		"scorecard of a line without a gap":  {scored(59, 59, 59), []string{"3 of 3 days have a score: 59 on each of them."}, []string{"No score of the day"}},
		"scorecard of one day with a score":  {scored(0, 64, 0), []string{"1 of 3 days has a score: 64 on 2026-11-19."}, nil},
		"scorecard of days without a score":  {scored(0, 0, 0), []string{"No day of the window has a score"}, []string{"Score by day"}},
		"scorecard of inputs without a line": {func() snapshot.Document { d := scored(1); d.ScoreByDay = nil; return d }(), nil, []string{"Score by day", "of the window has a score"}},
		"scorecard of a server that stayed":  {startedAt(59), []string{"it was 59 E, the same as now"}, nil},
		"scorecard of before there was utilization": {used(nil), []string{
			"Not yet measured: CPU, memory and disk over the window", "none has reported for pg-orders-01 between 21 Oct 2026 12:00 UTC and 20 Nov 2026 12:00 UTC.",
		}, []string{"By hour"}},
		"scorecard of a server on no host": {used(&snapshot.Utilization{Start: snapshottest.AsOf().AddDate(0, 0, -30), CPUPercent: make([]*float64, 720)}), []string{
			"Not measured: no sample of a host that pg-orders-01 runs on is on record between 21 Oct 2026 12:00 UTC and 20 Nov 2026 12:00 UTC",
		}, []string{"By hour", "Minimum"}},
		"scorecard of a full disk": {used(disk(20, 99.5, 1.5)), []string{"CPU was not measured.", "Disk was above 80% in 480 hours of 480 (100%).", "The fullest volume is full."}, nil},
		"scorecard of a host that is gone": {used(gone(disk(30, 20, 2), 20)), []string{
			"Disk was never above 80%.", "The fullest volume was at 39.9% at the end of the data, as measured.", "If that goes on, it is full 31 days later, around 2026-12-01; with 90% confidence between"}, nil},
		"scorecard of three minutes": {used(minutes(3)), []string{
			"CPU was above 80% in 1 hour, of only 1 measured with samples in 3 minutes.", "Disk was not measured.", "1 of 720 3 minutes of 60"}, []string{"100%)"}},
		"scorecard of a young host":  {used(disk(3, 20, 1)), []string{"No forecast: it needs 7 days of data without larger gaps, and the window has 3.0."}, nil},
		"scorecard of a steady disk": {used(disk(8, 20, -0.1)), []string{"The fullest volume was at 19.2% at the end of the data, as measured. It does not grow: it changes by −0.10 points a day."}, nil},
		"scorecard of a large disk":  {used(disk(8, 20, 0.01)), []string{"at 20.1% at the end of the data, as measured. It grows by 0.01 points a day, and is not full within two years."}, nil},
		"scorecard without an alert": {quiet(), []string{
			"No alert was active in this window between 21 Oct 2026 12:00 UTC and 20 Nov 2026 12:00 UTC. pg-orders-01 was registered on 10 Nov 2026 12:00 UTC; there is no earlier data.",
			"An unmonitored instance raises no alerts.",
		}, []string{"Active and resolved", "Muted alerts"}},
		"scorecard with nothing but a muted alert": {quiet(snapshot.Alert{
			Title: "Known", Severity: "critical", State: "Open", Muted: true, CreatedAt: snapshottest.AsOf().Add(-time.Hour), Occurrences: 1,
		}), []string{"1 muted alert is listed apart and counted nowhere.", "Critical Known instance-wide 2026-11-20 11:00 Open 1 h"}, []string{"Active and resolved"}},
		"scorecard with a flood of alerts": {flood(), []string{
			"9,000 further ones are not in this report, which takes the first 10,000 by severity and time. The page Alerts lists them all.", "Before the instance was registered", "of many words of many wor…", "The figures cover 1,000 alerts",
		}, nil},
		"scorecard of which nobody asked for alerts": {snapshottest.Empty(report.InstanceScorecard), []string{"Not assessed: the alerts of the instance between"}, nil},
		"scorecard of a database":                    {scoped, []string{"Alerts of database crm and instance-wide ones count."}, nil},
		"scorecard of a server that nobody looked at": {unassessed(), []string{
			"pg-orders-01 has no score: no connection is registered.", "NOT ASSESSED all no check could be run", "FAILED CHECKS – no check could be run", "2 open CVEs of CVSS 7.0 or more concern the server.", "of 1 in “Remediation plan”",
			"1 action closes everything that was found open.", "No check could be run, so the plan stands on the versions alone.", "Update PostgreSQL 15.3 to 15.9",
		}, []string{"ACTIONS 1 ", "there is nothing to plan"}},
		"scorecard where everything is accepted": {accepted(report.InstanceScorecard), []string{
			"findings are accepted and cost no points.", "No points lost: every check with an answer passes, ", " accepted apart; 3 checks not run.",
		}, []string{"capped at 59", "capped at 89"}},
		"scorecard without anything but what is accepted": {nothingElse(), []string{"pg-orders-01 has no score: all results are accepted.", "nothing to score"}, []string{"grade A"}},
		"an exception to a check of an older catalogue":   {forgotten(), []string{"PG-OLD Not in this catalogue", "No current finding is covered by this exception alone."}, nil},
		"scoped scorecard": {scoped, []string{"scoped to database crm; instance-wide findings count in the score", "Database crm", "Scores are kept for whole instances"}, nil},
		"security of what a feed told of": {fed(report.Security), []string{
			"MS-13", "is_encrypted 0", "sent by a feed", "Facts from feeds are as old as the feeds say.", "3 d old", "Privileged accounts", "sysadmin",
			"Of instances that a feed assesses: last seen is the last sign-in that was sent, and Password and Remote are not known.",
			"2 instances were assessed by another tool, which sent its results; checks without a result are not assessed.",
			"Not applicable: no monitoring role signed in; feeds reported 2 assessed instances.",
		}, []string{"Muster has no collector", "may read everything that the checks"}},
		"inventory of what a feed told of": {fed(report.DataInventory), []string{
			"2 of 4 sensitive tables are known not to be encrypted at rest, 2 are encrypted.", "Ledger not encrypted 2",
			"not encrypted at rest", "2 databases classified by another tool with its own rules.", "the feed did not send the sessions.", "encrypted at rest",
		}, []string{"has no table classification", "this version of Muster connects", "no classification has run", " .CARDS"}},
		"inventory": {snapshottest.Rich(report.DataInventory), []string{
			"Values are never printed", "PostgreSQL has no built-in transparent data encryption; encryption of the volume is not visible over SQL",
			"Not assessed on mssql-finance-01: Muster has no collector for SQL Server yet. Not assessed on ora-erp-01: Muster has no collector for Oracle yet.", "so none is counted.", "R-2JXXK3J 2026-11-20 public. customers pg-billing-01 / crm GDPR, internal every login (PUBLIC)", "first 2026", "Failed scan",
			"Exception lapses 2026-12-10", "A service account; its password is rotated", "hr.patient_record_4",
			"9 tables with sensitive data carry a high risk, of 21 sensitive tables found in 9 classified databases. 13 of 22 databases were not classified, 3 databases were classified only in part",
		}, []string{"The partner portal", "2027-05-19", "patient_record_4 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			says(t, r, tc.doc, tc.want, tc.not)
		})
	}
}

// says looks in a rendered document for texts that it has, and texts that it has not.
func says(t *testing.T, r *pdf.Renderer, doc snapshot.Document, want, not []string) {
	t.Helper()
	file, _ := render(t, r, doc)
	fileSays(t, file, want, not)
}

func fileSays(t *testing.T, file []byte, want, not []string) {
	t.Helper()
	all := strings.Join(words(t, file), " ")
	for _, text := range want {
		if !strings.Contains(all, text) {
			t.Errorf("no %q", text)
		}
	}
	for _, text := range not {
		if strings.Contains(all, text) {
			t.Errorf("says %q", text)
		}
	}
}

func TestHostileTextIsVisible(t *testing.T) {
	t.Parallel()
	file, _ := render(t, renderer(t), snapshottest.Hostile(report.Security))
	all := strings.Join(words(t, file), " ")
	for _, want := range []string{"‹U+1F680›", "‹U+202E›", "‹0xFF›", "‹U+0007›", "‹U+200B›", "more characters", "(paren) \\slash) endstream endobj", "{nb} {nbs}", "Čeština Ελληνικά Русский"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q", want)
		}
	}
}

// drawn is what is in the streams of a PDF, uncompressed: text in UTF-16 as it is
// drawn, line by line. It takes a hundredth of the time of words, and does not know
// what a reader makes of it.
func drawn(t *testing.T, file []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, stream := range bytes.Split(file, []byte("\nstream\n"))[1:] {
		inflated, err := zlib.NewReader(bytes.NewReader(stream))
		if errors.Is(err, zlib.ErrHeader) { // a map of characters, which is as it is
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.ReadFrom(inflated); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// The whole text of each kind, so that a change of words shows in review.
func TestGoldenText(t *testing.T) {
	t.Parallel()
	r := renderer(t)
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			file, rendered := render(t, r, snapshottest.Rich(kind))
			got := strings.Join(words(t, file), "\n\n") + "\n"
			// The inputs' digest changes with every field added to the document.
			got = strings.ReplaceAll(got, rendered.InputsSHA256, "INPUTS")
			path := filepath.Join("testdata", strings.ToLower(string(kind))+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("text of %s (-want +got), -update if it is meant:\n%s", kind, diff)
			}
		})
	}
}
