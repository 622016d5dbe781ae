package commands

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/domain/rule"
	"muster/domain/team"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

//go:embed sql/claim.sql
var claimReport string

// RequestReport is the input of the use case of the same name.
type RequestReport struct {
	// ID is the id that the report gets if there is no identical one; a request that is sent
	// again has its earlier id. uuid.Nil: a new one.
	ID           uuid.UUID
	Kind         report.Kind
	InstanceIDs  []uuid.UUID
	Tags         fleet.TagFilter // in place of InstanceIDs: the active servers that have them now
	DatabaseID   *uuid.UUID
	From, To     *time.Time
	RecipientIDs []uuid.UUID    // beside the requester
	TeamIDs      []uuid.UUID    // whose members of now are recipients, too
	Team         *accounts.Team // whose servers InstanceIDs are; nil: they were named otherwise

	timeZone string // of a schedule's day
	// leavesOut says that recipients who do not see all of its servers are left out, and not refused.
	leavesOut bool
}

// RequestedReport is its outcome.
type RequestedReport struct {
	ReportID           uuid.UUID
	Reused             bool
	Status             report.Status // as the request left it: Queued, or, on reuse, Building
	Queued             report.Queued // the request and its author; a reused report has an earlier author
	QueuedAt           time.Time     // when
	RecipientsNotAdded []uuid.UUID   // never nil; on reuse those who no longer fit
	Mark               usecase.Mark
}

// queuedReport is the outcome of a request that made a report.
func queuedReport(id uuid.UUID, queued report.Queued, at time.Time, mark usecase.Mark) RequestedReport {
	return RequestedReport{
		ReportID: id, Status: report.StatusQueued, Queued: queued, QueuedAt: instant.Cut(at), RecipientsNotAdded: []uuid.UUID{}, Mark: mark,
	}
}

// RequestReport queues a report, or adds the caller and their recipients to an identical one
// that is Queued or Building. Errors: *usecase.RuleError with every broken rule, or with rate_limited
// or too_many_building.
func (s *Service) RequestReport(ctx context.Context, actor usecase.Actor, r RequestReport) (RequestedReport, error) {
	if actor.MemberID == uuid.Nil {
		return RequestedReport{}, errors.New("a report is requested by a member")
	}
	id := r.ID
	if id == uuid.Nil {
		id = usecase.NewID()
	} else if before, ok, err := s.requestedBefore(ctx, s.DB, actor, id); ok || err != nil {
		return before, err
	}
	queued, err := s.checkRequest(ctx, actor, r)
	if err != nil {
		return RequestedReport{}, err
	}
	var outcome RequestedReport
	err = eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) (err error) {
		if r.ID != uuid.Nil { // the one before it may have been slow, and not dead
			var ok bool
			if outcome, ok, err = s.requestedBefore(ctx, tx, actor, id); ok || err != nil {
				return err
			}
		}
		outcome, err = s.createOrJoin(ctx, tx, actor, id, queued)
		return err
	})
	return outcome, err
}

// requestedBefore finds the report where this very request has created it.
func (s *Service) requestedBefore(ctx context.Context, q sqlx.ExtContext, actor usecase.Actor, id uuid.UUID) (_ RequestedReport, ok bool, err error) {
	var (
		queued   report.Queued
		queuedAt time.Time
	)
	last, err := usecase.Fold(ctx, s.Base, q, actor.OrganizationID, id, func(event report.Event, at time.Time) {
		if request, is := event.(report.Queued); is {
			queued, queuedAt, ok = request, at, true
		}
	})
	return queuedReport(id, queued, queuedAt, last.Last), ok, err
}

func (s *Service) createOrJoin(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID, queued report.Queued) (RequestedReport, error) {
	holder, err := statement.One[uuid.UUID](ctx, tx, "claim a report", claimReport,
		actor.OrganizationID, queued.Fingerprint, id, s.Clock(), queued.Schedule != nil)
	if err != nil {
		return RequestedReport{}, err
	}
	if holder == id {
		return s.createReport(ctx, tx, actor, id, queued)
	}
	return s.reuseReport(ctx, tx, actor, holder, queued)
}

// checkRequest holds a request against every rule at once and returns the
// event that creating it would record.
func (s *Service) checkRequest(ctx context.Context, actor usecase.Actor, r RequestReport) (report.Queued, error) {
	queued, broken, err := s.judgeRequest(ctx, actor, r)
	if err == nil && len(broken) > 0 {
		err = usecase.RuleErrorOf(broken)
	}
	return queued, err
}

