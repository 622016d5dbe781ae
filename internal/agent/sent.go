package agent

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/pii"
	"muster/internal/httpapi/api"
	"muster/internal/report/snapshot"
)

// Bounds of what an assessment may say (POST /ingest/v1/assessments), in characters.
const (
	mostName  = 1000
	mostWords = 2000
	mostNamed = 1000
)

// sentAssessment is an assessment in the form that the server accepts from a sender for an
// instance without a connection. Data for which such a call has no field is lost: the
// statements that fix findings (the server has those of its catalog), the missing grants,
// extensions, how passwords are stored, who may sign in from where, types and sizes of personal
// data (TestAnAgentFindsTheSameAsTheCollector has the list).
func sentAssessment(
	server string, engine fleet.Engine, at time.Time, found snapshot.Assessment, state changes.State, classified map[string]snapshot.Classification,
) api.SentAssessment {
	found = namedAlone(found)
	checks, accounts, settings, databases := sentChecks(found), sentAccounts(found.Roles), sentSettings(state), sentDatabases(found.Databases, classified)
	sent := api.SentAssessment{Instance: server, At: at.UTC(), Checks: &checks, Accounts: &accounts, Databases: &databases}
	if settings != nil {
		sent.Settings = &settings
	}
	version := cut(found.VersionText, 200)
	if engine == fleet.PostgreSQL {
		version = feed.VersionOf(found.VersionNum).String()
	}
	if version != "" {
		sent.Version = &version
	}
	if found.Edition != "" {
		edition := cut(found.Edition, 200)
		sent.Edition = &edition
	}
	return sent
}

// namedAlone is the result without two kinds of databases: those with a name that the fleet
// does not accept, for which the server would refuse all of it, and those to which nobody can
// sign in, in which it would count every check as passed.
func namedAlone(found snapshot.Assessment) snapshot.Assessment {
	found.Databases = slices.DeleteFunc(slices.Clone(found.Databases), func(d snapshot.DatabaseFact) bool {
		return !isNameable(d.Name) || !d.AllowsConn
	})
	found.Results = slices.DeleteFunc(slices.Clone(found.Results), func(r snapshot.CheckResult) bool {
		return r.Database != "" && !isNameable(r.Database)
	})
	return found
}

// sentChecks has one item for each check: if a check fails in one database and could not run in
// another, it fails, and says where it could not run.
func sentChecks(found snapshot.Assessment) []api.SentCheck {
	var out []api.SentCheck
	for rest := found.Results; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(r snapshot.CheckResult) bool { return r.CheckID != rest[0].CheckID })
		if n < 0 {
			n = len(rest)
		}
		out = append(out, sentCheck(rest[:n], found.Databases))
		rest = rest[n:]
	}
	return out
}

func sentCheck(results []snapshot.CheckResult, databases []snapshot.DatabaseFact) api.SentCheck {
	one := api.SentCheck{Id: results[0].CheckID}
	with := func(status string) []snapshot.CheckResult {
		return slices.DeleteFunc(slices.Clone(results), func(r snapshot.CheckResult) bool { return r.Status != status })
	}
	failed, passed, unassessed, absent := with(snapshot.StatusFail), with(snapshot.StatusPass), with(snapshot.StatusNotAssessed), with(snapshot.StatusNotApplicable)
	switch {
	case len(failed) > 0:
		one.Outcome = api.SentCheckOutcomeFail
		objects := []api.SentObject{}
		for _, r := range failed {
			objects = append(objects, sentObjects(r)...)
		}
		one.Objects, one.Measured = &objects, text(failed[0].Measured, mostWords)
		if len(objects) == 0 && one.Measured == nil {
			one.Measured = text("fails", mostWords)
		}
	case len(passed) > 0:
		one.Outcome, one.Measured = api.SentCheckOutcomePass, text(passed[0].Measured, mostWords)
	case len(unassessed) > 0:
		one.Outcome, one.Reason = api.SentCheckOutcomeNotAssessed, text(cmp.Or(unassessed[0].Reason, notAssessed), mostWords)
		return one
	default:
		one.Outcome, one.Reason = api.SentCheckOutcomeNotApplicable, text(cmp.Or(absent[0].Reason, "Does not apply."), mostWords)
		return one
	}
	if in := sentUnassessed(results, databases); len(in) > 0 {
		one.NotAssessedIn = &in
	}
	if in := sentMeasured(slices.Concat(failed, passed)); len(in) > 0 {
		one.MeasuredIn = &in
	}
	return one
}

