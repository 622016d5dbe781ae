package channel

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"muster/internal/accounts"
	"muster/internal/mail"
	"muster/internal/postgres/statement"
)

// Letter is the mail of a delivery to one recipient.
type Letter struct {
	To      uuid.UUID // a member, or an address that is no member's
	Address accounts.Address
	Leave   string // the link that ends the mails to an address; empty: it goes to a member
	// Teams are those whose events are in it; nil: it has all of the delivery.
	Teams   []uuid.UUID
	Message Message
}

// ToOwner is the letter to a member who gets the events of the teams that they belong to, and no others. Each
// event names the servers that these teams own alone. ok is false if there is no such event.
func (t Tools) ToOwner(ctx context.Context, d Delivery, teams []accounts.Team, member uuid.UUID, to accounts.Address) (letter Letter, ok bool, err error) {
	letter = Letter{To: member, Address: to, Message: d.Message}
	in, acting := accounts.Belongs(teams, member)
	for _, t := range in {
		letter.Teams = append(letter.Teams, t.ID)
	}
	if len(in) == 0 { // the filter would leave all events
		return letter, false, nil
	}
	letter.Message.Events, letter.Message.Omitted, err = t.Read(ctx, d, EventFilter{Owners: letter.Teams, Unnamed: HidesPeople(to.Role, len(acting) > 0)})
	for i, e := range letter.Message.Events {
		letter.Message.Events[i] = e.For(letter.Teams)
	}
	return letter, len(letter.Message.Events) > 0, err
}

// Mail mails each recipient who has not been mailed yet, and notes each at once. A test
// is not noted. Errors: *Error, ErrNobody if nobody is there to be mailed or was mailed.
func (t Tools) Mail(ctx context.Context, d Delivery, letters []Letter) (code int, err error) {
	var mailed []uuid.UUID
	if !d.Test {
		mailed, err = statement.All[uuid.UUID](ctx, t.DB, "read who was mailed", `SELECT member_id FROM delivery_mails WHERE delivery_id = $1`, d.ID)
		if err != nil {
			return 0, err
		}
	}
	if len(letters) == 0 && len(mailed) == 0 {
		return 0, ErrNobody
	}
	var temporary, final error
	for _, letter := range letters {
		if slices.Contains(mailed, letter.To) {
			continue
		}
		handover, err := t.send(ctx, letter)
		var refused *mail.DeliveryError
		switch {
		case errors.As(err, &refused) && !refused.Temporary:
			final = err
		case err != nil:
			temporary = err
		default:
			if code = handover.Code; d.Test {
				continue
			}
			err := statement.Exec(ctx, t.DB, "note a mail", `INSERT INTO delivery_mails (delivery_id, member_id, organization_id, sent_at, outside, teams)
				VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`, d.ID, letter.To, d.OrganizationID, t.Now(), letter.Leave != "", letter.Teams)
			if err != nil {
				return 0, err
			}
		}
	}
	return code, refusal(cmp.Or(temporary, final)) // one that may still be reached is tried first
}

// refusal is an error of a mail server as one of any receiver; others stay as they are.
func refusal(err error) error {
	if letter, ok := errors.AsType[*mail.DeliveryError](err); ok {
		return &Error{Code: letter.Code, Sentence: letter.Reason(), Final: !letter.Temporary}
	}
	return err
}

func (t Tools) send(ctx context.Context, l Letter) (mail.Handover, error) {
	m := l.Message
	n := mail.Notices{
		OrganizationID: m.OrganizationID, DeliveryID: m.ID, MemberID: l.To, Organization: m.Organization, Demo: m.Demo,
		Rule: m.Rule.Name, Heading: Heading(m), At: m.At, Omitted: m.Omitted, Leave: l.Leave,
	}
	for _, e := range m.Events {
		n.Lines = append(n.Lines, mail.NoticeLine{
			What: What(e), About: About(e), Why: Why(e), Link: Link(m.PublicURL, e), At: e.At,
			Facts: Facts(e), Acknowledge: Acknowledge(m.PublicURL, e), Dashboard: Dashboard(m.PublicURL, e),
		})
	}
	message, err := t.Composer.ComposeNotices(n, mail.Address{Name: l.Address.Name, Email: l.Address.Email})
	if err != nil {
		return mail.Handover{}, err
	}
	return t.Transport.Send(ctx, message)
}
