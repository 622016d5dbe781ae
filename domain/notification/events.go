package notification

import "github.com/google/uuid"

// Stream types in the organization log.
const (
	ChannelStream = "channel"
	RuleStream    = "notification_rule"
)

// Event is a fact about a channel or a rule. Its wire name is its Name.
type Event interface{ name() string }

// ChannelCreated says that a channel was created.
type ChannelCreated struct {
	Kind           Kind        `json:"kind"`
	MemberIDs      []uuid.UUID `json:"memberIds,omitempty"`
	Administrators bool        `json:"administrators,omitempty"`
	AddressIDs     []uuid.UUID `json:"addressIds,omitempty"` // of addresses that are no members'
}

// ChannelChanged has the new settings of a channel. For name, address and secret it says only
// that they changed.
type ChannelChanged struct {
	NameChanged    bool        `json:"nameChanged,omitempty"`
	URLChanged     bool        `json:"urlChanged,omitempty"`
	SecretChanged  bool        `json:"secretChanged,omitempty"`
	FormatChanged  bool        `json:"formatChanged,omitempty"`
	MemberIDs      []uuid.UUID `json:"memberIds,omitempty"`
	Administrators bool        `json:"administrators,omitempty"`
	AddressIDs     []uuid.UUID `json:"addressIds,omitempty"`
	// An address that its owner confirmed, or unsubscribed.
	ConfirmedAddressID *uuid.UUID `json:"confirmedAddressId,omitempty"`
	LeftAddressID      *uuid.UUID `json:"leftAddressId,omitempty"`
}

// ChannelRemoved says that the channel sends nothing any more.
type ChannelRemoved struct{}

// ChannelTested says that a member sent a test, and its result.
type ChannelTested struct {
	OK         bool `json:"ok"`
	StatusCode int  `json:"statusCode,omitempty"` // 0: nothing was answered
}

// DeliveryRetried says that a member retried a delivery of the channel.
type DeliveryRetried struct {
	DeliveryID uuid.UUID `json:"deliveryId"`
}

// RuleCreated says that a rule sends events from now on.
type RuleCreated struct{ Terms }

// RuleChanged has the new terms of a rule.
type RuleChanged struct {
	NameChanged bool `json:"nameChanged,omitempty"`
	Terms
}

// RuleRemoved says that they are not told any more.
type RuleRemoved struct{}

func (ChannelCreated) name() string  { return "channel.created" }
func (ChannelChanged) name() string  { return "channel.changed" }
func (ChannelRemoved) name() string  { return "channel.removed" }
func (ChannelTested) name() string   { return "channel.tested" }
func (DeliveryRetried) name() string { return "delivery.retried" }
func (RuleCreated) name() string     { return "notification_rule.created" }
func (RuleChanged) name() string     { return "notification_rule.changed" }
func (RuleRemoved) name() string     { return "notification_rule.removed" }

// Events returns an empty value of every event of a channel or a rule. All are at schema
// version 1. A name that was ever written stays.
func Events() []Event {
	return []Event{
		ChannelCreated{}, ChannelChanged{}, ChannelRemoved{}, ChannelTested{}, DeliveryRetried{},
		RuleCreated{}, RuleChanged{}, RuleRemoved{},
	}
}

// Name returns the wire name of an event; it is empty for none.
func Name(e Event) string {
	if e == nil {
		return ""
	}
	return e.name()
}

// Life is whether a channel or a rule is there, folded from its events.
type Life struct{ Exists bool }

// Apply folds one recorded event into it.
func (l *Life) Apply(event Event) {
	switch event.(type) {
	case ChannelCreated, RuleCreated:
		l.Exists = true
	case ChannelRemoved, RuleRemoved:
		l.Exists = false
	}
}
