package alerting

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/eventstore"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/select_last_seen.sql
	selectLastSeen string
	//go:embed sql/write_last_seen.sql
	writeLastSeen string
)

// writer collects the writes of one transaction about alerts. The writer of an alert holds
// the lock of its key.
type writer struct {
	s     *Alerts
	tx    *sqlx.Tx
	actor usecase.Actor
	now   time.Time
	call  uuid.UUID // joins the events of one call

	sender uuid.UUID     // its budgets apply, because this is a message of that token; uuid.Nil: none do
	spent  usecase.Spent // events that are counted

	folds  bool                     // the data beside the keys is not trusted
	newest map[string]*trackedAlert // by key
	own    map[string][]string      // the keys of one instance alone among them, by the plain key
	told   []*trackedAlert          // those with something to write, as they came up
	people []named                  // whom they name
}

// trackedAlert is an alert with its state at the start of the transaction and the additions to
// it.
type trackedAlert struct {
	id      uuid.UUID
	key     string
	version int64
	alert   alert.Alert
	seen    alert.Seen
	events  []alert.Event
	moved   bool // the time seen beside the log has changed
	older   bool // another one has the key
	open    bool // it was when the transaction found it
}

// closed says that the transaction closes what was open.
func (t *trackedAlert) closed() bool { return t.open && t.alert.State().Closed() }

// write runs decide, and writes what it collects, in a transaction of its own. It tries
// again if another writer came first. A writer that bypassed the locks has left the data beside
// a key out of date: then the streams themselves are folded.
func (s *Alerts) writeAlerts(ctx context.Context, actor usecase.Actor, decide func(w *writer) error) (mark usecase.Mark, err error) {
	var conflict *eventstore.ConflictError
	var spent usecase.Spent
	err = eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) error {
		spent.GiveBack() // by the attempt before
		w := &writer{
			s: s, tx: tx, actor: actor, now: s.Clock(), call: usecase.NewID(),
			folds: conflict != nil, newest: map[string]*trackedAlert{}, own: map[string][]string{},
		}
		err := decide(w)
		if err == nil {
			mark, err = w.write(ctx)
		}
		spent = w.spent
		errors.As(err, &conflict)
		return err
	})
	if err != nil {
		spent.GiveBack()
	}
	return mark, err
}

// lock locks keys and gets the newest alert under each from the data beside its key, usually
// without loading a stream. All callers lock plain keys before those of one instance, and each
// kind in order, so that no deadlock is possible.
func (w *writer) lock(ctx context.Context, keys []string) error {
	var plain, own []string
	for _, key := range keys {
		if isOwn(key) {
			own = append(own, key)
		} else {
			plain = append(plain, key)
		}
	}
	if err := w.lockOneKind(ctx, plain); err != nil {
		return err
	}
	return w.lockOneKind(ctx, own)
}

func (w *writer) lockOneKind(ctx context.Context, keys []string) error {
	known, err := w.s.Events.LockKeys(ctx, w.tx, w.actor.OrganizationID, alert.StreamType, keys)
	if err != nil {
		return fmt.Errorf("lock keys of alerts: %w", err)
	}
	open := make(map[uuid.UUID]*trackedAlert, len(known))
	for key, k := range known {
		t := &trackedAlert{id: k.Stream, key: key, version: k.Version}
		var ok bool
		if t.alert, ok = alert.Recall(key, k.StateDigest); !ok || w.folds { // !ok: of another release
			token := t.alert.Token() // which the events do not say
			if t.alert, t.version, err = w.load(ctx, k.Stream); err != nil {
				return err
			}
			t.alert.RaisedBy(token)
		}
		w.keyed(t)
		if t.open = !t.alert.State().Closed(); t.open {
			open[t.id] = t
		}
	}
	return w.lastSeen(ctx, open)
}

func (w *writer) load(ctx context.Context, id uuid.UUID) (a alert.Alert, version int64, err error) {
	at, err := usecase.Fold(ctx, w.s.Base, w.tx, w.actor.OrganizationID, id, func(e any, _ time.Time) {
		if e, ok := e.(alert.Event); ok {
			a.Apply(e)
		}
	})
	return a, at.Version, err
}

// lastSeen adds what is known of open alerts beside the log.
func (w *writer) lastSeen(ctx context.Context, open map[uuid.UUID]*trackedAlert) error {
	if len(open) == 0 {
		return nil
	}
	ids := slices.Collect(maps.Keys(open))
	type row struct {
		ID        uuid.UUID  `db:"alert_id"`
		Last      time.Time  `db:"last_triggered_at"`
		StartedAt *time.Time `db:"started_at"`
		EndsAt    *time.Time `db:"ends_at"`
		Title     *string    `db:"title"`
		Text      *string    `db:"description"`
		Senders   []byte     `db:"senders"`
	}
	rows, err := statement.All[row](ctx, w.tx, "read when alerts were last seen", selectLastSeen, w.actor.OrganizationID, ids)
	for _, r := range rows {
		seen := alert.Seen{LastTriggeredAt: r.Last, StartedAt: fromNull(r.StartedAt), EndsAt: fromNull(r.EndsAt)}
		if r.Title != nil && r.Text != nil {
			seen.Title, seen.Description = *r.Title, *r.Text
		}
		if seen.Senders, err = readSenders(r.Senders, seen); err != nil {
			return fmt.Errorf("read the senders of alert %s: %w", r.ID, err)
		}
		open[r.ID].seen = seen
	}
	return err
}

