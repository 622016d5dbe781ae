package commands_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/usecase"
	"muster/domain/alert"
)

// now is the database's clock, which judges the ends of mutes.
func (h *house) now() (at time.Time) {
	h.Helper()
	if err := h.db.GetContext(h.Context(), &at, `SELECT clock_timestamp()`); err != nil {
		h.Fatal(err)
	}
	return at
}

// muteUntil mutes an alert for an hour.
func (h *house) muteUntil(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	until := h.now().Add(time.Hour)
	return h.ActOnAlert(ctx, actor, id, alerting.Action{Verb: alerting.Mute, Until: &until})
}

// comes lets the time of every mute of the organization come.
func (h *house) comes() {
	h.Helper()
	if _, err := h.db.ExecContext(h.Context(), `UPDATE alert_mutes SET until = clock_timestamp() WHERE organization_id = $1`, h.org.ID); err != nil {
		h.Fatal(err)
	}
}

func (h *house) endMutes(want int) {
	h.Helper()
	n, mark, err := h.EndMutes(h.Context(), 100)
	if n != want || err != nil || (mark.Position > 0) != (want > 0) {
		h.Errorf("%d mutes ended, want %d; %v, %v", n, want, mark, err)
	}
}

// TestAMuteEndsByItself: once, at its time by the database's clock and not before, in
// every organization, also of an alert that has left its key or was closed meanwhile.
func TestAMuteEndsByItself(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	act := func(actor usecase.Actor, id uuid.UUID, a alerting.Action) {
		t.Helper()
		if mark, err := h.ActOnAlert(ctx, actor, id, a); err != nil || mark.Position == 0 {
			t.Fatal(mark, err)
		}
	}
	older := h.alerts(alertItem("older", resolvedAt(start)))[0]
	ids := h.alerts(alertItem("older"), alertItem("resolved"), alertItem("unmuted"), alertItem("for good"), alertItem("longer"))
	newer, resolved, unmuted, forGood, longer := ids[0], ids[1], ids[2], ids[3], ids[4]
	other, eve := h.organization("Other")
	given, _, err := h.RecordAlerts(ctx, h.as(eve), []alerting.Item{alertItem("theirs")})
	if err != nil {
		t.Fatal(err)
	}
	soon, late := h.now().Add(time.Hour), h.now().Add(2*time.Hour)
	mute := alerting.Action{Verb: alerting.Mute, Until: &soon}
	for _, id := range []uuid.UUID{older, resolved, unmuted, forGood, longer} {
		act(h.actor, id, mute)
	}
	act(h.as(eve), given[0].ID, mute)
	act(h.actor, resolved, alerting.Action{Verb: alerting.Resolve})
	act(h.actor, unmuted, alerting.Action{Verb: alerting.Unmute})
	act(h.actor, forGood, alerting.Action{Verb: alerting.Mute})
	act(h.actor, longer, alerting.Action{Verb: alerting.Mute, Until: &late})

	h.endMutes(0) // none has come
	if _, err := h.db.ExecContext(ctx, `UPDATE alert_mutes SET until = clock_timestamp() WHERE until < $1`, late); err != nil {
		t.Fatal(err)
	}
	ended := 0
	for range 2 { // two at a time
		n, _, err := h.EndMutes(ctx, 2)
		if err != nil {
			t.Fatal(err)
		}
		ended += n
	}
	if ended != 3 {
		t.Errorf("%d mutes ended, want 3", ended)
	}
	h.endMutes(0)
	h.wantTypes("an older one", older, "raised", "resolved", "muted_until", "mute_ended")
	h.wantTypes("the newer one", newer, "raised")
	h.wantTypes("resolved meanwhile", resolved, "raised", "muted_until", "resolved", "mute_ended")
	h.wantTypes("unmuted before", unmuted, "raised", "muted_until", "unmuted")
	h.wantTypes("muted for good since", forGood, "raised", "muted_until", "muted")
	h.wantTypes("muted for longer since", longer, "raised", "muted_until", "muted_until")
	if got := h.types(given[0].ID); len(got) != 3 || got[2] != "alert.mute_ended" {
		t.Errorf("of the organization %s: %v", other.ID, got)
	}
	var actor string
	err = h.db.GetContext(ctx, &actor, `SELECT convert_from(metadata, 'UTF8')::jsonb ->> 'actorId' FROM events WHERE stream_id = $1 AND version = 4`, older)
	if err != nil || actor != "system:watch" {
		t.Errorf("unmuted by %s, %v", actor, err)
	}
	if n := h.count("alert_mutes"); n != 1 {
		t.Errorf("%d mutes have an end still, want that of one", n)
	}
	h.wantKeysTold()
}

