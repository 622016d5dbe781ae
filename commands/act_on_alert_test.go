package commands_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
)

func TestAResendNeverUndoesAMembersAction(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	feed := usecase.Actor{OrganizationID: h.org.ID, Component: "ingest"}
	resend := func(set ...func(*alerting.Item)) uuid.UUID {
		t.Helper()
		ids, _, err := h.RecordAlerts(ctx, feed, []alerting.Item{alertItem("a-1", set...)})
		if err != nil {
			t.Fatal(err)
		}
		return ids[0].ID
	}
	yes, no := true, false
	id := resend()
	for _, act := range []func(context.Context, usecase.Actor, uuid.UUID) (usecase.Mark, error){h.AcknowledgeAlert, h.MuteAlert} {
		if mark, err := act(ctx, h.actor, id); err != nil || mark.Position == 0 {
			t.Fatal(mark, err)
		}
		if resend() != id {
			t.Fatal("another alert")
		}
	}
	h.wantTypes("after a resend", id, "raised", "acknowledged", "muted")
	resend(func(i *alerting.Item) { i.Muted = &yes })
	h.wantTypes("muted twice", id, "raised", "acknowledged", "muted")
	resend(func(i *alerting.Item) { i.Muted = &no })
	h.wantTypes("unmuted by the feed", id, "raised", "acknowledged", "muted", "unmuted")

	// Seen again beside the log, and resolved with that.
	seen := start.Add(3 * time.Minute)
	resend(func(i *alerting.Item) { i.LastTriggeredAt = seen })
	if n := h.count("alert_last_seen WHERE alert_id = $1 AND last_triggered_at = $2 AND key IS NULL", id, seen); n != 1 {
		t.Error("what was seen is not beside the log")
	}
	if _, err := h.ResolveAlert(ctx, h.actor, id); err != nil {
		t.Fatal(err)
	}
	var resolved alert.Resolved
	h.last(id, &resolved)
	if !resolved.LastTriggeredAt.Equal(seen) || !resolved.ResolvedAt.Equal(start) || h.count("alert_last_seen") != 0 {
		t.Errorf("%+v", resolved)
	}
	resend(resolvedAt(start))
	second := resend()
	if second == id {
		t.Error("what is closed was opened again")
	}
	h.wantTypes("closed for good", id, "raised", "acknowledged", "muted", "unmuted", "resolved")
	if resend() != second {
		t.Error("a third alert")
	}
	h.wantTypes("the new one", second, "raised")
	h.wantKeysTold()
}

// TestResendsRaceWithAPerson: the person's action holds, in either order.
func TestResendsRaceWithAPerson(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.alerts(alertItem("a-1"))[0]
	together(9, func(n int) error {
		if n == 4 {
			_, err := h.MuteAlert(t.Context(), h.actor, id)
			return err
		}
		worse := alertItem("a-1", func(i *alerting.Item) {
			i.Severity = alert.Severities()[n%3]
			i.LastTriggeredAt = start.Add(time.Duration(n) * time.Second)
		})
		_, _, err := h.RecordAlerts(t.Context(), h.actor, []alerting.Item{worse})
		return err
	}, t)
	if a := h.folded(id); !a.Muted() {
		t.Error("a resend unmuted it")
	}
	if n := h.alertEvents(); n != len(h.types(id)) {
		t.Error("a resend raised another alert")
	}
	h.wantKeysTold()
}

