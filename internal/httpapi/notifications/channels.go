package notifications

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/commands/notifying"
	"muster/domain/notification"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/notify"
	"muster/internal/notify/channel"
)

const channelsPath = "/api/v1/channels/"

func (s *NotificationRoutes) ListChannels(ctx context.Context, _ api.ListChannelsRequestObject) (api.ListChannelsResponseObject, error) {
	channels, err := s.Told.Channels(ctx, wire.Caller(ctx).Organization.ID, nil)
	if err != nil {
		return nil, err
	}
	items, err := s.showChannels(ctx, channels)
	return api.ListChannels200JSONResponse{Items: items}, err
}

func (s *NotificationRoutes) GetChannel(ctx context.Context, r api.GetChannelRequestObject) (api.GetChannelResponseObject, error) {
	shown, err := s.channel(ctx, r.ChannelId)
	return api.GetChannel200JSONResponse(shown), err
}

// channel is one as it is now.
func (s *NotificationRoutes) channel(ctx context.Context, id uuid.UUID) (api.Channel, error) {
	channels, err := s.Told.Channels(ctx, wire.Caller(ctx).Organization.ID, &id)
	if err := wire.Found(len(channels) > 0, err, "channel"); err != nil {
		return api.Channel{}, err
	}
	shown, err := s.showChannels(ctx, channels)
	if err != nil {
		return api.Channel{}, err
	}
	return shown[0], nil
}

func (s *NotificationRoutes) CreateChannel(ctx context.Context, r api.CreateChannelRequestObject) (api.CreateChannelResponseObject, error) {
	addresses := trimmed(wire.Value(r.Body.Addresses))
	if err := s.canAsk(addresses, nil); err != nil {
		return nil, err
	}
	id, mark, err := s.Commands.CreateChannel(ctx, wire.Actor(ctx), notifying.CreateChannel{
		Name: r.Body.Name, Kind: notification.Kind(r.Body.Kind), MemberIDs: wire.Value(r.Body.MemberIds), Administrators: wire.Value(r.Body.Administrators), Addresses: addresses,
		Address: notification.Address{URL: wire.Value(r.Body.Url), Secret: wire.Value(r.Body.Secret), Format: notification.Format(wire.Value(r.Body.Format))},
	})
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	if err := s.ask(ctx, id, r.Body.Name, false); err != nil {
		return nil, err
	}
	shown, err := s.channel(ctx, id)
	return api.CreateChannel201JSONResponse{Body: shown, Headers: api.CreateChannel201ResponseHeaders{Location: channelsPath + id.String()}}, err
}

func (s *NotificationRoutes) ChangeChannel(ctx context.Context, r api.ChangeChannelRequestObject) (api.ChangeChannelResponseObject, error) {
	before, err := s.channel(ctx, r.ChannelId)
	if err != nil {
		return nil, err
	}
	addresses := r.Body.Addresses
	if addresses != nil {
		all := trimmed(*addresses)
		if err := s.canAsk(all, before.Addresses); err != nil {
			return nil, err
		}
		addresses = &all
	}
	mark, err := s.Commands.ChangeChannel(ctx, wire.Actor(ctx), r.ChannelId, notifying.ChangeChannel{
		Addresses: addresses, Name: r.Body.Name, MemberIDs: r.Body.MemberIds, Administrators: r.Body.Administrators, URL: r.Body.Url, Secret: r.Body.Secret,
		Format: (*notification.Format)(r.Body.Format),
	})
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	if err := s.ask(ctx, r.ChannelId, cmp.Or(wire.Value(r.Body.Name), before.Name), false); err != nil {
		return nil, err
	}
	shown, err := s.channel(ctx, r.ChannelId)
	return api.ChangeChannel200JSONResponse(shown), err
}

func (s *NotificationRoutes) RemoveChannel(ctx context.Context, r api.RemoveChannelRequestObject) (api.RemoveChannelResponseObject, error) {
	mark, err := s.Commands.RemoveChannel(ctx, wire.Actor(ctx), r.ChannelId)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return api.RemoveChannel204Response{}, nil
}

// trimmed are texts without the space around them.
func trimmed(texts []string) []string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = strings.TrimSpace(t)
	}
	return all
}

// canAsk refuses addresses that are not there yet where no mail could ask them.
func (s *NotificationRoutes) canAsk(addresses []string, there []api.ChannelAddress) error {
	known := func(text string) bool {
		return slices.ContainsFunc(there, func(a api.ChannelAddress) bool { return strings.EqualFold(a.Address, text) })
	}
	if s.Sender.Mails() || !slices.ContainsFunc(addresses, func(text string) bool { return !known(text) }) {
		return nil
	}
	return noMailServer()
}

func noMailServer() error {
	return &wire.Problem{Code: "no_mail_server", Detail: "No mail server is set, so an address that is no member's cannot be asked whether it agrees."}
}

