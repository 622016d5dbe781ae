package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/instant"
	"muster/domain/organization"
	"muster/domain/rule"
	"muster/internal/accounts"
)

// How long a token works.
const (
	defaultTokenLife = 90 * 24 * time.Hour
	maxTokenLife     = 366 * 24 * time.Hour // a year, whichever year it is
)

// MintToken creates an API token of the caller's own or an ingest token of their organization.
// Its secret is returned here and stored nowhere. A token never exceeds its owner's role, nor
// the scopes of its creator. Errors: *usecase.RuleError, with forbidden for rights that the caller may
// not pass on.
func (s *Service) MintToken(ctx context.Context, by accounts.Principal, requestID string, t accounts.NewToken) (accounts.Token, string, usecase.Mark, error) {
	now := s.Clock()
	if t.ExpiresAt.IsZero() {
		t.ExpiresAt = now.Add(defaultTokenLife)
	}
	if t.Kind == accounts.IngestToken {
		t.Scopes = []organization.Scope{organization.ScopeIngestWrite}
	}
	if err := checkToken(by, t, now); err != nil {
		return accounts.Token{}, "", usecase.Mark{}, err
	}
	token := accounts.Token{
		ID: usecase.NewID(), Kind: t.Kind, OrganizationID: by.Organization.ID, MemberID: by.Member.ID, Name: strings.TrimSpace(t.Name),
		Scopes: organization.Within(t.Scopes, t.Scopes), InstanceIDs: t.InstanceIDs, CreatedAt: now, ExpiresAt: instant.Cut(t.ExpiresAt),
	}
	if t.Kind == accounts.APIToken {
		token.InstanceIDs = nil
	}
	var text string
	actor := usecase.Actor{OrganizationID: by.Organization.ID, MemberID: by.Member.ID, RequestID: requestID}
	mark, err := s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		return s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.Mint(token.ID, token.Kind, token.MemberID, token.Scopes)
		}, func([]organization.Event) (err error) {
			text, token.Prefix, err = s.Accounts.InsertToken(ctx, tx, token)
			return err
		})
	})
	return token, text, mark, err
}

func checkToken(by accounts.Principal, t accounts.NewToken, now time.Time) error {
	var broken []rule.Broken
	if e := usecase.CheckName("#/name", t.Name); e != nil {
		broken = append(broken, *e)
	}
	if !t.ExpiresAt.After(now) || t.ExpiresAt.After(now.Add(maxTokenLife)) {
		broken = append(broken, rule.Broken{Pointer: "#/expiresAt", Code: "out_of_range", Detail: "must lie within a year from now"})
	}
	if t.InstanceIDs != nil && len(t.InstanceIDs) == 0 {
		broken = append(broken, rule.Broken{Pointer: "#/instanceIds", Code: "out_of_range", Detail: "must name at least one instance, or be absent for the whole organization"})
	}
	if t.Kind != accounts.APIToken && t.Kind != accounts.IngestToken {
		broken = append(broken, rule.Broken{Pointer: "#/kind", Code: "invalid_parameter", Detail: "is not a kind of token"})
	}
	if len(t.Scopes) == 0 {
		broken = append(broken, rule.Broken{Pointer: "#/scopes", Code: "out_of_range", Detail: "must name at least one scope"})
	}
	for i, scope := range t.Scopes {
		if !scope.Known() {
			broken = append(broken, rule.Broken{Pointer: fmt.Sprintf("#/scopes/%d", i), Code: "invalid_parameter", Detail: "is not a scope"})
		}
	}
	if len(broken) > 0 {
		return usecase.FieldErrors(broken)
	}
	if t.Kind == accounts.IngestToken && !by.Can(organization.ScopeAdmin) {
		return &usecase.RuleError{Code: "forbidden", Detail: "Only administrators can create ingest tokens."}
	}
	held := by.Permissions()
	for i, scope := range t.Scopes {
		if len(organization.Within(held, []organization.Scope{scope})) == 0 {
			broken = append(broken, rule.Broken{Pointer: fmt.Sprintf("#/scopes/%d", i), Code: "forbidden", Detail: "is more than you may do yourself"})
		}
	}
	return usecase.FieldErrors(broken)
}

// RevokeToken ends a token at once. A member revokes their own, an administrator any of the
// organization. A revoked token stays revoked. Errors: *usecase.NotFoundError, also for a token that is
// not the caller's to revoke.
func (s *Service) RevokeToken(ctx context.Context, by accounts.Principal, requestID, kind string, id uuid.UUID) (usecase.Mark, error) {
	owner := by.Member.ID
	if by.Can(organization.ScopeAdmin) {
		owner = uuid.Nil
	}
	actor := usecase.Actor{OrganizationID: by.Organization.ID, MemberID: by.Member.ID, RequestID: requestID}
	return s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		return s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			ok, err := s.Accounts.RevokeToken(ctx, tx, by.Organization.ID, owner, kind, id)
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, &usecase.NotFoundError{What: "token"}
			}
			return o.Revoke(id)
		}, nil)
	})
}
