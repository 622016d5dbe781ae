package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/exception"
	"muster/domain/instant"
	"muster/domain/organization"
	"muster/domain/rule"
	"muster/domain/team"
	"muster/eventstore"
)

// RequestException asks to live with the findings of a subject until a time.
type RequestException struct {
	exception.Subject
	Reason string
	Until  time.Time
}

// RequestException records that a member asks for an exception. Errors:
// *usecase.RuleError with every broken rule.
func (s *Service) RequestException(ctx context.Context, actor usecase.Actor, r RequestException) (uuid.UUID, usecase.Mark, error) {
	if actor.MemberID == uuid.Nil {
		return uuid.Nil, usecase.Mark{}, errors.New("an exception is requested by a member")
	}
	now := s.Clock()
	requested, err := s.checkException(ctx, actor, r, now)
	if err != nil {
		return uuid.Nil, usecase.Mark{}, err
	}
	events, err := new(exception.Exception).Request(requested, now)
	if err != nil {
		return uuid.Nil, usecase.Mark{}, err
	}
	id := usecase.NewID()
	mark, err := s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		return usecase.AppendAll(ctx, s.Base, tx, actor, exceptionPlace(id), usecase.Stream{Version: eventstore.NoStream}, now, events)
	})
	return id, mark, err
}

// checkException holds a request against every rule at once and returns the
// event that it would record.
func (s *Service) checkException(ctx context.Context, actor usecase.Actor, r RequestException, now time.Time) (exception.Requested, error) {
	places, err := s.checkPlace(ctx, actor, r.Subject)
	if err != nil {
		return exception.Requested{}, err
	}
	if exception.IsRisk(r.CheckID) && len(places) == 0 {
		if places, err = s.checkRisk(ctx, actor, r.Subject); err != nil {
			return exception.Requested{}, err
		}
	}
	requested := exception.Requested{Subject: r.Subject, Reason: strings.TrimSpace(r.Reason), Until: instant.Cut(r.Until)}
	return requested, usecase.FieldErrors(slices.Concat(r.brokenSubject(s.Checks), places, r.brokenTerms(now)))
}

// Check returns a *usecase.RuleError with every rule that the request breaks whatever
// servers there are.
func (r RequestException) Check(checks Checks, now time.Time) error {
	return usecase.FieldErrors(append(r.brokenSubject(checks), r.brokenTerms(now)...))
}

func (r RequestException) brokenSubject(checks Checks) (broken []rule.Broken) {
	if !checks.Has(r.CheckID) && !exception.IsRisk(r.CheckID) {
		broken = append(broken, rule.Broken{Pointer: "#/checkId", Code: "unknown_check", Detail: "no such check is in the catalogue"})
	}
	if exception.IsRisk(r.CheckID) && (r.DatabaseID != nil || r.ObjectRef != "") {
		broken = append(broken, rule.Broken{Pointer: "#/objectRef", Code: "out_of_range", Detail: "a risk is about one table: name no database and no object beside it"})
	}
	if !fits(r.ObjectRef, 0, exception.MaxObject) {
		broken = append(broken, rule.Broken{Pointer: "#/objectRef", Code: "out_of_range", Detail: fmt.Sprintf("must be at most %d characters", exception.MaxObject)})
	}
	return broken
}

func (r RequestException) brokenTerms(now time.Time) (broken []rule.Broken) {
	if !fits(strings.TrimSpace(r.Reason), 1, exception.MaxReason) {
		broken = append(broken, rule.Broken{Pointer: "#/reason", Code: "out_of_range", Detail: fmt.Sprintf("must be 1 to %d characters", exception.MaxReason)})
	}
	if ahead := instant.Cut(r.Until).Sub(now); ahead <= 0 || ahead > exception.MaxAhead {
		broken = append(broken, rule.Broken{Pointer: "#/until", Code: "out_of_range", Detail: "must be in the future and at most 366 days ahead"})
	}
	return broken
}

// checkPlace returns the rules that a subject's place breaks. Foreign, unknown and
// removed ids break the same one, and so do ids outside the actor's world.
func (s *Service) checkPlace(ctx context.Context, actor usecase.Actor, subject exception.Subject) (broken []rule.Broken, err error) {
	if subject.InstanceID == nil {
		if subject.DatabaseID != nil {
			broken = append(broken, rule.Broken{Pointer: "#/databaseId", Code: "database_not_on_instance", Detail: "needs instanceId"})
		}
		if actor.World != nil {
			broken = append(broken, rule.Broken{Pointer: "#/instanceId", Code: "forbidden", Detail: "must name a server of your teams: an exception for all servers is not theirs"})
		}
		return broken, nil
	}
	names, err := s.Instances.InstanceNames(ctx, actor.OrganizationID, []uuid.UUID{*subject.InstanceID})
	if err != nil {
		return nil, fmt.Errorf("look up an instance: %w", err)
	}
	if _, ok := names[*subject.InstanceID]; !ok || !actor.World.Sees(*subject.InstanceID) {
		return append(broken, rule.Broken{Pointer: "#/instanceId", Code: "instance_not_in_organization", Detail: "unknown instance"}), nil
	}
	if !actor.World.Acts(*subject.InstanceID) {
		broken = append(broken, rule.Broken{Pointer: "#/instanceId", Code: "forbidden", Detail: seenOnly})
	}
	if subject.DatabaseID == nil {
		return broken, nil
	}
	_, ok, err := s.Instances.DatabaseOn(ctx, actor.OrganizationID, *subject.InstanceID, *subject.DatabaseID)
	if err != nil {
		return nil, fmt.Errorf("look up a database: %w", err)
	}
	if !ok {
		broken = append(broken, rule.Broken{Pointer: "#/databaseId", Code: "database_not_on_instance", Detail: "no such database on this instance"})
	}
	return broken, nil
}

