package fleet

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/organization"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/findings"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/report/snapshot/analysis"
)

func (s *ServerRoutes) ListFindings(ctx context.Context, r api.ListFindingsRequestObject) (api.ListFindingsResponseObject, error) {
	p := r.Params
	q, err := s.findingQuery(ctx, findingFilter{
		servers: wire.Filter{IDs: p.InstanceId, Tags: p.Tag, Owner: p.Owner}, database: p.DatabaseId, checks: wire.Value(p.CheckId), domains: wire.Value(p.Domain),
		severities: wire.Words[string](wire.Value(p.Severity)), statuses: wire.Words[findings.Status](wire.Value(p.Status)),
		overdue: p.Overdue, assignee: p.AssigneeId, text: wire.Value(p.Q), page: p.Page, size: p.PageSize,
	})
	if err != nil {
		return nil, err
	}
	q.Order, q.Descending = findingOrder(p.Sort)
	if q.Order == findings.ByOwner {
		if q.Owners, err = wire.OwnerNames(ctx, s.Fleet); err != nil {
			return nil, err
		}
	}
	rows, total, err := findings.List(ctx, s.DB, q)
	if err != nil {
		return nil, err
	}
	items, err := s.showFindings(ctx, rows, namesOf(q), q.Exceptions)
	if err != nil {
		return nil, err
	}
	return api.ListFindings200JSONResponse{Items: items, Page: wire.Paged(ctx, q.Page, q.Size, total)}, nil
}

// namesOf are the names of the instances whose findings are asked for.
func namesOf(q findings.Query) map[uuid.UUID]string {
	names := make(map[uuid.UUID]string, len(q.Instances))
	for _, in := range q.Instances {
		names[in.ID] = in.Name
	}
	return names
}

// findingFilter is what the list of findings and its groups have in common.
type findingFilter struct {
	servers    wire.Filter
	database   *uuid.UUID
	checks     []string
	domains    []api.CheckDomain
	severities []string
	statuses   []findings.Status
	overdue    *bool
	assignee   *uuid.UUID
	text       string
	page, size *int32
}

// findingQuery reads a filter, without an order.
func (s *ServerRoutes) findingQuery(ctx context.Context, p findingFilter) (q findings.Query, err error) {
	instances, err := wire.FilteredIDs(ctx, s.Fleet, p.servers)
	if err != nil {
		return q, err
	}
	q = findings.Query{
		Organization: wire.Caller(ctx).Organization.ID, Checks: s.checksOf(p.checks, p.domains), Statuses: p.statuses,
		Search: p.text, Titled: s.checksTitled(p.text), Page: wire.Or(p.page, 1), Size: wire.Or(p.size, wire.DefaultPageSize),
		Due: s.due(ctx), Overdue: p.overdue, Assignee: p.assignee,
	}
	for _, severity := range p.severities {
		q.Ranks = append(q.Ranks, analysis.Rank(severity))
	}
	if q.Instances, q.Database, err = s.findingScope(ctx, instances, p.database); err != nil {
		return q, err
	}
	if len(instances) == 0 && p.database == nil {
		if q.Whole, q.Except, err = s.withoutFindings(ctx, q.Instances); err != nil {
			return q, err
		}
	}
	q.Exceptions, err = s.exceptionsInForce(ctx)
	return q, err
}

