package commands

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/accounts"
)

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
