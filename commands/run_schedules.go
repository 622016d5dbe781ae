package commands

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/domain/team"
	"muster/internal/accounts"
)

// ScheduleRun is what a worker makes of a schedule that it looks at.
type ScheduleRun struct {
	schedule.State
	ID      uuid.UUID
	Queued  report.Queued // the request of the latest due time, unless it is paused or refused
	Reports []uuid.UUID   // of earlier runs, the newest first

	// Unchanged is the report of an earlier run with the same findings as now; uuid.Nil: there
	// is none, or the schedule does not ask for it.
	Unchanged uuid.UUID

	teams        []teamRun // of a schedule with a report for each team
	organization uuid.UUID
	world        team.World // of the owner
	at           time.Time
	zone         *time.Location
	dues         []time.Time
	paused       string // why nothing is requested; empty: it is
	refused      string // a sentence; empty: it is not
	exists       bool
}

// Requests says whether the run asks for a report.
func (r *ScheduleRun) Requests() bool { return len(r.dues) > 0 && r.paused == "" && r.refused == "" }

// PlanRun decides what to do about a schedule at a time of the database's clock. It writes
// nothing.
func (s *Service) PlanRun(ctx context.Context, organization, id uuid.UUID, at time.Time) (*ScheduleRun, error) {
	var now schedule.Schedule
	if _, err := usecase.Fold(ctx, s.Base, s.DB, organization, id, ofSchedule(&now)); err != nil {
		return nil, err
	}
	run := &ScheduleRun{State: now.State, ID: id, Reports: now.Reports(), organization: organization, at: at, exists: now.Exists()}
	if !now.Exists() || !now.Terms.Enabled {
		return run, nil
	}
	var err error
	if run.zone, err = usecase.Zone(now.Terms.TimeZone); err != nil {
		return nil, fmt.Errorf("run schedule %s: %w", id, err)
	}
	if run.dues = now.Due(run.zone, at); len(run.dues) == 0 {
		return run, nil
	}
	owner, ok, err := s.Accounts.Member(ctx, organization, now.OwnerID)
	if err != nil {
		return nil, err
	}
	if run.paused = PausedBy(owner, ok); run.paused != "" {
		return run, nil
	}
	if run.world, err = s.WorldOf(ctx, organization, now.OwnerID); err != nil {
		return nil, err
	}
	return run, s.prepare(ctx, run)
}

// latest is the due time of the run.
func (r *ScheduleRun) latest() time.Time { return r.dues[len(r.dues)-1] }

// PausedBy says why a schedule of this owner requests nothing; empty: it does. ok is false
// of an owner who is erased.
func PausedBy(owner accounts.Member, ok bool) string {
	switch {
	case !ok:
		return schedule.ReasonErased
	case owner.Status != organization.Active:
		return schedule.ReasonDisabled
	case !owner.Role.Allows(organization.ScopeReportsCreate):
		return schedule.ReasonNotAllowed
	}
	return ""
}

// prepare makes the request of what there still is: recipients who have left and deleted teams are left
// out, as are recipients who do not see all of its servers. So are servers that were removed, or are
// no longer the owner's to act on, unless none would be left.
func (s *Service) prepare(ctx context.Context, run *ScheduleRun) error {
	if run.Terms.PerTeam {
		return s.prepareTeams(ctx, run)
	}
	request := requestOf(run.Terms, run.latest(), run.zone)
	if len(request.InstanceIDs) > 0 {
		names, err := s.Instances.InstanceNames(ctx, run.organization, request.InstanceIDs)
		if err != nil {
			return fmt.Errorf("look up instances: %w", err)
		}
		request.InstanceIDs = slices.DeleteFunc(slices.Clone(request.InstanceIDs), func(id uuid.UUID) bool { _, ok := names[id]; return !ok || !run.world.Acts(id) })
		if len(request.InstanceIDs) == 0 { // which would mean all
			run.refused = "Its servers were removed, or its owner may no longer act on them."
			return nil
		}
	}
	receivable, err := s.Accounts.Addresses(ctx, run.organization, request.RecipientIDs)
	if err != nil {
		return fmt.Errorf("look up recipients: %w", err)
	}
	request.RecipientIDs = slices.DeleteFunc(slices.Clone(request.RecipientIDs), func(id uuid.UUID) bool { _, ok := receivable[id]; return !ok })
	if request.TeamIDs, err = s.existingTeams(ctx, run.organization, request.TeamIDs); err != nil {
		return err
	}
	request.leavesOut = true
	queued, broken, err := s.judgeRequest(ctx, run.actor(), request)
	if len(broken) > 0 {
		run.refused = fmt.Sprintf("The request breaks a rule: %s (%s).", broken[0].Detail, broken[0].Code)
	}
	queued.Schedule = &report.Scheduled{ID: run.ID, Name: run.Terms.Name}
	run.Queued = queued
	return err
}