// TestSweepsOfMutesAtOnce: of six that find the same mutes over, each mute is ended by one.
func TestSweepsOfMutesAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ids := h.alerts(alertItem("a"), alertItem("b"), alertItem("c"))
	until := h.now().Add(time.Hour)
	if _, _, err := h.ActOnAlerts(t.Context(), h.actor, ids, alerting.Action{Verb: alerting.Mute, Until: &until}); err != nil {
		t.Fatal(err)
	}
	h.comes()
	ended := make([]int, 6)
	together(6, func(n int) (err error) {
		ended[n], _, err = h.EndMutes(t.Context(), 100)
		return err
	}, t)
	sum := 0
	for _, n := range ended {
		sum += n
	}
	if sum != 3 {
		t.Errorf("%v mutes ended, want 3 in all", ended)
	}
	for _, id := range ids {
		h.wantTypes("after six sweeps", id, "raised", "muted_until", "mute_ended")
	}
	h.wantKeysTold()
}

// TestASweepOfMutesRacesWithPeople: an alert that is resolved, or muted for longer, in
// the moment in which its mute ends has both, in either order, and each once.
func TestASweepOfMutesRacesWithPeople(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.alerts(alertItem("a"))[0]
	for range 5 {
		if _, err := h.muteUntil(t.Context(), h.actor, id); err != nil {
			t.Fatal(err)
		}
		h.comes()
		together(4, func(n int) (err error) {
			switch n {
			case 0:
				_, err = h.muteUntil(t.Context(), h.actor, id)
			default:
				_, _, err = h.EndMutes(t.Context(), 100)
			}
			return err
		}, t)
		if a := h.folded(id); !a.Muted() || h.count("alert_mutes WHERE until > clock_timestamp()") != 1 {
			t.Error("a mute for longer was ended with the one before")
		}
	}
	h.comes()
	together(3, func(n int) (err error) {
		if n == 0 {
			_, err = h.ResolveAlert(t.Context(), h.actor, id)
			return err
		}
		_, _, err = h.EndMutes(t.Context(), 100)
		return err
	}, t)
	if a := h.folded(id); a.Muted() || a.State() != alert.ResolvedState || h.count("alert_mutes") != 0 {
		t.Errorf("it is left %s, muted %v", a.State(), a.Muted())
	}
	h.wantKeysTold()
}

