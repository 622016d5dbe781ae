package commands_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"muster/commands"
	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/eventstore"
	"muster/internal/postgres"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

// before does something once, when a statement with some text in it is about to run.
type before struct {
	statement string
	once      sync.Once
	do        func()
}

func (b *before) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if strings.Contains(q.SQL, b.statement) {
		b.once.Do(b.do)
	}
	return ctx
}

func (*before) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// interrupted is the house with something that happens while it writes.
func (h *house) interrupted(statement string, do func()) *house {
	h.Helper()
	db, pool, err := postgres.Connect(h.Context(), pgtest.URL(h.T), postgres.PoolOptions{
		Name: "test", Max: 2, Tracer: &before{statement: statement, do: do},
	})
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(pool.Close)
	in := *h
	in.Service = commands.New(usecase.Base{DB: db, Events: h.Events, Accounts: h.Accounts, Now: h.Now}, commands.Needs{Instances: h.Instances, Jobs: h.Jobs})
	return &in
}

// pastTheLocks appends to an alert as no code of ours does: without its key.
func (h *house) pastTheLocks(id uuid.UUID, e alert.Event) {
	encoded, err := usecase.Registry().Encode(e)
	if err != nil {
		h.Error(err)
		return
	}
	encoded.OccurredAt = h.clock.Now()
	if _, err := h.Events.Append(h.Context(), eventstore.Fleet, eventstore.Append{
		Organization: h.org.ID, StreamType: alert.StreamType, Stream: id, Expected: eventstore.AnyVersion, Events: []eventstore.NewEvent{encoded},
	}); err != nil {
		h.Error(err)
	}
}

// alertWrites are one write of each kind about alert id, which is known as
// "alertmanager/a" or "external/a" and has come to its end.
func (h *house) alertWrites() map[string]func(ctx context.Context, h *house, id uuid.UUID) error {
	worse := func(ctx context.Context, h *house, _ uuid.UUID) error {
		_, _, err := h.RecordAlerts(ctx, h.actor, []alerting.Item{alertItem("a", func(i *alerting.Item) {
			i.Severity, i.LastTriggeredAt = alert.Info, start.Add(2*time.Minute)
		})})
		return err
	}
	return map[string]func(ctx context.Context, h *house, id uuid.UUID) error{
		"changed": worse,
		"auto_resolved": func(ctx context.Context, h *house, _ uuid.UUID) error {
			_, _, err := h.RecordFirings(ctx, h.actor, []alert.Firing{h.firing("a", over(start.Add(time.Minute)))})
			return err
		},
		"auto_resolved by the sweep": func(ctx context.Context, h *house, _ uuid.UUID) error {
			_, _, err := h.EndFirings(ctx, 10)
			return err
		},
		"resolved": func(ctx context.Context, h *house, id uuid.UUID) error {
			_, err := h.ResolveAlert(ctx, h.actor, id)
			return err
		},
		"muted_until": func(ctx context.Context, h *house, id uuid.UUID) error {
			_, err := h.muteUntil(ctx, h.actor, id)
			return err
		},
		"muted": func(ctx context.Context, h *house, id uuid.UUID) error {
			_, err := h.MuteAlert(ctx, h.actor, id)
			return err
		},
	}
}

// endedAlert is an alert whose end is now, so that every kind of write concerns it.
func (h *house) endedAlert(write string) uuid.UUID {
	h.Helper()
	if write == "changed" {
		h.alerts(alertItem("a"))
		return h.alerts(alertItem("a", func(i *alerting.Item) { i.LastTriggeredAt = start.Add(time.Minute) }))[0]
	}
	h.fire(h.firing("a", ends(start.Add(time.Minute))))
	h.clock.Advance(time.Minute)
	return h.under("a")[0]
}

// TestAWriterThatIgnoresTheLocksLosesNothing: the next writer decides on the result, and updates the key.
func TestAWriterThatIgnoresTheLocksLosesNothing(t *testing.T) {
	t.Parallel()
	for name, write := range new(house).alertWrites() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			id := h.endedAlert(name)
			in := h.interrupted("append_event", func() { h.pastTheLocks(id, alert.Acknowledged{}) })
			if err := write(t.Context(), in, id); err != nil {
				t.Fatal(err)
			}
			last, _, _ := strings.Cut(name, " ")
			h.wantTypes("in the end", id, "raised", "acknowledged", last)
			h.wantKeysTold()
		})
	}
	t.Run("somebody was faster", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t)
		id := h.alerts(alertItem("a"))[0]
		in := h.interrupted("append_event", func() { h.pastTheLocks(id, alert.Acknowledged{}) })
		var refused *usecase.RuleError
		if _, err := in.AcknowledgeAlert(t.Context(), h.actor, id); !errors.As(err, &refused) {
			t.Errorf("acknowledged twice: %v", err)
		}
		h.wantTypes("in the end", id, "raised", "acknowledged")
	})
}

// TestAProcessThatDies: a process that dies before the commit leaves nothing, and the next one
// can write the same.
func TestAProcessThatDies(t *testing.T) {
	t.Parallel()
	for name, write := range new(house).alertWrites() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			id := h.endedAlert(name)
			was, seen := h.folded(id), h.beside(id)
			for _, statement := range []string{"lock_stream_keys", "alert_last_seen", "append_event"} {
				ctx, die := context.WithCancel(t.Context())
				if err := write(ctx, h.interrupted(statement, die), id); err == nil || ctx.Err() == nil {
					t.Fatalf("it did not die at %s: %v", statement, err)
				}
				if h.folded(id) != was || h.beside(id) != seen {
					t.Errorf("dead at %s, it left something", statement)
				}
				h.wantKeysTold()
			}
			if err := write(t.Context(), h, id); err != nil {
				t.Fatal(err)
			}
			last, _, _ := strings.Cut(name, " ")
			h.wantTypes("the next one", id, "raised", last)
		})
	}
}

// beside is what is known of an alert beside the log, as text.
func (h *house) beside(id uuid.UUID) (row string) {
	h.Helper()
	err := h.db.GetContext(h.Context(), &row, `SELECT coalesce((SELECT l::text FROM alert_last_seen l WHERE alert_id = $1), 'nothing')`, id)
	if err != nil {
		h.Fatal(err)
	}
	return row
}

// TestThousandsOfAlertsAtOnce: three processes get the same batch, each in an order
// of its own.
func TestThousandsOfAlertsAtOnce(t *testing.T) {
	t.Parallel()
	comeAtOnce(t, 1_000)
}

func TestLongTenThousandAlertsAtOnce(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	comeAtOnce(t, 10_000)
}

func comeAtOnce(t *testing.T, alerts int) {
	t.Helper()
	h := newHouse(t)
	const writers = 3
	got := make([]map[string]uuid.UUID, writers)
	together(writers, func(w int) error {
		items := make([]alerting.Item, alerts)
		for to, i := range rand.New(rand.NewPCG(1, uint64(w))).Perm(alerts) {
			items[to] = alertItem(fmt.Sprintf("a-%05d", i))
		}
		ids, _, err := h.RecordAlerts(t.Context(), h.actor, items)
		got[w] = make(map[string]uuid.UUID, alerts)
		for _, i := range ids {
			got[w][i.ExternalID] = i.ID
		}
		return err
	}, t)
	for id, one := range got[0] {
		if got[1][id] != one || got[2][id] != one {
			t.Fatalf("%s has more than one id", id)
		}
	}
	if n := h.alertEvents(); n != alerts {
		t.Errorf("%d events, want one for each alert", n)
	}
}