// checkRisk refuses a risk that is not on the named server: unknown and foreign ones alike.
func (s *Service) checkRisk(ctx context.Context, actor usecase.Actor, subject exception.Subject) ([]rule.Broken, error) {
	if s.Risks != nil && subject.InstanceID != nil {
		on, _, ok, err := s.Risks.RiskOn(ctx, actor.OrganizationID, subject.CheckID)
		if err != nil || ok && on == *subject.InstanceID {
			return nil, err
		}
	}
	return []rule.Broken{{Pointer: "#/checkId", Code: "unknown_check", Detail: "no such risk is on the named server"}}, nil
}

// fits says whether a text can be kept and has so many characters.
func fits(text string, least, most int) bool {
	n := utf8.RuneCountInString(text)
	return n >= least && n <= most && !strings.ContainsRune(text, 0)
}

// GrantException puts an exception in force until it lapses or is revoked.
// Errors: *usecase.NotFoundError, *usecase.RuleError with invalid_state, also where its time is
// over, or with own_request where the organization wants four eyes and the actor
// requested it.
func (s *Service) GrantException(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return s.decideException(ctx, actor, id, func(tx *sqlx.Tx, x *exception.Exception, now time.Time) ([]exception.Event, error) {
		events, err := x.Grant(now)
		if err != nil {
			return nil, err
		}
		return events, s.refuseOwn(ctx, tx, actor, id)
	})
}

// refuseOwn enforces four eyes: if the organization requires it, the requester of an exception
// does not grant it. The setting cannot change until tx ends. Two accounts of one person count
// as two people.
func (s *Service) refuseOwn(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID) error {
	approval, err := s.Accounts.HoldsApproval(ctx, tx, actor.OrganizationID)
	if err != nil || approval != organization.ApprovalAnother {
		return err
	}
	for e, err := range s.Events.Load(ctx, tx, actor.OrganizationID, id) {
		if err != nil {
			return fmt.Errorf("read who requested exception %s: %w", id, err)
		}
		if e.Type == exception.Name(exception.Requested{}) && e.Actor() == actor.MemberID {
			return &usecase.RuleError{Code: "own_request",
				Detail: "You requested this exception, and the organization's settings want another administrator to grant it."}
		}
	}
	return nil
}

// RevokeException refuses a requested exception, or revokes a granted one. Somebody with the role
// team withdraws those for servers on which they act. Errors: *usecase.NotFoundError,
// *usecase.RuleError with invalid_state, also for one that has lapsed, or with forbidden.
func (s *Service) RevokeException(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return s.decideException(ctx, actor, id, func(_ *sqlx.Tx, x *exception.Exception, now time.Time) ([]exception.Event, error) {
		if err := withdraws(actor.World, x.Subject().InstanceID); err != nil {
			return nil, err
		}
		return x.Revoke(now)
	})
}

// withdraws refuses the end of an exception that is not about a server on which somebody acts.
func withdraws(world team.World, instance *uuid.UUID) error {
	switch {
	case world == nil:
		return nil
	case instance == nil:
		return &usecase.RuleError{Code: "forbidden", Detail: "Only administrators can revoke an exception for all servers."}
	case !world.Sees(*instance):
		return &usecase.NotFoundError{What: "exception"}
	case !world.Acts(*instance):
		return &usecase.RuleError{Code: "forbidden", Detail: usecase.OthersServer}
	}
	return nil
}

// decideException folds an exception under its lock and appends what choose
// returns. The id of anything else is that of no exception. Errors:
// *usecase.NotFoundError, *usecase.RuleError with invalid_state.
func (s *Service) decideException(
	ctx context.Context, actor usecase.Actor, id uuid.UUID, choose func(tx *sqlx.Tx, x *exception.Exception, now time.Time) ([]exception.Event, error),
) (usecase.Mark, error) {
	if actor.MemberID == uuid.Nil {
		return usecase.Mark{}, errors.New("an exception is decided by a member")
	}
	return s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := usecase.LockStream(ctx, tx, id); err != nil {
			return usecase.Mark{}, err
		}
		var x exception.Exception
		return usecase.Decide(ctx, s.Base, tx, actor, exceptionPlace(id), func(e any, _ time.Time) {
			if e, ok := e.(exception.Event); ok {
				x.Apply(e)
			}
		}, func(now time.Time) ([]exception.Event, error) {
			if x.Status() == "" {
				return nil, &usecase.NotFoundError{What: "exception"}
			}
			return choose(tx, &x, now)
		}, nil)
	})
}

func exceptionPlace(id uuid.UUID) usecase.StreamPlace {
	return usecase.StreamPlace{Log: eventstore.Organization, StreamType: exception.StreamType, ID: id}
}
