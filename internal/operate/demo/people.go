package demo

import (
	"context"
	"crypto/rand"
	_ "embed"

	"github.com/google/uuid"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

//go:embed sql/left.sql
var leftSQL string

// people invites the members and returns them, in the order of the list.
func (d *Demo) people(ctx context.Context, actor usecase.Actor) ([]uuid.UUID, error) {
	var team []uuid.UUID
	for _, p := range people {
		member, ok, err := d.Accounts.MemberByEmail(ctx, p.email)
		if err != nil {
			return nil, err
		}
		var token string
		if !ok {
			member, token, _, _, err = d.Commands.InviteMember(ctx, actor, commands.NewMember{Email: p.email, Name: p.name, Role: p.role})
			if err != nil {
				return nil, err
			}
		}
		if p.joins && member.Status == organization.Invited {
			if err := d.join(ctx, actor, member, token); err != nil {
				return nil, err
			}
		}
		team = append(team, member.ID)
	}
	return team, nil
}

// join has somebody accept an invitation, with a password that is forgotten at once. Where
// the process died after it was made, its token is gone, and another is.
func (d *Demo) join(ctx context.Context, actor usecase.Actor, member accounts.Member, token string) (err error) {
	if token == "" {
		if _, token, _, err = d.Commands.RenewInvitation(ctx, actor, member.ID); err != nil {
			return err
		}
	}
	_, _, err = d.Commands.AcceptInvitation(ctx, commands.AcceptInvitation{Token: token, Password: rand.Text()})
	return err
}

// leave has a member disabled by another, once: whoever lets them in again has the last word.
func (d *Demo) leave(ctx context.Context, organizationID, member, by uuid.UUID) error {
	left, err := statement.One[bool](ctx, d.DB, "look whether they ever left", leftSQL, organizationID, member.String())
	if err != nil || left {
		return err
	}
	disabled := organization.Disabled
	_, _, err = d.Commands.ChangeMember(ctx, usecase.Actor{OrganizationID: organizationID, MemberID: by}, member, commands.ChangeMember{Status: &disabled})
	return err
}
