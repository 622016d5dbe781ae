package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"muster/commands/notifying"
	"muster/internal/accounts"
	"muster/internal/mail"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/kinds"
	"muster/internal/text/pageaddress"
)

// tell sends a delivery once. Errors: *channel.Error, channel.ErrNobody, and ours.
func (s *Sender) tell(ctx context.Context, d deliveryRow, by through) (code int, err error) {
	kind, err := kinds.Find(by.Kind)
	if err != nil {
		return 0, err
	}
	organization, ok, err := s.Accounts.Organization(ctx, d.OrganizationID)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, channel.ErrNobody
	}
	m := s.message(organization)
	m.ID, m.At, m.Rule = d.ID, *d.ClosedAt, channel.Reference{ID: d.Rule, Name: by.RuleName}
	return kind.Send(ctx, s.tools(), channel.Delivery{Channel: by.ChannelRow, Message: m})
}

func (s *Sender) tools() channel.Tools {
	return channel.Tools{
		DB: s.DB, Accounts: s.Accounts, Seal: s.Seal, Poster: s.Poster, Composer: s.Composer, Transport: s.Transport, Now: s.Now,
	}
}

// message is what is the same in every message to an organization.
func (s *Sender) message(organization accounts.Organization) channel.Message {
	return channel.Message{OrganizationID: organization.ID, Organization: organization.Name, Demo: organization.Demo, PublicURL: s.PublicURL}
}

// Mails says whether mail goes to a server, and not into the outbox.
func (s *Sender) Mails() bool {
	_, outbox := s.Transport.(*mail.Outbox)
	return !outbox
}

// Ask mails the question whether an address agrees to get alerts. Errors: *mail.DeliveryError.
func (s *Sender) Ask(ctx context.Context, organization accounts.Organization, channel, asker string, q notifying.Question) error {
	message, err := s.Composer.ComposeConfirmation(mail.Confirmation{
		OrganizationID: organization.ID, AddressID: q.AddressID, Organization: organization.Name, Demo: organization.Demo,
		Asker: asker, Channel: channel, Link: pageaddress.Link(s.PublicURL, pageaddress.ConfirmAlert) + "#" + q.Token,
	}, mail.Address{Email: q.Address})
	if err != nil {
		return err
	}
	_, err = s.Transport.Send(ctx, message)
	return err
}

// MayHaveArrived says of an error of Ask whether the mail may be there all the same: the
// connection broke, or the time was over, after the message was sent and before the server
// answered. No other error leaves that open: the server refused the mail, or never got all of it.
func MayHaveArrived(err error) bool {
	failed, ok := errors.AsType[*mail.DeliveryError](err)
	return ok && failed.Unanswered
}

// Test is what came of a test.
type Test struct {
	OK       bool
	Outbox   bool // it is a file there, and nobody got it: no mail server is set
	Code     int  // 0: nothing was answered
	Duration time.Duration
	Error    string
}

// Test sends one message through a channel, once and without a delivery. Errors:
// *usecase.NotFoundError.
func (s *Sender) Test(ctx context.Context, organization accounts.Organization, id uuid.UUID) (Test, error) {
	row, err := channelOf(ctx, s.DB, organization.ID, id)
	if err != nil {
		return Test{}, err
	}
	began := time.Now()
	code, err := s.test(ctx, organization, row)
	t := Test{OK: err == nil, Outbox: err == nil && code == 0, Code: code, Duration: time.Since(began)}
	if refused := refusal(err); refused != nil {
		t.Code, t.Error = refused.Code, refused.Sentence
		return t, nil
	}
	if errors.Is(err, channel.ErrNobody) {
		t.Error = "The channel has no recipient who can receive mail."
		return t, nil
	}
	return t, err
}

func (s *Sender) test(ctx context.Context, organization accounts.Organization, row notifying.ChannelRow) (int, error) {
	kind, err := kinds.Find(row.Kind)
	if err != nil {
		return 0, err
	}
	delivery, err := uuid.NewV7()
	if err != nil {
		return 0, fmt.Errorf("name a test: %w", err)
	}
	m := s.message(organization)
	m.ID, m.At, m.Rule = delivery, s.Now(), channel.Reference{ID: row.ID, Name: "Test of " + row.Name}
	return kind.Send(ctx, s.tools(), channel.Delivery{Channel: row, Message: m, Test: true})
}
