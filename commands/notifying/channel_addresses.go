package notifying

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // the statements
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/notification"
	"muster/eventstore"
	"muster/internal/postgres/statement"
)

//go:embed sql/channel_addresses_to_ask.sql
var addressesToAsk string

const (
	// confirmationLife is how long the link of a mail works that asks an address.
	confirmationLife = 48 * time.Hour
	// Within confirmationSpan an address is asked mostAsked times by an organization, and an
	// organization asks mostAskedOfAll times: Muster is no means to molest anybody.
	confirmationSpan = 24 * time.Hour
	mostAsked        = 3
	mostAskedOfAll   = 30
)

// ChannelAddress is an address of an e-mail channel that is no member's. Nothing but the
// question whether it agrees is sent there before it was confirmed.
type ChannelAddress struct {
	ID          uuid.UUID  `db:"id"`
	ChannelID   uuid.UUID  `db:"channel_id"`
	Address     string     `db:"address"`
	AskedAt     *time.Time `db:"asked_at"`     // nil: no mail that asks went out yet
	ConfirmedAt *time.Time `db:"confirmed_at"` // nil: it is not confirmed
	LeaveToken  string     `db:"leave_token"`
}

// ChannelAddresses returns the addresses of an organization's channels; of no channel in
// particular, of all.
func ChannelAddresses(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, channels ...uuid.UUID) ([]ChannelAddress, error) {
	return statement.All[ChannelAddress](ctx, q, "read the addresses of channels", `SELECT id, channel_id, address, asked_at, confirmed_at, leave_token
		FROM channel_addresses WHERE organization_id = $1 AND (coalesce(cardinality($2::uuid[]), 0) = 0 OR channel_id = ANY ($2)) ORDER BY lower(address)`,
		organization, statement.IDs(channels))
}

// addressesOf are a channel's addresses as a member would enter them.
func addressesOf(all []ChannelAddress) (texts []string) {
	for _, a := range all {
		texts = append(texts, a.Address)
	}
	return texts
}

