// Package email mails notifications to members, to all administrators, and to addresses that
// belong to no member and agreed to alerts.
package email

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/notification"
	"muster/domain/printable"
	"muster/domain/rule"
	"muster/internal/accounts"
	"muster/internal/mail"
	"muster/internal/notify/channel"
	"muster/internal/postgres/statement"
	"muster/internal/text/pageaddress"
)

// Kind is a mail to each recipient.
func Kind() channel.Kind {
	return channel.Kind{Name: notification.Email, Title: "E-mail", Validate: validate, Shown: channel.ShownURL, Send: send}
}

func validate(c notification.Channel) []rule.Broken {
	broken := brokenRecipients(c.MemberIDs, c.Administrators || len(c.Addresses) > 0)
	broken = append(broken, brokenAddresses(c.Addresses)...)
	return append(broken, channel.Refuse(c, channel.MemberIDs, channel.Administrators, channel.Addresses)...)
}

// brokenRecipients returns the rules that recipients break; others says that there are some
// beside these members.
func brokenRecipients(members []uuid.UUID, others bool) []rule.Broken {
	switch {
	case len(members) > notification.MaxMembers:
		return []rule.Broken{{Pointer: "#/memberIds", Code: "out_of_range", Detail: fmt.Sprintf("must be at most %d", notification.MaxMembers)}}
	case len(members) == 0 && !others:
		return []rule.Broken{{Pointer: "#/memberIds", Code: "member_required", Detail: "must name at least one member, or administrators must be true"}}
	}
	return nil
}

// brokenAddresses returns the rules that addresses break which belong to no member.
func brokenAddresses(addresses []string) (broken []rule.Broken) {
	refuse := func(pointer, detail string) {
		broken = append(broken, rule.Broken{Pointer: pointer, Code: "out_of_range", Detail: detail})
	}
	if len(addresses) > notification.MaxAddresses {
		refuse("#/addresses", fmt.Sprintf("must be at most %d", notification.MaxAddresses))
	}
	there := map[string]bool{}
	for i, text := range addresses {
		pointer, folded := fmt.Sprintf("#/addresses/%d", i), strings.ToLower(text)
		parsed, err := netmail.ParseAddress(text)
		switch {
		case len(text) > notification.MaxAddress:
			refuse(pointer, fmt.Sprintf("must be at most %d bytes", notification.MaxAddress))
		case err != nil || parsed.Name != "" || parsed.Address != text || !printable.Name(text):
			refuse(pointer, "is not an e-mail address such as team@example.org")
		case there[folded]:
			refuse(pointer, "is there twice")
		}
		there[folded] = true
	}
	return broken
}

// send mails each recipient, member or not, who has not been mailed yet, and notes each at once.
func send(ctx context.Context, with channel.Tools, d channel.Delivery) (int, error) {
	members, err := recipients(ctx, with, d.Channel)
	if err != nil {
		return 0, err
	}
	outside, err := outsiders(ctx, with, d.Channel)
	if err != nil {
		return 0, err
	}
	if d.Test {
		return test(ctx, with, d, members, outside)
	}
	return deliver(ctx, with, d, members, outside)
}

// recipients are the members that a channel leads to now.
func recipients(ctx context.Context, with channel.Tools, row commands.ChannelRow) (map[uuid.UUID]accounts.Address, error) {
	ids := slices.Clone([]uuid.UUID(row.MemberIDs))
	if row.Administrators {
		administrators, err := with.Accounts.Administrators(ctx, row.OrganizationID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, administrators...)
	}
	return with.Accounts.Addresses(ctx, row.OrganizationID, ids)
}

// outsiders are the addresses of a channel that are no members' and agreed to alerts.
func outsiders(ctx context.Context, with channel.Tools, row commands.ChannelRow) ([]commands.ChannelAddress, error) {
	all, err := commands.ChannelAddresses(ctx, with.DB, row.OrganizationID, row.ID)
	return slices.DeleteFunc(all, func(a commands.ChannelAddress) bool { return a.ConfirmedAt == nil }), err
}

// leaveLink ends the mails to an address. Its secret is in the fragment, which no server logs.
func leaveLink(publicURL string, a commands.ChannelAddress) string {
	return pageaddress.Link(publicURL, pageaddress.LeaveAlerts) + "#" + a.LeaveToken
}