// sentMeasured is what a check measured in each database.
func sentMeasured(results []snapshot.CheckResult) (in []api.SentMeasured) {
	for _, r := range results {
		one := api.SentMeasured{Database: r.Database, Measured: text(r.Measured, mostWords)}
		if r.Status == snapshot.StatusFail && r.FailFraction > 0 && r.FailFraction < 1 {
			share := number(r.FailFraction)
			one.FailFraction = &share
		}
		if r.Database != "" && (one.Measured != nil || one.FailFraction != nil) {
			in = append(in, one)
		}
	}
	return in
}

const notAssessed = "Not assessed."

// sentUnassessed are the databases that a check of databases neither passes nor fails in,
// each with why: the server takes it for passed in all the others.
func sentUnassessed(results []snapshot.CheckResult, databases []snapshot.DatabaseFact) (in []api.SentUnassessed) {
	if results[0].Database == "" {
		return nil
	}
	for _, d := range databases {
		reason := notAssessed
		if i := slices.IndexFunc(results, func(r snapshot.CheckResult) bool { return r.Database == d.Name }); i >= 0 {
			if results[i].Status == snapshot.StatusFail || results[i].Status == snapshot.StatusPass {
				continue
			}
			reason = cmp.Or(results[i].Reason, reason)
		}
		in = append(in, api.SentUnassessed{Database: d.Name, Reason: cut(reason, mostWords)})
	}
	return in
}

func sentObjects(r snapshot.CheckResult) (out []api.SentObject) {
	for _, v := range r.Violations {
		o := api.SentObject{Object: cut(v.Object, mostName), Evidence: text(v.Evidence, mostWords)}
		if r.Database != "" {
			o.Database = &r.Database
		}
		if v.Severity != "" {
			severity := api.SentSeverity(v.Severity)
			o.Severity = &severity
		}
		out = append(out, o)
	}
	return out
}

func sentAccounts(roles []snapshot.DatabaseRole) []api.SentAccount {
	out := []api.SentAccount{}
	seen := map[string]bool{}
	for _, r := range roles {
		name := cut(r.Name, mostName)
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		out = append(out, api.SentAccount{
			Name: name, CanLogin: r.Login, Superuser: r.Superuser, Privileges: words(r.Attributes), MemberOf: words(r.MemberOf),
			ExpiresAt: r.ValidUntil, LastSignInAt: r.LastSeen,
		})
	}
	return out
}

func words(all []string) *[]string {
	var out []string
	for _, word := range all[:min(len(all), mostNamed)] {
		if word = cut(word, mostName); word != "" {
			out = append(out, word)
		}
	}
	if out == nil {
		return nil
	}
	return &out
}

// sentSettings are the settings; nil if they could not be read. For a setting that may contain
// a secret, only the name is sent.
func sentSettings(state changes.State) []api.SentSetting {
	read := slices.ContainsFunc(state.Seen, func(s changes.Scope) bool { return s.Kind == fleet.ChangedSetting })
	if !read {
		return nil
	}
	out := []api.SentSetting{}
	for _, i := range state.Items {
		if i.Kind != fleet.ChangedSetting {
			continue
		}
		one := api.SentSetting{Name: cut(i.Name, mostName)}
		if value := cut(i.Value, 10_000); !i.Secret {
			one.Value = &value
		}
		one.Unit = text(i.Unit, 100)
		out = append(out, one)
	}
	return out
}

func sentDatabases(facts []snapshot.DatabaseFact, classified map[string]snapshot.Classification) []api.SentDatabase {
	out := []api.SentDatabase{}
	for _, fact := range facts {
		one := api.SentDatabase{Database: fact.Name, EncryptedAtRest: fact.EncryptedAtRest}
		if fact.SizeBytes != nil {
			size := count(*fact.SizeBytes)
			one.SizeBytes = &size
		}
		if c, ok := classified[fact.Name]; ok && (c.Status == snapshot.ClassificationCompleted || c.Status == snapshot.ClassificationPartial) {
			one.Classification = sentClassification(c)
		}
		out = append(out, one)
	}
	return out
}

