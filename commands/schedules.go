package commands

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/eventstore"
)

// MaxSchedules is how many schedules an organization may have.
const MaxSchedules = 500

// CreateSchedule has a report requested in the actor's name whenever terms say. Errors:
// *usecase.RuleError with every broken rule.
func (s *Service) CreateSchedule(ctx context.Context, actor usecase.Actor, terms schedule.Terms) (uuid.UUID, usecase.Mark, error) {
	if actor.MemberID == uuid.Nil {
		return uuid.Nil, usecase.Mark{}, errors.New("a schedule is a member's")
	}
	terms = normal(terms)
	if err := s.checkTerms(ctx, actor.OrganizationID, actor.MemberID, terms); err != nil {
		return uuid.Nil, usecase.Mark{}, err
	}
	events, err := new(schedule.Schedule).Create(actor.MemberID, terms)
	if err != nil {
		return uuid.Nil, usecase.Mark{}, err
	}
	id := usecase.NewID()
	mark, err := s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := s.checkSchedules(ctx, tx, actor.OrganizationID); err != nil {
			return usecase.Mark{}, err
		}
		if err := s.Jobs.InsertRun(ctx, tx, actor.OrganizationID, id); err != nil {
			return usecase.Mark{}, err
		}
		return usecase.AppendAll(ctx, s.Base, tx, actor, schedulePlace(id), usecase.Stream{Version: eventstore.NoStream}, s.Clock(), events)
	})
	return id, mark, err
}

// EditSchedule is the input of ChangeSchedule.
type EditSchedule struct {
	Change   func(terms *schedule.Terms) // nil: nothing of them
	TakeOver bool                        // the actor becomes the owner
	Admin    bool                        // the actor may change what is others'
}

// ChangeSchedule changes a schedule, or its owner. A due time at the old times that still waits
// is missed. Errors: *usecase.NotFoundError, *usecase.RuleError with every broken rule, or with forbidden if it
// belongs to another member.
func (s *Service) ChangeSchedule(ctx context.Context, actor usecase.Actor, id uuid.UUID, edit EditSchedule) (usecase.Mark, error) {
	for {
		// The new schedule is checked against the rules before anything is locked, and again if
		// another member changed it meanwhile.
		var seen schedule.Schedule
		if _, err := usecase.Fold(ctx, s.Base, s.DB, actor.OrganizationID, id, ofSchedule(&seen)); err != nil {
			return usecase.Mark{}, err
		}
		owner, terms, err := edit.of(&seen, actor)
		if err != nil {
			return usecase.Mark{}, err
		}
		off := seen.Terms
		off.Enabled = false // which needs nothing of what it is about
		if edit.TakeOver || !reflect.DeepEqual(terms, seen.Terms) && !reflect.DeepEqual(terms, off) {
			if err := s.checkTerms(ctx, actor.OrganizationID, owner, terms); err != nil {
				return usecase.Mark{}, err
			}
		}
		mark, err := s.decideSchedule(ctx, actor, id, func(now *schedule.Schedule, zone *time.Location, at time.Time) ([]schedule.Event, error) {
			if now.Exists() != seen.Exists() || now.OwnerID != seen.OwnerID || !reflect.DeepEqual(now.Terms, seen.Terms) {
				return nil, errMoved
			}
			events := now.Change(terms, zone, at)
			return append(events, now.TakeOver(owner)...), nil
		})
		if !errors.Is(err, errMoved) {
			return mark, err
		}
	}
}

// errMoved says that another writer changed a schedule between reading and locking it.
var errMoved = errors.New("the schedule was changed meanwhile")

// of is what the edit makes of a schedule.
func (e EditSchedule) of(s *schedule.Schedule, actor usecase.Actor) (owner uuid.UUID, terms schedule.Terms, err error) {
	if err := mayEdit(s, actor, e.Admin); err != nil {
		return uuid.Nil, schedule.Terms{}, err
	}
	owner, terms = s.OwnerID, s.Terms.Normal() // lists of its own
	if e.TakeOver {
		owner = actor.MemberID
	}
	if e.Change != nil {
		e.Change(&terms)
	}
	return owner, normal(terms), nil
}

func mayEdit(s *schedule.Schedule, actor usecase.Actor, admin bool) error {
	switch {
	case !s.Exists():
		return &usecase.NotFoundError{What: "schedule"}
	case actor.MemberID == uuid.Nil || !admin && s.OwnerID != actor.MemberID:
		return &usecase.RuleError{Code: "forbidden", Detail: "Its owner and administrators change a schedule; an administrator may take it over."}
	}
	return nil
}

// RemoveSchedule ends a schedule; what waits is missed. Errors: *usecase.NotFoundError, *usecase.RuleError
// with forbidden.
func (s *Service) RemoveSchedule(ctx context.Context, actor usecase.Actor, id uuid.UUID, admin bool) (usecase.Mark, error) {
	return s.decideSchedule(ctx, actor, id, func(now *schedule.Schedule, zone *time.Location, at time.Time) ([]schedule.Event, error) {
		if err := mayEdit(now, actor, admin); err != nil {
			return nil, err
		}
		return now.Remove(zone, at), nil
	})
}

