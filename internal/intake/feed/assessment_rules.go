package feed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/printable"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/pii"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// Bounds of what an assessment may say, as openapi.yaml has them, in characters but for
// the counts.
const (
	maxFound      = 1000 // a name on a server
	maxWords      = 2000 // the fault
	maxVersion    = 200
	maxSetting    = 10_000
	maxUnit       = 100
	maxNamed      = 1000 // privileges, memberships and readers of one
	maxBytes      = 1 << 60
	maxNotRead    = 10_000
	keptReason    = 500 // characters
	keptAccounts  = 500
	sentNothing   = "The sender of the assessments did not report this check"
	sentNoAccount = "The accounts were not sent."
)

// counted is what a call brought.
type counted struct{ findings, columns int }

// readAssessments makes assessments of items whose places were looked up, or says which
// rules they break: all of them, up to maxBroken.
func readAssessments(items []AssessmentItem, in *assessed, now time.Time) ([]assessment.Sent, counted, error) {
	checks, err := catalogue.Load()
	if err != nil {
		return nil, counted{}, err
	}
	columns, err := pii.Load()
	if err != nil {
		return nil, counted{}, err
	}
	r := assessmentRules{
		rules: rules{latest: now.Add(maxSampleAhead)}, in: in, kinds: columns,
		version: checks.Identity().Version, of: map[fleet.Engine]map[string]catalogue.Check{},
	}
	for _, check := range checks.Checks() {
		engine := fleet.Engine(check.Engine)
		if r.of[engine] == nil {
			r.of[engine] = map[string]catalogue.Check{}
		}
		r.of[engine][check.ID] = check
	}
	sent := make([]assessment.Sent, 0, len(items))
	for i, a := range items {
		sent = append(sent, r.assessment("#/assessments/"+strconv.Itoa(i), a, in.places[i]))
	}
	if len(r.broken) > 0 {
		return nil, counted{}, r.err()
	}
	return sent, r.counted, nil
}

// assessmentRules reads assessments and gathers what is wrong with them.
type assessmentRules struct {
	rules
	in      *assessed
	kinds   *pii.Rules
	version string // of the catalogue
	of      map[fleet.Engine]map[string]catalogue.Check
	counted counted
}

func (r *assessmentRules) assessment(at string, a AssessmentItem, instance uuid.UUID) assessment.Sent {
	if instance == uuid.Nil {
		r.unknownInstance(at + "/instance")
	}
	when, engine := r.time(at+"/at", a.At), r.in.engines[instance]
	version, edition := r.line(at+"/version", a.Version, maxVersion, maxVersion), r.line(at+"/edition", a.Edition, maxVersion, maxVersion)
	found := snapshot.Assessment{
		StartedAt: when, FinishedAt: when, Outcome: snapshot.OutcomeComplete, CatalogueVersion: r.version, Sent: true,
		VersionText: version, Edition: edition, VersionNum: versionNumber(engine, version),
		Roles: r.accounts(at+"/accounts", a.Accounts),
	}
	if a.Accounts == nil {
		found.RolesNote = sentNoAccount
	} else if n := privileged(a.Accounts); n > len(found.Roles) {
		found.RolesNote = fmt.Sprintf("%d privileged accounts were sent; these are the %d most powerful.", n, len(found.Roles))
	}
	s := assessment.Sent{Instance: instance, Engine: engine, At: when}
	found.Databases, s.Classified = r.databases(at+"/databases", a.Databases, instance)
	found.Results = r.results(at+"/checks", a, instance, engine, found.Databases)
	if slices.ContainsFunc(found.Results, func(c snapshot.CheckResult) bool { return c.Status == snapshot.StatusNotAssessed }) {
		found.Outcome = snapshot.OutcomePartial
	}
	s.Assessment, s.State = found, r.state(at, a, engine, version, edition)
	return s
}

// versionNumber is PostgreSQL's own form of its version, by which CVEs are looked up.
func versionNumber(engine fleet.Engine, text string) int {
	v, ok := feed.ParseVersion(text)
	if engine != fleet.PostgreSQL || !ok || v.MinorUnknown {
		return 0
	}
	major, err := strconv.Atoi(v.Major)
	if err != nil {
		return 0
	}
	return major*10_000 + v.Minor
}

// text is a text that is stored as it is.
func (r *assessmentRules) text(pointer, text string, least, most int) string {
	if n := utf8.RuneCountInString(text); n < least || n > most {
		r.breaks(pointer, "out_of_range", fmt.Sprintf("must be %d to %d characters", least, most))
	}
	return text
}

