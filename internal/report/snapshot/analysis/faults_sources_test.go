package analysis_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/internal/report/snapshot/snapshottest"
)

// scene is what decides the risk of a table.
type scene struct {
	rows                           int64
	public, plain, active, ended   bool
	cves                           []float64
	exploited, badSignIn, assessed bool
}

func (s scene) risk() analysis.TableRisk {
	in := instance(one, "a")
	in.Active, in.Release = s.active, &snapshot.Release{}
	for _, id := range []string{"PG-S01", "PG-S02", "PG-S04", "PG-S05"} {
		result := status(id, "pass")
		if s.badSignIn {
			result = fail(id)
		}
		in.Assessment.Results = append(in.Assessment.Results, result)
	}
	if !s.assessed {
		in.Assessment = nil
	}
	doc := document()
	end := doc.AsOf.AddDate(1, 0, 0)
	if s.ended {
		end = doc.AsOf.AddDate(-1, 0, 0)
	}
	in.Release.EndOfLife = &end
	for i, cvss := range s.cves {
		id := "CVE-" + string(rune('a'+i))
		v := snapshot.Vulnerability{ID: id, CVSS: cvss}
		if s.exploited {
			v.ExploitedSince = &doc.AsOf
		}
		doc.Vulnerabilities = append(doc.Vulnerabilities, v)
		in.CVEs = append(in.CVEs, snapshot.InstanceCVE{ID: id, Applies: snapshot.CVEOpen})
	}
	encrypted := !s.plain
	in.Databases = []snapshot.Database{{Name: "d", Encrypted: &encrypted, Classification: &snapshot.Classification{Status: "completed", Tables: []snapshot.ClassifiedTable{{
		Schema: "s", Name: "t", EstimatedRows: s.rows, RowsKnown: true, PublicAccess: s.public, Columns: []snapshot.ClassifiedColumn{{Name: "c", Category: "Contact", Weight: 5, Regulation: "GDPR"}},
	}}}}}
	doc.Instances = []snapshot.Instance{in}
	return analysis.Risks(doc)[0]
}

// TestFault16RiskGrowsWithEachAggravatingFact: never less likely or of less impact with more rows, exposure,
// CVEs, without encryption, past the end of support, or because nobody assessed the server.
func TestFault16RiskGrowsWithEachAggravatingFact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		flag := func(name string) bool { return rapid.Bool().Draw(t, name) }
		s := scene{
			rows: rapid.Int64Range(0, 1_000_000_000).Draw(t, "rows"), public: flag("public"), plain: flag("plain"), active: flag("active"), ended: flag("ended"),
			cves: rapid.SliceOfN(rapid.Float64Range(0, 10), 0, 4).Draw(t, "cves"), exploited: flag("exploited"), badSignIn: flag("sign-in"), assessed: flag("assessed"),
		}
		was, worse := s.risk(), s
		switch rapid.IntRange(0, 6).Draw(t, "change") {
		case 0:
			worse.rows += rapid.Int64Range(0, 1_000_000_000).Draw(t, "more")
		case 1:
			worse.public = true
		case 2:
			worse.plain = true
		case 3:
			worse.ended = true
		case 4:
			worse.cves = append(slices.Clone(worse.cves), rapid.Float64Range(0, 10).Draw(t, "cve"))
		case 5:
			worse.exploited = true
		case 6:
			worse.badSignIn = true
		}
		if is := worse.risk(); is.Likelihood < was.Likelihood || is.Impact < was.Impact || is.Score < was.Score {
			t.Fatalf("%+v is %d × %d, and %+v is %d × %d", s, was.Likelihood, was.Impact, worse, is.Likelihood, is.Impact)
		}
	})
	for name, pair := range map[string][2]scene{
		"812 million rows":                 {{rows: 200_000, active: true, assessed: true}, {rows: 812_000_000, active: true, assessed: true}},
		"a critical CVE, nobody assessed":  {{active: true}, {active: true, cves: []float64{9.8}}},
		"a CVE of 9.5 beside one of 7":     {{active: true, assessed: true, cves: []float64{7}}, {active: true, assessed: true, cves: []float64{7, 9.5}}},
		"out of support":                   {{active: true, assessed: true}, {active: true, assessed: true, ended: true}},
		"out of support beside a CVE of 7": {{active: true, assessed: true, cves: []float64{7}, plain: true}, {active: true, assessed: true, cves: []float64{7}, plain: true, ended: true}},
		"exploited":                        {{active: true, cves: []float64{7.5}}, {active: true, cves: []float64{7.5}, exploited: true}},
	} {
		if was, is := pair[0].risk(), pair[1].risk(); is.Score < was.Score || is.Score == was.Score && name != "out of support beside a CVE of 7" {
			t.Errorf("%s: %d, without %d", name, is.Score, was.Score)
		}
	}
}

