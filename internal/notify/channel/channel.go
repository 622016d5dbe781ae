package channel

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/notifying"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/rule"
	"muster/internal/accounts"
	"muster/internal/mail"
)

// Kind is one way to notify, as a value. Its folder has all that is particular to it.
type Kind struct {
	Name  notification.Kind
	Title string // on the pages and in documents

	// Follows are the events that a receiver needs together, because it keeps the state of
	// each alert by itself. A rule that asks for one of them sends all of them, and nothing
	// else; an end is sent whatever became of the beginning. Empty: the rule alone decides.
	Follows []notification.EventType
	// OwnPace says that the receiver groups, repeats and keeps quiet by itself. The rule's
	// times for that do not hold.
	OwnPace bool

	// ToOwners says that a delivery goes to the members of the teams that own the servers of its
	// events. An event whose servers nobody owns is left out when the delivery is closed.
	ToOwners bool

	// Validate returns the rules that the settings of a channel break.
	Validate func(notification.Channel) []rule.Broken
	// Shown is the part of an address that may be shown.
	Shown func(notification.Address) notification.Address
	// Send makes one attempt at a delivery. It returns the receiver's code. Errors: *Error,
	// ErrNobody, and Muster's own.
	Send func(context.Context, Tools, Delivery) (code int, err error)
	// Feed sends all open alerts again, each minute; between is called between those that
	// are open and those that are over. Nil: this kind needs no feed.
	Feed func(ctx context.Context, with Tools, to Delivery, open []Fed, between func(context.Context) error) error
}

// Delivery is a delivery as one attempt sends it.
type Delivery struct {
	Channel notifying.ChannelRow
	Message // without its events: Tools.Read has them
	Test    bool
}

// Tools are the means of every kind.
type Tools struct {
	DB        *sqlx.DB
	Accounts  *accounts.Store
	Seal      notifying.Sealer
	Poster    *Poster
	Composer  *mail.Composer
	Transport mail.Transport
	Now       func() time.Time // the database's
}

// ErrNobody says that a channel leads to nobody who can be notified.
var ErrNobody = errors.New("the channel has no recipient")

// Form makes the body of a post, and headers where the receiver wants some.
type Form func(m Message, to notification.Address, now time.Time) (http.Header, []byte, error)

// Posted is the Send of a kind that posts the first events of a delivery in one body.
func Posted(form Form) func(context.Context, Tools, Delivery) (int, error) {
	return func(ctx context.Context, with Tools, d Delivery) (int, error) {
		address, err := d.Channel.Address(with.Seal)
		if err != nil {
			return 0, err
		}
		m := d.Message
		if m.Events, m.Omitted, err = with.Read(ctx, d, EventFilter{}); err != nil {
			return 0, err
		}
		header, body, err := form(m, address, with.Now())
		if err != nil {
			return 0, err
		}
		return with.Poster.Post(ctx, address.URL, header, body)
	}
}

// Fed is an open alert as a receiver is fed with it. EndsAt of one that fires is when it is
// over unless it is sent again.
type Fed struct {
	ID               uuid.UUID
	Label            string // what is stable of it: its rule's name, else its first title
	Title            string
	Description      string
	Severity         alert.Severity
	Instance         string
	Owner            string // the team that owns the instance; empty: none does
	StartsAt, EndsAt time.Time
	// Labels are others than follow from it: those that it had when it was told before.
	Labels map[string]string
}

// FeedEvery is how often a kind with a feed is sent all that is open, as Prometheus does.
const FeedEvery = time.Minute