// TestActionsOnMany: each alert once, in the order asked for; what makes no sense of one
// keeps it from none of the others; what is foreign is unknown.
func TestActionsOnMany(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	ids := h.alerts(alertItem("a"), alertItem("closed", resolvedAt(start)), alertItem("b"))
	_, eve := h.organization("Other")
	theirs, _, err := h.RecordAlerts(ctx, h.as(eve), []alerting.Item{alertItem("a")})
	if err != nil {
		t.Fatal(err)
	}
	unknown, note := uuid.New(), " known \nsince Monday "
	asked := []uuid.UUID{ids[2], unknown, ids[1], theirs[0].ID, ids[0], ids[2]}
	outcomes, mark, err := h.ActOnAlerts(ctx, h.actor, asked, alerting.Action{Verb: alerting.Acknowledge, Note: &note})
	if err != nil || mark.Position == 0 {
		t.Fatal(mark, err)
	}
	var told []string
	for i, o := range outcomes {
		if o.ID != asked[i] {
			t.Errorf("outcome %d is of %s", i, o.ID)
		}
		var missing *usecase.NotFoundError
		switch {
		case o.Refusal == nil:
			told = append(told, "done")
		case errors.As(o.Refusal, &missing):
			told = append(told, "no "+missing.What)
		default:
			told = append(told, code(o.Refusal))
		}
	}
	if diff := cmp.Diff([]string{"done", "no alert", "invalid_state", "no alert", "done"}, told); diff != "" {
		t.Error(diff)
	}
	h.wantTypes("acknowledged", ids[0], "raised", "acknowledged", "noted")
	h.wantTypes("closed", ids[1], "raised", "resolved")
	h.wantTypes("theirs", theirs[0].ID, "raised")
	var noted alert.Noted
	h.last(ids[2], &noted)
	if noted.Note != "known \nsince Monday" {
		t.Errorf("noted %q", noted.Note)
	}
	// All are refused: nothing is appended.
	if _, mark, err := h.ActOnAlerts(ctx, h.actor, asked, alerting.Action{Verb: alerting.Acknowledge}); err != nil || mark.Position != 0 {
		t.Error(mark, err)
	}
	h.wantKeysTold()
}

// TestAnInvalidActionNamesEveryBrokenRule at once, before anything is read.
func TestAnInvalidActionNamesEveryBrokenRule(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.alerts(alertItem("a"))[0]
	text := func(s string) *string { return &s }
	in := func(d time.Duration) *time.Time {
		at := h.now().Add(d)
		return &at
	}
	for name, c := range map[string]struct {
		action alerting.Action
		want   string
	}{
		"an empty note":        {alerting.Action{Verb: alerting.Resolve, Note: text(" \n ")}, "#/note out_of_range"},
		"a long note":          {alerting.Action{Verb: alerting.Resolve, Note: text(strings.Repeat("ü", alert.MaxNote+1))}, "#/note out_of_range"},
		"an escape sequence":   {alerting.Action{Verb: alerting.Resolve, Note: text("a\x1b[2Jb")}, "#/note invalid_text"},
		"a text turned around": {alerting.Action{Verb: alerting.Resolve, Note: text("a\u202eb")}, "#/note invalid_text"},
		"U+0000":               {alerting.Action{Verb: alerting.Resolve, Note: text("a\x00b")}, "#/note invalid_text"},
		"no UTF-8":             {alerting.Action{Verb: alerting.Resolve, Note: text("a\xffb")}, "#/note invalid_text"},
		"an end of no mute":    {alerting.Action{Verb: alerting.Unmute, Until: in(time.Hour)}, "#/until out_of_range"},
		"an end that has come": {alerting.Action{Verb: alerting.Mute, Until: in(-time.Microsecond)}, "#/until out_of_range"},
		"an end too far":       {alerting.Action{Verb: alerting.Mute, Until: in(alert.MaxMute + time.Minute)}, "#/until out_of_range"},
		"both":                 {alerting.Action{Verb: alerting.Mute, Note: text(""), Until: in(-time.Hour)}, "#/note out_of_range, #/until out_of_range"},
	} {
		var rule *usecase.RuleError
		_, err := h.ActOnAlert(t.Context(), h.actor, id, c.action)
		if !errors.As(err, &rule) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(codes(rule)[1:], ", "); got != c.want {
			t.Errorf("%s: refused with %s, want %s", name, got, c.want)
		}
	}
	for _, n := range []int{0, 501} {
		if _, _, err := h.ActOnAlerts(t.Context(), h.actor, make([]uuid.UUID, n), alerting.Action{Verb: alerting.Resolve}); code(err) != "out_of_range" {
			t.Errorf("%d at once: %v", n, err)
		}
	}
	h.wantTypes("after all that", id, "raised")
	full := strings.Repeat("ü\t\n", alert.MaxNote/3) + "!"
	if _, err := h.ActOnAlert(t.Context(), h.actor, id, alerting.Action{Verb: alerting.Mute, Note: &full, Until: in(alert.MaxMute - time.Minute)}); err != nil {
		t.Error(err)
	}
}