// TestActions: each does its thing once; what makes no sense is refused, and a
// foreign id is no alert's.
func TestActions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	id := h.alerts(alertItem("a-1"))[0]
	for _, step := range []struct {
		name string
		act  func(context.Context, usecase.Actor, uuid.UUID) (usecase.Mark, error)
		ok   bool
	}{
		{"unmute", h.UnmuteAlert, false},
		{"acknowledge", h.AcknowledgeAlert, true}, {"acknowledge twice", h.AcknowledgeAlert, false},
		{"mute", h.MuteAlert, true}, {"mute twice", h.MuteAlert, false},
		{"resolve", h.ResolveAlert, true}, {"resolve twice", h.ResolveAlert, false}, {"acknowledge what is closed", h.AcknowledgeAlert, false},
		{"unmute what is closed", h.UnmuteAlert, true}, {"mute what is closed", h.MuteAlert, true},
	} {
		mark, err := step.act(ctx, h.actor, id)
		var rule *usecase.RuleError
		if step.ok && (err != nil || mark.Position == 0) || !step.ok && (!errors.As(err, &rule) || rule.Code != "invalid_state" || rule.Detail == "") {
			t.Errorf("%s: %v, %v", step.name, mark, err)
		}
	}
	h.wantTypes("in the end", id, "raised", "acknowledged", "muted", "resolved", "unmuted", "muted")
	var actor string
	err := h.db.GetContext(ctx, &actor, `SELECT convert_from(metadata, 'UTF8')::jsonb ->> 'actorId' FROM events WHERE stream_id = $1 AND version = 2`, id)
	if err != nil || actor != h.ana.ID.String() {
		t.Errorf("acknowledged by %s, %v", actor, err)
	}
	h.wantKeysTold()

	_, eve := h.organization("Other")
	instance, report := h.fleet(item("pg-1"))[0].ID, h.request(h.actor).ReportID
	for _, c := range []struct {
		actor usecase.Actor
		id    uuid.UUID
	}{{h.actor, uuid.New()}, {h.actor, instance}, {h.actor, report}, {h.as(eve), id}} {
		for _, act := range []func(context.Context, usecase.Actor, uuid.UUID) (usecase.Mark, error){
			h.AcknowledgeAlert, h.MuteAlert, h.UnmuteAlert, h.ResolveAlert,
		} {
			var missing *usecase.NotFoundError
			if _, err := act(ctx, c.actor, c.id); !errors.As(err, &missing) {
				t.Errorf("%v", err)
			}
		}
	}
}

// TestAnOlderAlertLeavesTheKey: an action on it changes nothing under the key.
func TestAnOlderAlertLeavesTheKey(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	older := h.alerts(alertItem("a-1", resolvedAt(start)))[0]
	newer := h.alerts(alertItem("a-1"))[0]
	for _, act := range []func(context.Context, usecase.Actor, uuid.UUID) (usecase.Mark, error){h.MuteAlert, h.UnmuteAlert} {
		if _, err := act(t.Context(), h.actor, older); err != nil {
			t.Fatal(err)
		}
	}
	if again := h.alerts(alertItem("a-1"))[0]; again != newer {
		t.Error("the key leads elsewhere")
	}
	h.wantTypes("older", older, "raised", "resolved", "muted", "unmuted")
	h.wantTypes("newer", newer, "raised")
	h.wantKeysTold()
}

// TestOneOfSeveralConcurrentActionsSucceeds: of members who do the same thing at the same time, one does it.
func TestOneOfSeveralConcurrentActionsSucceeds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.alerts(alertItem("a-1"))[0]
	want := []string{"raised"}
	for _, a := range []struct {
		event string
		act   func(context.Context, usecase.Actor, uuid.UUID) (usecase.Mark, error)
	}{
		{"acknowledged", h.AcknowledgeAlert}, {"muted", h.MuteAlert}, {"unmuted", h.UnmuteAlert}, {"resolved", h.ResolveAlert},
	} {
		var refused atomic.Int32
		together(6, func(int) error {
			_, err := a.act(t.Context(), h.actor, id)
			var rule *usecase.RuleError
			if errors.As(err, &rule) && rule.Code == "invalid_state" {
				refused.Add(1)
				return nil
			}
			return err
		}, t)
		if refused.Load() != 5 {
			t.Errorf("%s: %d of 6 were refused", a.event, refused.Load())
		}
		want = append(want, a.event)
		h.wantTypes("six at once", id, want...)
	}
	h.wantKeysTold()
}
