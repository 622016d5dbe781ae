package notify

import (
	"context"
	_ "embed" // the statements
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/notifying"
	"muster/domain/notification"
	"muster/domain/organization"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/kinds"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/channels.sql
	channelsQuery string
	//go:embed sql/deliveries.sql
	deliveriesQuery string
	//go:embed sql/of_alert.sql
	ofAlertQuery string
)

// Reader answers what channels and rules there are and what became of deliveries.
type Reader struct {
	DB       *sqlx.DB
	Seal     notifying.Sealer
	Events   *eventstore.Store
	Registry *eventstore.Registry
	Now      func() time.Time
}

// jsonColumn is a column of JSON.
type jsonColumn[T any] struct{ Value T }

// Scan implements sql.Scanner.
func (c *jsonColumn[T]) Scan(src any) error {
	if src == nil {
		return nil
	}
	return statement.ScanJSON(src, &c.Value)
}

// Channel is a channel as it is shown: never with its secret.
type Channel struct {
	notifying.ChannelRow
	CreatedAt time.Time                       `db:"created_at"`
	CreatedBy *uuid.UUID                      `db:"created_by"`
	Rules     jsonColumn[[]channel.Reference] `db:"rules"` // that name it, by name
	Last      jsonColumn[*Outcome]            `db:"last"`  // that was sent or failed
	Addresses []notifying.ChannelAddress      // of e-mail, that are no members'
	URL       string                          // what may be shown of it; empty for e-mail
	Format    notification.Format             // of a chat
}

// Outcome is how a delivery ended.
type Outcome struct {
	ID     uuid.UUID `json:"id"`
	Status string    `json:"status"`
	Code   int       `json:"lastCode"` // 0: none
	At     time.Time `json:"at"`
}

// Channels returns an organization's channels by name, or the one of an id.
func (r *Reader) Channels(ctx context.Context, organization uuid.UUID, only *uuid.UUID) ([]Channel, error) {
	channels, err := statement.All[Channel](ctx, r.DB, "list channels", channelsQuery, organization, only)
	if err != nil {
		return nil, err
	}
	addresses, err := notifying.ChannelAddresses(ctx, r.DB, organization)
	if err != nil {
		return nil, err
	}
	for i := range channels {
		for _, a := range addresses {
			if a.ChannelID == channels[i].ID {
				channels[i].Addresses = append(channels[i].Addresses, a)
			}
		}
		address, err := channels[i].Address(r.Seal)
		if err != nil {
			return nil, err
		}
		kind, err := kinds.Find(channels[i].Kind)
		if err != nil {
			return nil, err
		}
		shown := kind.Shown(address)
		channels[i].URL, channels[i].Format = shown.URL, shown.Format
	}
	return channels, nil
}

// Rule is a rule as it is shown.
type Rule struct {
	ID        uuid.UUID                      `db:"id"`
	Name      string                         `db:"name"`
	Terms     jsonColumn[notification.Terms] `db:"terms"`
	CreatedAt time.Time                      `db:"created_at"`
	CreatedBy *uuid.UUID                     `db:"created_by"`
}

// Rules returns an organization's rules by name, or the one of an id.
func (r *Reader) Rules(ctx context.Context, organization uuid.UUID, only *uuid.UUID) ([]Rule, error) {
	return statement.All[Rule](ctx, r.DB, "list rules", `SELECT id, name, terms, created_at, created_by FROM notification_rules
		WHERE organization_id = $1 AND removed_at IS NULL AND ($2::uuid IS NULL OR id = $2) ORDER BY lower(name), id`, organization, only)
}

// Delivery is a delivery as it is shown.
type Delivery struct {
	ID            uuid.UUID                    `db:"id"`
	Rule          uuid.UUID                    `db:"rule_id"`
	RuleName      string                       `db:"rule_name"`
	Channel       uuid.UUID                    `db:"channel_id"`
	ChannelName   string                       `db:"channel_name"`
	Kind          string                       `db:"kind"`
	Status        string                       `db:"status"`
	Reason        string                       `db:"reason"`
	Attempts      int                          `db:"attempts"`
	NextAttemptAt *time.Time                   `db:"next_attempt_at"`
	LastCode      int                          `db:"last_code"`
	LastError     string                       `db:"last_error"`
	CreatedAt     time.Time                    `db:"created_at"`
	StatusAt      time.Time                    `db:"status_at"`
	All           int                          `db:"all_events"`
	Events        jsonColumn[[]channel.Notice] `db:"events"`
}

// DeliveryQuery selects an organization's deliveries. What is empty does not narrow.
type DeliveryQuery struct {
	Organization uuid.UUID
	ID           *uuid.UUID
	Statuses     []string
	Channel      *uuid.UUID
	EventType    *string
	From, To     *time.Time
	Before       *DeliveryPlace // where the page before ended
	Limit        int
	Events       int // of each, at most; 0: all
}

// DeliveryPlace is where a delivery stands in the list.
type DeliveryPlace struct {
	CreatedAt time.Time
	ID        uuid.UUID
}

// Deliveries returns deliveries, newest first.
func (r *Reader) Deliveries(ctx context.Context, q DeliveryQuery) ([]Delivery, error) {
	var at *time.Time
	var id *uuid.UUID
	if q.Before != nil {
		at, id = &q.Before.CreatedAt, &q.Before.ID
	}
	var events *int
	if q.Events > 0 {
		events = &q.Events
	}
	found, err := statement.All[Delivery](ctx, r.DB, "list deliveries", deliveriesQuery,
		q.Organization, q.ID, q.Statuses, q.Channel, q.EventType, q.From, q.To, at, id, q.Limit, events)
	if err != nil {
		return nil, err
	}
	var all []channel.Notice
	for _, d := range found {
		all = append(all, d.Events.Value...)
	}
	if err := channel.Name(ctx, r.DB, q.Organization, all); err != nil {
		return nil, err
	}
	for _, d := range found {
		all = all[copy(d.Events.Value, all):]
	}
	return found, nil
}