// TestFault17AndFault18RisksHaveStableIDsAndRegulations: the id stays with the table, whatever else is in the report.
func TestFault17AndFault18RisksHaveStableIDsAndRegulations(t *testing.T) {
	t.Parallel()
	quiet, loud := scene{active: true, assessed: true}.risk(), scene{active: true, rows: 1e9, public: true, cves: []float64{9.8}}.risk()
	if quiet.ID != loud.ID || len(quiet.ID) != 9 || !slices.Equal(quiet.Regulations(), []string{"GDPR"}) {
		t.Errorf("%s and %s, %q", quiet.ID, loud.ID, quiet.Regulations())
	}
	ids := map[string]bool{}
	doc := snapshottest.Rich(report.DataInventory)
	for _, r := range analysis.Risks(doc) {
		if ids[r.ID] {
			t.Errorf("two risks are %s", r.ID)
		}
		ids[r.ID] = true
	}
	last := analysis.Risks(doc)[len(ids)-1]
	doc.Instances = slices.DeleteFunc(doc.Instances, func(in snapshot.Instance) bool { return in.ID != last.InstanceID })
	if after := analysis.Risks(doc); after[len(after)-1].ID != last.ID {
		t.Errorf("%s is %s in a report of its server alone", last.ID, after[len(after)-1].ID)
	}
}

