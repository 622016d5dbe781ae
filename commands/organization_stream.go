package commands

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/legible"
	"muster/domain/organization"
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

// check returns every rule that the person breaks.
func (m NewMember) check() error {
	var broken []FieldError
	parsed, err := mail.ParseAddress(m.Email)
	if err != nil || parsed.Address != strings.TrimSpace(m.Email) || len(m.Email) > maxEmail || !legible.Name(m.Email) {
		broken = append(broken, FieldError{Pointer: "#/email", Code: "invalid_parameter", Detail: "is not an e-mail address"})
	}
	if e := checkName("#/name", m.Name); e != nil {
		broken = append(broken, *e)
	}
	if !m.Role.Valid() {
		broken = append(broken, FieldError{Pointer: "#/role", Code: "invalid_parameter", Detail: "is not a role"})
	}
	return fieldErrors(broken)
}

func checkName(pointer, name string) *FieldError {
	switch n := utf8.RuneCountInString(strings.TrimSpace(name)); {
	case n < 1 || n > maxIDRunes || strings.ContainsRune(name, 0):
		return &FieldError{Pointer: pointer, Code: "out_of_range", Detail: fmt.Sprintf("must be 1 to %d characters", maxIDRunes)}
	case !legible.Name(name):
		return &FieldError{Pointer: pointer, Code: "invalid_name", Detail: legible.Rule}
	}
	return nil
}

// person is the row of a member to be stored.
func (s *Service) person(org uuid.UUID, m NewMember, status string) (accounts.Member, error) {
	id, err := uuid.NewV7()
	return accounts.Member{
		ID: id, OrganizationID: org, Email: strings.ToLower(strings.TrimSpace(m.Email)), Name: strings.TrimSpace(m.Name),
		Role: m.Role, Status: status, CreatedAt: s.clock(),
	}, err
}

// decideOrganization folds an organization under its lock and appends what
// decide returns. before runs between the two where there is anything to
// append: the rows of accounts are written there, before the log is locked.
func (s *Service) decideOrganization(
	ctx context.Context, tx *sqlx.Tx, actor Actor,
	decide func(o *organization.Organization) ([]organization.Event, error),
	before func(events []organization.Event) error,
) (Mark, error) {
	if err := lockStream(ctx, tx, actor.OrganizationID); err != nil {
		return Mark{}, err
	}
	var o organization.Organization
	at, err := fold(ctx, s, tx, actor.OrganizationID, actor.OrganizationID, func(e organization.Event, _ time.Time) { o.Apply(e) })
	if err != nil {
		return Mark{}, err
	}
	events, err := decide(&o)
	if err != nil || len(events) == 0 {
		return Mark{Log: eventstore.Organization}, refused(err)
	}
	if before != nil {
		if err := before(events); err != nil {
			return Mark{}, err
		}
	}
	to := streamPlace{eventstore.Organization, organization.StreamType, actor.OrganizationID}
	return appendAll(ctx, s, tx, actor, to, at, s.clock(), events)
}

// refused says what the domain refuses in the contract's codes.
func refused(err error) error {
	var (
		last    *organization.LastAdminError
		unknown *organization.UnknownError
		status  *organization.InvalidStatusError
	)
	switch {
	case errors.As(err, &last):
		return &RuleError{Code: "last_admin", Title: titles()["last_admin"], Detail: "Make somebody else an administrator first."}
	case errors.As(err, &unknown):
		return &NotFoundError{What: unknown.What}
	case errors.As(err, &status):
		return &RuleError{Code: "invalid_state", Title: titles()["invalid_state"], Detail: status.Error() + "."}
	}
	return err
}