// GroupFindings counts what ListFindings lists.
func (s *ServerRoutes) GroupFindings(ctx context.Context, r api.GroupFindingsRequestObject) (api.GroupFindingsResponseObject, error) {
	p := r.Params
	q, err := s.findingQuery(ctx, findingFilter{
		servers: wire.Filter{IDs: p.InstanceId, Tags: p.Tag, Owner: p.Owner}, database: p.DatabaseId, checks: wire.Value(p.CheckId), domains: wire.Value(p.Domain),
		severities: wire.Words[string](wire.Value(p.Severity)), statuses: wire.Words[findings.Status](wire.Value(p.Status)),
		overdue: p.Overdue, assignee: p.AssigneeId, text: wire.Value(p.Q), page: p.Page, size: p.PageSize,
	})
	if err != nil {
		return nil, err
	}
	by := findings.OfCheck
	if p.By != nil {
		by = findings.By(*p.By)
	}
	groups, total, err := findings.Groups(ctx, s.DB, q, by)
	if err != nil {
		return nil, err
	}
	names := namesOf(q)
	items := wire.List(groups, func(g findings.Group) api.FindingGroup {
		shown := api.FindingGroup{
			Severity: api.FindingGroupSeverity(analysis.Severities[g.Rank]), Findings: g.Findings, Instances: g.Instances, Checks: g.Checks,
			Databases: g.Databases, Unit: "finding", FirstSeenAt: g.FirstSeen.UTC(), LastSeenAt: g.LastSeen.UTC(), Upgrades: []api.FindingUpgrade{},
		}
		if g.CVEs {
			shown.Unit = "CVE"
		}
		for _, u := range g.Upgrades {
			shown.Upgrades = append(shown.Upgrades, api.FindingUpgrade{To: u.To, Closes: u.Closes, Instances: u.Instances})
		}
		if by == findings.OfInstance {
			id := uuid.MustParse(g.Key)
			shown.Instance = &api.Reference{Id: id, Name: names[id]}
		} else {
			check := s.findingCheck(g.Key, analysis.Severities[g.Rank])
			shown.Check = &check
		}
		return shown
	})
	return api.GroupFindings200JSONResponse{Items: items, Page: wire.Paged(ctx, q.Page, q.Size, total)}, nil
}

// findingCheck is the check of a finding, or of several, as the catalogue has it today.
func (s *ServerRoutes) findingCheck(id, severity string) api.FindingCheck {
	shown := api.FindingCheck{Id: id, Title: id, Severity: api.FindingCheckSeverity(severity), References: []api.CheckReference{}}
	if check, known := s.Checks.Check(id); known {
		shown.Title, shown.Domain, shown.References = check.Title, check.Domain, showReferences(check)
	}
	return shown
}

// findingOrder reads how a page is sorted.
func findingOrder(sort *api.ListFindingsParamsSort) (order findings.Order, descending bool) {
	if sort == nil {
		return findings.BySeverity, true
	}
	name, descending := strings.CutPrefix(string(*sort), "-")
	return findings.Order(name), descending
}

// findingScope is the active instances whose findings are asked for, and the name of
// the database that they are narrowed to. An unknown database leaves no instance.
func (s *ServerRoutes) findingScope(ctx context.Context, ids []uuid.UUID, database *uuid.UUID) (scope []findings.Instance, name *string, err error) {
	organization := wire.Caller(ctx).Organization.ID
	if database != nil {
		d, ok, err := s.Fleet.Database(ctx, organization, *database)
		if err != nil || !ok || len(ids) > 0 && !slices.Contains(ids, d.InstanceID) {
			return nil, nil, err
		}
		ids, name = []uuid.UUID{d.InstanceID}, &d.Name
	}
	names, err := s.Fleet.ActiveNames(ctx, organization, ids)
	for id, called := range names {
		scope = append(scope, findings.Instance{ID: id, Name: called})
	}
	return scope, name, err
}

// withoutFindings are the instances with findings that are not listed: inactive, or
// removed and not yet forgotten.
func (s *ServerRoutes) withoutFindings(ctx context.Context, listed []findings.Instance) (whole bool, except []uuid.UUID, err error) {
	assessed, err := s.Servers.Targets(ctx, wire.Caller(ctx).Organization.ID)
	if err != nil {
		return false, nil, err
	}
	for _, in := range listed {
		delete(assessed, in.ID)
	}
	return true, slices.Collect(maps.Keys(assessed)), nil
}

// checksOf are the checks of those ids that are of those domains; nil: all.
func (s *ServerRoutes) checksOf(ids []string, domains []api.CheckDomain) []string {
	if len(domains) == 0 {
		if len(ids) == 0 {
			return nil
		}
		return ids
	}
	checks := []string{}
	for _, check := range s.Checks.Checks() {
		if slices.Contains(domains, api.CheckDomain(check.Domain)) && (len(ids) == 0 || slices.Contains(ids, check.ID)) {
			checks = append(checks, check.ID)
		}
	}
	return checks
}