// TestFault26AccountsThatDisagreeWithAResult are found where a feed sent both, of each engine that has such checks.
func TestFault26AccountsThatDisagreeWithAResult(t *testing.T) {
	t.Parallel()
	account := func(name string, change func(*snapshot.DatabaseRole)) snapshot.DatabaseRole {
		r := snapshot.DatabaseRole{Name: name, Login: true}
		change(&r)
		return r
	}
	replicates := account("repl", func(r *snapshot.DatabaseRole) { r.Attributes = []string{"REPLICATION"} })
	reads := account("etl", func(r *snapshot.DatabaseRole) { r.MemberOf = []string{"etl → bi → pg_read_all_data"} })
	super := account("ext", func(r *snapshot.DatabaseRole) { r.Superuser = true })
	sa := account("sa", func(r *snapshot.DatabaseRole) { r.Superuser = true })
	for name, test := range map[string]struct {
		engine  string
		results []snapshot.CheckResult
		roles   []snapshot.DatabaseRole
		own     bool
		want    []analysis.Disagreement
	}{
		"passes":         {"postgresql", []snapshot.CheckResult{status("PG-S14", "pass"), status("PG-S16", "pass")}, []snapshot.DatabaseRole{replicates, reads, super}, false, []analysis.Disagreement{{Check: "PG-S14", Accounts: []string{"repl"}}, {Check: "PG-S16", Accounts: []string{"etl"}}}},
		"names another":  {"postgresql", []snapshot.CheckResult{fail("PG-S14", "deploy")}, []snapshot.DatabaseRole{replicates}, false, []analysis.Disagreement{{Check: "PG-S14", Accounts: []string{"repl"}}}},
		"names it":       {"postgresql", []snapshot.CheckResult{fail("PG-S14", "repl")}, []snapshot.DatabaseRole{replicates}, false, nil},
		"no answer":      {"postgresql", []snapshot.CheckResult{status("PG-S14", "not_assessed")}, []snapshot.DatabaseRole{replicates}, false, nil},
		"our own":        {"postgresql", []snapshot.CheckResult{status("PG-S14", "pass")}, []snapshot.DatabaseRole{replicates}, true, nil},
		"sysadmin":       {"sqlserver", []snapshot.CheckResult{fail("MS-11", "deploy in sysadmin")}, []snapshot.DatabaseRole{super, sa}, false, []analysis.Disagreement{{Check: "MS-11", Accounts: []string{"ext"}}}},
		"named sysadmin": {"sqlserver", []snapshot.CheckResult{fail("MS-11", "ext in sysadmin")}, []snapshot.DatabaseRole{super, sa}, false, nil},
	} {
		in := instance(one, "a", test.results...)
		in.Engine, in.Assessment.Roles, in.Assessment.Sent = test.engine, test.roles, !test.own
		doc := document(in)
		got := analysis.Disagreements(doc, &doc.Instances[0])
		if !slices.EqualFunc(got, test.want, func(a, b analysis.Disagreement) bool {
			return a.Check == b.Check && slices.Equal(a.Accounts, b.Accounts)
		}) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// TestFault34AndFault35SumsAreOverOnePopulation: Muster's own tables are in no share, and databases without a sensitive
// table are not those that it is found in.
func TestFault34AndFault35SumsAreOverOnePopulation(t *testing.T) {
	t.Parallel()
	doc := document()
	run := func(tables, sensitive int, own bool) *snapshot.Classification {
		return &snapshot.Classification{Status: "completed", TablesSeen: tables, TablesClassified: tables, ColumnsSeen: tables, ColumnsClassified: tables, Own: own, Tables: make([]snapshot.ClassifiedTable, sensitive)}
	}
	doc.Instances = []snapshot.Instance{{Databases: []snapshot.Database{{Classification: run(34, 34, false)}, {Classification: run(112, 8, true)}, {Classification: run(5, 0, false)}}}}
	c := analysis.ClassificationCoverage(doc)
	if c.TablesSeen != 39 || c.ColumnsSeen != 39 || c.SensitiveTables != 34 || c.SensitiveDatabases != 1 || c.OwnTables != 8 || c.Completed != 3 {
		t.Errorf("%+v", c)
	}
}

// TestFault28AndFault29AlertsAndSettingsAreComparedWithChecks, and a fault that fits both is in no clause.
func TestFault28AndFault29AlertsAndSettingsAreComparedWithChecks(t *testing.T) {
	t.Parallel()
	asOf := document().AsOf
	day := func(days int) *time.Time { at := asOf.AddDate(0, 0, -days); return &at }
	old := fail("MS-16", "ERP")
	old.Violations[0].FirstSeenAt = day(21)
	asked := fail("PG-S25", "logging")
	asked.Violations[0].Fix = &snapshot.Fix{Statement: "ALTER SYSTEM SET log_connections = on;\nSELECT pg_reload_conf();"}
	const wraparound, backup = "Transaction-id age above 60 % of the wraparound limit", "No full backup for 24 hours"
	for name, test := range map[string]struct {
		engine string
		result snapshot.CheckResult
		alert  snapshot.Alert
		value  string // of log_connections
		want   []string
	}{
		"open, and passes":           {"postgresql", status("PG-M01", "pass"), snapshot.Alert{Title: wraparound}, "", []string{"the alert “" + wraparound + "” is open, and PG-M01 passes"}},
		"open, and fails":            {"postgresql", fail("PG-M01", "d"), snapshot.Alert{Title: wraparound}, "", nil},
		"open, and has no answer":    {"postgresql", status("PG-M01", "not_assessed"), snapshot.Alert{Title: wraparound}, "", nil},
		"resolved, and passes":       {"postgresql", status("PG-M01", "pass"), snapshot.Alert{Title: wraparound, ResolvedAt: day(1)}, "", nil},
		"of a lower limit":           {"postgresql", status("PG-M01", "pass"), snapshot.Alert{Title: "Transaction-id age above 40 % of the wraparound limit"}, "", nil},
		"another alert":              {"postgresql", status("PG-M01", "pass"), snapshot.Alert{Title: "Deadlocks"}, "", nil},
		"resolved while it failed":   {"sqlserver", old, snapshot.Alert{Title: backup, ResolvedAt: day(4)}, "", []string{"the alert “" + backup + "” was resolved on 2026-11-16, and MS-16 fails since 2026-10-30"}},
		"resolved before it failed":  {"sqlserver", old, snapshot.Alert{Title: backup, ResolvedAt: day(30)}, "", nil},
		"another engine's":           {"mysql", status("PG-M01", "pass"), snapshot.Alert{Title: wraparound}, "", nil},
		"the setting is as asked":    {"postgresql", asked, snapshot.Alert{Title: "x"}, "on", []string{"PG-S25 asks for log_connections = on, which the settings of the same server have"}},
		"the setting is as measured": {"postgresql", asked, snapshot.Alert{Title: "x"}, "off", nil},
	} {
		in := instance(one, "a", test.result)
		in.Engine = test.engine
		doc := document(in)
		doc.Kind, doc.Alerts = string(report.InstanceScorecard), &snapshot.AlertHistory{Listed: []snapshot.Alert{test.alert}}
		doc.Tuning = &snapshot.Tuning{Settings: []snapshot.Setting{{Name: "log_connections", Value: test.value}}}
		if got := analysis.Contradictions(doc); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
