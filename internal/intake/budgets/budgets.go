package budgets

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
)

// Name is which budget; a label of a figure, and a word of the API.
type Name string

// The budgets.
const (
	Bytes      Name = "bytes"
	Events     Name = "events"
	OpenAlerts Name = "openAlerts"
)

// Names returns all of them, in the order in which they are shown.
func Names() []Name { return []Name{Bytes, Events, OpenAlerts} }

// Limits are how much an organization may use.
type Limits struct {
	Bytes, Events int64 // in a day
	OpenAlerts    int64 // at a time
	TokenShare    int64 // percent of each that a token may use
}

// Default are the limits of an installation that sets none (contract, §30).
func Default() Limits {
	return Limits{Bytes: 20_000_000_000, Events: 1_000_000, OpenAlerts: 100_000, TokenShare: 10}
}

// Of is the limit of an organization.
func (l Limits) Of(name Name) int64 {
	switch name {
	case Bytes:
		return l.Bytes
	case Events:
		return l.Events
	case OpenAlerts:
		return l.OpenAlerts
	}
	return 0
}

// OfToken is the limit of each of its tokens, at least 1.
func (l Limits) OfToken(name Name) int64 {
	whole := l.Of(name)
	return max(1, whole/100*l.TokenShare+whole%100*l.TokenShare/100)
}

// ExhaustedError says that a call would exceed a budget. Nothing of the call was stored.
type ExhaustedError struct {
	Name    Name
	OfToken bool // the token's share is used up; else the organization's
	Limit   int64
	Used    int64
	ResetAt time.Time // when there is room again; zero: once alerts are resolved
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("the budget of %s is used up: %d of %d", e.Name, e.Used, e.Limit)
}

// Sender is who sends: a token of an organization.
type Sender struct{ Organization, Token uuid.UUID }

// used is what was used on a day.
type used struct{ bytes, events int64 }

func (u used) of(name Name) int64 {
	if name == Bytes {
		return u.bytes
	}
	return u.events
}

func (u *used) add(name Name, n int64) {
	if name == Bytes {
		u.bytes += n
	} else {
		u.events += n
	}
}

// entry is what is counted together.
type entry struct {
	Sender
	day time.Time
}

// account is the use of an organization on the current day: the database's figures, and the
// counts since.
type account struct {
	all   used
	by    map[uuid.UUID]used
	asked bool // for, since the last flush
}

func (a *account) add(token uuid.UUID, name Name, n int64) {
	a.all.add(name, n)
	u := a.by[token]
	u.add(name, n)
	a.by[token] = u
}

// Book counts what is used.
type Book struct {
	db     *sqlx.DB
	log    *slog.Logger
	now    func() time.Time
	limits Limits

	writing sync.Mutex // one flush at a time

	mu       sync.Mutex
	day      time.Time
	accounts map[uuid.UUID]*account
	unkept   map[entry]used // not in the database yet
	purged   time.Time      // the day on which old rows were last deleted
}

// New returns a book on a database; now is the database's clock.
func New(db *sqlx.DB, limits Limits, log *slog.Logger, now func() time.Time) *Book {
	return &Book{db: db, log: log, now: now, limits: limits, accounts: map[uuid.UUID]*account{}, unkept: map[entry]used{}}
}

// Limits are those that the book holds.
func (b *Book) Limits() Limits { return b.limits }

// today is the current day, in UTC.
func (b *Book) today() time.Time { return b.now().UTC().Truncate(24 * time.Hour) }

// ResetAt is when the budgets of a day begin anew.
func (b *Book) ResetAt() time.Time { return b.today().Add(24 * time.Hour) }

// Room is an *ExhaustedError where a budget of the day has nothing left, so that a body need
// not be read.
func (b *Book) Room(ctx context.Context, from Sender, name Name) error {
	_, err := b.spend(ctx, from, name, 1, 0)
	return err
}

// Spend counts what a call uses of a budget of the day, or is an *ExhaustedError where that would exceed it.
func (b *Book) Spend(ctx context.Context, from Sender, name Name, n int64) error {
	_, err := b.spend(ctx, from, name, n, n)
	return err
}

// SpendEvents counts the events that a call appends. Those that only close alerts are not
// refused: asked are the others, counted are all. giveBack is for a transaction that fails: it
// takes them from the day on which they were counted.
func (b *Book) SpendEvents(ctx context.Context, organization, token uuid.UUID, asked, counted int64) (giveBack func(), err error) {
	at, err := b.spend(ctx, Sender{organization, token}, Events, asked, counted)
	if err != nil {
		return nil, err
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.turn()
		b.count(at, Events, -counted)
	}, nil
}

// spend counts, if asked is within both limits; at says where.
func (b *Book) spend(ctx context.Context, from Sender, name Name, asked, counted int64) (at entry, err error) {
	if err := b.open(ctx, from.Organization); err != nil {
		return entry{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn()
	a := b.accounts[from.Organization]
	if a == nil { // it is past midnight since
		a = &account{by: map[uuid.UUID]used{}}
		b.accounts[from.Organization] = a
	}
	a.asked = true
	if asked > 0 {
		if u, limit := a.all.of(name), b.limits.Of(name); u+asked > limit {
			return entry{}, &ExhaustedError{Name: name, Limit: limit, Used: u, ResetAt: b.ResetAt()}
		}
		if u, limit := a.by[from.Token].of(name), b.limits.OfToken(name); u+asked > limit {
			return entry{}, &ExhaustedError{Name: name, OfToken: true, Limit: limit, Used: u, ResetAt: b.ResetAt()}
		}
	}
	at = entry{from, b.day}
	b.count(at, name, counted)
	return at, nil
}

// count adds to a sender's day; the caller holds mu.
func (b *Book) count(at entry, name Name, n int64) {
	if n == 0 {
		return
	}
	u := b.unkept[at]
	u.add(name, n)
	b.unkept[at] = u
	if a := b.accounts[at.Organization]; a != nil && at.day.Equal(b.day) {
		a.add(at.Token, name, n)
	}
}

// turn begins a day that has come; the caller holds mu. What was counted before keeps its day.
func (b *Book) turn() {
	if today := b.today(); !today.Equal(b.day) {
		b.day, b.accounts = today, map[uuid.UUID]*account{}
	}
}

// open reads what an organization used today, unless that is known.
func (b *Book) open(ctx context.Context, organization uuid.UUID) error {
	b.mu.Lock()
	b.turn()
	day, known := b.day, b.accounts[organization]
	if known != nil {
		known.asked = true
	}
	b.mu.Unlock()
	if known != nil {
		return nil
	}
	b.writing.Lock() // what is being written is in the rows, or in unkept
	defer b.writing.Unlock()
	rows, err := b.read(ctx, day, []uuid.UUID{organization})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.day.Equal(day) && b.accounts[organization] == nil {
		b.accounts[organization] = b.accountOf(organization, rows)
	}
	return nil
}

// accountOf is what the rows of the day say, and what is not in them yet; the caller holds
// mu, and writing.
func (b *Book) accountOf(organization uuid.UUID, rows []usedRow) *account {
	a := &account{by: map[uuid.UUID]used{}, asked: true}
	for _, r := range rows {
		if r.Organization == organization {
			a.add(r.Token, Bytes, r.Bytes)
			a.add(r.Token, Events, r.Events)
		}
	}
	for at, u := range b.unkept {
		if at.Organization == organization && at.day.Equal(b.day) {
			a.add(at.Token, Bytes, u.bytes)
			a.add(at.Token, Events, u.events)
		}
	}
	return a
}
