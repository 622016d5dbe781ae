package notifying

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/notification"
	"muster/domain/rule"
	"muster/eventstore"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/insert_channel.sql
	insertChannel string
	//go:embed sql/lock_channel.sql
	lockChannel string
	//go:embed sql/update_channel.sql
	updateChannel string
)

// ChannelRow is a channel as its row has it.
type ChannelRow struct {
	ID             uuid.UUID         `db:"id"`
	OrganizationID uuid.UUID         `db:"organization_id"`
	Name           string            `db:"name"`
	Kind           notification.Kind `db:"kind"`
	MemberIDs      uuidArray         `db:"member_ids"`
	Administrators bool              `db:"administrators"`
	Sealed         []byte            `db:"sealed"`
}

// uuidArray is a column of ids, read as JSON.
type uuidArray []uuid.UUID

// Scan implements sql.Scanner.
func (a *uuidArray) Scan(src any) error {
	return statement.ScanJSON(src, (*[]uuid.UUID)(a))
}

// ChannelContext is what a channel's address is sealed for.
func ChannelContext(organization, channel uuid.UUID) []byte {
	return []byte("channel " + organization.String() + " " + channel.String())
}

// Address opens where a channel leads; the zero Address for e-mail.
func (c ChannelRow) Address(seal Sealer) (a notification.Address, err error) {
	if c.Sealed == nil {
		return a, nil
	}
	text, err := seal.Open(c.Sealed, ChannelContext(c.OrganizationID, c.ID))
	if err != nil {
		return a, fmt.Errorf("open the address of channel %s: %w", c.ID, err)
	}
	return a, json.Unmarshal(text, &a)
}

// CreateChannel creates a channel.
type CreateChannel struct {
	Name           string
	Kind           notification.Kind
	MemberIDs      []uuid.UUID
	Administrators bool
	Addresses      []string // that are no members', each to be confirmed there
	notification.Address
}

// CreateChannel records it. Errors: *usecase.RuleError with every broken rule.
func (s *Notifications) CreateChannel(ctx context.Context, actor usecase.Actor, c CreateChannel) (uuid.UUID, usecase.Mark, error) {
	c.MemberIDs = uniqueIDs(c.MemberIDs)
	if err := s.checkChannel(ctx, actor.OrganizationID, c, true, nil); err != nil {
		return uuid.Nil, usecase.Mark{}, err
	}
	id := usecase.NewID()
	mark, err := s.base.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := usecase.LockStream(ctx, tx, actor.OrganizationID); err != nil { // two at once count each other
			return usecase.Mark{}, err
		}
		if err := usecase.Room(ctx, tx, actor.OrganizationID, "notification_channels", "too_many_channels", notification.MaxChannels); err != nil {
			return usecase.Mark{}, err
		}
		return s.insertChannel(ctx, tx, actor, id, c)
	})
	return id, mark, err
}

func (s *Notifications) insertChannel(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID, c CreateChannel) (usecase.Mark, error) {
	now := s.base.Clock()
	if err := s.writeChannel(ctx, tx, actor, id, c, now); err != nil {
		return usecase.Mark{}, err
	}
	addresses, err := s.writeAddresses(ctx, tx, actor, id, c.Addresses)
	if err != nil {
		return usecase.Mark{}, err
	}
	made := created(c)
	made.AddressIDs = addresses
	return usecase.AppendAll(ctx, s.base, tx, actor, channelPlace(id), usecase.Stream{Version: eventstore.NoStream}, now, []notification.Event{made})
}

func created(c CreateChannel) notification.ChannelCreated {
	return notification.ChannelCreated{Kind: c.Kind, MemberIDs: c.MemberIDs, Administrators: c.Administrators}
}

func (s *Notifications) writeChannel(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID, c CreateChannel, now time.Time) error {
	sealed, err := s.sealAddress(actor.OrganizationID, id, c.Address)
	if err != nil {
		return err
	}
	return statement.Exec(ctx, tx, "add a channel", insertChannel, id, actor.OrganizationID, strings.TrimSpace(c.Name), string(c.Kind),
		statement.IDs(c.MemberIDs), c.Administrators, sealed, now, actorID(actor))
}

// actorID is the member who does it; nil: Muster.
func actorID(a usecase.Actor) *uuid.UUID {
	if a.MemberID == uuid.Nil {
		return nil
	}
	return &a.MemberID
}

// sealAddress seals it; nil if there is none.
func (s *Notifications) sealAddress(organization, id uuid.UUID, a notification.Address) ([]byte, error) {
	if a.URL == "" {
		return nil, nil
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encode the address of channel %s: %w", id, err)
	}
	sealed, err := s.needs.Seal.Seal(text, ChannelContext(organization, id))
	if err != nil {
		return nil, fmt.Errorf("seal the address of channel %s: %w", id, err)
	}
	return sealed, nil
}

