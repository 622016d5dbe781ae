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
		f, err = s.found(ctx, tx, foundation{name: name, demo: demo, admin: admin, hash: hash})
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

// foundation is what found builds on.
type foundation struct {
	id        uuid.UUID // uuid.Nil: a new organization
	name      string    // empty: one that exists keeps its own
	demo      bool
	admin     *NewMember // may be nil
	hash      string
	requestID string
}

// found makes an organization (id uuid.Nil) or takes the one of that id, which it
// calls by the name that is given, and makes its administrator where one is given,
// with events and rows together.
func (s *Service) found(ctx context.Context, tx *sqlx.Tx, in foundation) (founded, error) {
	var f founded
	id, isNew := in.id, in.id == uuid.Nil
	if isNew {
		var err error
		if id, err = uuid.NewV7(); err != nil {
			return founded{}, err
		}
	}
	var person accounts.Member
	actor := Actor{OrganizationID: id, Component: "setup", RequestID: in.requestID}
	if in.admin != nil {
		var err error
		if person, err = s.person(id, *in.admin, organization.Active); err != nil {
			return founded{}, err
		}
		f.admin = &person
	}
	var is organization.Settings
	mark, err := s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
		events := o.Create(in.demo)
		if !isNew {
			var renamed []organization.Event
			var err error
			if is, renamed, err = s.called(ctx, tx, id, in.name); err != nil {
				return nil, err
			}
			events = append(events, renamed...)
		}
		if in.admin == nil {
			return events, nil
		}
		joined, err := o.Join(person.ID, in.admin.Role)
		return append(events, joined...), err
	}, func([]organization.Event) (err error) {
		if isNew {
			f.organization, err = s.Accounts.InsertOrganization(ctx, tx, id, in.name, in.demo)
		} else {
			f.organization, err = s.Accounts.UpdateSettings(ctx, tx, id, is)
		}
		if err != nil {
			return err
		}
		if in.admin == nil {
			return nil
		}
		return s.Accounts.InsertMember(ctx, tx, person, in.hash)
	})
	f.mark = mark
	return f, err
}

// called are the settings of an organization that exists, under another name where
// one is given, and what that changes.
func (s *Service) called(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, name string) (organization.Settings, []organization.Event, error) {
	o, err := s.Accounts.LockOrganization(ctx, tx, id)
	if err != nil {
		return organization.Settings{}, nil, err
	}
	var c organization.ChangeSettings
	if name != "" {
		c.Name = &name
	}
	is, events := o.Settings().Change(c)
	return is, events, nil
}
