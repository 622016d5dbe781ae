// Package email mails notifications to members, to all administrators, and to addresses that
// belong to no member and agreed to alerts. A member with the role team gets only the events
// of servers that their teams own, as from a channel of kind team.
package email

import (
	"context"
	"fmt"
	netmail "net/mail"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/commands/notifying"
	"muster/domain/notification"
	"muster/domain/organization"
	"muster/domain/printable"
	"muster/domain/rule"
	"muster/internal/accounts"
	"muster/internal/notify/channel"
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

// send mails the events of a delivery: to members all of them or, with the role team, those of their teams; to
// others those of alerts.
func send(ctx context.Context, with channel.Tools, d channel.Delivery) (int, error) {
	members, err := recipients(ctx, with, d.Channel)
	if err != nil {
		return 0, err
	}
	outside, err := outsiders(ctx, with, d.Channel)
	if err != nil {
		return 0, err
	}
	letters, err := toMembers(ctx, with, d, members)
	if err != nil {
		return 0, err
	}
	theirs := d.Message
	if len(outside) > 0 {
		if theirs.Events, theirs.Omitted, err = with.Read(ctx, d, channel.EventFilter{Alerts: true}); err != nil {
			return 0, err
		}
		if len(theirs.Events) == 0 && !d.Test {
			outside = nil
		}
	}
	for _, a := range outside {
		letters = append(letters, channel.Letter{To: a.ID, Address: accounts.Address{Email: a.Address}, Leave: leaveLink(d.PublicURL, a), Message: theirs})
	}
	return with.Mail(ctx, d, letters)
}

// toMembers are the letters to members. A test has no events, and goes to all of them.
func toMembers(ctx context.Context, with channel.Tools, d channel.Delivery, members map[uuid.UUID]accounts.Address) (letters []channel.Letter, err error) {
	all := d.Message
	if all.Events, all.Omitted, err = with.Read(ctx, d, channel.EventFilter{}); err != nil {
		return nil, err
	}
	unnamed := d.Message
	if unnamed.Events, unnamed.Omitted, err = with.Read(ctx, d, channel.EventFilter{Unnamed: true}); err != nil {
		return nil, err
	}
	var limited []uuid.UUID
	for member, to := range members {
		if to.Role == organization.Team && !d.Test {
			limited = append(limited, member)
			continue
		}
		theirs := all
		if channel.HidesPeople(to.Role, true) {
			theirs = unnamed
		}
		letters = append(letters, channel.Letter{To: member, Address: to, Message: theirs})
	}
	if len(limited) == 0 {
		return letters, nil
	}
	teams, err := with.Accounts.Teams(ctx, d.OrganizationID)
	if err != nil {
		return nil, err
	}
	for _, member := range limited {
		letter, ok, err := with.ToOwner(ctx, d, teams, member, members[member])
		if err != nil {
			return nil, err
		}
		if ok {
			letters = append(letters, letter)
		}
	}
	return letters, nil
}

// recipients are the members that a channel leads to now.
func recipients(ctx context.Context, with channel.Tools, row notifying.ChannelRow) (map[uuid.UUID]accounts.Address, error) {
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
func outsiders(ctx context.Context, with channel.Tools, row notifying.ChannelRow) ([]notifying.ChannelAddress, error) {
	all, err := notifying.ChannelAddresses(ctx, with.DB, row.OrganizationID, row.ID)
	return slices.DeleteFunc(all, func(a notifying.ChannelAddress) bool { return a.ConfirmedAt == nil }), err
}

// leaveLink ends the mails to an address. Its secret is in the fragment, which no server logs.
func leaveLink(publicURL string, a notifying.ChannelAddress) string {
	return pageaddress.Link(publicURL, pageaddress.LeaveAlerts) + "#" + a.LeaveToken
}