// ask mails the question to addresses of a channel that are not confirmed: those that were
// never asked, or with again all. What could not be mailed shows as not asked.
func (s *NotificationRoutes) ask(ctx context.Context, channel uuid.UUID, name string, again bool) error {
	caller := wire.Caller(ctx)
	questions, err := s.Commands.AskAddresses(ctx, wire.Actor(ctx), channel, again)
	if err != nil {
		return err
	}
	asking, cancel := wire.Asking(ctx)
	defer cancel()
	for _, q := range questions {
		if err := s.Sender.Ask(asking, caller.Organization, name, caller.Member.Name, q); err != nil {
			s.Sender.Log.WarnContext(ctx, "an address of a channel could not be asked", "channel", channel, "address", q.AddressID, "error", err)
			if err := s.notAsked(ctx, q, notify.MayHaveArrived(err)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *NotificationRoutes) notAsked(ctx context.Context, q notifying.Question, arrived bool) error {
	ctx, cancel := wire.Noting(ctx)
	defer cancel()
	return s.Commands.NotAsked(ctx, wire.Caller(ctx).Organization.ID, q, arrived)
}

func (s *NotificationRoutes) AskChannelAddresses(ctx context.Context, r api.AskChannelAddressesRequestObject) (api.AskChannelAddressesResponseObject, error) {
	channel, err := s.channel(ctx, r.ChannelId)
	if err != nil {
		return nil, err
	}
	if !s.Sender.Mails() {
		return nil, noMailServer()
	}
	if err := s.ask(ctx, r.ChannelId, channel.Name, true); err != nil {
		return nil, err
	}
	shown, err := s.channel(ctx, r.ChannelId)
	return api.AskChannelAddresses200JSONResponse(shown), err
}

func (s *NotificationRoutes) ConfirmChannelAddress(ctx context.Context, r api.ConfirmChannelAddressRequestObject) (api.ConfirmChannelAddressResponseObject, error) {
	answer, mark, err := s.Commands.ConfirmAddress(ctx, r.Body.Token)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	shown, err := s.answer(ctx, answer)
	return api.ConfirmChannelAddress200JSONResponse(shown), err
}

func (s *NotificationRoutes) LeaveChannel(ctx context.Context, r api.LeaveChannelRequestObject) (api.LeaveChannelResponseObject, error) {
	answer, mark, err := s.Commands.LeaveChannel(ctx, r.Body.Token)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	shown, err := s.answer(ctx, answer)
	return api.LeaveChannel200JSONResponse(shown), err
}

// answer is whose alerts an address gets, or got.
func (s *NotificationRoutes) answer(ctx context.Context, a notifying.AddressAnswer) (api.AddressAnswer, error) {
	organization, _, err := s.Accounts.Organization(ctx, a.OrganizationID)
	return api.AddressAnswer{Organization: organization.Name, Channel: a.Channel}, err
}

func (s *NotificationRoutes) TestChannel(ctx context.Context, r api.TestChannelRequestObject) (api.TestChannelResponseObject, error) {
	asking, done := wire.Asking(ctx)
	defer done()
	t, err := s.Sender.Test(asking, wire.Caller(ctx).Organization, r.ChannelId)
	if err != nil {
		return nil, err
	}
	ctx, cancel := wire.Noting(ctx)
	defer cancel()
	if _, err := s.Commands.RecordChannelTest(ctx, wire.Actor(ctx), r.ChannelId, notification.ChannelTested{OK: t.OK, StatusCode: t.Code}); err != nil {
		return nil, err
	}
	return api.TestChannel200JSONResponse{Ok: t.OK, Outbox: t.Outbox, StatusCode: number(t.Code), DurationMs: t.Duration.Milliseconds(), Error: wire.Optional(t.Error)}, nil
}

// number is n, or null where there is none.
func number(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

func (s *NotificationRoutes) showChannels(ctx context.Context, channels []notify.Channel) ([]api.Channel, error) {
	var people []uuid.UUID
	for _, c := range channels {
		if c.CreatedBy != nil {
			people = append(people, *c.CreatedBy)
		}
	}
	names, err := wire.MemberNames(ctx, s.Accounts, people)
	if err != nil {
		return nil, err
	}
	return wire.List(channels, func(c notify.Channel) api.Channel {
		shown := api.Channel{
			Id: c.ID, Name: c.Name, Kind: string(c.Kind), MemberIds: wire.NeverNull([]uuid.UUID(c.MemberIDs)), Administrators: c.Administrators,
			Addresses: wire.List(c.Addresses, func(a notifying.ChannelAddress) api.ChannelAddress {
				return api.ChannelAddress{Id: a.ID, Address: a.Address, AskedAt: wire.UTC(a.AskedAt), ConfirmedAt: wire.UTC(a.ConfirmedAt)}
			}),
			Url: wire.Optional(c.URL), Format: wire.Optional(string(c.Format)), CreatedAt: c.CreatedAt.UTC(), CreatedBy: person(c.CreatedBy, names), Rules: references(c.Rules.Value),
		}
		if last := c.Last.Value; last != nil {
			shown.LastDelivery = &api.ChannelOutcome{Id: last.ID, Status: api.DeliveryStatus(last.Status), LastCode: number(last.Code), At: last.At.UTC()}
		}
		return shown
	}), nil
}

// person is a member by the name of today; null for Muster.
func person(id *uuid.UUID, names map[uuid.UUID]string) *api.Person {
	if id == nil {
		return nil
	}
	return &api.Person{Id: *id, Name: names[*id]}
}

func references(all []channel.Reference) []api.Reference {
	return wire.List(all, func(r channel.Reference) api.Reference { return api.Reference{Id: r.ID, Name: r.Name} })
}
