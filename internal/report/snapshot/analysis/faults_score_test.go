package analysis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/domain/report"
	"muster/internal/measurements/forecast"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/analysis/window"
	"muster/internal/report/snapshot/day"
	"muster/internal/report/snapshot/snapshottest"
)

// healthy is a scorecard of a server all of whose checks pass.
func healthy() snapshot.Document {
	doc := document(instance(one, "a", status("C1", "pass"), status("H1", "pass"), status("L1", "pass")))
	doc.Kind = string(report.InstanceScorecard)
	end := doc.AsOf.AddDate(3, 0, 0)
	doc.Instances[0].Release = &snapshot.Release{Major: "17", EndOfLife: &end}
	doc.Instances[0].OpenAlerts = &snapshot.OpenAlerts{}
	return doc
}

// disk has the levels of a volume.
func disk(levels []*float64) *snapshot.Utilization {
	return &snapshot.Utilization{Start: time.Date(2026, 11, 12, 0, 0, 0, 0, time.UTC), Hosts: 1, DiskPercent: levels}
}

// TestFault04AndFault08CapsHoldGradeAndVerdict: an open critical alert, a missing backup, the end of support, a volume
// that fills and five failed high checks, whatever the checks say. The verdict is never clean over one.
func TestFault04AndFault08CapsHoldGradeAndVerdict(t *testing.T) {
	t.Parallel()
	over := document().AsOf.AddDate(0, 0, -735)
	for name, test := range map[string]struct {
		change func(doc *snapshot.Document, in *snapshot.Instance)
		want   int
		grade  string
		words  string
	}{
		"nothing": {func(*snapshot.Document, *snapshot.Instance) {}, 100, "A", "100 of 100, grade A"},
		"a critical alert": {func(_ *snapshot.Document, in *snapshot.Instance) {
			in.OpenAlerts = &snapshot.OpenAlerts{Open: 3, Critical: 1}
		},
			69, "D", "69 of 100, grade D: 100 by its checks, capped at 69 because 1 critical alert is open"},
		"alerts that are not critical": {func(_ *snapshot.Document, in *snapshot.Instance) { in.OpenAlerts = &snapshot.OpenAlerts{Open: 3} }, 100, "A", "100 of 100, grade A"},
		"a critical alert of before": {func(doc *snapshot.Document, in *snapshot.Instance) {
			in.OpenAlerts = nil
			doc.Alerts = &snapshot.AlertHistory{Listed: []snapshot.Alert{{Severity: "critical"}, {Severity: "critical", Muted: true}, {Severity: "warning"}}}
		}, 69, "D", "because 1 critical alert is open"},
		"out of support": {func(_ *snapshot.Document, in *snapshot.Instance) { in.Release.EndOfLife = &over }, 69, "D", "because support ended on 2024-11-15"},
		"a volume that fills": {func(doc *snapshot.Document, _ *snapshot.Instance) {
			doc.Server = &snapshot.Server{Room: &day.Fill{Name: "/data", Percent: 91.8, Days: new(2.1)}}
		}, 69, "D", "because /data is at 91.8%, full in about 2 days"},
		"a volume that is full": {func(doc *snapshot.Document, _ *snapshot.Instance) {
			doc.Server = &snapshot.Server{Room: &day.Fill{Name: "/data", Percent: 100, Days: new(0.0)}}
		}, 69, "D", "because /data is full"},
		"no backup": {func(doc *snapshot.Document, in *snapshot.Instance) {
			in.Engine = "sqlserver"
			in.Assessment.Results = append(in.Assessment.Results, fail("MS-16", "erp"))
		}, 59, "E", "because MS-16 fails"},
		"a backup beyond its RPO": {func(doc *snapshot.Document, _ *snapshot.Instance) {
			doc.Server = &snapshot.Server{Backups: &snapshot.Backups{RPOSeconds: 86400, Late: 1, InTime: 4, Worst: &day.Backup{Database: "orders", Seconds: 3 * 86400}}}
		}, 59, "E", "because newest backup of orders is 3 days old, RPO 24 h"},
		"a database without a backup, whatever the check says": {func(doc *snapshot.Document, in *snapshot.Instance) {
			in.Engine = "sqlserver"
			in.Assessment.Results = append(in.Assessment.Results, status("MS-16", "pass"))
			doc.Server = &snapshot.Server{Backups: &snapshot.Backups{RPOSeconds: 900, Late: 1, Worst: &day.Backup{Database: "erp", Seconds: 7200, None: true}}}
		}, 59, "E", "because no backup of erp in 2 hours, RPO 15 min"},
		"a check of backups that fails, whatever is measured": {func(doc *snapshot.Document, in *snapshot.Instance) {
			in.Engine = "sqlserver"
			in.Assessment.Results = append(in.Assessment.Results, fail("MS-16", "erp"))
			doc.Server = &snapshot.Server{Backups: &snapshot.Backups{RPOSeconds: 86400, InTime: 2}}
		}, 59, "E", "because MS-16 fails, though backups are in time"},
		"a volume beside the fullest one that fills": {func(doc *snapshot.Document, _ *snapshot.Instance) {
			doc.Server = &snapshot.Server{Room: &day.Fill{Name: "/wal", Percent: 61.25, Days: new(6.9)}, Undated: &day.Fill{Name: "/data", Percent: 97, Why: "noise"}}
		}, 69, "D", "because /wal is at 61.2%, full in about 7 days"},
		"a volume that has room for eight days": {func(doc *snapshot.Document, _ *snapshot.Instance) {
			doc.Server = &snapshot.Server{Room: &day.Fill{Name: "/wal", Percent: 61.25, Days: new(8.0)}}
		}, 100, "A", "100 of 100, grade A"},
		"five high checks": {func(doc *snapshot.Document, in *snapshot.Instance) {
			for _, id := range []string{"X1", "X2", "X3", "X4", "X5"} {
				doc.Checks = append(doc.Checks, snapshot.Check{ID: id, Domain: "Schema", Severity: "High"})
				in.Assessment.Results = append(in.Assessment.Results, fail(id))
			}
			for n := range 80 {
				id := "P" + string(rune('0'+n))
				doc.Checks = append(doc.Checks, snapshot.Check{ID: id, Domain: "Schema", Severity: "High"})
				in.Assessment.Results = append(in.Assessment.Results, status(id, "pass"))
			}
		}, 69, "D", "because 5 high checks fail"},
	} {
		doc := healthy()
		test.change(&doc, &doc.Instances[0])
		s := analysis.HealthScore(doc, &doc.Instances[0])
		if s.Overall != test.want || s.Grade != test.grade || !strings.HasSuffix(analysis.ScoreWords(s), test.words) {
			t.Errorf("%s: %s", name, analysis.ScoreWords(s))
		}
		v, err := analysis.Judge(doc)
		if err != nil || (v.State == analysis.Clean) != (test.want == 100) || !strings.Contains(v.Lead, test.words) {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// TestFault04NoSecurityReportIsGreenOverACriticalAlert, and it names the server.
func TestFault04NoSecurityReportIsGreenOverACriticalAlert(t *testing.T) {
	t.Parallel()
	doc := healthy()
	doc.Kind = string(report.Security)
	if v, err := analysis.Judge(doc); err != nil || v.State != analysis.Clean {
		t.Errorf("%+v, %v", v, err)
	}
	doc.Instances[0].OpenAlerts.Critical = 2
	if v, err := analysis.Judge(doc); err != nil || v.State != analysis.Critical || !strings.Contains(v.Lead+v.Rest, "2 critical alerts are open.") {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestFault05ForecastBeginsAtTheMeasuredLevel, and there is none where the level jumps.
func TestFault05ForecastBeginsAtTheMeasuredLevel(t *testing.T) {
	t.Parallel()
	low, high := slices.Repeat([]float64{37}, 48), slices.Repeat([]float64{92}, 48)
	tooth := snapshottest.Hours(slices.Concat(low, high, low, high, low, high)...)
	s, _ := window.Utilization(snapshot.Document{Utilization: disk(tooth)})
	if f := s.Full; f.Level != 92 || f.Reason != forecast.SawTooth || f.Soon() {
		t.Errorf("a saw-tooth: %+v", f)
	}
	late := disk(snapshottest.Line(50, 1, 8*24))
	*late.DiskPercent[len(late.DiskPercent)-1] = 90
	s, _ = window.Utilization(snapshot.Document{Utilization: late})
	if f := s.Full; f.Level != 90 || f.Reason != "" || f.Soonest < 38 || f.Days > 43 {
		t.Errorf("one hour is no trend: %+v", f)
	}
}

// TestAServerWhoseVersionMicrosoftMaintains counts neither as out of support nor as one whose version is not known.
func TestAServerWhoseVersionMicrosoftMaintains(t *testing.T) {
	t.Parallel()
	azure := instance(two, "azure", snapshot.CheckResult{CheckID: "C1", Status: snapshot.StatusPass})
	azure.Engine, azure.Assessment.Edition, azure.Assessment.VersionText = "sqlserver", "SQL Azure", "12.0.2000.8"
	doc := document(azure)
	doc.Kind = string(report.Security)
	if s := analysis.SupportOf(doc); s != (analysis.Support{}) {
		t.Errorf("%+v", s)
	}
	verdict, err := analysis.Judge(doc)
	if err != nil || strings.Contains(fmt.Sprint(verdict), "does not know the version") {
		t.Errorf("%+v, %v", verdict, err)
	}
	azure.Assessment.Edition = "Enterprise Edition"
	doc.Instances[0] = azure
	if verdict, err := analysis.Judge(doc); err != nil || !strings.Contains(fmt.Sprint(verdict), "does not know the version") {
		t.Errorf("of a server whose version is not known: %+v, %v", verdict, err)
	}
}

// TestFault06AnInactiveServerHasItsEndOfSupportAndCVEs: an end of life counts whether a server is assessed or not.
func TestFault06AnInactiveServerHasItsEndOfSupportAndCVEs(t *testing.T) {
	t.Parallel()
	over := document().AsOf.AddDate(-1, 0, 0)
	retired := snapshot.Instance{ID: two, Name: "retired", Engine: "postgresql", NotAssessed: "inactive",
		Release: &snapshot.Release{Major: "13", EndOfLife: &over, Target: "18.7"}, CVEs: []snapshot.InstanceCVE{{ID: "CVE-1", Applies: snapshot.CVEOpen}}}
	doc := document(retired)
	doc.Kind, doc.Vulnerabilities = string(report.Security), []snapshot.Vulnerability{{ID: "CVE-1", CVSS: 8.8}}
	if s := analysis.SupportOf(doc); s != (analysis.Support{Ended: 1}) {
		t.Errorf("%+v", s)
	}
	if c := analysis.AllCVEs(doc); c.Open.Total() != 1 {
		t.Errorf("%+v", c)
	}
	plan := analysis.Plan(doc)
	if len(plan) != 1 || !strings.HasSuffix(plan[0].Title, "upgrade to 18.7, or switch the inactive server off") {
		t.Errorf("%+v", plan)
	}
	if s := analysis.Standings(doc)[0]; s.Reason == "" || s.EndOfLife == nil || s.CVEs.Open.Total() != 1 {
		t.Errorf("%+v", s)
	}
}

// TestFault09TheGravestCheckComesFirst, not the one that a small domain makes costly.
func TestFault09TheGravestCheckComesFirst(t *testing.T) {
	t.Parallel()
	doc := document(instance(one, "a", fail("C1", "z"), status("H1", "pass"), status("H2", "pass"), fail("M1", "t"), status("L1", "pass")))
	for n := range 20 {
		id := "P" + string(rune('a'+n))
		doc.Checks = append(doc.Checks, snapshot.Check{ID: id, Domain: "Security", Severity: "Critical"})
		doc.Instances[0].Assessment.Results = append(doc.Instances[0].Assessment.Results, status(id, "pass"))
	}
	s := analysis.HealthScore(doc, &doc.Instances[0])
	if i := slices.IndexFunc(s.Lost, func(d analysis.Deduction) bool { return d.Check.ID == "C1" }); i != 0 || len(s.Lost) != 2 || s.Lost[0].Points >= s.Lost[1].Points {
		t.Errorf("%+v", s.Lost)
	}
	doc.Kind = string(report.InstanceScorecard)
	if v, err := analysis.Judge(doc); err != nil || !strings.Contains(v.Rest, "The gravest failed check is “a C1”.") {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestFault39TheLineOfScoresEndsAtTheReportsScore, not at that of an assessment before the one that the report has.
func TestFault39TheLineOfScoresEndsAtTheReportsScore(t *testing.T) {
	t.Parallel()
	doc := healthy()
	doc.Instances[0].OpenAlerts.Critical = 1
	earlier := 87
	doc.ScoreByDay = &snapshot.ScoreByDay{Start: doc.AsOf.Truncate(24*time.Hour).AddDate(0, 0, -1), Scores: []*int{&earlier, &earlier}}
	s, ok := analysis.ScoreLine(analysis.ScoreDays(doc))
	if is := analysis.HealthScore(doc, &doc.Instances[0]).Overall; !ok || s.Last.Score != is || s.First.Score != earlier || *doc.ScoreByDay.Scores[1] != earlier {
		t.Errorf("%+v, and the report says %d", s, is)
	}
	over := doc.AsOf.AddDate(-1, 0, 0)
	doc.Instances[0].Release.EndOfLife = &over
	doc.ScoreAtStart = &snapshot.ScoreAtStart{Score: 82, Grade: "B", AssessedAt: doc.AsOf.AddDate(0, 0, -30)}
	if s, _ := analysis.ScoreLine(analysis.ScoreDays(doc)); s.Highest.Score != 69 {
		t.Errorf("past the end of support: %+v", s)
	}
	if score, letter, ok := analysis.ScoreBefore(doc); !ok || score != 69 || letter != "D" {
		t.Errorf("it was %d %s", score, letter)
	}
	doc.Instances[0].Release.EndOfLife = nil
	doc.AsOf = doc.AsOf.AddDate(0, 0, 3) // the window is over
	if s, _ := analysis.ScoreLine(analysis.ScoreDays(doc)); s.Last.Score != earlier {
		t.Errorf("%+v", s)
	}
}

// TestFault20AMissingBackupIsInASecurityReport, although its check is one of maintenance: in the verdict, by name.
func TestFault20AMissingBackupIsInASecurityReport(t *testing.T) {
	t.Parallel()
	for kind, lead := range map[report.Kind]string{report.Security: "No recent backup of the server.", report.InstanceScorecard: "capped at 59"} {
		doc := healthy()
		doc.Kind, doc.Instances[0].Engine = string(kind), "sqlserver"
		doc.Checks = append(doc.Checks, snapshot.Check{ID: "MS-16", Domain: "Maintenance", Severity: "Critical", Engine: "sqlserver"})
		doc.Instances[0].Assessment.Results = append(doc.Instances[0].Assessment.Results, fail("MS-16", "ERP"))
		v, err := analysis.Judge(doc)
		if err != nil || v.State != analysis.Critical || !strings.Contains(v.Lead+" "+v.Rest, lead) {
			t.Errorf("%s: %+v, %v", kind, v, err)
		}
		if b := analysis.BackupsOf(doc); b.Told != (kind == report.Security) || b.Told && (!slices.Equal(b.Missing, []string{"a"}) || b.Recent+b.Unknown > 0) {
			t.Errorf("%s: %+v", kind, b)
		}
		other := instance(two, "b", status("MS-16", "pass"))
		other.Engine = "sqlserver"
		doc.Instances = append(doc.Instances, other)
		if v, _ := analysis.Judge(doc); kind == report.Security && !strings.Contains(v.Lead+v.Rest, "No recent backup of a.") {
			t.Errorf("of two: %+v", v)
		}
	}
}

// TestARoomWithoutADateWasMeasured: that nothing says when it is full is not that nothing was measured. A volume that is
// full in a month does not hide one beside it that is nearly full.
func TestARoomWithoutADateWasMeasured(t *testing.T) {
	t.Parallel()
	month := &day.Fill{Name: "/data", Percent: 40, Days: new(30.0)}
	for want, server := range map[string]*snapshot.Server{
		"2 no volume was measured":                                  {},
		"2 USERS is at 97.0%, and there is no date when it is full": {Room: &day.Fill{Name: "USERS", Percent: 97, Why: "tooShort"}},
		"0 USERS is at 98.0%, and does not fill steadily":           {Room: &day.Fill{Name: "USERS", Percent: 98, Why: "notGrowing"}},
		"0 /data is at 40.0%":                                       {Room: month},
		"2 /wal is at 97.0%, and there is no date when it is full":  {Room: month, Undated: &day.Fill{Name: "/wal", Percent: 97, Why: "sawTooth"}},
		"0 /wal is at 98.0%, and does not fill steadily":            {Room: month, Undated: &day.Fill{Name: "/wal", Percent: 98, Why: "noise"}},
	} {
		doc := healthy()
		doc.Server = server
		for _, c := range analysis.HealthScore(doc, &doc.Instances[0]).Caps {
			if got := fmt.Sprint(int(c.State), " ", c.Because); c.Name == "Volume full within 7 days" && got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}

// TestMeasuredBackupsCoverEnginesWithoutACheck: PostgreSQL has no check of its backups. What nobody knows is
// not within the RPO.
func TestMeasuredBackupsCoverEnginesWithoutACheck(t *testing.T) {
	t.Parallel()
	for want, backups := range map[string]*snapshot.Backups{
		"2 Muster has no check of the backups of PostgreSQL": nil,
		"0 the backups are within the RPO of 24 h":           {RPOSeconds: 86400, InTime: 3},
		"2 the age of backups of 2 databases is not known":   {RPOSeconds: 86400, InTime: 3, Unknown: 2},
		"2 the age of backups of 1 database is not known":    {RPOSeconds: 86400, Unknown: 1},
	} {
		doc := healthy()
		doc.Server = &snapshot.Server{Backups: backups}
		for _, c := range analysis.HealthScore(doc, &doc.Instances[0]).Caps {
			if got := fmt.Sprint(int(c.State), " ", c.Because); c.Name == "No recent backup" && got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}