// decideSchedule folds a schedule under its lock and appends what choose returns. The id of
// anything else counts as no schedule. The schedule's job is locked first, as a worker does;
// the job finds out by itself when there is something to do.
func (s *Service) decideSchedule(
	ctx context.Context, actor usecase.Actor, id uuid.UUID,
	choose func(now *schedule.Schedule, zone *time.Location, at time.Time) ([]schedule.Event, error),
) (usecase.Mark, error) {
	return s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := s.Jobs.InsertRun(ctx, tx, actor.OrganizationID, id); err != nil {
			return usecase.Mark{}, err
		}
		if err := usecase.LockStream(ctx, tx, id); err != nil {
			return usecase.Mark{}, err
		}
		var now schedule.Schedule
		return usecase.Decide(ctx, s.Base, tx, actor, schedulePlace(id), ofSchedule(&now), func(at time.Time) ([]schedule.Event, error) {
			if !now.Exists() {
				return nil, &usecase.NotFoundError{What: "schedule"}
			}
			zone, _ := usecase.Zone(now.Terms.TimeZone) // nil: nothing is known to be due
			return choose(&now, zone, at)
		}, nil)
	})
}

// ofSchedule folds a schedule, and takes a stream of anything else for none.
func ofSchedule(s *schedule.Schedule) func(event any, at time.Time) {
	return func(event any, at time.Time) {
		if e, ok := event.(schedule.Event); ok {
			s.Apply(e, at)
		}
	}
}

func schedulePlace(id uuid.UUID) usecase.StreamPlace {
	return usecase.StreamPlace{Log: eventstore.Organization, StreamType: schedule.StreamType, ID: id}
}

// DueTimes are the next n due times of a recurrence. Errors: *usecase.RuleError.
func (s *Service) DueTimes(when schedule.Recurrence, n int) ([]time.Time, error) {
	broken := when.Validate()
	zone, err := usecase.Zone(when.TimeZone)
	if err != nil {
		broken.Add("#/timeZone", "unknown_time_zone", usecase.UnknownZone)
	}
	if len(broken) > 0 {
		return nil, usecase.RuleErrorOf(broken)
	}
	return when.NextOf(zone, s.Clock(), n), nil
}

func normal(terms schedule.Terms) schedule.Terms {
	terms = terms.Normal()
	terms.Name = strings.TrimSpace(terms.Name)
	return terms
}

// checkTerms holds terms against every rule at once.
func (s *Service) checkTerms(ctx context.Context, organization, owner uuid.UUID, terms schedule.Terms) error {
	broken := terms.Validate()
	if e := usecase.CheckName("#/name", terms.Name); e != nil {
		broken.Add(e.Pointer, e.Code, e.Detail)
	}
	zone, err := usecase.Zone(terms.TimeZone)
	if err != nil {
		broken.Add("#/timeZone", "unknown_time_zone", usecase.UnknownZone)
		zone = time.UTC
	}
	asked := terms
	asked.Scope.Window = "" // its fault is reported above
	if kind, err := report.Find(terms.Kind); err == nil && kind.Window > 0 && !kind.Daily {
		asked.Scope.Window = "7d"
	}
	now := s.Clock()
	request := requestOf(asked, now, zone)
	if request.timeZone != "" { // no due time: the day before now has another length
		from := now.Add(-24 * time.Hour)
		request.From = &from
	}
	if terms.PerTeam { // who receives which report is found out when it is due
		unknown, err := s.resolveTeams(ctx, organization, &RequestReport{TeamIDs: request.TeamIDs})
		if err != nil {
			return err
		}
		request.TeamIDs, request.leavesOut, broken = nil, true, append(broken, unknown...)
	}
	world, err := s.WorldOf(ctx, organization, owner)
	if err != nil {
		return err
	}
	_, more, err := s.judgeRequest(ctx, usecase.Actor{OrganizationID: organization, MemberID: owner, World: world}, request)
	if err != nil {
		return err
	}
	if broken = append(broken, more...); len(broken) > 0 {
		return usecase.RuleErrorOf(broken)
	}
	return nil
}

// requestOf is the request that terms make at a due time, by the clocks of their zone.
func requestOf(terms schedule.Terms, due time.Time, zone *time.Location) RequestReport {
	scope := terms.ScopeAt(due, zone)
	return RequestReport{
		Kind: terms.Kind, InstanceIDs: scope.InstanceIDs, Tags: scope.Tags, DatabaseID: scope.DatabaseID, From: scope.From, To: scope.To, timeZone: scope.TimeZone,
		RecipientIDs: terms.RecipientIDs, TeamIDs: terms.TeamIDs,
	}
}

// checkSchedules refuses one schedule too many. Creations of one organization go one after
// the other, so that the bound is exact.
func (s *Service) checkSchedules(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) error {
	if s.Schedules == nil {
		return nil
	}
	if err := usecase.LockStream(ctx, tx, organization); err != nil {
		return err
	}
	n, err := s.Schedules.Count(ctx, tx, organization)
	if err != nil || n < MaxSchedules {
		return err
	}
	return &usecase.RuleError{
		Code:   "too_many_schedules",
		Detail: fmt.Sprintf("An organization has at most %d schedules; remove one that is not needed.", MaxSchedules),
	}
}