// checkChannel checks a channel against every rule at once. newURL: its host has to be looked
// up; known are its existing recipients, also if they have left.
func (s *Notifications) checkChannel(ctx context.Context, organization uuid.UUID, c CreateChannel, newURL bool, known []uuid.UUID) error {
	var broken []rule.Broken
	if e := usecase.CheckName("#/name", c.Name); e != nil {
		broken = append(broken, *e)
	}
	settings := s.needs.Channels.Broken(notification.Channel{
		Kind: c.Kind, MemberIDs: c.MemberIDs, Administrators: c.Administrators, Addresses: c.Addresses, Address: c.Address,
	})
	if newURL && c.URL != "" && !slices.ContainsFunc(settings, func(b rule.Broken) bool { return b.Pointer == "#/url" }) {
		if err := s.needs.Channels.AllowsURL(ctx, c.URL); err != nil {
			settings = append(settings, rule.Broken{Pointer: "#/url", Code: "url_not_allowed", Detail: err.Error()})
		}
	}
	broken = append(broken, settings...)
	members, err := s.base.Accounts.Addresses(ctx, organization, c.MemberIDs)
	if err != nil {
		return err
	}
	for i, id := range c.MemberIDs {
		if _, ok := members[id]; !ok && !slices.Contains(known, id) {
			broken = append(broken, rule.Broken{Pointer: fmt.Sprintf("#/memberIds/%d", i), Code: "recipient_not_member", Detail: "is no member who can be mailed"})
		}
	}
	return usecase.FieldErrors(broken)
}

func uniqueIDs(ids []uuid.UUID) []uuid.UUID {
	var unique []uuid.UUID
	for _, id := range ids {
		if !slices.Contains(unique, id) {
			unique = append(unique, id)
		}
	}
	return unique
}

// ChangeChannel changes what it names; nil stays.
type ChangeChannel struct {
	Name           *string
	MemberIDs      *[]uuid.UUID
	Administrators *bool
	Addresses      *[]string
	URL, Secret    *string
	Format         *notification.Format
}

// to is the channel as it will be.
func (c ChangeChannel) to(is CreateChannel) CreateChannel {
	usecase.Set(&is.Name, c.Name)
	if c.MemberIDs != nil {
		is.MemberIDs = uniqueIDs(*c.MemberIDs)
	}
	usecase.Set(&is.Administrators, c.Administrators)
	usecase.Set(&is.Addresses, c.Addresses)
	usecase.Set(&is.URL, c.URL)
	usecase.Set(&is.Secret, c.Secret)
	usecase.Set(&is.Format, c.Format)
	return is
}

// ChangeChannel records it. Errors: *usecase.NotFoundError, *usecase.RuleError.
func (s *Notifications) ChangeChannel(ctx context.Context, actor usecase.Actor, id uuid.UUID, c ChangeChannel) (usecase.Mark, error) {
	// The host is looked up before there is a transaction, for a name server may be slow.
	before, err := s.channel(ctx, s.base.DB, lockChannel, actor.OrganizationID, id)
	if err != nil {
		return usecase.Mark{}, err
	}
	is, err := s.terms(ctx, s.base.DB, before)
	if err != nil {
		return usecase.Mark{}, err
	}
	if err := s.checkChannel(ctx, actor.OrganizationID, c.to(is), c.URL != nil, is.MemberIDs); err != nil {
		return usecase.Mark{}, err
	}
	return s.decideLife(ctx, actor, channelPlace(id), "channel", func(tx *sqlx.Tx) ([]notification.Event, error) {
		row, err := s.channel(ctx, tx, lockChannel, actor.OrganizationID, id)
		if err != nil {
			return nil, err
		}
		was, err := s.terms(ctx, tx, row)
		if err != nil {
			return nil, err
		}
		will := c.to(was)
		will.Name = strings.TrimSpace(will.Name)
		changed := notification.ChannelChanged{
			NameChanged: will.Name != was.Name, URLChanged: will.URL != was.URL, SecretChanged: will.Secret != was.Secret,
			FormatChanged: will.Format != was.Format,
			MemberIDs:     will.MemberIDs, Administrators: will.Administrators,
		}
		if !changed.NameChanged && !changed.URLChanged && !changed.SecretChanged && !changed.FormatChanged && slices.Equal(will.MemberIDs, was.MemberIDs) && will.Administrators == was.Administrators &&
			slices.Equal(will.Addresses, was.Addresses) {
			return nil, nil
		}
		if changed.AddressIDs, err = s.writeAddresses(ctx, tx, actor, id, will.Addresses); err != nil {
			return nil, err
		}
		sealed, err := s.sealAddress(actor.OrganizationID, id, will.Address)
		if err != nil {
			return nil, err
		}
		return []notification.Event{changed}, statement.Exec(ctx, tx, "change a channel", updateChannel,
			id, will.Name, statement.IDs(will.MemberIDs), will.Administrators, sealed)
	})
}

