package commands

import (
	"context"
	"strings"
	"unicode"

	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/eventstore"
	"muster/internal/accounts"
)

// JoinByIdentity links an identity that nobody is linked to yet to the member with
// the address that the provider vouches for. An invited member joins by it,
// however old the invitation: it has proven nothing that the provider does not.
// Errors: *accounts.StrangerError.
//
// Two that come at once with one identity wait for each other on the member's
// row; both find it linked.
func (s *Service) JoinByIdentity(ctx context.Context, id accounts.Identity, email string, c accounts.Client) (Mark, error) {
	known, ok, err := s.Accounts.MemberByEmail(ctx, email)
	if err != nil {
		return Mark{}, err
	}
	if !ok || email == "" || strings.ContainsFunc(email, becomesASCII) {
		return Mark{}, &accounts.StrangerError{Reason: accounts.StrangerUnknown}
	}
	actor := Actor{OrganizationID: known.OrganizationID, MemberID: known.ID, RequestID: c.RequestID}
	mark := Mark{Log: eventstore.Organization}
	err = s.inTx(ctx, func(tx *sqlx.Tx) error {
		// The invitation, the stream, the row: in the order of whoever accepts an
		// invitation or erases a member.
		if err := s.Accounts.LockInvitation(ctx, tx, known.OrganizationID, known.ID); err != nil {
			return err
		}
		if err := lockStream(ctx, tx, known.OrganizationID); err != nil {
			return err
		}
		member, err := s.Accounts.LinkIdentity(ctx, tx, known.OrganizationID, known.ID, email, id, c)
		if err != nil || member.Status == organization.Active {
			return err
		}
		mark, err = s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
			return o.Join(member.ID, member.Role)
		}, func([]organization.Event) error {
			return s.Accounts.ActivateByIdentity(ctx, tx, member.ID)
		})
		return err
	})
	return mark, err
}

// becomesASCII finds letters such as the Kelvin sign, whose lower case is a plain
// k: addresses are compared in lower case, and with such a letter somebody else's
// address would pass for a member's.
func becomesASCII(r rune) bool { return r > unicode.MaxASCII && unicode.ToLower(r) <= unicode.MaxASCII }
