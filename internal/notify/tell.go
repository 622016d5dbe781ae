package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/notification"
	"muster/internal/accounts"
	"muster/internal/mail"
	"muster/internal/notify/send"
	"muster/internal/statement"
)

// tell sends a delivery once. Errors: *send.Error, *mail.DeliveryError, errNobody, and ours.
func (s *Sender) tell(ctx context.Context, d deliveryRow, by through) (code int, err error) {
	organization, ok, err := s.Accounts.Organization(ctx, d.OrganizationID)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, errNobody
	}
	m := send.Message{
		ID: d.ID, At: *d.ClosedAt, Rule: send.Reference{ID: d.Rule, Name: by.RuleName},
		OrganizationID: organization.ID, Organization: organization.Name, Demo: organization.Demo, PublicURL: s.PublicURL,
	}
	if by.Kind == notification.Alertmanager {
		return s.feedEvents(ctx, d, by, organization)
	}
	if m.Events, m.Omitted, err = s.notices(ctx, d.ID, false); err != nil {
		return 0, err
	}
	if by.Kind == notification.Email {
		return s.tellMembers(ctx, d, by, m)
	}
	return s.post(ctx, by.ChannelRow, m)
}

// notices are the first events of a delivery that are told, or of these the alerts', and
// how many there are more.
func (s *Sender) notices(ctx context.Context, delivery uuid.UUID, alerts bool) (notices []send.Notice, omitted int, err error) {
	rows, err := statement.All[struct {
		Notice []byte `db:"notice"`
		All    int    `db:"all_of_them"`
	}](ctx, s.DB, "read what is told", `SELECT notice, count(*) OVER () AS all_of_them FROM delivery_events
		WHERE delivery_id = $1 AND dropped = '' AND (NOT $3 OR type LIKE 'alert.%') ORDER BY at, position, event_id LIMIT $2`, delivery, send.Most, alerts)
	if err != nil {
		return nil, 0, err
	}
	notices = make([]send.Notice, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row.Notice, &notices[i]); err != nil {
			return nil, 0, fmt.Errorf("read a notice: %w", err)
		}
		omitted = row.All - len(rows)
	}
	return notices, omitted, nil
}

// post posts a message to a webhook or a chat.
func (s *Sender) post(ctx context.Context, channel commands.ChannelRow, m send.Message) (int, error) {
	address, err := channel.Address(s.Seal)
	if err != nil {
		return 0, err
	}
	var body []byte
	header := http.Header{}
	if channel.Kind == notification.Webhook {
		key, ok := notification.Secret(address.Secret)
		if !ok {
			return 0, fmt.Errorf("the secret of channel %s is none", channel.ID)
		}
		header, body, err = send.Webhook(m, key, s.Now())
	} else {
		body, err = send.Chat(m, cmp.Or(address.Format, notification.Slack))
	}
	if err != nil {
		return 0, err
	}
	return s.Poster.Post(ctx, address.URL, header, body)
}

// recipients are whom a channel of mail leads to now.
func (s *Sender) recipients(ctx context.Context, channel commands.ChannelRow) (map[uuid.UUID]accounts.Address, error) {
	ids := slices.Clone([]uuid.UUID(channel.MemberIDs))
	if channel.Administrators {
		administrators, err := s.Accounts.Administrators(ctx, channel.OrganizationID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, administrators...)
	}
	return s.Accounts.Addresses(ctx, channel.OrganizationID, ids)
}

// tellMembers mails each recipient, member or not, who has not been mailed yet, and notes each at once.
func (s *Sender) tellMembers(ctx context.Context, d deliveryRow, by through, m send.Message) (code int, err error) {
	addresses, err := s.recipients(ctx, by.ChannelRow)
	if err != nil {
		return 0, err
	}
	told, err := statement.All[uuid.UUID](ctx, s.DB, "read who was mailed", `SELECT member_id FROM delivery_mails WHERE delivery_id = $1`, d.ID)
	if err != nil {
		return 0, err
	}
	outside, err := s.outsiders(ctx, by.ChannelRow)
	if err != nil {
		return 0, err
	}
	theirs := m // what addresses that are no members' get
	if len(outside) > 0 {
		if theirs.Events, theirs.Omitted, err = s.notices(ctx, d.ID, true); err != nil {
			return 0, err
		}
		if len(theirs.Events) == 0 {
			outside = nil
		}
	}
	if len(addresses)+len(outside) == 0 && len(told) == 0 {
		return 0, errNobody
	}
	var temporary, final error
	tell := func(m send.Message, id uuid.UUID, to accounts.Address, leave string) error {
		if slices.Contains(told, id) {
			return nil
		}
		handover, err := s.mail(ctx, m, id, to, leave)
		var refused *mail.DeliveryError
		switch {
		case errors.As(err, &refused) && !refused.Temporary:
			final = err
		case err != nil:
			temporary = err
		default:
			code = handover.Code
			return statement.Exec(ctx, s.DB, "note a mail", `INSERT INTO delivery_mails (delivery_id, member_id, organization_id, sent_at, outside)
				VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`, d.ID, id, d.OrganizationID, s.Now(), leave != "")
		}
		return nil
	}
	for member, to := range addresses {
		if err := tell(m, member, to, ""); err != nil {
			return 0, err
		}
	}
	for _, a := range outside {
		if err := tell(theirs, a.ID, accounts.Address{Email: a.Address}, s.leaveLink(a)); err != nil {
			return 0, err
		}
	}
	return code, cmp.Or(temporary, final) // one that may still be reached is tried first
}

