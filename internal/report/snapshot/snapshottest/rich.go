package snapshottest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/report/snapshot"
)

// AsOf is the instant of every document built here.
func AsOf() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// ID returns a stable identifier; n tells them apart.
func ID(n int) uuid.UUID {
	return uuid.MustParse(fmt.Sprintf("0199f0d2-7a10-7c44-9b0e-%012x", n))
}

// Empty returns a document of an organization without a single server.
func Empty(kind report.Kind) snapshot.Document {
	doc := snapshot.Document{
		Schema: snapshot.SchemaVersion, Kind: string(kind), ReportID: ID(1),
		Organization: snapshot.Organization{ID: ID(2), Name: "Nordlicht Energie AG", PaperSize: "A4"},
		Requester:    snapshot.Person{ID: ID(3), Name: "Ana Ruiz"},
		ScopeLabel:   "All active instances (0)", RequestedAt: AsOf().Add(-2 * time.Second), AsOf: AsOf(),
		KeysFingerprint: "5b0c6f1de0a94c7b8d3f2a61c9e7045bd18f36aa02c4e95f7b6d10832f4ce9a7",
		Witness:         snapshot.Witness{Log: "reports", Position: 1204, Hash: "9f2c41d07be3a5568c1f0e2b7a94d3c6e8f5b1027d6c9a3e4f80b2d517c6a9e3"},
		PublicURL:       "https://muster.example.org",
		Feed:            snapshot.Feed{Name: "PostgreSQL releases and CVEs", Date: time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC), Digest: "6b1f0c7c2a"},
		Catalogue:       snapshot.Catalogue{Version: "2026.11", Digest: "b7e23ec29a"},
		Checks:          checks(),
	}
	if definition(kind).Window > 0 {
		doc.Window = &snapshot.Window{From: AsOf().AddDate(0, 0, -30), To: AsOf()}
		doc.ScopeLabel = "pg-orders-01 · 21 Oct – 20 Nov 2026 (UTC)"
	}
	if definition(kind).Daily {
		dayOf(&doc)
	}
	return doc
}

// definition panics for an unknown kind: tests name kinds that exist.
func definition(kind report.Kind) report.Definition {
	d, err := report.Find(kind)
	if err != nil {
		panic(err)
	}
	return d
}

// Rich returns a document over 14 servers: several engines, findings of every
// severity, gaps, exceptions, an unreachable and an inactive one, CVEs, roles and
// classified tables. A report of one instance has the first of them only, and a month of alerts and of its host.
// The findings say since when they are there.
func Rich(kind report.Kind) snapshot.Document {
	doc := Undated(kind)
	if definition(kind).Classified {
		registered(&doc)
	} else {
		dated(&doc)
	}
	return doc
}

// Undated is Rich as a version wrote it that did not know since when findings are there.
func Undated(kind report.Kind) snapshot.Document {
	doc := Empty(kind)
	doc.ScopeLabel = "All active instances (13 of 14)"
	doc.Organization.Demo = true
	d := definition(kind)
	if fill := summaries()[d.Verdict]; fill != nil {
		fill(&doc)
		return snapshot.Normalize(doc)
	}
	doc.Vulnerabilities = vulnerabilities()
	names := []string{
		"pg-orders-01", "pg-orders-02", "pg-billing-01", "pg-billing-02", "pg-crm-01", "pg-identity-01",
		"pg-catalog-01", "pg-reporting-01", "pg-metering-01", "pg-metering-02", "pg-legacy-01",
		"mssql-finance-01", "ora-erp-01", "pg-sandbox-01",
	}
	if d.OneInstance {
		names = names[:1]
		doc.Alerts, doc.Utilization, doc.ScoreByDay = alerts(), utilization(), scores()
		doc.Tuning, doc.Server = tuning(), server()
		doc.ScopeLabel = "pg-orders-01 · 21 Oct – 20 Nov 2026 (UTC)"
	}
	for i, name := range names {
		doc.Instances = append(doc.Instances, instance(i, name))
	}
	if d.Daily {
		busyDay(&doc)
	}
	if d.Classified {
		addReaders(doc.Instances)
	}
	doc.Exceptions = exceptions(doc)
	if kind == report.Security {
		doc.Previous = &snapshot.Previous{ReportID: ID(9), AsOf: AsOf().AddDate(0, -1, 0), Findings: []snapshot.FindingKey{
			{InstanceID: ID(100), CheckID: "PG-S01", Object: "line 94"},
			{InstanceID: ID(100), CheckID: "PG-S26"},
			{InstanceID: ID(101), CheckID: "PG-S12", Object: "etl_nightly"},
			{InstanceID: ID(104), CheckID: "PG-F03"},
		}, Accepted: []snapshot.FindingKey{
			{InstanceID: ID(100), CheckID: "PG-S01", Object: "line 97"},
		}}
	}
	return snapshot.Normalize(doc)
}