// Told is an event of an alert as it was told.
type Told struct {
	Delivery    uuid.UUID               `db:"delivery_id"`
	Type        string                  `db:"type"`
	At          time.Time               `db:"at"`
	Rule        uuid.UUID               `db:"rule_id"`
	RuleName    string                  `db:"rule_name"`
	Channel     uuid.UUID               `db:"channel_id"`
	ChannelName string                  `db:"channel_name"`
	Kind        string                  `db:"kind"`
	Status      string                  `db:"status"`
	Reason      string                  `db:"reason"`
	StatusAt    time.Time               `db:"status_at"`
	LastCode    int                     `db:"last_code"`
	Recipients  jsonColumn[[]uuid.UUID] `db:"recipients"` // of e-mail: who was mailed; while it waits, who will be
}

// OfAlert returns who was told of an alert, newest first, at most 200.
func (r *Reader) OfAlert(ctx context.Context, organization, alert uuid.UUID) ([]Told, error) {
	return statement.All[Told](ctx, r.DB, "read who was told of an alert", ofAlertQuery, organization, alert, toOwners(), reasonNobody)
}

// InstanceRule is a rule that covers a server, with its channels.
type InstanceRule struct {
	Rule
	Channels []InstanceChannel
}

// InstanceChannel is a channel with its recipients, if it is e-mail.
type InstanceChannel struct {
	ID         uuid.UUID
	Name, Kind string
	Recipients []uuid.UUID
}

// toOwners names the kinds that lead to the owners of servers.
func toOwners() []string { return kinds.Names(func(k channel.Kind) bool { return k.ToOwners }) }

// owner is the team that owns a server; without members if none does.
func (r *Reader) owner(ctx context.Context, people *accounts.Store, organization uuid.UUID, s server) (t accounts.Team, err error) {
	if s.Owner != nil {
		t, _, err = people.Team(ctx, r.DB, organization, s.Owner.ID)
	}
	return t, err
}

// mailable are the members of a team who can be mailed.
func (r *Reader) mailable(ctx context.Context, organization uuid.UUID, t accounts.Team) ([]uuid.UUID, error) {
	members := accounts.MembersOf([]accounts.Team{t})
	addresses, err := accounts.ConfirmedAddresses(ctx, r.DB, organization, members)
	return slices.DeleteFunc(members, func(id uuid.UUID) bool { _, confirmed := addresses[id]; return !confirmed }), err
}

// leftOut says who of the members that channels name is not mailed about a server: those with the role team who do
// not belong to its owner.
func leftOut(ctx context.Context, people *accounts.Store, org uuid.UUID, channels []Channel, owner accounts.Team) (func(uuid.UUID) bool, error) {
	var named []uuid.UUID
	for _, c := range channels {
		named = append(named, c.MemberIDs...)
	}
	who, err := people.Addresses(ctx, org, named)
	belong := accounts.MembersOf([]accounts.Team{owner})
	return func(id uuid.UUID) bool { return who[id].Role == organization.Team && !slices.Contains(belong, id) }, err
}

// OfInstance returns the enabled rules that cover alerts of a server, or reports that name it,
// by name.
func (r *Reader) OfInstance(ctx context.Context, organization, instance uuid.UUID, people *accounts.Store) ([]InstanceRule, error) {
	called, err := history{r.Events, r.Registry}.names(ctx, r.DB, ids{instance: organization})
	if err != nil {
		return nil, err
	}
	s, _ := called.server(instance, math.MaxInt64)
	rules, err := r.Rules(ctx, organization, nil)
	if err != nil {
		return nil, err
	}
	channels, err := r.Channels(ctx, organization, nil)
	if err != nil {
		return nil, err
	}
	admins, err := people.Administrators(ctx, organization)
	if err != nil {
		return nil, err
	}
	owner, err := r.owner(ctx, people, organization, s)
	if err != nil {
		return nil, err
	}
	owning, err := r.mailable(ctx, organization, owner)
	if err != nil {
		return nil, err
	}
	leaves, err := leftOut(ctx, people, organization, channels, owner)
	if err != nil {
		return nil, err
	}
	byID := map[uuid.UUID]InstanceChannel{}
	for _, c := range channels {
		is := InstanceChannel{ID: c.ID, Name: c.Name, Kind: string(c.Kind), Recipients: slices.DeleteFunc(c.MemberIDs, leaves)}
		if c.Administrators {
			is.Recipients = append(is.Recipients, admins...)
		}
		if slices.Contains(toOwners(), is.Kind) {
			is.Recipients = append(is.Recipients, owning...)
		}
		byID[c.ID] = is
	}
	var of []InstanceRule
	for _, rule := range rules {
		if !rule.Terms.Value.Enabled || !rule.Terms.Value.Match.TellsOf(s.subject()) {
			continue
		}
		told := InstanceRule{Rule: rule}
		for _, id := range rule.Terms.Value.ChannelIDs {
			if c, ok := byID[id]; ok {
				told.Channels = append(told.Channels, c)
			}
		}
		of = append(of, told)
	}
	return of, nil
}