// terms are a channel's terms as a member would create it.
func (s *Notifications) terms(ctx context.Context, q sqlx.QueryerContext, row ChannelRow) (CreateChannel, error) {
	others, err := ChannelAddresses(ctx, q, row.OrganizationID, row.ID)
	if err != nil {
		return CreateChannel{}, err
	}
	address, err := row.Address(s.needs.Seal)
	return CreateChannel{
		Name: row.Name, Kind: row.Kind, MemberIDs: row.MemberIDs, Administrators: row.Administrators, Addresses: addressesOf(others), Address: address,
	}, err
}

// channel returns a channel that is not removed. Errors: *usecase.NotFoundError.
func (s *Notifications) channel(ctx context.Context, q sqlx.QueryerContext, query string, organization, id uuid.UUID) (ChannelRow, error) {
	row, ok, err := statement.Find[ChannelRow](ctx, q, "look up a channel", query, organization, id)
	if err == nil && !ok {
		err = &usecase.NotFoundError{What: "channel"}
	}
	return row, err
}

// RemoveChannel takes it away, with its address. Errors: *usecase.NotFoundError, *usecase.RuleError with
// channel_in_use while a rule names it.
func (s *Notifications) RemoveChannel(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return s.decideLife(ctx, actor, channelPlace(id), "channel", func(tx *sqlx.Tx) ([]notification.Event, error) {
		if _, err := s.channel(ctx, tx, lockChannel, actor.OrganizationID, id); err != nil {
			return nil, err
		}
		rule, used, err := statement.Find[string](ctx, tx, "look who uses a channel", `SELECT name FROM notification_rules
			WHERE organization_id = $1 AND removed_at IS NULL AND terms->'channelIds' ? $2::text ORDER BY name LIMIT 1`, actor.OrganizationID, id.String())
		if err != nil {
			return nil, err
		}
		if used {
			return nil, &usecase.RuleError{Code: "channel_in_use", Detail: "The rule " + rule + " tells through it."}
		}
		if err := statement.Exec(ctx, tx, "remove the addresses of a channel", `DELETE FROM channel_addresses WHERE organization_id = $1 AND channel_id = $2`,
			actor.OrganizationID, id); err != nil {
			return nil, err
		}
		return []notification.Event{notification.ChannelRemoved{}}, statement.Exec(ctx, tx, "remove a channel",
			`UPDATE notification_channels SET removed_at = $2, sealed = NULL, member_ids = '{}' WHERE id = $1`, id, s.base.Clock())
	})
}

// RecordChannelTest records that a member sent a test. Errors: *usecase.NotFoundError.
func (s *Notifications) RecordChannelTest(ctx context.Context, actor usecase.Actor, id uuid.UUID, tested notification.ChannelTested) (usecase.Mark, error) {
	return s.decideLife(ctx, actor, channelPlace(id), "channel", func(*sqlx.Tx) ([]notification.Event, error) {
		return []notification.Event{tested}, nil
	})
}

// RecordDeliveryRetry records that a member retries a delivery through a channel; again queues
// it, in the same transaction. Errors: *usecase.NotFoundError, and again's.
func (s *Notifications) RecordDeliveryRetry(ctx context.Context, actor usecase.Actor, channel, delivery uuid.UUID, again func(*sqlx.Tx) error) (usecase.Mark, error) {
	return s.decideLife(ctx, actor, channelPlace(channel), "channel", func(tx *sqlx.Tx) ([]notification.Event, error) {
		return []notification.Event{notification.DeliveryRetried{DeliveryID: delivery}}, again(tx)
	})
}

// decideLife folds a channel or a rule under its lock and appends what choose returns, which
// also writes their rows. Errors: *usecase.NotFoundError if it does not exist.
func (s *Notifications) decideLife(ctx context.Context, actor usecase.Actor, to usecase.StreamPlace, what string, choose func(tx *sqlx.Tx) ([]notification.Event, error)) (usecase.Mark, error) {
	if actor.MemberID == uuid.Nil {
		return usecase.Mark{}, errors.New("a " + what + " is changed by a member")
	}
	return s.changeLife(ctx, actor, to, what, choose)
}

// changeLife is decideLife for a caller who may be no member.
func (s *Notifications) changeLife(ctx context.Context, actor usecase.Actor, to usecase.StreamPlace, what string, choose func(tx *sqlx.Tx) ([]notification.Event, error)) (usecase.Mark, error) {
	return s.base.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := usecase.LockStream(ctx, tx, to.ID); err != nil {
			return usecase.Mark{}, err
		}
		var life notification.Life
		return usecase.Decide(ctx, s.base, tx, actor, to, func(e any, _ time.Time) {
			if e, ok := e.(notification.Event); ok {
				life.Apply(e)
			}
		}, func(time.Time) ([]notification.Event, error) {
			if !life.Exists {
				return nil, &usecase.NotFoundError{What: what}
			}
			return choose(tx)
		}, nil)
	})
}

func channelPlace(id uuid.UUID) usecase.StreamPlace {
	return usecase.StreamPlace{Log: eventstore.Organization, StreamType: notification.ChannelStream, ID: id}
}
