package signin

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/rule"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

func (s *MemberRoutes) ListApiTokens(ctx context.Context, _ api.ListApiTokensRequestObject) (api.ListApiTokensResponseObject, error) {
	who := wire.Caller(ctx)
	tokens, err := s.Accounts.Tokens(ctx, who.Organization.ID, who.Member.ID, accounts.APIToken)
	if err != nil {
		return nil, err
	}
	items := wire.List(usable(tokens), func(t accounts.Token) api.ApiToken { return showAPIToken(t, "") })
	return api.ListApiTokens200JSONResponse{Items: items}, nil
}

// usable leaves out what was revoked: the audit list keeps that.
func usable(tokens []accounts.Token) []accounts.Token {
	return slices.DeleteFunc(tokens, func(t accounts.Token) bool { return t.RevokedAt != nil })
}

func showAPIToken(t accounts.Token, secret string) api.ApiToken {
	return api.ApiToken{
		Id: t.ID, Token: wire.Optional(secret), Name: t.Name, Prefix: t.Prefix, Scopes: wire.Strings(t.Scopes), ExpiresAt: t.ExpiresAt.UTC(),
		CreatedAt: t.CreatedAt.UTC(), LastUsedAt: wire.UTC(t.LastUsedAt), LastUsedIp: wire.Optional(t.LastUsedIP),
	}
}

func (s *MemberRoutes) CreateApiToken(ctx context.Context, r api.CreateApiTokenRequestObject) (api.CreateApiTokenResponseObject, error) {
	token, secret, err := s.mint(ctx, accounts.NewToken{
		Kind: accounts.APIToken, Name: r.Body.Name, ExpiresAt: wire.Value(r.Body.ExpiresAt), Scopes: wire.Words[organization.Scope](r.Body.Scopes),
	})
	if err != nil {
		return nil, err
	}
	return api.CreateApiToken201JSONResponse{
		Body:    showAPIToken(token, secret),
		Headers: api.CreateApiToken201ResponseHeaders{Location: "/api/v1/api-tokens/" + token.ID.String()},
	}, nil
}

func (s *MemberRoutes) mint(ctx context.Context, in accounts.NewToken) (accounts.Token, string, error) {
	token, secret, mark, err := s.Commands.MintToken(ctx, wire.Caller(ctx), wire.CallOf(ctx).RequestID, in)
	if err == nil {
		wire.Settle(ctx, s.Waiter, mark)
	}
	return token, secret, err
}

func (s *MemberRoutes) RevokeApiToken(ctx context.Context, r api.RevokeApiTokenRequestObject) (api.RevokeApiTokenResponseObject, error) {
	return api.RevokeApiToken204Response{}, s.revoke(ctx, accounts.APIToken, r.TokenId)
}

func (s *MemberRoutes) revoke(ctx context.Context, kind string, id uuid.UUID) error {
	mark, err := s.Commands.RevokeToken(ctx, wire.Caller(ctx), wire.CallOf(ctx).RequestID, kind, id)
	if err == nil {
		wire.Settle(ctx, s.Waiter, mark)
	}
	return err
}

func (s *MemberRoutes) ListIngestTokens(ctx context.Context, _ api.ListIngestTokensRequestObject) (api.ListIngestTokensResponseObject, error) {
	tokens, err := s.Accounts.Tokens(ctx, wire.Caller(ctx).Organization.ID, uuid.Nil, accounts.IngestToken)
	if err != nil {
		return nil, err
	}
	items := wire.List(usable(tokens), func(t accounts.Token) api.IngestToken { return showIngestToken(t, "") })
	return api.ListIngestTokens200JSONResponse{Items: items}, nil
}

func showIngestToken(t accounts.Token, secret string) api.IngestToken {
	shown := api.IngestToken{
		Id: t.ID, Token: wire.Optional(secret), Name: t.Name, Prefix: t.Prefix, ExpiresAt: t.ExpiresAt.UTC(),
		CreatedAt: t.CreatedAt.UTC(), LastUsedAt: wire.UTC(t.LastUsedAt), LastUsedIp: wire.Optional(t.LastUsedIP),
	}
	if t.InstanceIDs != nil {
		shown.InstanceIds = (*[]uuid.UUID)(&t.InstanceIDs)
	}
	return shown
}

func (s *MemberRoutes) CreateIngestToken(ctx context.Context, r api.CreateIngestTokenRequestObject) (api.CreateIngestTokenResponseObject, error) {
	in := accounts.NewToken{Kind: accounts.IngestToken, Name: r.Body.Name, ExpiresAt: wire.Value(r.Body.ExpiresAt), InstanceIDs: wire.Value(r.Body.InstanceIds)}
	if err := s.onlyOurs(ctx, in.InstanceIDs); err != nil {
		return nil, err
	}
	token, secret, err := s.mint(ctx, in)
	if err != nil {
		return nil, err
	}
	return api.CreateIngestToken201JSONResponse{
		Body:    showIngestToken(token, secret),
		Headers: api.CreateIngestToken201ResponseHeaders{Location: "/api/v1/ingest-tokens/" + token.ID.String()},
	}, nil
}

// onlyOurs refuses ids that are not instances of the caller's organization;
// unknown and foreign ones alike.
func (s *MemberRoutes) onlyOurs(ctx context.Context, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	known, err := s.Fleet.InstanceNames(ctx, wire.Caller(ctx).Organization.ID, ids)
	if err != nil {
		return err
	}
	var fields []rule.Broken
	for i, id := range ids {
		if _, ok := known[id]; !ok {
			fields = append(fields, rule.Broken{Pointer: "#/instanceIds/" + strconv.Itoa(i), Code: "instance_not_in_organization", Detail: "unknown instance"})
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return &usecase.RuleError{Code: "instance_not_in_organization", Detail: "At least one instance is unknown.", Fields: fields}
}

func (s *MemberRoutes) RevokeIngestToken(ctx context.Context, r api.RevokeIngestTokenRequestObject) (api.RevokeIngestTokenResponseObject, error) {
	return api.RevokeIngestToken204Response{}, s.revoke(ctx, accounts.IngestToken, r.TokenId)
}
