package commands

import (
	"context"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/accounts"
)

// CreateOrganization makes a further organization; admin may be nil, and then
// a setup link makes its first administrator. Errors: *RuleError,
// *accounts.Refusal with weak_password or member_exists.
func (s *Service) CreateOrganization(ctx context.Context, name string, demo bool, admin *NewMember) (accounts.Organization, *accounts.Member, Mark, error) {
	var (
		hash string
		f    founded
	)
	if e := checkName("#/organizationName", name); e != nil {
		return accounts.Organization{}, nil, Mark{}, fieldErrors([]FieldError{*e})
	}
	if admin != nil {
		if err := admin.check(); err != nil {
			return accounts.Organization{}, nil, Mark{}, err
		}
		var err error
		if hash, err = s.Accounts.HashPassword(ctx, admin.Password, admin.Email, admin.Name, name); err != nil {
			return accounts.Organization{}, nil, Mark{}, err
		}
	}
	err := s.inTx(ctx, func(tx *sqlx.Tx) (err error) {
		f, err = s.found(ctx, tx, uuid.Nil, name, demo, admin, hash)
		return err
	})
	return f.organization, f.admin, f.mark, err
}

// founded is what found made.
type founded struct {
	organization accounts.Organization
	admin        *accounts.Member
	mark         Mark
}

// found makes an organization (id uuid.Nil) or takes the one of that id, and
// makes its administrator where one is given, with events and rows together.
func (s *Service) found(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, name string, demo bool, admin *NewMember, hash string) (founded, error) {
	var f founded
	isNew := id == uuid.Nil
	if isNew {
		var err error
		if id, err = uuid.NewV7(); err != nil {
			return founded{}, err
		}
	}
	var person accounts.Member
	actor := Actor{OrganizationID: id, Component: "setup"}
	if admin != nil {
		var err error
		if person, err = s.person(id, *admin, organization.Active); err != nil {
			return founded{}, err
		}
		f.admin = &person
	}
	mark, err := s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
		events := o.Create(demo)
		if admin == nil {
			return events, nil
		}
		joined, err := o.Join(person.ID, admin.Role)
		return append(events, joined...), err
	}, func([]organization.Event) (err error) {
		if isNew {
			if f.organization, err = s.Accounts.InsertOrganization(ctx, tx, id, name, demo); err != nil {
				return err
			}
		}
		if admin == nil {
			return nil
		}
		return s.Accounts.InsertMember(ctx, tx, person, hash)
	})
	f.mark = mark
	return f, err
}