// writeAddresses replaces the addresses of a channel with texts, and returns their ids. An
// address that is already there stays as it is.
func (s *Notifications) writeAddresses(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, channel uuid.UUID, texts []string) ([]uuid.UUID, error) {
	were, err := ChannelAddresses(ctx, tx, actor.OrganizationID, channel)
	if err != nil {
		return nil, err
	}
	var ids []uuid.UUID
	for _, text := range texts {
		at := slices.IndexFunc(were, func(a ChannelAddress) bool { return strings.EqualFold(a.Address, text) })
		if at >= 0 {
			ids = append(ids, were[at].ID)
			continue
		}
		id := usecase.NewID()
		ids = append(ids, id)
		if err := statement.Exec(ctx, tx, "add an address of a channel", `INSERT INTO channel_addresses (id, organization_id, channel_id, address, created_at, created_by, leave_token)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, id, actor.OrganizationID, channel, text, s.base.Clock(), actor.MemberID, rand.Text()); err != nil {
			return nil, err
		}
	}
	return ids, statement.Exec(ctx, tx, "remove addresses of a channel", `DELETE FROM channel_addresses
		WHERE organization_id = $1 AND channel_id = $2 AND NOT id = ANY ($3)`, actor.OrganizationID, channel, statement.IDs(ids))
}

// Question is what is mailed to an address to ask whether it agrees.
type Question struct {
	AddressID uuid.UUID
	Address   string
	Token     string // works once, for 48 hours
}

// AskAddresses makes the questions for the addresses of a channel that are not confirmed:
// those that were never asked, or with again all of them. Errors: *usecase.NotFoundError, and with
// again *usecase.RuleError with too_many_confirmations where none may be asked now.
func (s *Notifications) AskAddresses(ctx context.Context, actor usecase.Actor, channel uuid.UUID, again bool) (questions []Question, err error) {
	err = eventstore.Transact(ctx, s.base.DB, func(tx *sqlx.Tx) error {
		questions = nil
		if err := usecase.LockStream(ctx, tx, actor.OrganizationID); err != nil { // two at once count each other
			return err
		}
		if _, err := s.channel(ctx, tx, lockChannel, actor.OrganizationID, channel); err != nil {
			return err
		}
		now := s.base.Clock()
		if err := statement.Exec(ctx, tx, "forget old confirmation mails", `DELETE FROM confirmation_mails WHERE organization_id = $1 AND sent_at <= $2`,
			actor.OrganizationID, now.Add(-confirmationSpan)); err != nil {
			return err
		}
		rows, err := statement.All[struct {
			ID        uuid.UUID  `db:"id"`
			Address   string     `db:"address"`
			AskedAt   *time.Time `db:"asked_at"`
			AskedAll  int        `db:"asked_all"`
			FullSince *time.Time `db:"full_since"` // nil: it may be asked
		}](ctx, tx, "look which addresses are to be asked", addressesToAsk, actor.OrganizationID, channel, now.Add(-confirmationSpan), mostAsked, mostAskedOfAll)
		if err != nil {
			return err
		}
		var fullSince *time.Time // of the address that may be asked first
		for _, row := range rows {
			if row.AskedAt != nil && !again {
				continue
			}
			if row.FullSince != nil {
				if fullSince == nil || row.FullSince.Before(*fullSince) {
					fullSince = row.FullSince
				}
				continue
			}
			if row.AskedAll+len(questions) >= mostAskedOfAll {
				continue
			}
			q := Question{AddressID: row.ID, Address: row.Address, Token: rand.Text()}
			if err := s.ask(ctx, tx, actor.OrganizationID, q, now); err != nil {
				return err
			}
			questions = append(questions, q)
		}
		if fullSince != nil && again && len(questions) == 0 {
			return &usecase.RuleError{Code: "too_many_confirmations", RetryAfter: fullSince.Add(confirmationSpan).Sub(now),
				Detail: fmt.Sprintf("An address is asked at most %d times within a day, and all addresses of an organization at most %d times.", mostAsked, mostAskedOfAll)}
		}
		return nil
	})
	return questions, err
}

func (s *Notifications) ask(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID, q Question, now time.Time) error {
	digest := sha256.Sum256([]byte(q.Token))
	if err := statement.Exec(ctx, tx, "ask an address", `UPDATE channel_addresses SET asked_at = $3, confirm_digest = $4, confirm_until = $5
		WHERE organization_id = $1 AND id = $2`, organization, q.AddressID, now, digest[:], now.Add(confirmationLife)); err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "count a confirmation mail", `INSERT INTO confirmation_mails (id, organization_id, address, sent_at) VALUES ($1, $2, $3, $4)`,
		usecase.NewID(), organization, strings.ToLower(q.Address), now)
}

// NotAsked says that a question could not be mailed: its link never works, and it does not
// count, unless the mail may have arrived all the same.
func (s *Notifications) NotAsked(ctx context.Context, organization uuid.UUID, q Question, arrived bool) error {
	return eventstore.Transact(ctx, s.base.DB, func(tx *sqlx.Tx) error {
		digest := sha256.Sum256([]byte(q.Token))
		if err := statement.Exec(ctx, tx, "forget a question", `UPDATE channel_addresses SET asked_at = NULL, confirm_digest = NULL, confirm_until = NULL
			WHERE organization_id = $1 AND id = $2 AND confirm_digest = $3`, organization, q.AddressID, digest[:]); err != nil || arrived {
			return err
		}
		return statement.Exec(ctx, tx, "forget a confirmation mail", `DELETE FROM confirmation_mails WHERE id = (SELECT id FROM confirmation_mails
			WHERE organization_id = $1 AND address = $2 ORDER BY sent_at DESC, id DESC LIMIT 1)`, organization, strings.ToLower(q.Address))
	})
}

// AddressAnswer is the answer of a link's holder about an address, and the channel.
type AddressAnswer struct {
	OrganizationID uuid.UUID `db:"organization_id"`
	ChannelID      uuid.UUID `db:"channel_id"`
	ID             uuid.UUID `db:"id"`
	Address        string    `db:"address"`
	Channel        string    `db:"channel"`
}

// addressGone says that a link does not work, and not why.
func addressGone() error {
	return &usecase.RuleError{Code: "link_gone", Detail: "It was used already, is too old, or the address is no longer in the channel."}
}

// ConfirmAddress lets an address get alerts from now on. The holder of the token reads the mail
// of that address. Errors: *usecase.RuleError with link_gone.
func (s *Notifications) ConfirmAddress(ctx context.Context, token string) (AddressAnswer, usecase.Mark, error) {
	digest := sha256.Sum256([]byte(token))
	return s.answerAddress(ctx, `a.confirm_digest = $1 AND a.confirm_until > $2`, []any{digest[:], s.base.Clock()}, func(tx *sqlx.Tx, a AddressAnswer) (notification.ChannelChanged, error) {
		return notification.ChannelChanged{ConfirmedAddressID: &a.ID}, statement.Exec(ctx, tx, "confirm an address",
			`UPDATE channel_addresses SET confirmed_at = $3, confirm_digest = NULL, confirm_until = NULL WHERE organization_id = $1 AND id = $2`, a.OrganizationID, a.ID, s.base.Clock())
	})
}

// LeaveChannel takes an address out of its channel. Errors: *usecase.RuleError with link_gone.
func (s *Notifications) LeaveChannel(ctx context.Context, token string) (AddressAnswer, usecase.Mark, error) {
	return s.answerAddress(ctx, `a.leave_token = $1`, []any{token}, func(tx *sqlx.Tx, a AddressAnswer) (notification.ChannelChanged, error) {
		return notification.ChannelChanged{LeftAddressID: &a.ID}, statement.Exec(ctx, tx, "remove an address",
			`DELETE FROM channel_addresses WHERE organization_id = $1 AND id = $2`, a.OrganizationID, a.ID)
	})
}

// answerAddress finds an address by the secret of a link, and records what act makes of it.
func (s *Notifications) answerAddress(ctx context.Context, where string, secret []any, act func(*sqlx.Tx, AddressAnswer) (notification.ChannelChanged, error)) (answer AddressAnswer, mark usecase.Mark, err error) {
	find := func(q sqlx.QueryerContext) error {
		var ok bool
		answer, ok, err = statement.Find[AddressAnswer](ctx, q, "look an address up", `SELECT a.organization_id, a.channel_id, a.id, a.address, c.name AS channel
			FROM channel_addresses a JOIN notification_channels c ON c.organization_id = a.organization_id AND c.id = a.channel_id AND c.removed_at IS NULL
			WHERE `+where, secret...)
		if err == nil && !ok {
			err = addressGone()
		}
		return err
	}
	if err := find(s.base.DB); err != nil {
		return AddressAnswer{}, usecase.Mark{}, err
	}
	mark, err = s.changeLife(ctx, usecase.Actor{OrganizationID: answer.OrganizationID, Component: "address"}, channelPlace(answer.ChannelID), "channel", func(tx *sqlx.Tx) ([]notification.Event, error) {
		if err := find(tx); err != nil { // under the channel's lock, once more
			return nil, err
		}
		changed, err := act(tx, answer)
		if err != nil {
			return nil, err
		}
		row, err := s.channel(ctx, tx, lockChannel, answer.OrganizationID, answer.ChannelID)
		if err != nil {
			return nil, err
		}
		left, err := ChannelAddresses(ctx, tx, answer.OrganizationID, answer.ChannelID)
		for _, a := range left {
			changed.AddressIDs = append(changed.AddressIDs, a.ID)
		}
		changed.MemberIDs, changed.Administrators = row.MemberIDs, row.Administrators
		return []notification.Event{changed}, err
	})
	return answer, mark, err
}