// test mails everybody, and notes nothing.
func test(ctx context.Context, with channel.Tools, d channel.Delivery, members map[uuid.UUID]accounts.Address, outside []commands.ChannelAddress) (code int, err error) {
	if len(members)+len(outside) == 0 {
		return 0, channel.ErrNobody
	}
	one := func(id uuid.UUID, to accounts.Address, leave string) {
		handover, failed := mailTo(ctx, with, d.Message, id, to, leave)
		code, err = max(code, handover.Code), cmp.Or(err, failed)
	}
	for member, to := range members {
		one(member, to, "")
	}
	for _, a := range outside {
		one(a.ID, accounts.Address{Email: a.Address}, leaveLink(d.PublicURL, a))
	}
	return code, refusal(err)
}

// deliver mails the events of a delivery: to members all of them, to others those of alerts.
func deliver(ctx context.Context, with channel.Tools, d channel.Delivery, members map[uuid.UUID]accounts.Address, outside []commands.ChannelAddress) (code int, err error) {
	told, err := statement.All[uuid.UUID](ctx, with.DB, "read who was mailed", `SELECT member_id FROM delivery_mails WHERE delivery_id = $1`, d.ID)
	if err != nil {
		return 0, err
	}
	m, theirs := d.Message, d.Message
	if m.Events, m.Omitted, err = with.Read(ctx, d, false); err != nil {
		return 0, err
	}
	if len(outside) > 0 {
		if theirs.Events, theirs.Omitted, err = with.Read(ctx, d, true); err != nil {
			return 0, err
		}
		if len(theirs.Events) == 0 {
			outside = nil
		}
	}
	if len(members)+len(outside) == 0 && len(told) == 0 {
		return 0, channel.ErrNobody
	}
	var temporary, final error
	tell := func(m channel.Message, id uuid.UUID, to accounts.Address, leave string) error {
		if slices.Contains(told, id) {
			return nil
		}
		handover, err := mailTo(ctx, with, m, id, to, leave)
		var refused *mail.DeliveryError
		switch {
		case errors.As(err, &refused) && !refused.Temporary:
			final = err
		case err != nil:
			temporary = err
		default:
			code = handover.Code
			return statement.Exec(ctx, with.DB, "note a mail", `INSERT INTO delivery_mails (delivery_id, member_id, organization_id, sent_at, outside)
				VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`, d.ID, id, d.OrganizationID, with.Now(), leave != "")
		}
		return nil
	}
	for member, to := range members {
		if err := tell(m, member, to, ""); err != nil {
			return 0, err
		}
	}
	for _, a := range outside {
		if err := tell(theirs, a.ID, accounts.Address{Email: a.Address}, leaveLink(d.PublicURL, a)); err != nil {
			return 0, err
		}
	}
	return code, refusal(cmp.Or(temporary, final)) // one that may still be reached is tried first
}

// refusal is an error of a mail server as one of any receiver; others stay as they are.
func refusal(err error) error {
	if letter, ok := errors.AsType[*mail.DeliveryError](err); ok {
		return &channel.Error{Code: letter.Code, Sentence: letter.Reason(), Final: !letter.Temporary}
	}
	return err
}

func mailTo(ctx context.Context, with channel.Tools, m channel.Message, member uuid.UUID, to accounts.Address, leave string) (mail.Handover, error) {
	n := mail.Notices{
		OrganizationID: m.OrganizationID, DeliveryID: m.ID, MemberID: member, Organization: m.Organization, Demo: m.Demo,
		Rule: m.Rule.Name, Heading: channel.Heading(m), At: m.At, Omitted: m.Omitted, Leave: leave,
	}
	for _, e := range m.Events {
		n.Lines = append(n.Lines, mail.NoticeLine{
			What: channel.What(e), About: channel.About(e), Why: channel.Why(e), Link: channel.Link(m.PublicURL, e), At: e.At,
			Facts: channel.Facts(e), Acknowledge: channel.Acknowledge(m.PublicURL, e), Dashboard: channel.Dashboard(m.PublicURL, e),
		})
	}
	message, err := with.Composer.ComposeNotices(n, mail.Address{Name: to.Name, Email: to.Email})
	if err != nil {
		return mail.Handover{}, err
	}
	return with.Transport.Send(ctx, message)
}