// outsiders are the addresses of a channel of mail that are no members' and agreed to alerts.
func (s *Sender) outsiders(ctx context.Context, channel commands.ChannelRow) ([]commands.ChannelAddress, error) {
	all, err := commands.ChannelAddresses(ctx, s.DB, channel.OrganizationID, channel.ID)
	return slices.DeleteFunc(all, func(a commands.ChannelAddress) bool { return a.ConfirmedAt == nil }), err
}

// leaveLink ends the mails to an address. Its secret is in the fragment, which no server logs.
func (s *Sender) leaveLink(a commands.ChannelAddress) string {
	return strings.TrimRight(s.PublicURL, "/") + "/addresses/leave#" + a.LeaveToken
}

// Mails says whether mail goes to a server, and not into the outbox.
func (s *Sender) Mails() bool {
	_, outbox := s.Transport.(*mail.Outbox)
	return !outbox
}

// Ask mails the question whether an address agrees to get alerts. Errors: *mail.DeliveryError.
func (s *Sender) Ask(ctx context.Context, organization accounts.Organization, channel, asker string, q commands.Question) error {
	message, err := s.Composer.ComposeConfirmation(mail.Confirmation{
		OrganizationID: organization.ID, AddressID: q.AddressID, Organization: organization.Name, Demo: organization.Demo,
		Asker: asker, Channel: channel, Link: strings.TrimRight(s.PublicURL, "/") + "/addresses/confirm#" + q.Token,
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

func (s *Sender) mail(ctx context.Context, m send.Message, member uuid.UUID, to accounts.Address, leave string) (mail.Handover, error) {
	n := mail.Notices{
		OrganizationID: m.OrganizationID, DeliveryID: m.ID, MemberID: member, Organization: m.Organization, Demo: m.Demo,
		Rule: m.Rule.Name, Heading: send.Heading(m), At: m.At, Omitted: m.Omitted, Leave: leave,
	}
	for _, e := range m.Events {
		n.Lines = append(n.Lines, mail.NoticeLine{What: send.What(e), About: send.About(e), Why: send.Why(e), Link: send.Link(m.PublicURL, e), At: e.At,
			Facts: send.Facts(e), Acknowledge: send.Acknowledge(m.PublicURL, e), Dashboard: send.Dashboard(m.PublicURL, e)})
	}
	message, err := s.Composer.ComposeNotices(n, mail.Address{Name: to.Name, Email: to.Email})
	if err != nil {
		return mail.Handover{}, err
	}
	return s.Transport.Send(ctx, message)
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
// *commands.NotFoundError.
func (s *Sender) Test(ctx context.Context, organization accounts.Organization, id uuid.UUID) (Test, error) {
	channel, err := channelOf(ctx, s.DB, organization.ID, id)
	if err != nil {
		return Test{}, err
	}
	began := time.Now()
	code, err := s.test(ctx, organization, channel)
	t := Test{OK: err == nil, Outbox: err == nil && code == 0 && channel.Kind == notification.Email, Code: code, Duration: time.Since(began)}
	if refused := refusal(err); refused != nil {
		t.Code, t.Error = refused.Code, refused.Sentence
		return t, nil
	}
	if errors.Is(err, errNobody) {
		t.Error = "The channel leads to nobody who can be mailed."
		return t, nil
	}
	return t, err
}

func (s *Sender) test(ctx context.Context, organization accounts.Organization, channel commands.ChannelRow) (int, error) {
	delivery, err := uuid.NewV7()
	if err != nil {
		return 0, fmt.Errorf("name a test: %w", err)
	}
	m := send.Message{
		ID: delivery, At: s.Now(), Rule: send.Reference{ID: channel.ID, Name: "Test of " + channel.Name}, Events: []send.Notice{},
		OrganizationID: organization.ID, Organization: organization.Name, Demo: organization.Demo, PublicURL: s.PublicURL,
	}
	switch channel.Kind {
	case notification.Email:
		addresses, err := s.recipients(ctx, channel)
		if err != nil {
			return 0, err
		}
		outside, err := s.outsiders(ctx, channel)
		if err == nil && len(addresses)+len(outside) == 0 {
			err = errNobody
		}
		code := 0
		for member, to := range addresses {
			handover, failed := s.mail(ctx, m, member, to, "")
			code, err = max(code, handover.Code), cmp.Or(err, failed)
		}
		for _, a := range outside {
			handover, failed := s.mail(ctx, m, a.ID, accounts.Address{Email: a.Address}, s.leaveLink(a))
			code, err = max(code, handover.Code), cmp.Or(err, failed)
		}
		return code, err
	case notification.Alertmanager:
		return s.feed(ctx, channel, organization, nil)
	}
	return s.post(ctx, channel, m)
}