// keyed makes an alert the newest under its key.
func (w *writer) keyed(t *trackedAlert) {
	if _, known := w.newest[t.key]; !known && isOwn(t.key) {
		plain := plainKey(t.key)
		w.own[plain] = append(w.own[plain], t.key)
	}
	w.newest[t.key] = t
}

// take records what follows from a message about the newest alert under a key.
func (w *writer) take(key string, o alert.Outcome) {
	t := w.newest[key]
	if o.Anew {
		if t != nil {
			t.older = true
		}
		t = &trackedAlert{id: usecase.NewID(), key: key, version: eventstore.NoStream}
		w.keyed(t)
	}
	if t != nil {
		w.keep(t, o.Events, o.Seen)
	}
}

// keep adds the decisions about an alert, and the new data beside the log; a closed alert has
// none.
func (w *writer) keep(t *trackedAlert, events []alert.Event, seen alert.Seen) {
	if len(events) == 0 && seen.Equal(t.seen) {
		return
	}
	if len(t.events) == 0 && !t.moved {
		w.told = append(w.told, t)
	}
	for _, e := range events {
		t.alert.Apply(e)
		if _, is := e.(alert.Raised); is {
			t.alert.RaisedBy(w.sender)
		}
	}
	if t.alert.State().Closed() {
		seen = alert.Seen{}
	}
	t.events = append(t.events, events...)
	t.moved = t.moved || !seen.Equal(t.seen)
	t.seen = seen
}

// write writes what is beside the log, a statement a table, and appends the
// events last; without any event the Mark is at position 0.
func (w *writer) write(ctx context.Context) (usecase.Mark, error) {
	if err := w.writeLastSeen(ctx); err != nil {
		return usecase.Mark{}, err
	}
	if err := w.writeMutes(ctx); err != nil {
		return usecase.Mark{}, err
	}
	if err := w.writePeople(ctx); err != nil {
		return usecase.Mark{}, err
	}
	if err := w.noteWindows(ctx); err != nil {
		return usecase.Mark{}, err
	}
	var batches []eventstore.Append
	for _, t := range w.told {
		if len(t.events) == 0 {
			continue
		}
		encoded, err := usecase.EncodeAll(w.now, t.events)
		if err != nil {
			return usecase.Mark{}, err
		}
		b := eventstore.Append{
			Organization: w.actor.OrganizationID, StreamType: alert.StreamType, Stream: t.id, Expected: t.version,
			Events: encoded, Metadata: w.actor.Metadata(w.call, usecase.Mark{}),
		}
		if !t.older { // or the key would lead back to it
			b.Key = &eventstore.KeyState{Key: t.key, StateDigest: t.alert.Memento()}
		}
		batches = append(batches, b)
	}
	if len(batches) == 0 {
		return usecase.Mark{Log: eventstore.Fleet}, nil
	}
	if err := w.spend(ctx); err != nil {
		return usecase.Mark{}, err
	}
	return w.s.Append(ctx, w.tx, eventstore.Fleet, batches...)
}

// writeLastSeen brings alert_last_seen to what is known: a row for an open alert
// where the log does not say it all, none for a closed one.
func (w *writer) writeLastSeen(ctx context.Context) error {
	var gone, ids []uuid.UUID
	var last []time.Time
	var started, ends []*time.Time
	var keys, titles, descriptions, senders []*string
	byID := func(a, b *trackedAlert) int { return slices.Compare(a.id[:], b.id[:]) }
	for _, t := range slices.SortedFunc(slices.Values(w.told), byID) {
		switch {
		case !t.moved:
		case t.seen.LastTriggeredAt.IsZero():
			gone = append(gone, t.id)
		default:
			ids, last = append(ids, t.id), append(last, t.seen.LastTriggeredAt)
			started, ends = append(started, toNull(t.seen.StartedAt)), append(ends, toNull(t.seen.EndsAt))
			var key *string
			if !t.seen.EndsAt.IsZero() {
				key = &t.key
			}
			keys = append(keys, key)
			var title, description, by *string
			if t.seen.Title != "" {
				title, description = &t.seen.Title, &t.seen.Description
			}
			if len(t.seen.Senders) > 0 {
				text, err := writtenSenders(t.seen)
				if err != nil {
					return fmt.Errorf("encode the senders of alert %s: %w", t.id, err)
				}
				by = &text
			}
			titles, descriptions, senders = append(titles, title), append(descriptions, description), append(senders, by)
		}
	}
	if len(ids)+len(gone) == 0 {
		return nil
	}
	return statement.Exec(ctx, w.tx, "write when alerts were last seen", writeLastSeen, w.actor.OrganizationID, gone, ids, last, started, ends, keys,
		titles, descriptions, senders)
}

// writtenSenders is who told an alert, as JSON. Of one alone the times are those of the row:
// without them a move changes the row's times only, and writes a third as much ahead.
func writtenSenders(seen alert.Seen) (string, error) {
	written := seen.Senders
	if len(written) == 1 && !written[0].Ended {
		written = []alert.Sender{{Name: written[0].Name, StartedAt: written[0].StartedAt}}
	}
	text, err := json.Marshal(written)
	return string(text), err
}

func readSenders(text []byte, seen alert.Seen) (senders []alert.Sender, err error) {
	if text == nil {
		return nil, nil
	}
	if err := json.Unmarshal(text, &senders); err != nil {
		return nil, err
	}
	if len(senders) == 1 && !senders[0].Ended {
		senders[0].SeenAt, senders[0].EndsAt = seen.LastTriggeredAt, seen.EndsAt
	}
	return senders, nil
}

func fromNull(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func toNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
