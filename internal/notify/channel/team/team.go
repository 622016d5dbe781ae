// Package team mails notifications to the members of the team that owns the server of an event.
//
// The owner is that of the time at which a delivery is closed, which is when it is first sent. The
// Sender records it in each event and leaves out the events that nobody owns. The members are
// those of each attempt: somebody who has left the team meanwhile gets nothing. An alert about
// several servers goes to the owners of all of them. A member gets one mail, with the events of
// all their teams and no others, and each event names the servers of these teams alone.
package team

import (
	"context"
	_ "embed" // the statement
	"slices"

	"github.com/google/uuid"

	"muster/domain/notification"
	"muster/domain/rule"
	"muster/internal/accounts"
	"muster/internal/notify/channel"
	"muster/internal/postgres/statement"
)

// Name is the name of the kind.
const Name = notification.OwningTeam

//go:embed owners.sql
var ownersQuery string

// Kind is a mail to each member of the owning team. It has no settings.
func Kind() channel.Kind {
	return channel.Kind{Name: Name, Title: "Owning team", ToOwners: true, Validate: validate, Shown: channel.ShownURL, Send: send}
}

func validate(c notification.Channel) []rule.Broken { return channel.Refuse(c) }

// untestable says why a test mails nobody.
const untestable = "A channel to the owning team has no recipients of its own: each event goes to the team that owns its server. " +
	"The page of a server shows who will be notified."

// send mails each member of the owning teams the events of their teams.
func send(ctx context.Context, with channel.Tools, d channel.Delivery) (int, error) {
	if d.Test {
		return 0, &channel.Error{Sentence: untestable, Final: true}
	}
	owners, err := statement.All[uuid.UUID](ctx, with.DB, "read the owners of a delivery", ownersQuery, d.ID, d.OrganizationID)
	if err != nil {
		return 0, err
	}
	teams, err := with.Accounts.Teams(ctx, d.OrganizationID)
	if err != nil {
		return 0, err
	}
	teams = slices.DeleteFunc(teams, func(t accounts.Team) bool { return !slices.Contains(owners, t.ID) })
	members := accounts.MembersOf(teams)
	addresses, err := accounts.ConfirmedAddresses(ctx, with.DB, d.OrganizationID, members)
	if err != nil {
		return 0, err
	}
	var letters []channel.Letter
	for _, member := range members {
		to, confirmed := addresses[member]
		if !confirmed {
			continue
		}
		letter, ok, err := with.ToOwner(ctx, d, teams, member, to)
		if err != nil {
			return 0, err
		}
		if ok {
			letters = append(letters, letter)
		}
	}
	return with.Mail(ctx, d, letters)
}