// mostFound bounds the items of a call (POST /ingest/v1/assessments).
const mostFound = 100_000

// fit leaves out where personal data lies in databases for which a call has no room, and
// names them: the server would take nothing of the assessment for them.
func fit(sent *api.SentAssessment, most int) (left []string) {
	items := len(*sent.Accounts)
	if sent.Settings != nil {
		items += len(*sent.Settings)
	}
	for _, c := range *sent.Checks {
		if c.Objects != nil {
			items += len(*c.Objects)
		}
		if c.NotAssessedIn != nil {
			items += len(*c.NotAssessedIn)
		}
		if c.MeasuredIn != nil {
			items += len(*c.MeasuredIn)
		}
	}
	databases := *sent.Databases
	for i, d := range databases {
		if d.Classification == nil {
			continue
		}
		n := len(d.Classification.Tables)
		if d.Classification.NotRead != nil {
			n += len(*d.Classification.NotRead)
		}
		for _, t := range d.Classification.Tables {
			n += len(t.Columns)
		}
		if items+n > most {
			databases[i].Classification, left = nil, append(left, d.Database)
			continue
		}
		items += n
	}
	return left
}

func sentClassification(c snapshot.Classification) *api.SentClassification {
	out := &api.SentClassification{CompletedAt: c.FinishedAt.UTC(), Method: api.SentClassificationMethod(c.Mode), Tables: []api.SentTable{}}
	if c.Mode == "" {
		out.Method = api.SentClassificationMethod(assessment.ClassifyNames)
	}
	for _, t := range c.Tables {
		table := api.SentTable{Schema: t.Schema, Table: t.Name, Encrypted: t.Encrypted, Columns: []api.SentColumn{}}
		if t.RowsKnown || t.EstimatedRows > 0 {
			rows := count(t.EstimatedRows)
			table.Rows = &rows
		}
		table.Readers = readers(t)
		for _, column := range t.Columns {
			table.Columns = append(table.Columns, api.SentColumn{
				Column: column.Name, Category: api.SentColumnCategory(pii.Word(column)), Confidence: json.Number(strconv.FormatFloat(pii.Share(column.Confidence), 'f', -1, 64)),
			})
		}
		out.Tables = append(out.Tables, table)
	}
	if c.TablesSeen > 0 {
		out.Coverage = &api.SentCoverage{
			Tables: count(int64(c.TablesSeen)), TablesRead: count(int64(c.TablesClassified)),
			Columns: count(int64(c.ColumnsSeen)), ColumnsRead: count(int64(c.ColumnsClassified)),
		}
	}
	out.NotRead = notRead(c)
	return out
}

// mostNotRead limits what is sent about one database.
const mostNotRead = 1000

// notRead are the tables, and columns, whose content could not be read.
func notRead(c snapshot.Classification) *[]api.SentNotRead {
	var out []api.SentNotRead
	for _, t := range c.FailedTables {
		out = append(out, api.SentNotRead{Schema: cut(t.Schema, mostName), Table: cut(t.Name, mostName), Reason: cut(cmp.Or(t.Reason, notAssessed), mostWords)})
	}
	for _, u := range c.UnreadColumns {
		out = append(out, api.SentNotRead{
			Schema: cut(u.Schema, mostName), Table: cut(u.Table, mostName), Columns: words(u.Columns), Reason: cut(cmp.Or(u.Reason, notAssessed), mostWords),
		})
	}
	if len(out) == 0 {
		return nil
	}
	out = out[:min(len(out), mostNotRead)]
	return &out
}

// readers are the roles that may read a table; nil if that was not determined.
func readers(t snapshot.ClassifiedTable) *[]string {
	names := map[string]bool{}
	for _, name := range t.Readers {
		names[name] = true
	}
	for _, r := range t.ReaderPaths {
		names[r.Role] = true
	}
	if t.PublicAccess {
		names[snapshot.Public] = true
	}
	if len(names) == 0 && t.AccessUnknown {
		return nil
	}
	sorted := append([]string{}, slices.Sorted(maps.Keys(names))...)
	sorted = sorted[:min(len(sorted), mostNamed)]
	return &sorted
}

// text is what is said, where anything is.
func text(s string, most int) *string {
	if s = cut(s, most); s == "" {
		return nil
	}
	return &s
}

// cut keeps so many characters at most.
func cut(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most])
	}
	return s
}