// registered gives an inventory a register with a history: one risk came back, one is accepted, one is new, and one grew.
func registered(doc *snapshot.Document) {
	doc.Previous = &snapshot.Previous{ReportID: ID(9), AsOf: AsOf().AddDate(0, -1, 0)}
	for i := range doc.Instances {
		in := &doc.Instances[i]
		for _, db := range in.Databases {
			if db.Classification == nil {
				continue
			}
			for _, t := range db.Classification.Tables {
				register(doc, in, snapshot.RiskID(doc.Organization.ID, in.ID, db.Name, t))
			}
		}
	}
	doc.Instances[0].Retention = "7 years"
	*doc = snapshot.Normalize(*doc)
}

// register puts a risk on record.
func register(doc *snapshot.Document, in *snapshot.Instance, id string) {
	n := len(doc.Risks)
	record := snapshot.RiskRecord{ID: id, FirstSeenAt: AsOf().AddDate(0, 0, -9*(n%8))}
	switch n {
	case 1:
		ever, gone := record.FirstSeenAt.AddDate(0, 0, -60), record.FirstSeenAt.AddDate(0, 0, -20)
		record.EverFirstSeenAt, record.EarlierGoneAt = &ever, &gone
	case 4:
		doc.Exceptions = append(doc.Exceptions, snapshot.Exception{
			ID: ID(77), CheckID: id, InstanceID: &in.ID, Reason: "Tokens replace the addresses in January.", Until: AsOf().AddDate(0, 2, 0),
			RequestedBy: snapshot.Person{ID: ID(3), Name: "Ana Ruiz"}, GrantedBy: snapshot.Person{ID: ID(4), Name: "Dora Meyer"}, GrantedAt: AsOf().AddDate(0, 0, -3),
		})
	}
	doc.Risks = append(doc.Risks, record)
	if n != 3 {
		doc.Previous.Risks = append(doc.Previous.Risks, snapshot.RiskScore{ID: id, Score: 15 + n%2*10})
	}
}

// dated says since when each finding is there, and what became of those before.
func dated(doc *snapshot.Document) {
	doc.Organization.DueDays = &snapshot.BySeverity{Critical: 7, High: 30, Medium: 90, Low: 180}
	since := AsOf().AddDate(0, 0, -70)
	doc.History = &snapshot.History{Since: &since}
	for days := 90; days > 0; days -= 3 {
		past := snapshot.PastFindings{At: AsOf().AddDate(0, 0, -days)}
		if days > 10 && days < 70 {
			past.Gone, past.Overdue = snapshot.BySeverity{High: 3, Medium: 1}, snapshot.BySeverity{High: 1}
		}
		doc.History.Past = append(doc.History.Past, past)
	}
	n := 0
	at := func() *time.Time {
		n++
		at := AsOf().AddDate(0, 0, -7*(n%10))
		return &at
	}
	for i := range doc.Instances {
		a := doc.Instances[i].Assessment
		if a == nil {
			continue
		}
		for j := range a.Results {
			r := &a.Results[j]
			if r.Status == snapshot.StatusFail && len(r.Violations) == 0 {
				r.FirstSeenAt = at()
			}
			for k := range r.Violations {
				r.Violations[k].FirstSeenAt = at()
			}
		}
	}
}

// Owned gives each instance of a document one of these teams as its owner, one after the other.
// An empty name is no team.
func Owned(doc snapshot.Document, teams ...string) snapshot.Document {
	doc.Instances = slices.Clone(doc.Instances)
	for i := range doc.Instances {
		doc.Instances[i].Owner = nil
		if n := i % len(teams); teams[n] != "" {
			doc.Instances[i].Owner = &snapshot.Owner{ID: ID(700 + n), Name: teams[n]}
		}
	}
	return doc
}