// checksTitled are the checks whose id or title has a text in it.
func (s *ServerRoutes) checksTitled(text string) (ids []string) {
	if text == "" {
		return nil
	}
	text = strings.ToLower(text)
	for _, check := range s.Checks.Checks() {
		if strings.Contains(strings.ToLower(check.ID), text) || strings.Contains(strings.ToLower(check.Title), text) {
			ids = append(ids, check.ID)
		}
	}
	return ids
}

// exceptionsInForce are the caller's organization's, with the names of databases by
// which findings know them. One about a database that has gone covers nothing.
func (s *ServerRoutes) exceptionsInForce(ctx context.Context) ([]findings.Exception, error) {
	organization := wire.Caller(ctx).Organization.ID
	rows, err := s.Exceptions.InForce(ctx, organization, s.Now())
	if err != nil {
		return nil, err
	}
	var databases []uuid.UUID
	for _, row := range rows {
		if row.DatabaseID != nil {
			databases = append(databases, *row.DatabaseID)
		}
	}
	names, err := s.Fleet.DatabaseNames(ctx, organization, databases)
	if err != nil {
		return nil, err
	}
	var out []findings.Exception
	for _, row := range rows {
		x := findings.Exception{ID: row.ID, CheckID: row.CheckID, Instance: row.InstanceID, Object: row.ObjectRef, Until: row.Until, Reason: row.Reason}
		if row.DatabaseID != nil {
			name, there := names[*row.DatabaseID]
			if !there {
				continue
			}
			x.Database = &name
		}
		out = append(out, x)
	}
	return out, nil
}

func (s *ServerRoutes) GetFinding(ctx context.Context, r api.GetFindingRequestObject) (api.GetFindingResponseObject, error) {
	shown, err := s.finding(ctx, r.FindingId)
	return api.GetFinding200JSONResponse(shown), err
}

// finding is one finding as it is shown. Error: *wire.Problem where there is none of that id.
func (s *ServerRoutes) finding(ctx context.Context, id uuid.UUID) (api.Finding, error) {
	row, names, err := s.findingRow(ctx, id)
	if err != nil {
		return api.Finding{}, err
	}
	exceptions, err := s.exceptionsInForce(ctx)
	if err != nil {
		return api.Finding{}, err
	}
	shown, err := s.showFindings(ctx, []findings.Finding{row}, names, exceptions)
	if err != nil {
		return api.Finding{}, err
	}
	return shown[0], nil
}

// findingRow is a finding on a server that is there, with the server's name. Error: *wire.Problem.
func (s *ServerRoutes) findingRow(ctx context.Context, id uuid.UUID) (row findings.Finding, names map[uuid.UUID]string, err error) {
	organization := wire.Caller(ctx).Organization.ID
	row, ok, err := findings.Find(ctx, s.DB, organization, id)
	if err := wire.Found(ok && wire.Sees(ctx, row.Instance), err, "finding"); err != nil {
		return row, nil, err
	}
	names, err = s.Fleet.InstanceNames(ctx, organization, []uuid.UUID{row.Instance})
	return row, names, wire.Found(len(names) > 0, err, "finding")
}

// ChangeFinding says who closes a finding, and where its ticket is.
func (s *ServerRoutes) ChangeFinding(ctx context.Context, r api.ChangeFindingRequestObject) (api.ChangeFindingResponseObject, error) {
	row, _, err := s.findingRow(ctx, r.FindingId)
	if err == nil {
		err = wire.MayAct(ctx, row.Instance)
	}
	if err != nil {
		return nil, err
	}
	change := commands.ChangeFinding{AssigneeID: r.Body.AssigneeId, TicketURL: wire.Value(r.Body.TicketUrl)}
	var members map[string]json.RawMessage // null takes away what an absent member leaves
	if err := json.Unmarshal(wire.CallOf(ctx).Body, &members); err == nil {
		_, change.SetAssignee = members["assigneeId"]
		_, change.SetTicket = members["ticketUrl"]
	}
	if _, err := s.Commands.ChangeFinding(ctx, wire.Actor(ctx), r.FindingId, change); err != nil {
		return nil, err
	}
	shown, err := s.finding(ctx, r.FindingId)
	return api.ChangeFinding200JSONResponse(shown), err
}

