package commands

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/domain/team"
	"muster/internal/accounts"
)

// teamRun is the report of one team that a schedule asks for, or why it asks for none.
type teamRun struct {
	team   uuid.UUID
	queued report.Queued
	why    string // a sentence; empty: it is requested
}

// prepareTeams makes the request of each team, from its servers and its members as they are now.
func (s *Service) prepareTeams(ctx context.Context, run *ScheduleRun) error {
	teams, err := s.Accounts.Teams(ctx, run.organization)
	if err != nil {
		return err
	}
	request := requestOf(run.Terms, run.latest(), run.zone)
	covered, err := s.covered(ctx, run.organization, request)
	if err != nil {
		return err
	}
	for _, t := range teams {
		if len(run.Terms.TeamIDs) > 0 && !slices.Contains(run.Terms.TeamIDs, t.ID) {
			continue
		}
		of := teamRun{team: t.ID}
		if of.queued, of.why, err = s.prepareTeam(ctx, run, request, covered, t); err != nil {
			return err
		}
		run.teams = append(run.teams, of)
	}
	if !slices.ContainsFunc(run.teams, func(of teamRun) bool { return of.why == "" }) {
		run.refused = "No team has both active servers and somebody who can receive a report."
	}
	return nil
}

// prepareTeam is the request of a team: about those of its servers that the schedule's request covers.
func (s *Service) prepareTeam(ctx context.Context, run *ScheduleRun, request RequestReport, covered map[uuid.UUID]bool, t accounts.Team) (queued report.Queued, why string, err error) {
	names, err := s.Instances.SelectedNames(ctx, run.organization, t.Terms.Selector)
	if err != nil {
		return queued, "", fmt.Errorf("look up the servers of a team: %w", err)
	}
	maps.DeleteFunc(names, func(id uuid.UUID, _ string) bool {
		return covered != nil && !covered[id] || !run.world.Acts(id)
	})
	request.InstanceIDs, request.Tags, request.Team = slices.Collect(maps.Keys(names)), nil, &t
	if request.TeamIDs = nil; len(names) == 0 { // no id would mean all
		return queued, "It has no active server.", nil
	}
	if err := s.addMembers(ctx, run.organization, &request, t); err != nil {
		return queued, "", err
	}
	receivable, err := s.Accounts.Addresses(ctx, run.organization, request.RecipientIDs)
	if err != nil {
		return queued, "", fmt.Errorf("look up recipients: %w", err)
	}
	seeing, err := s.whoSee(ctx, run.organization, request.InstanceIDs, receivable)
	if err != nil {
		return queued, "", err
	}
	request.RecipientIDs = slices.DeleteFunc(request.RecipientIDs, func(id uuid.UUID) bool { return !seeing[id] })
	if len(request.RecipientIDs) == 0 {
		return queued, "The team has no member who can receive a report.", nil
	}
	queued, broken, err := s.judgeRequest(ctx, run.actor(), request)
	if len(broken) > 0 {
		why = fmt.Sprintf("The request breaks a rule: %s (%s).", broken[0].Detail, broken[0].Code)
	}
	queued.RecipientIDs = request.RecipientIDs // not the owner of the schedule, unless they are of the team
	queued.Schedule = &report.Scheduled{ID: run.ID, Name: run.Terms.Name}
	return queued, why, err
}

// covered are the servers that a request names; nil: it names none, and covers all.
func (s *Service) covered(ctx context.Context, organization uuid.UUID, request RequestReport) (map[uuid.UUID]bool, error) {
	ids := request.InstanceIDs
	if len(request.Tags) > 0 {
		names, err := s.Instances.SelectedNames(ctx, organization, team.Selector{Tags: request.Tags})
		if err != nil {
			return nil, fmt.Errorf("look up tags: %w", err)
		}
		ids = slices.Collect(maps.Keys(names))
	} else if len(ids) == 0 {
		return nil, nil
	}
	covered := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		covered[id] = true
	}
	return covered, nil
}

// requestOfTeams requests the reports of all teams, or none: they take one place among the reports
// that are built at once, for a schedule of many teams would never find room for all of them.
func (s *Service) requestOfTeams(ctx context.Context, tx *sqlx.Tx, run *ScheduleRun) (schedule.Event, error) {
	requested := schedule.Requested{DueAt: run.latest()}
	unlimited := *s
	for _, of := range run.teams {
		is := schedule.OfTeam{TeamID: of.team, Why: of.why}
		if of.why == "" {
			made, err := unlimited.createOrJoin(ctx, tx, run.actor(), usecase.NewID(), of.queued)
			var full *usecase.RuleError
			switch {
			case errors.As(err, &full) && full.Code == tooManyBuilding:
				return nil, &NoRoomError{RetryAfter: full.RetryAfter}
			case err != nil:
				return nil, err
			case len(made.RecipientsNotAdded) > 0:
				return nil, &NoRoomError{RetryAfter: retryWhileBuilding}
			}
			if is.ReportID = &made.ReportID; requested.ReportID == uuid.Nil {
				requested.ReportID, unlimited.Limits = made.ReportID, Limits{}
			}
		}
		requested.Teams = append(requested.Teams, is)
	}
	return requested, nil
}