// judgeRequest is checkRequest with the rules that the request breaks.
func (s *Service) judgeRequest(ctx context.Context, actor usecase.Actor, r RequestReport) (report.Queued, rule.Set, error) {
	unresolved, err := s.resolveTags(ctx, actor, &r)
	if err != nil {
		return report.Queued{}, nil, err
	}
	all, outside, err := s.resolveWorld(ctx, actor, &r)
	if err != nil {
		return report.Queued{}, nil, err
	}
	asked := report.Scope{InstanceIDs: r.InstanceIDs, Tags: r.Tags, DatabaseID: r.DatabaseID, From: r.From, To: r.To, TimeZone: r.timeZone}
	if r.Team != nil {
		asked.TeamID = &r.Team.ID
	}
	scope, broken := report.Validate(r.Kind, asked, s.Clock())
	if all {
		broken = slices.DeleteFunc(broken, func(b rule.Broken) bool { return b.Code == "too_many_instances" })
	}
	names, database, more, err := s.lookUpScope(ctx, actor, r, scope)
	if err != nil {
		return report.Queued{}, nil, err
	}
	broken = slices.Concat(outside, unresolved, broken, more)
	recipients, more, err := s.judgeRecipients(ctx, actor, r, scope, len(broken) == 0)
	if err != nil {
		return report.Queued{}, nil, err
	}
	broken = append(broken, more...)
	label := report.Label(r.Kind, scope, slices.Collect(maps.Values(names)), database)
	if r.Team != nil {
		label = r.Team.Name + ": " + label
	}
	return report.Queued{
		Kind: r.Kind, Scope: scope, ScopeLabel: label,
		Fingerprint: report.Fingerprint(actor.OrganizationID, r.Kind, scope),
		RequesterID: actor.MemberID, RecipientIDs: recipients,
	}, broken, nil
}

// judgeRecipients are the recipients of a report about a scope, and the rules that they break. known says that the
// scope breaks none, and so names the servers.
func (s *Service) judgeRecipients(ctx context.Context, actor usecase.Actor, r RequestReport, scope report.Scope, known bool) ([]uuid.UUID, rule.Set, error) {
	named := len(r.RecipientIDs)
	broken, err := s.resolveTeams(ctx, actor.OrganizationID, &r)
	if err != nil {
		return nil, nil, err
	}
	receivable, err := s.Accounts.Addresses(ctx, actor.OrganizationID, r.RecipientIDs)
	if err != nil {
		return nil, nil, fmt.Errorf("look up recipients: %w", err)
	}
	seeing, err := s.whoSee(ctx, actor.OrganizationID, scope.InstanceIDs, receivable)
	if err != nil {
		return nil, nil, err
	}
	if r.leavesOut && known {
		r.RecipientIDs = slices.DeleteFunc(slices.Clone(r.RecipientIDs), func(id uuid.UUID) bool { return !seeing[id] })
	}
	recipients, more := report.Recipients(actor.MemberID, r.RecipientIDs)
	broken = append(broken, more...)
	for i, id := range r.RecipientIDs {
		_, receives := receivable[id]
		switch {
		case !receives:
			broken.Add(fmt.Sprintf("#/recipientIds/%d", i), "recipient_not_member", "not a member who can receive reports")
		case !known || seeing[id]:
		case i < named:
			broken.Add(fmt.Sprintf("#/recipientIds/%d", i), seesLess, "has the role team and does not see all servers of the report")
		case !slices.ContainsFunc(broken, func(b rule.Broken) bool { return b.Pointer == "#/teamIds" }):
			broken.Add("#/teamIds", seesLess, "have members with the role team who do not see all servers of the report")
		}
	}
	return recipients, broken, nil
}

// seesLess is the rule that a report goes to nobody who may not see it.
const seesLess = "recipient_sees_less"

// whoSee says which recipients see all servers of a report; no server stands for all.
func (s *Service) whoSee(ctx context.Context, org uuid.UUID, servers []uuid.UUID, recipients map[uuid.UUID]accounts.Address) (map[uuid.UUID]bool, error) {
	see := make(map[uuid.UUID]bool, len(recipients))
	for id, to := range recipients {
		if see[id] = true; to.Role != organization.Team {
			continue
		}
		world, err := s.WorldOf(ctx, org, id)
		if err != nil {
			return nil, err
		}
		see[id] = world.Holds(servers)
	}
	return see, nil
}