// existingTeams are those of some teams that were not deleted.
func (s *Service) existingTeams(ctx context.Context, organization uuid.UUID, ids []uuid.UUID) ([]uuid.UUID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	teams, err := s.Accounts.Teams(ctx, organization)
	return slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool {
		return !slices.ContainsFunc(teams, func(t accounts.Team) bool { return t.ID == id })
	}), err
}

// actor is the owner, in whose name the report is requested.
func (r *ScheduleRun) actor() usecase.Actor {
	return usecase.Actor{OrganizationID: r.organization, MemberID: r.OwnerID, Component: "worker", World: r.world}
}

// NoRoomError says that a report that is due waits until others are built: too many are, or
// the same one is and has no room for all recipients.
type NoRoomError struct{ RetryAfter time.Duration }

func (e *NoRoomError) Error() string { return "there is no room among the reports being built" }

// RunSchedule records the outcomes of the due times that have passed. The latest requests its
// report, unless it is paused, refused or unchanged. The earlier ones were missed, for the
// reason that why gives. If the schedule has changed since it was planned, nothing is recorded,
// and it has to be looked at again.
//
// replan runs before anything is appended, with the time at which the schedule has to be looked
// at next; the zero time: never. Errors: *NoRoomError.
func (s *Service) RunSchedule(ctx context.Context, tx *sqlx.Tx, run *ScheduleRun, why func(due time.Time) string, replan func(next time.Time) error) (usecase.Mark, error) {
	if err := usecase.LockStream(ctx, tx, run.ID); err != nil {
		return usecase.Mark{}, err
	}
	var now schedule.Schedule
	at, err := usecase.Fold(ctx, s.Base, tx, run.organization, run.ID, ofSchedule(&now))
	if err != nil {
		return usecase.Mark{}, err
	}
	if now.Exists() != run.exists || !reflect.DeepEqual(now.State, run.State) {
		return usecase.Mark{}, replan(run.at)
	}
	if len(run.dues) == 0 {
		return usecase.Mark{}, replan(now.Next(run.zone))
	}
	if err := replan(now.Terms.Next(run.zone, run.latest())); err != nil {
		return usecase.Mark{}, err
	}
	outcome, err := s.outcome(ctx, tx, run)
	if err != nil {
		return usecase.Mark{}, err
	}
	events, err := now.Settle(run.dues, why, outcome)
	if err != nil {
		return usecase.Mark{}, err
	}
	return usecase.AppendAll(ctx, s.Base, tx, worker(run.organization), schedulePlace(run.ID), at, s.Clock(), events)
}

// outcome is what becomes of the latest due time; where that is a report, it is requested.
func (s *Service) outcome(ctx context.Context, tx *sqlx.Tx, run *ScheduleRun) (schedule.Event, error) {
	due := run.latest()
	switch {
	case run.paused != "":
		return schedule.Paused{DueAt: due, Reason: run.paused}, nil
	case run.refused != "":
		return schedule.Missed{DueAt: due, Reason: schedule.ReasonRefused, Detail: run.refused}, nil
	case run.Unchanged != uuid.Nil:
		return schedule.Unchanged{DueAt: due, ReportID: run.Unchanged}, nil
	}
	if run.Terms.PerTeam {
		return s.requestOfTeams(ctx, tx, run)
	}
	requested, err := s.createOrJoin(ctx, tx, run.actor(), usecase.NewID(), run.Queued)
	var full *usecase.RuleError
	if errors.As(err, &full) && full.Code == tooManyBuilding {
		return nil, &NoRoomError{RetryAfter: full.RetryAfter}
	}
	if err != nil {
		return nil, err
	}
	if len(requested.RecipientsNotAdded) > 0 { // the same report is being built, and is full: it is not joined after all
		return nil, &NoRoomError{RetryAfter: retryWhileBuilding}
	}
	return schedule.Requested{DueAt: due, ReportID: requested.ReportID}, nil
}
