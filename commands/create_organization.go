package commands

import (
	"context"
	"strings"

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
		id = newID()
	}
	var person accounts.Member
	actor := Actor{OrganizationID: id, Component: "setup", RequestID: in.requestID}
	if in.admin != nil {
		person = s.person(id, *in.admin, organization.Active)
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

// SetUp is what a person enters behind a setup link.
type SetUp struct {
	Token            string
	Email            string
	Name             string
	Password         string
	OrganizationName string // an organization that exists is renamed; empty: it keeps its name
	Demo             bool   // of a new organization
	RequestID        string
}

// SetUp makes the first administrator, in the link's organization, which is then
// called as they say, or a new one. Errors: *accounts.Refusal with setup_closed, forbidden (the link is of no use)
// or weak_password; *RuleError.
func (s *Service) SetUp(ctx context.Context, in SetUp) (accounts.Member, Mark, error) {
	admin := NewMember{Email: in.Email, Name: in.Name, Role: organization.Admin, Password: in.Password}
	if err := admin.check(); err != nil {
		return accounts.Member{}, Mark{}, err
	}
	required, err := s.Accounts.SetupRequired(ctx)
	if err != nil {
		return accounts.Member{}, Mark{}, err
	}
	var hash string
	if required { // else the link is refused below, and no hash is worth its second
		if hash, err = s.Accounts.HashPassword(ctx, in.Password, in.Email, in.Name, in.OrganizationName); err != nil {
			return accounts.Member{}, Mark{}, err
		}
	}
	var f founded
	err = s.inTx(ctx, func(tx *sqlx.Tx) error {
		id, err := s.Accounts.TakeSetupToken(ctx, tx, in.Token)
		if err != nil {
			return err
		}
		name := strings.TrimSpace(in.OrganizationName)
		if e := checkName("#/organizationName", name); e != nil && (id == uuid.Nil || name != "") {
			return fieldErrors([]FieldError{*e})
		}
		f, err = s.found(ctx, tx, foundation{
			id: id, name: name, demo: in.Demo, admin: &admin, hash: hash, requestID: in.RequestID,
		})
		return err
	})
	if err != nil {
		return accounts.Member{}, Mark{}, err
	}
	return *f.admin, f.mark, nil
}

// EnsureAdmin makes an administrator where the installation has none at all, in
// the organization of that name or a new one, and says whether it did. Replicas
// may call it together. Errors: *RuleError, *accounts.Refusal with weak_password or
// member_exists.
func (s *Service) EnsureAdmin(ctx context.Context, organizationName, email, password string) (created bool, err error) {
	required, err := s.Accounts.SetupRequired(ctx)
	if err != nil || !required {
		return false, err
	}
	name, _, _ := strings.Cut(email, "@")
	admin := NewMember{Email: email, Name: name, Role: organization.Admin, Password: password}
	if err := admin.check(); err != nil {
		return false, err
	}
	hash, err := s.Accounts.HashPassword(ctx, password, email)
	if err != nil {
		return false, err
	}
	err = s.inTx(ctx, func(tx *sqlx.Tx) error {
		if created, err = s.Accounts.LockSetup(ctx, tx); err != nil || !created {
			return err
		}
		id, err := s.Accounts.OrganizationNamed(ctx, tx, organizationName)
		if err != nil {
			return err
		}
		_, err = s.found(ctx, tx, foundation{id: id, name: organizationName, admin: &admin, hash: hash})
		return err
	})
	return created && err == nil, err
}