// resolveTags names the servers that a request names by tags.
func (s *Service) resolveTags(ctx context.Context, actor usecase.Actor, r *RequestReport) (broken rule.Set, err error) {
	if len(r.Tags) == 0 {
		return nil, nil
	}
	const at = "#/scope/tags"
	if r.Tags.Broken(at, &broken); len(r.InstanceIDs) > 0 {
		broken.Add(at, "conflicting_parameters", "cannot be given together with instanceIds")
	}
	if len(broken) > 0 {
		return broken, nil
	}
	names, err := s.Instances.SelectedNames(ctx, actor.OrganizationID, team.Selector{Tags: r.Tags})
	if err != nil {
		return nil, fmt.Errorf("look up tags: %w", err)
	}
	maps.DeleteFunc(names, func(id uuid.UUID, _ string) bool { return !actor.World.Acts(id) })
	if len(names) == 0 { // no id would mean all
		broken.Add(at, "instance_not_in_organization", "no active instance has these tags")
	}
	r.InstanceIDs = slices.Collect(maps.Keys(names))
	return broken, nil
}

// resolveTeams adds the members of a request's teams who can receive reports to its recipients.
func (s *Service) resolveTeams(ctx context.Context, organization uuid.UUID, r *RequestReport) (broken rule.Set, err error) {
	if len(r.TeamIDs) == 0 {
		return nil, nil
	}
	teams, err := s.Accounts.Teams(ctx, organization)
	if err != nil {
		return nil, err
	}
	var named []accounts.Team
	for i, id := range r.TeamIDs {
		at := slices.IndexFunc(teams, func(t accounts.Team) bool { return t.ID == id })
		if at < 0 {
			broken.Add(fmt.Sprintf("#/teamIds/%d", i), "unknown_team", "unknown team")
			continue
		}
		named = append(named, teams[at])
	}
	return broken, s.addMembers(ctx, organization, r, named...)
}

// addMembers adds those members of teams who can receive reports to a request's recipients.
func (s *Service) addMembers(ctx context.Context, organization uuid.UUID, r *RequestReport, teams ...accounts.Team) error {
	var people []uuid.UUID
	for _, t := range teams {
		for _, m := range t.Terms.Members {
			people = append(people, m.ID)
		}
	}
	receivable, err := s.Accounts.Addresses(ctx, organization, people)
	if err != nil {
		return fmt.Errorf("look up the members of teams: %w", err)
	}
	r.RecipientIDs = slices.Clone(r.RecipientIDs)
	for _, id := range people {
		if _, ok := receivable[id]; ok && !slices.Contains(r.RecipientIDs, id) {
			r.RecipientIDs = append(r.RecipientIDs, id)
		}
	}
	return nil
}

// lookUpScope returns the names of what is in scope, and the rules that foreign,
// unknown and removed ids break, which are all the same to the caller.
func (s *Service) lookUpScope(ctx context.Context, actor usecase.Actor, r RequestReport, scope report.Scope) (names map[uuid.UUID]string, database string, broken rule.Set, err error) {
	if len(scope.InstanceIDs) > 0 {
		names, err = s.Instances.InstanceNames(ctx, actor.OrganizationID, scope.InstanceIDs)
		if err != nil {
			return nil, "", nil, fmt.Errorf("look up instances: %w", err)
		}
		maps.DeleteFunc(names, func(id uuid.UUID, _ string) bool { return !actor.World.Sees(id) })
	}
	for i, id := range r.InstanceIDs {
		if _, ok := names[id]; !ok && len(r.Tags) == 0 {
			broken.Add(fmt.Sprintf("#/scope/instanceIds/%d", i), "instance_not_in_organization", "unknown instance")
		}
	}
	kind, err := report.Find(r.Kind)
	if err != nil || !kind.Database || scope.DatabaseID == nil || len(scope.InstanceIDs) != 1 || len(broken) > 0 {
		return names, "", broken, nil // report.Validate reports the fault
	}
	database, ok, err := s.Instances.DatabaseOn(ctx, actor.OrganizationID, scope.InstanceIDs[0], *scope.DatabaseID)
	if err != nil {
		return nil, "", nil, fmt.Errorf("look up a database: %w", err)
	}
	if !ok {
		broken.Add("#/scope/databaseId", "database_not_on_instance", "no such database on this instance")
	}
	return names, database, broken, nil
}