// due says when findings of the caller's organization are due.
func (s *ServerRoutes) due(ctx context.Context) findings.Due {
	return findings.Due{Days: wire.Caller(ctx).Organization.Settings().DueDays, Now: s.Now()}
}

// overdueFindings is how many findings of some servers are overdue; nil for a caller who reads no findings.
func (s *ServerRoutes) overdueFindings(ctx context.Context, servers wire.Filter) (*int64, error) {
	caller := wire.Caller(ctx)
	if !caller.Can(organization.ScopeReportsDownload) || !caller.Member.Role.DownloadsAll() {
		return nil, nil
	}
	overdue := true
	q, err := s.findingQuery(ctx, findingFilter{servers: servers, overdue: &overdue})
	if err != nil {
		return nil, err
	}
	n, err := findings.Count(ctx, s.DB, q)
	return &n, err
}

// showFindings names instances, databases and checks as they are called today.
func (s *ServerRoutes) showFindings(ctx context.Context, rows []findings.Finding, instances map[uuid.UUID]string, exceptions []findings.Exception) ([]api.Finding, error) {
	databases, err := s.findingDatabases(ctx, rows)
	if err != nil {
		return nil, err
	}
	assignments, assignees, err := s.assignments(ctx, rows)
	if err != nil {
		return nil, err
	}
	due := s.due(ctx)
	var side wire.Side
	owners, err := wire.Owners(ctx, s.Fleet, slices.Collect(maps.Keys(instances)))
	side.Lacks(ctx, err, "owner")
	return wire.List(rows, func(f findings.Finding) api.Finding {
		shown := api.Finding{
			Owner: owners[f.Instance], MayAct: wire.Changes(ctx, f.Instance), Unavailable: side.Unavailable(),
			Id: f.ID, Instance: api.Reference{Id: f.Instance, Name: instances[f.Instance]}, Object: wire.Optional(f.Object), Evidence: wire.Optional(f.Evidence),
			Measured: wire.Optional(f.Measured), Threshold: wire.Optional(f.Threshold), Status: string(findings.Open), Reason: wire.Optional(f.Reason),
			FirstSeenAt: f.FirstSeen.UTC(), LastSeenAt: f.LastSeen.UTC(), PassedSince: wire.UTC(f.Gone), DueAt: wire.UTC(due.At(f)),
			TicketUrl: wire.Optional(assignments[f.ID].Ticket),
		}
		if f.EarlierGone != nil {
			shown.ReopenedAt = &shown.FirstSeenAt
			shown.Earlier = &api.FindingEarlier{FirstSeenAt: f.EarlierFirst.UTC(), ClosedAt: f.EarlierGone.UTC()}
		}
		if id := assignments[f.ID].Assignee; id != nil && assignees[*id] != "" {
			name := assignees[*id]
			shown.AssigneeId, shown.AssigneeName = id, &name
		}
		if f.Database != "" {
			shown.Database = &api.FindingDatabase{Id: databases[databaseOf{f.Instance, f.Database}], Name: f.Database}
		}
		check, known := s.Checks.Check(f.CheckID)
		shown.Check = s.findingCheck(f.CheckID, f.Severity())
		if f.Assessed && known {
			shown.Remediation = remediationOf(check, f)
		}
		switch x := findings.Narrowest(exceptions, f); {
		case f.Gone != nil:
			shown.Status = string(findings.Passed)
		case !f.Assessed:
			shown.Status = string(findings.NotAssessed)
		case x != nil:
			shown.Status, shown.ExceptionId, shown.Reason, shown.AcceptedUntil = string(findings.Accepted), &x.ID, &x.Reason, wire.UTC(&x.Until)
		default:
			shown.OverdueDays = int32(due.Overdue(f))
		}
		return shown
	}), nil
}