var versions = []struct{ version, major, latest, target string }{
	{"15.3", "15", "15.15", "15.9"}, {"15.15", "15", "15.15", ""}, {"16.2", "16", "16.11", "16.5"}, {"17.7", "17", "17.7", ""},
	{"14.7", "14", "14.20", "14.14"}, {"16.11", "16", "16.11", ""}, {"15.8", "15", "15.15", "15.9"},
}

func instance(i int, name string) snapshot.Instance {
	in := snapshot.Instance{
		ID: ID(100 + i), Name: name, Engine: "postgresql", Host: name + ".db.nordlicht.example", Active: true, Collected: true,
		CreatedAt: AsOf().AddDate(0, -i-1, 0),
	}
	switch name {
	case "mssql-finance-01":
		in.Engine, in.Version, in.Collected = "sqlserver", "2022 CU14", false
		in.NotAssessed = "Muster has no collector for SQL Server yet"
		return in
	case "ora-erp-01":
		in.Engine, in.Version, in.Collected = "oracle", "19.24", false
		in.NotAssessed = "Muster has no collector for Oracle yet"
		return in
	case "pg-sandbox-01":
		in.Active, in.Version, in.NotAssessed = false, "13.4", "the instance is inactive"
		return in
	}
	v := versions[i%len(versions)]
	in.Version = v.version
	end := time.Date(2022+atoi(v.major)-10, 11, 12, 0, 0, 0, 0, time.UTC)
	in.Release = &snapshot.Release{Major: v.major, Latest: v.latest, MinorsBehind: atoi(v.latest[3:]) - atoi(v.version[3:]), EndOfLife: &end, Target: v.target}
	if name == "pg-legacy-01" {
		end = AsOf().AddDate(0, 0, -8)
		in.Version = "13.4"
		in.Release = &snapshot.Release{Major: "13", Latest: "13.23", MinorsBehind: 19, EndOfLife: &end, Target: "14.14"}
	}
	if !end.After(AsOf()) {
		newest := time.Date(2030, 11, 14, 0, 0, 0, 0, time.UTC)
		in.Release.Target, in.Release.TargetEndOfLife = "18.1", &newest
	}
	if in.Release.Target != "" {
		in.CVEs = cves(i)
	}
	in.Assessment = assessment(i, name, in.Version)
	in.Databases = databases(i)
	return in
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func cves(i int) []snapshot.InstanceCVE {
	out := []snapshot.InstanceCVE{
		{ID: "CVE-2024-10979", Applies: "not_exploitable", Precondition: "plperl is not installed on any database: not exploitable by this route"},
		{ID: "CVE-2024-7348", Applies: "open", Precondition: "a role with CREATE on a dumped schema exists"},
		{ID: "CVE-2023-5868", Applies: "open", Precondition: "none"},
	}
	if i%2 == 0 {
		out = append(out, snapshot.InstanceCVE{ID: "CVE-2023-39417", Applies: "unknown", Precondition: "extensions of database crm could not be read"},
			snapshot.InstanceCVE{ID: "CVE-2023-2454", Applies: "open", Precondition: "none"})
	}
	return out
}

func assessment(i int, name, version string) *snapshot.Assessment {
	started := AsOf().Add(-time.Duration(17*i+3) * time.Minute)
	a := &snapshot.Assessment{
		StartedAt: started, FinishedAt: started.Add(1400 * time.Millisecond), Outcome: snapshot.OutcomeComplete,
		CatalogueVersion: "2026.11", Role: "muster", VersionNum: 150003, VersionText: "PostgreSQL " + version,
	}
	if name == "pg-metering-02" {
		a.Outcome, a.ErrorClass = snapshot.OutcomeUnreachable, "timeout"
		a.Error = "no answer from pg-metering-02.db.nordlicht.example:5432 within 10 seconds"
		return a
	}
	for n, c := range checks() {
		a.Results = append(a.Results, results(i, n, c)...)
	}
	a.Roles = roles(i)
	if i%3 == 0 {
		a.Outcome = snapshot.OutcomePartial
		a.RolesNote = "password hash kinds are not readable: pg_authid needs a superuser"
		a.MissingGrants = []snapshot.MissingGrant{
			{Object: "pg_hba_file_rules", Statement: "GRANT EXECUTE ON FUNCTION pg_hba_file_rules() TO muster;", Checks: []string{"PG-S02", "PG-S05"}},
			{Object: "pg_authid", Statement: "GRANT SELECT ON pg_authid TO muster;", Checks: []string{"PG-S11"}},
		}
	}
	tls, clients := 14+i, 20+i
	a.TLSSessions, a.ClientSessions = &tls, &clients
	return a
}

func results(i, n int, c snapshot.Check) []snapshot.CheckResult {
	r := snapshot.CheckResult{CheckID: c.ID, Status: snapshot.StatusPass, Threshold: c.Pass, Measured: "as required"}
	denied := i%3 == 0 && (c.ID == "PG-S02" || c.ID == "PG-S05" || c.ID == "PG-S11")
	switch {
	case denied:
		object := map[string]string{"PG-S11": "pg_authid"}[c.ID]
		if object == "" {
			object = "pg_hba_file_rules"
		}
		r.Status, r.ReasonCode, r.Measured = snapshot.StatusNotAssessed, "permission_denied", ""
		r.Reason = "the monitoring role may not read " + object
		return []snapshot.CheckResult{r}
	case c.Scope == "database":
		return databaseResults(i, n, c)
	case (i*7+n*5)%4 == 1 || (i+n)%17 == 3 || c.ID == "PG-S01" && i == 0:
		r.Status, r.FailFraction, r.Measured = snapshot.StatusFail, 1, "does not hold"
		r.Violations = violations(i, c)
		r.Total = len(r.Violations)
		if c.ID == "PG-S01" && i > 4 {
			r.Severity = "High"
		}
	}
	return []snapshot.CheckResult{r}
}

func databaseResults(i, n int, c snapshot.Check) []snapshot.CheckResult {
	var out []snapshot.CheckResult
	for d, db := range []string{"crm", "orders"} {
		r := snapshot.CheckResult{CheckID: c.ID, Database: db, Status: snapshot.StatusPass, Threshold: c.Pass}
		if (i*3+n+d)%5 == 0 {
			r.Status, r.FailFraction, r.Measured = snapshot.StatusFail, 0.25, "3 of 12 tables"
			for k := range 3 + i%4 {
				object := fmt.Sprintf("public.customer_%02d", k+1)
				r.Violations = append(r.Violations, snapshot.Violation{Object: object, Evidence: "SELECT,UPDATE to PUBLIC", Fix: fix(c.ID, db, object)})
			}
			r.Total = len(r.Violations)
			if i == 5 {
				r.Total = 731
			}
		}
		out = append(out, r)
	}
	return out
}

func violations(i int, c snapshot.Check) []snapshot.Violation {
	switch c.ID {
	case "PG-S01":
		return []snapshot.Violation{{Object: "line 94", Evidence: "host all all 10.0.0.0/8 trust"}, {Object: "line 97", Evidence: "local replication all trust", Severity: "High"}}
	case "PG-S12":
		return []snapshot.Violation{{Object: "app_orders", Evidence: "no VALID UNTIL"}, {Object: "etl_nightly", Evidence: "no VALID UNTIL"}}
	case "PG-S26", "PG-F03":
		return nil
	default:
		return []snapshot.Violation{{Object: c.Title[:min(18, len(c.Title))], Evidence: fmt.Sprintf("found %d", i+1), Fix: fix(c.ID, "", "")}}
	}
}

func roles(i int) []snapshot.DatabaseRole {
	until := AsOf().AddDate(0, 4, 0)
	seen := AsOf().Add(-time.Hour)
	out := []snapshot.DatabaseRole{
		{Name: "postgres", Login: true, Superuser: true, Attributes: []string{"BYPASSRLS", "CREATEDB", "CREATEROLE", "REPLICATION"}, PasswordKind: "scram-sha-256", RemoteLogin: "no", LastSeen: &seen},
		{Name: "deploy", Login: true, Attributes: []string{"CREATEDB"}, MemberOf: []string{"deploy → dba → pg_write_server_files"}, PasswordKind: "md5", ValidUntil: &until, RemoteLogin: "yes"},
	}
	if i%3 == 0 {
		for k := range out {
			out[k].PasswordKind, out[k].RemoteLogin = "unknown", "unknown"
		}
	}
	return out
}
