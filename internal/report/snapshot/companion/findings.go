package companion

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/assessment/quote"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// findingsHeader are the fields of GET /api/v1/findings, one column for each, then those of the plan, and those that join
// the tables.
var findingsHeader = []string{
	"id", "checkId", "title", "domain", "severity", "references", "instanceId", "instance", "databaseId", "database",
	"object", "evidence", "measured", "threshold", "status", "reason", "firstSeenAt", "lastSeenAt", "exceptionId", "acceptedUntil",
	"remediation", "statement", "impact", "needsRestart", "rollback", "verify", "runIn", "unlisted", "ownerId", "owner",
	"dueAt", "overdueDays", "effort", "findingId", "step", "riskId",
}

// The statuses of a finding, as the API has them.
const (
	open        = "open"
	accepted    = "accepted"
	notAssessed = "notAssessed"
)

// place is where a result is.
type place struct {
	instance uuid.UUID
	check    string
	database string
}

// listing collects the rows of one document.
type listing struct {
	doc       snapshot.Document
	instances map[uuid.UUID]*snapshot.Instance
	results   map[place]snapshot.CheckResult
	checks    map[string]snapshot.Check
	ids       identities
	joins     joins
	rows      [][]string
}

// findingsRows are the open findings, the accepted ones, and the checks that could not
// be run, each as severe first as the report has them.
func findingsRows(s *Set) [][]string {
	doc := s.doc
	l := &listing{
		doc: doc, instances: map[uuid.UUID]*snapshot.Instance{}, results: map[place]snapshot.CheckResult{},
		checks: map[string]snapshot.Check{}, ids: identities{doc.Organization.ID, map[uuid.UUID]bool{}}, joins: s.joins(),
	}
	for _, c := range doc.Checks {
		l.checks[c.ID] = c
	}
	for i := range doc.Instances {
		in := &doc.Instances[i]
		l.instances[in.ID] = in
		if in.Assessment != nil {
			for _, r := range in.Assessment.Results {
				l.results[place{in.ID, r.CheckID, r.Database}] = r
			}
		}
	}
	for _, g := range l.joins.findings {
		for _, f := range g.Findings {
			l.add(g.Check, f, open)
		}
	}
	for _, g := range analysis.Accepted(doc) {
		for _, f := range g.Findings {
			l.add(g.Check, f, accepted)
		}
	}
	for i := range doc.Instances {
		in := &doc.Instances[i]
		for _, r := range analysis.Results(doc, in) {
			if r.Status == snapshot.StatusNotAssessed {
				l.add(l.checks[r.CheckID], analysis.Finding{InstanceID: in.ID, InstanceName: in.Name, Database: r.Database, FirstSeen: r.FirstSeenAt}, notAssessed)
			}
		}
	}
	return l.rows
}

// add appends a finding's row. check has the severity by which the finding was judged.
func (l *listing) add(check snapshot.Check, f analysis.Finding, status string) {
	in, result := l.instances[f.InstanceID], l.results[place{f.InstanceID, check.ID, f.Database}]
	row := map[string]string{
		"id": l.ids.of(check.ID, f, status != notAssessed), "checkId": Cell(check.ID), "title": Cell(check.Title), "domain": Cell(check.Domain),
		"severity": Cell(check.Severity), "references": Cell(strings.Join(check.References, "; ")),
		"instanceId": id(f.InstanceID), "instance": Cell(f.InstanceName), "databaseId": databaseID(in, f.Database), "database": Cell(f.Database),
		"object": Cell(f.Object), "evidence": Cell(f.Evidence), "measured": Cell(result.Measured), "threshold": Cell(result.Threshold),
		"status": status, "firstSeenAt": at(f.FirstSeen), "lastSeenAt": at(lastSeen(in, f)), "unlisted": whole(max(0, result.Total-max(1, len(result.Violations)))),
	}
	row["ownerId"], row["owner"] = ownerOf(in)
	row["findingId"], row["riskId"] = row["id"], l.joins.risks[table{f.InstanceID, f.Database, f.Object}]
	switch status {
	case notAssessed:
		row["reason"], row["unlisted"] = Cell(result.Reason), ""
		row["remediation"] = Cell(l.grant(in, check.ID, f.Database))
	case accepted:
		row["reason"], row["exceptionId"], row["acceptedUntil"] = Cell(f.Exception.Reason), id(f.Exception.ID), at(new(f.Exception.Until))
		fallthrough
	case open:
		if status == open {
			l.plan(row, in, check, f)
		}
		row["remediation"], row["impact"], row["needsRestart"] = Cell(check.Remediation), Cell(check.Impact), strconv.FormatBool(check.NeedsRestart)
		row["runIn"] = Cell(f.Database)
		if v := l.checks[check.ID].Verify; v != nil && snapshot.IsWhole(f.Object) {
			row["verify"] = Cell(v.Statement(quote.Literal(f.Object)))
		}
		if f.Fix != nil {
			row["statement"], row["rollback"] = Cell(f.Fix.Statement), Cell(f.Fix.Rollback)
			if f.Fix.Database != "" {
				row["runIn"] = Cell(f.Fix.Database)
			}
		}
	}
	cells := make([]string, len(findingsHeader))
	for i, column := range findingsHeader {
		cells[i] = row[column]
	}
	l.rows = append(l.rows, cells)
}

// plan says by when an open finding has to be closed, and by which action.
func (l *listing) plan(row map[string]string, in *snapshot.Instance, check snapshot.Check, f analysis.Finding) {
	due := analysis.Due(l.doc, f)
	row["dueAt"], row["overdueDays"] = at(&due.At), whole(due.Overdue(l.doc.AsOf))
	row["effort"], row["step"] = Cell(check.Effort), l.joins.step(in, check.ID)
}

// grant is what would let a check run: the statements that the monitoring role lacks for it.
func (l *listing) grant(in *snapshot.Instance, check, database string) string {
	var statements []string
	for _, g := range analysis.MissingGrants(l.doc, in) {
		elsewhere := database != "" && len(g.Databases) > 0 && !slices.Contains(g.Databases, database)
		if slices.Contains(g.Checks, check) && !elsewhere {
			statements = append(statements, g.Statement)
		}
	}
	return strings.Join(statements, "\n")
}

// lastSeen is when the assessment ended, by the clock of who looked; the finding's own
// times are those of recording, by the database's.
func lastSeen(in *snapshot.Instance, f analysis.Finding) *time.Time {
	if end := in.Assessment.FinishedAt; f.FirstSeen == nil || f.FirstSeen.Before(end) {
		return &end
	}
	return f.FirstSeen
}
