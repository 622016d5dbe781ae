package commands_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
)

// TestTurningTextsOff deletes the stored texts in the transaction of the change, also those
// that a sender is about to store because it saw the earlier setting. Afterwards nothing stores
// any.
func TestTurningTextsOff(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	store := pgstore.New(h.db, slog.New(slog.DiscardHandler))
	store.KeepsTexts = h.Accounts.HoldsTexts
	h.Texts = store
	turn := func(to string) error {
		_, _, err := h.ChangeOrganization(context.WithoutCancel(t.Context()), h.actor, commands.ChangeOrganization{ChangeSettings: organization.ChangeSettings{StatementTexts: &to}})
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	send := func(s *pgstore.Store, key string) error {
		_, err := s.Write(context.WithoutCancel(t.Context()), measurements.Batch{Organization: h.org.ID, Statements: []measurements.StatementSample{{
			Instance: uuid.UUID{1}, Engine: fleet.PostgreSQL, Database: uuid.New(), At: start, Interval: time.Minute,
			Statements: []measurements.Statement{{Key: key, Calls: 1, TotalMs: 1, Text: "SELECT ?"}},
		}}})
		return err
	}
	count := func(query string) (n int) {
		t.Helper()
		must(h.db.Get(&n, query))
		return n
	}
	texts := func() int { t.Helper(); return count(`SELECT count(text) FROM measured_statements`) }

	must(send(store, "before"))
	if n := texts(); n != 0 {
		t.Errorf("%d texts are kept, and nobody asked for them", n)
	}
	must(turn(organization.TextsNormalized))
	must(send(store, "kept"))
	if n := texts(); n != 1 {
		t.Errorf("%d texts are kept, want 1", n)
	}

	slow := pgstore.New(h.db, slog.New(slog.DiscardHandler))
	h.turnsOff(t, &slow.KeepsTexts, h.Accounts.HoldsTexts, func() error { return send(slow, "late") }, func() error { return turn(organization.TextsOff) })
	must(send(store, "after"))
	if n, statements := texts(), count(`SELECT count(*) FROM measured_statements`); n != 0 || statements != 4 {
		t.Errorf("%d texts of %d statements are left, want none of 4", n, statements)
	}
}

// decision is a setting that a sender asks for in its transaction.
type decision = func(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) (bool, error)

// turnsOff turns a setting off while a sender was told that it is on, and has not written yet. The
// sender asks by hook, and the answer is that of holds.
func (h *house) turnsOff(t *testing.T, hook *decision, holds decision, send, turn func() error) {
	t.Helper()
	told, goOn, sent, off := make(chan struct{}), make(chan struct{}), make(chan error, 1), make(chan error, 1)
	*hook = func(ctx context.Context, tx *sqlx.Tx, id uuid.UUID) (bool, error) {
		keeps, err := holds(ctx, tx, id)
		close(told)
		<-goOn
		return keeps, err
	}
	go func() { sent <- send() }()
	<-told
	go func() { off <- turn() }()
	for waits := 0; waits == 0 && len(off) == 0; {
		if err := h.db.Get(&waits, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`); err != nil {
			t.Fatal(err)
		}
	}
	close(goOn)
	for _, ended := range []chan error{sent, off} {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
}