func (s *Service) createReport(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID, queued report.Queued) (RequestedReport, error) {
	if err := s.checkLimits(ctx, tx, actor, id, queued.Schedule != nil); err != nil {
		return RequestedReport{}, err
	}
	if err := s.Jobs.InsertBuild(ctx, tx, actor.OrganizationID, id); err != nil {
		return RequestedReport{}, fmt.Errorf("queue the build: %w", err)
	}
	events, err := new(report.Report).Request(queued)
	if err != nil {
		return RequestedReport{}, err
	}
	now := s.Clock()
	mark, err := usecase.AppendAll(ctx, s.Base, tx, actor, reportPlace(id), usecase.Stream{Version: eventstore.NoStream}, now, events)
	return queuedReport(id, queued, now, mark), err
}

// reuseReport joins a request whose claim is locked: it stays Queued or Building
// until this transaction ends.
func (s *Service) reuseReport(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID, asked report.Queued) (RequestedReport, error) {
	var (
		reused report.Reused
		status report.Status
	)
	mark, err := s.decideReport(ctx, tx, actor, id, func(r *report.Report, _ time.Time) (events []report.Event, err error) {
		status = r.Status()
		reused, events, err = r.Reuse(actor.MemberID, asked.RecipientIDs, asked.Schedule)
		return events, err
	}, nil)
	return RequestedReport{
		ReportID: id, Reused: true, Status: status, Queued: asked, QueuedAt: instant.Cut(s.Clock()),
		RecipientsNotAdded: reused.NotAdded, Mark: mark,
	}, err
}

//go:embed sql/creations.sql
var selectCreations string

// retryWhileBuilding is when to ask again while too many reports are being
// built, or the same one is and is full: a build takes seconds.
const retryWhileBuilding = 5 * time.Second

// checkLimits refuses a creation beyond the limits. The claim of report id is
// inserted already, and counts. Creations of one organization go one after the
// other while a limit is set, so that the limits are exact. What a schedule asks for
// counts as no member's creation.
func (s *Service) checkLimits(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID, scheduled bool) error {
	if s.Limits == (Limits{}) {
		return nil
	}
	if err := usecase.LockStream(ctx, tx, actor.OrganizationID); err != nil {
		return err
	}
	if err := s.checkBuilding(ctx, tx, actor.OrganizationID, scheduled); err != nil || scheduled {
		return err
	}
	return s.checkCreations(ctx, tx, actor, id)
}

// checkBuilding refuses what finds no place among the reports that are built at once. Half
// of the places are left to requests by hand.
func (s *Service) checkBuilding(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, scheduled bool) error {
	if s.Limits.BuildingAtOnce == 0 {
		return nil
	}
	type counted struct {
		All       int `db:"building"`
		Scheduled int `db:"scheduled"`
	}
	building, err := statement.One[counted](ctx, tx, "count reports being built",
		`SELECT count(*) AS building, count(*) FILTER (WHERE scheduled) AS scheduled FROM report_claims WHERE organization_id = $1`, organization)
	if err != nil {
		return err
	}
	if building.All <= s.Limits.BuildingAtOnce && (!scheduled || building.Scheduled <= max(1, s.Limits.BuildingAtOnce/2)) {
		return nil
	}
	return &usecase.RuleError{
		Code:       tooManyBuilding,
		Detail:     fmt.Sprintf("%d reports of this organization are being built; request this one again when one of them is ready.", building.All-1),
		RetryAfter: retryWhileBuilding,
	}
}

const tooManyBuilding = "too_many_building"

func (s *Service) checkCreations(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID) error {
	if s.Limits.CreatesPerHour == 0 {
		return nil
	}
	now := s.Clock()
	since := now.Add(-time.Hour)
	type counted struct {
		Made  int          `db:"made"`
		First sql.NullTime `db:"first"`
	}
	creations, err := statement.One[counted](ctx, tx, "count reports created", selectCreations, actor.OrganizationID, actor.MemberID, since)
	if err != nil {
		return err
	}
	if creations.Made >= s.Limits.CreatesPerHour {
		return &usecase.RuleError{
			Code:       "rate_limited",
			Detail:     fmt.Sprintf("A member may create %d reports an hour.", s.Limits.CreatesPerHour),
			RetryAfter: creations.First.Time.Sub(since).Truncate(time.Second) + time.Second,
		}
	}
	err = statement.Exec(ctx, tx, "forget old creations",
		`DELETE FROM report_creations WHERE organization_id = $1 AND member_id = $2 AND created_at <= $3`,
		actor.OrganizationID, actor.MemberID, since)
	if err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "count a creation", `INSERT INTO report_creations (report_id, organization_id, member_id, created_at) VALUES ($1, $2, $3, $4)`,
		id, actor.OrganizationID, actor.MemberID, now)
}
