package commands

import (
	"context"
	_ "embed" // the statement
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/printable"
	"muster/eventstore"
	"muster/internal/postgres/statement"
)

//go:embed sql/assign_finding.sql
var assignSQL string

const maxTicketURL = 2000 // characters

// ChangeFinding changes who is to close a finding, and its ticket, each where its Set is.
type ChangeFinding struct {
	SetAssignee bool
	AssigneeID  *uuid.UUID // nil: nobody
	SetTicket   bool
	TicketURL   string // empty: none
}

// assigned is a finding with what people said of it.
type assigned struct {
	Instance uuid.UUID  `db:"instance_id"`
	Check    string     `db:"check_id"`
	Assignee *uuid.UUID `db:"assignee_id"`
	Ticket   string     `db:"ticket_url"`
}

// ChangeFinding records it. What stays as it is makes no event. Errors: *usecase.NotFoundError, *usecase.RuleError.
func (s *Service) ChangeFinding(ctx context.Context, actor usecase.Actor, id uuid.UUID, c ChangeFinding) (usecase.Mark, error) {
	if actor.MemberID == uuid.Nil {
		return usecase.Mark{}, errors.New("a finding is assigned by a member")
	}
	c.TicketURL = strings.TrimSpace(c.TicketURL)
	if broken := brokenTicket(c.TicketURL); c.SetTicket && broken != "" {
		return usecase.Mark{}, usecase.FieldError("#/ticketUrl", "url_not_allowed", broken)
	}
	return s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := usecase.LockStream(ctx, tx, id); err != nil {
			return usecase.Mark{}, err
		}
		return usecase.Decide(ctx, s.Base, tx, actor, findingPlace(id), func(any, time.Time) {}, func(time.Time) ([]organization.Event, error) {
			was, err := finding(ctx, tx, actor.OrganizationID, id)
			if err != nil {
				return nil, err
			}
			events, will := c.to(was)
			if len(events) == 0 {
				return nil, nil
			}
			if err := s.lockAssignee(ctx, tx, actor.OrganizationID, was, will); err != nil {
				return nil, err
			}
			return events, statement.Exec(ctx, tx, "assign a finding", assignSQL,
				id, actor.OrganizationID, was.Instance, will.Assignee, will.Ticket, !samePerson(was.Assignee, will.Assignee))
		}, nil)
	})
}

// finding is one of the organization, also one that has gone. It stays until tx ends, so that the
// assignment of a removed server's finding is not left behind. Errors: *usecase.NotFoundError.
func finding(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID) (assigned, error) {
	f, ok, err := statement.Find[assigned](ctx, tx, "look up a finding", `SELECT f.instance_id, f.check_id, a.assignee_id, coalesce(a.ticket_url, '') AS ticket_url
		FROM findings f LEFT JOIN finding_assignments a ON a.organization_id = f.organization_id AND a.finding_id = f.id
		WHERE f.organization_id = $1 AND f.id = $2 FOR KEY SHARE OF f`, organization, id)
	if err == nil && !ok {
		err = &usecase.NotFoundError{What: "finding"}
	}
	return f, err
}

// to is the finding as it will be, and what happens to it by that.
func (c ChangeFinding) to(was assigned) (events []organization.Event, will assigned) {
	about := organization.AboutFinding{InstanceID: was.Instance, CheckID: was.Check}
	will = was
	if c.SetAssignee && !samePerson(was.Assignee, c.AssigneeID) {
		will.Assignee = c.AssigneeID
		events = append(events, organization.FindingAssigned{AboutFinding: about, AssigneeID: c.AssigneeID})
	}
	if c.SetTicket && was.Ticket != c.TicketURL {
		will.Ticket = c.TicketURL
		events = append(events, organization.FindingTicketed{AboutFinding: about, Linked: c.TicketURL != ""})
	}
	return events, will
}

func samePerson(a, b *uuid.UUID) bool { return a == b || a != nil && b != nil && *a == *b }

// lockAssignee keeps who gets a finding from being erased until tx ends. Who has it already may have
// been disabled since. Foreign, unknown and inactive ids break the same rule.
func (s *Service) lockAssignee(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, was, will assigned) error {
	if will.Assignee == nil || samePerson(was.Assignee, will.Assignee) {
		return nil
	}
	active, err := s.Accounts.LockActive(ctx, tx, organization, *will.Assignee)
	if err == nil && !active {
		err = usecase.FieldError("#/assigneeId", "unknown_member", "no active member of the organization has this id")
	}
	return err
}

// brokenTicket is the rule that the address of a ticket breaks; empty: none. What it says never has
// the address.
func brokenTicket(text string) string {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return ""
	case !fits(text, 0, maxTicketURL):
		return fmt.Sprintf("must be at most %d characters", maxTicketURL)
	case err != nil || !printable.Name(text) || u.Opaque != "" || u.Hostname() == "":
		return "is not a URL with a host"
	case u.Scheme != "https" && u.Scheme != "http":
		return "must begin with https:// or http://"
	case u.User != nil:
		return "must be without user and password"
	}
	return ""
}

// releaseFindings takes every finding away from a member who is erased. Their row is locked.
func releaseFindings(ctx context.Context, tx *sqlx.Tx, organization, member uuid.UUID) error {
	return statement.Exec(ctx, tx, "release the findings of a member",
		`UPDATE finding_assignments SET assignee_id = NULL WHERE organization_id = $1 AND assignee_id = $2`, organization, member)
}

func findingPlace(id uuid.UUID) usecase.StreamPlace {
	return usecase.StreamPlace{Log: eventstore.Organization, StreamType: organization.FindingStream, ID: id}
}
