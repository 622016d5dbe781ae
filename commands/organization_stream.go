package commands

import (
	"context"
	"net/mail"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/printable"
	"muster/domain/rule"
	"muster/eventstore"
	"muster/internal/accounts"
)

// NewMember is a person to be added.
type NewMember struct {
	Email    string
	Name     string
	Role     organization.Role
	Password string // empty for an invitation
}

const maxEmail = 254 // RFC 5321

func (m NewMember) check() error {
	var broken []rule.Broken
	parsed, err := mail.ParseAddress(m.Email)
	if err != nil || parsed.Address != strings.TrimSpace(m.Email) || len(m.Email) > maxEmail || !printable.Name(m.Email) {
		broken = append(broken, rule.Broken{Pointer: "#/email", Code: "invalid_parameter", Detail: "is not an e-mail address"})
	}
	if e := usecase.CheckName("#/name", m.Name); e != nil {
		broken = append(broken, *e)
	}
	if !m.Role.Valid() {
		broken = append(broken, rule.Broken{Pointer: "#/role", Code: "invalid_parameter", Detail: "is not a role"})
	}
	return usecase.FieldErrors(broken)
}

func (s *Service) person(org uuid.UUID, m NewMember, status string) accounts.Member {
	return accounts.Member{
		ID: usecase.NewID(), OrganizationID: org, Email: strings.ToLower(strings.TrimSpace(m.Email)), Name: strings.TrimSpace(m.Name),
		Role: m.Role, Status: status, CreatedAt: s.Clock(),
	}
}

// decideOrganization decides about an organization under its lock: see decide. The
// rows of accounts are written in before.
func (s *Service) decideOrganization(
	ctx context.Context, tx *sqlx.Tx, actor usecase.Actor,
	choose func(o *organization.Organization) ([]organization.Event, error),
	before func(events []organization.Event) error,
) (usecase.Mark, error) {
	if err := usecase.LockStream(ctx, tx, actor.OrganizationID); err != nil {
		return usecase.Mark{}, err
	}
	var o organization.Organization
	to := usecase.StreamPlace{Log: eventstore.Organization, StreamType: organization.StreamType, ID: actor.OrganizationID}
	return usecase.Decide(ctx, s.Base, tx, actor, to, func(e organization.Event, _ time.Time) { o.Apply(e) },
		func(time.Time) ([]organization.Event, error) { return choose(&o) }, before)
}