// assignments are who closes findings, and what those members are called today.
func (s *ServerRoutes) assignments(ctx context.Context, rows []findings.Finding) (map[uuid.UUID]findings.Assignment, map[uuid.UUID]string, error) {
	of, err := findings.Assignments(ctx, s.DB, wire.Caller(ctx).Organization.ID, rows)
	if err != nil {
		return nil, nil, err
	}
	var people []uuid.UUID
	for _, a := range of {
		if a.Assignee != nil {
			people = append(people, *a.Assignee)
		}
	}
	names, err := wire.MemberNames(ctx, s.Accounts, people)
	return of, names, err
}

// remediationOf says what to do about a finding: what a report prints of it, what
// takes that back, and how to see that it helped.
func remediationOf(check catalogue.Check, f findings.Finding) *api.Remediation {
	in := f.FixDatabase
	if in == "" {
		in = f.Database
	}
	return &api.Remediation{
		Summary: check.Remediation, Statement: wire.Optional(f.Statement), Impact: wire.Optional(check.Impact), NeedsRestart: check.NeedsRestart,
		Rollback: wire.Optional(f.Rollback), Verify: wire.Optional(check.Verify(f.Object)), RunIn: wire.Optional(in),
	}
}

// databaseOf names a database as findings do.
type databaseOf struct {
	instance uuid.UUID
	name     string
}

// findingDatabases are the ids of the databases that findings are in.
func (s *ServerRoutes) findingDatabases(ctx context.Context, rows []findings.Finding) (map[databaseOf]*uuid.UUID, error) {
	var instances []uuid.UUID
	var names []string
	for _, f := range rows {
		if f.Database != "" {
			instances, names = append(instances, f.Instance), append(names, f.Database)
		}
	}
	ids := map[databaseOf]*uuid.UUID{}
	if len(instances) == 0 {
		return ids, nil
	}
	called, err := s.Fleet.DatabasesCalled(ctx, wire.Caller(ctx).Organization.ID, instances, names)
	for _, d := range called {
		ids[databaseOf{d.InstanceID, d.Name}] = &d.ID
	}
	return ids, err
}

func (s *ServerRoutes) ListChecks(ctx context.Context, r api.ListChecksRequestObject) (api.ListChecksResponseObject, error) {
	all := s.Checks.Checks()
	page, size := wire.Or(r.Params.Page, 1), wire.Or(r.Params.PageSize, 500)
	first := min(int64(page-1)*int64(size), int64(len(all)))
	last := min(first+int64(size), int64(len(all)))
	return api.ListChecks200JSONResponse{Items: wire.List(all[first:last], s.showCheck), Page: wire.Paged(ctx, page, size, int64(len(all)))}, nil
}

func (s *ServerRoutes) GetCheck(_ context.Context, r api.GetCheckRequestObject) (api.GetCheckResponseObject, error) {
	check, ok := s.Checks.Check(r.CheckId)
	if err := wire.Found(ok, nil, "check"); err != nil {
		return nil, err
	}
	return api.GetCheck200JSONResponse(s.showCheck(check)), nil
}

func (s *ServerRoutes) showCheck(check catalogue.Check) api.Check {
	return api.Check{
		Id: check.ID, Engine: api.Engine(check.Engine), Domain: api.CheckDomain(check.Domain), Severity: api.CheckSeverity(check.Severity),
		Title: check.Title, Rationale: check.Rationale, Threshold: check.Pass, References: showReferences(check), Scope: api.CheckScope(check.Scope),
		Object: wire.Optional(check.Object.String()), Reads: wire.List(check.Reads, catalogue.Read.Object), Rights: wire.List(check.LeastRights(), func(right string) string { return right }),
		Remediation: api.Remediation{Summary: check.Remediation, Impact: wire.Optional(check.Impact), NeedsRestart: check.NeedsRestart},
	}
}

func showReferences(check catalogue.Check) []api.CheckReference {
	return wire.List(check.Cited(), func(r catalogue.Reference) api.CheckReference {
		return api.CheckReference{Source: r.Source, Version: wire.Optional(r.Version), Id: r.ID, Url: wire.Optional(r.URL)}
	})
}