// line is what a sender says, in one line of at most so many characters that are kept.
func (r *assessmentRules) line(pointer string, text *string, most, kept int) string {
	if text == nil {
		return ""
	}
	return printable.Cut(printable.Clean(r.text(pointer, *text, 0, most)), kept)
}

// words are names of which an account or a table has several, each once.
func (r *assessmentRules) words(pointer string, words []string) []string {
	if !r.atMost(pointer, len(words), maxNamed) {
		return nil
	}
	out := make([]string, 0, len(words))
	for i, word := range words {
		out = append(out, r.text(pointer+"/"+strconv.Itoa(i), word, 1, maxFound))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unique holds that a name is there once.
func (r *assessmentRules) unique(pointer, name string, seen map[string]bool) {
	if seen[name] {
		r.breaks(pointer, "duplicate_key", "is in this list twice")
	}
	seen[name] = true
}

// results are the answers to the checks that were sent, and that the others were not.
func (r *assessmentRules) results(at string, a AssessmentItem, instance uuid.UUID, engine fleet.Engine, databases []snapshot.DatabaseFact) []snapshot.CheckResult {
	var out []snapshot.CheckResult
	seen := make(map[string]bool, len(a.Checks))
	for i, c := range a.Checks {
		at := at + "/" + strconv.Itoa(i)
		r.unique(at+"/id", c.ID, seen)
		check, known := r.of[engine][c.ID]
		if !known && instance != uuid.Nil {
			r.breaks(at+"/id", "unknown_check", "is no check of the catalogue for "+analysis.EngineName(string(engine)))
		}
		results := r.check(at, c, check, instance, databases)
		r.measuredIn(at, c, check, instance, results)
		out = append(out, results...)
	}
	for id, check := range r.of[engine] {
		if !seen[id] {
			out = append(out, snapshot.CheckResult{
				CheckID: id, Status: snapshot.StatusNotAssessed, ReasonCode: snapshot.ReasonNotSent, Reason: sentNothing + ".", Threshold: check.Pass,
			})
		}
	}
	slices.SortFunc(out, func(x, y snapshot.CheckResult) int {
		return cmp.Or(strings.Compare(x.CheckID, y.CheckID), strings.Compare(x.Database, y.Database))
	})
	return out
}

// check are the results of one check: one for each database that it is about.
func (r *assessmentRules) check(at string, c CheckItem, check catalogue.Check, instance uuid.UUID, databases []snapshot.DatabaseFact) []snapshot.CheckResult {
	result := snapshot.CheckResult{
		CheckID: c.ID, Threshold: check.Pass, Measured: r.line(at+"/measured", c.Measured, maxWords, snapshot.Characters),
		Reason: r.line(at+"/reason", c.Reason, maxWords, keptReason),
	}
	if c.Outcome != "fail" && len(c.Objects) > 0 {
		r.breaks(at+"/objects", "objects_not_allowed", "can be there only where the check fails")
	}
	unassessed := r.unassessed(at, c, check, instance)
	databases = slices.DeleteFunc(slices.Clone(databases), func(d snapshot.DatabaseFact) bool {
		return slices.ContainsFunc(unassessed, func(u snapshot.CheckResult) bool { return u.Database == d.Name })
	})
	switch c.Outcome {
	case "fail":
		return append(r.failures(at, c, check, result, instance, databases), unassessed...)
	case "pass":
		result.Status, result.Reason = snapshot.StatusPass, ""
		if check.Scope != catalogue.ScopeDatabase || len(databases) == 0 && len(unassessed) == 0 {
			return []snapshot.CheckResult{result}
		}
		return append(inEach(result, databases), unassessed...)
	}
	result.Status, result.ReasonCode, result.Measured = snapshot.StatusNotAssessed, snapshot.ReasonSent, ""
	if c.Outcome == "notApplicable" {
		result.Status = snapshot.StatusNotApplicable
	}
	if result.Reason == "" {
		r.breaks(at+"/reason", "reason_required", "is needed with this outcome")
	}
	return []snapshot.CheckResult{result}
}

// inEach is a result in each of the databases.
func inEach(result snapshot.CheckResult, databases []snapshot.DatabaseFact) []snapshot.CheckResult {
	out := make([]snapshot.CheckResult, len(databases))
	for i, db := range databases {
		out[i], out[i].Database = result, db.Name
	}
	return out
}

// failures are the results of a check that fails: one for each database in which it has
// objects, and a pass for those that were sent without one.
func (r *assessmentRules) failures(at string, c CheckItem, check catalogue.Check, result snapshot.CheckResult, instance uuid.UUID, databases []snapshot.DatabaseFact) []snapshot.CheckResult {
	if len(c.Objects) == 0 && result.Measured == "" {
		r.breaks(at+"/measured", "measured_required", "is needed where a check fails without objects")
	}
	r.counted.findings += max(1, len(c.Objects))
	result.Status, result.Reason, result.FailFraction = snapshot.StatusFail, "", 1
	in := map[string][]snapshot.Violation{}
	for i, o := range c.Objects {
		at := at + "/objects/" + strconv.Itoa(i)
		v := snapshot.Violation{Object: snapshot.CutName(r.text(at+"/object", o.Object, 1, maxFound)), Severity: o.Severity}
		if o.Evidence != nil {
			v.Evidence = snapshot.Cut(r.text(at+"/evidence", *o.Evidence, 0, maxWords))
		}
		database := ""
		if o.Database != nil {
			database = r.database(at+"/database", *o.Database, instance)
		}
		in[database] = append(in[database], v)
	}
	if len(in) == 0 {
		return []snapshot.CheckResult{result}
	}
	var out []snapshot.CheckResult
	for database, violations := range in {
		slices.SortStableFunc(violations, func(x, y snapshot.Violation) int {
			return cmp.Or(strings.Compare(x.Object, y.Object), strings.Compare(x.Evidence, y.Evidence))
		})
		one := result
		one.Database, one.Total, one.Severity = database, len(violations), gravest(violations)
		one.Violations = slices.Clone(violations[:min(len(violations), snapshot.MaxViolations)])
		for i := range one.Violations {
			one.Violations[i].Fix = check.Fix(database, one.Violations[i].Object)
		}
		if one.Measured == "" || len(in) > 1 {
			one.Measured = strconv.Itoa(one.Total) + " found"
		}
		out = append(out, one)
	}
	if check.Scope == catalogue.ScopeDatabase && in[""] == nil {
		clean := slices.DeleteFunc(slices.Clone(databases), func(db snapshot.DatabaseFact) bool { return in[db.Name] != nil })
		passed := snapshot.CheckResult{CheckID: c.ID, Status: snapshot.StatusPass, Threshold: check.Pass, Measured: "none found"}
		out = append(out, inEach(passed, clean)...)
	}
	return out
}

// database is the name of a database of the instance, by its external id.
func (r *assessmentRules) database(pointer, externalID string, instance uuid.UUID) string {
	id := r.in.on[instance][externalID]
	if id == uuid.Nil && instance != uuid.Nil {
		r.breaks(pointer, "unknown_database", "is no database of that instance")
	}
	return r.in.names[id]
}

func (r *assessmentRules) accounts(at string, accounts []AccountItem) []snapshot.DatabaseRole {
	var out []snapshot.DatabaseRole
	seen := make(map[string]bool, len(accounts))
	for i, a := range accounts {
		at := at + "/" + strconv.Itoa(i)
		r.unique(at+"/name", r.text(at+"/name", a.Name, 1, maxFound), seen)
		role := snapshot.DatabaseRole{
			Name: a.Name, Login: a.CanLogin, Superuser: a.Superuser,
			Attributes: r.words(at+"/privileges", valueOf(a.Privileges)), MemberOf: r.words(at+"/memberOf", valueOf(a.MemberOf)),
			ValidUntil: r.past(at+"/expiresAt", a.ExpiresAt), LastSeen: r.past(at+"/lastSignInAt", a.LastSignInAt),
		}
		if a.isPrivileged() {
			out = append(out, role)
		}
	}
	slices.SortStableFunc(out, func(x, y snapshot.DatabaseRole) int {
		return cmp.Or(cmp.Compare(y.Power(), x.Power()), strings.Compare(x.Name, y.Name))
	})
	return out[:min(len(out), keptAccounts)]
}

func (a AccountItem) isPrivileged() bool {
	return a.Superuser || len(valueOf(a.Privileges)) > 0 || len(valueOf(a.MemberOf)) > 0
}

func privileged(accounts []AccountItem) (n int) {
	for _, a := range accounts {
		if a.isPrivileged() {
			n++
		}
	}
	return n
}

func valueOf[T any](p *[]T) []T {
	if p == nil {
		return nil
	}
	return *p
}

// past is a time within the calendar; it may lie ahead, as the end of a password does.
func (r *assessmentRules) past(pointer string, at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	if at.Year() < 1 || at.Year() > 9999 {
		r.breaks(pointer, "out_of_range", "lies beyond the calendar")
	}
	utc := at.UTC()
	return &utc
}

func (r *assessmentRules) databases(at string, items []DatabaseItem, instance uuid.UUID) (facts []snapshot.DatabaseFact, classified []assessment.DatabaseClassification) {
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		at := at + "/" + strconv.Itoa(i)
		r.unique(at+"/database", item.Database, seen)
		fact := snapshot.DatabaseFact{Name: r.database(at+"/database", item.Database, instance), EncryptedAtRest: item.EncryptedAtRest}
		if item.SizeBytes != nil {
			size := int64(r.number(at+"/sizeBytes", *item.SizeBytes, 0, maxBytes))
			fact.SizeBytes = &size
		}
		facts = append(facts, fact)
		if item.Classification != nil {
			classified = append(classified, assessment.DatabaseClassification{
				Database: fact.Name, Classification: r.classification(at+"/classification", *item.Classification),
			})
		}
	}
	return facts, classified
}

func (r *assessmentRules) classification(at string, c ClassificationItem) snapshot.Classification {
	when := r.time(at+"/completedAt", c.CompletedAt)
	run := snapshot.Classification{
		StartedAt: when, FinishedAt: when, Status: snapshot.ClassificationCompleted, Mode: c.Method,
		TablesSeen: len(c.Tables), TablesClassified: len(c.Tables),
	}
	seen := make(map[string]bool, len(c.Tables))
	for i, t := range c.Tables {
		at := at + "/tables/" + strconv.Itoa(i)
		r.text(at+"/schema", t.Schema, 0, maxFound)
		r.unique(at+"/table", strconv.Quote(t.Schema)+"."+r.text(at+"/table", t.Table, 1, maxFound), seen)
		table := snapshot.ClassifiedTable{
			Schema: t.Schema, Name: t.Table, Encrypted: t.Encrypted, Readers: r.words(at+"/readers", t.Readers), RowsKnown: t.Rows != nil,
		}
		if t.Rows != nil {
			table.EstimatedRows = int64(r.number(at+"/rows", *t.Rows, 0, maxBytes))
		}
		table.Grantees, table.AccessUnknown = len(table.Readers), t.Readers == nil
		table.PublicAccess = slices.ContainsFunc(table.Readers, func(name string) bool { return strings.EqualFold(name, "public") })
		table.Columns = r.columns(at+"/columns", t.Columns)
		run.ColumnsSeen += len(t.Columns)
		if len(table.Columns) > 0 {
			run.Tables = append(run.Tables, table)
		}
	}
	run.ColumnsClassified = run.ColumnsSeen
	r.counted.columns += run.ColumnsSeen
	if c.Coverage != nil {
		r.coverage(at+"/coverage", *c.Coverage, &run)
	}
	r.notRead(at+"/notRead", c.NotRead, &run)
	return run
}

// coverage takes how much was looked at, which is at least what was sent.
func (r *assessmentRules) coverage(at string, c CoverageItem, run *snapshot.Classification) {
	whole := func(name string, n json.Number, least, most int) int {
		return int(r.number(at+"/"+name, n, float64(least), float64(most)))
	}
	run.TablesSeen, run.ColumnsSeen = whole("tables", c.Tables, run.TablesSeen, maxBytes), whole("columns", c.Columns, run.ColumnsSeen, maxBytes)
	run.TablesClassified, run.ColumnsClassified = whole("tablesRead", c.TablesRead, 0, run.TablesSeen), whole("columnsRead", c.ColumnsRead, 0, run.ColumnsSeen)
	if run.TablesClassified < run.TablesSeen || run.ColumnsClassified < run.ColumnsSeen {
		run.Status = snapshot.ClassificationPartial
		run.Reason = fmt.Sprintf("%d of %d tables and %d of %d columns were read.", run.TablesClassified, run.TablesSeen, run.ColumnsClassified, run.ColumnsSeen)
	}
}

// notRead names what was not read.
func (r *assessmentRules) notRead(at string, items []NotReadItem, run *snapshot.Classification) {
	if len(items) == 0 || !r.atMost(at, len(items), maxNotRead) {
		return
	}
	run.Status, run.Reason = snapshot.ClassificationPartial, cmp.Or(run.Reason, "Some of its content could not be read.")
	for i, item := range items {
		at := at + "/" + strconv.Itoa(i)
		schema, table := r.text(at+"/schema", item.Schema, 0, maxFound), r.text(at+"/table", item.Table, 1, maxFound)
		reason := printable.Cut(printable.Clean(r.text(at+"/reason", item.Reason, 1, maxWords)), keptReason)
		if columns := r.words(at+"/columns", item.Columns); len(columns) > 0 {
			run.UnreadColumns = append(run.UnreadColumns, snapshot.UnreadColumns{Schema: schema, Table: table, Columns: columns, Reason: reason})
			continue
		}
		run.FailedTables = append(run.FailedTables, snapshot.FailedTable{Schema: schema, Name: table, Reason: reason})
	}
}

func (r *assessmentRules) columns(at string, columns []ColumnItem) (out []snapshot.ClassifiedColumn) {
	seen := make(map[string]bool, len(columns))
	for i, c := range columns {
		at := at + "/" + strconv.Itoa(i)
		r.unique(at+"/column", r.text(at+"/column", c.Column, 1, maxFound), seen)
		confidence := pii.Confident(r.number(at+"/confidence", c.Confidence, 0, 1))
		column, known := r.kinds.Called(c.Category, c.Column, confidence)
		if !known {
			r.breaks(at+"/category", "out_of_range", "is no category of personal data")
		}
		out = append(out, column)
	}
	return out
}

// state is what the instance is like, for what changes from one assessment to the next.
// What was not sent stays as it was.
func (r *assessmentRules) state(at string, a AssessmentItem, engine fleet.Engine, version, edition string) (s changes.State) {
	scope := func(kind fleet.ChangeKind, sent bool, n int) (changes.Scope, bool) {
		of := changes.Scope{Kind: kind}
		if !sent || n > changes.MaxItems {
			s.Blind = append(s.Blind, of)
			return of, false
		}
		s.Seen = append(s.Seen, of)
		return of, true
	}
	if of, ok := scope(fleet.ChangedVersion, version != "", 1); ok {
		s.Items = append(s.Items, changes.Item{Scope: of, Name: analysis.EngineName(string(engine)), Value: strings.TrimSpace(version + " " + edition)})
	}
	settings, ok := scope(fleet.ChangedSetting, a.Settings != nil, len(a.Settings))
	seen := make(map[string]bool, len(a.Settings))
	for i, item := range a.Settings {
		at := at + "/settings/" + strconv.Itoa(i)
		r.unique(at+"/name", r.text(at+"/name", item.Name, 1, maxFound), seen)
		kept := changes.Item{Scope: settings, Name: item.Name, Sent: true, Secret: changes.SecretSetting(item.Name)}
		if item.Value != nil {
			kept.Value = r.text(at+"/value", *item.Value, 0, maxSetting)
		}
		if item.Unit != nil {
			kept.Unit = r.text(at+"/unit", *item.Unit, 0, maxUnit)
		}
		if ok {
			s.Items = append(s.Items, kept)
		}
	}
	grants := 0
	for _, account := range a.Accounts {
		grants += len(valueOf(account.Privileges)) + len(valueOf(account.MemberOf))
	}
	roles, rolesKnown := scope(fleet.ChangedRole, a.Accounts != nil, len(a.Accounts))
	granted, grantsKnown := scope(fleet.ChangedGrant, a.Accounts != nil, grants)
	for _, account := range a.Accounts {
		if rolesKnown {
			s.Items = append(s.Items, changes.Item{Scope: roles, Name: account.Name, Value: account.likeness()})
		}
		if !grantsKnown {
			continue
		}
		for _, role := range distinct(account.MemberOf) {
			s.Items = append(s.Items, changes.Item{Scope: granted, Name: account.Name + " in " + role, Value: "member"})
		}
		for _, privilege := range distinct(account.Privileges) {
			s.Items = append(s.Items, changes.Item{Scope: granted, Name: account.Name + " with " + privilege, Value: "granted"})
		}
	}
	return s
}

func distinct(words *[]string) []string {
	out := slices.Clone(valueOf(words))
	slices.Sort(out)
	return slices.Compact(out)
}

// likeness is what an account is like, as a change shows it.
func (a AccountItem) likeness() string {
	words := []string{"cannot sign in"}
	if a.CanLogin {
		words[0] = "can sign in"
	}
	if a.Superuser {
		words = append(words, "superuser")
	}
	if a.ExpiresAt != nil {
		words = append(words, "expires "+a.ExpiresAt.UTC().Format("2006-01-02 15:04")+" UTC")
	}
	return strings.Join(words, ", ")
}
