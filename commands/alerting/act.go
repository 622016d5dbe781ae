package alerting

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/instant"
	"muster/domain/printable"
	"muster/domain/rule"
	"muster/internal/postgres/statement"
)

// Verb is what a person may do with an alert.
type Verb string

// The verbs.
const (
	Acknowledge Verb = "acknowledge"
	Mute        Verb = "mute"
	Unmute      Verb = "unmute"
	Resolve     Verb = "resolve"
)

// Action is a person's action on alerts, with their note.
type Action struct {
	Verb  Verb
	Note  *string    // nil: nothing was written
	Until *time.Time // when a mute ends by itself; nil: it stays
}

// maxAlertsAtOnce bounds an action on many.
const maxAlertsAtOnce = 500

// ActOnAlert does something with one alert. Errors: *usecase.NotFoundError, *usecase.RuleError with
// invalid_state or with every broken rule of the action.
func (s *Alerts) ActOnAlert(ctx context.Context, actor usecase.Actor, id uuid.UUID, action Action) (usecase.Mark, error) {
	outcomes, mark, err := s.actOnAlerts(ctx, actor, []uuid.UUID{id}, action)
	if err != nil {
		return usecase.Mark{}, err
	}
	return mark, outcomes[0].Refusal
}

// ActOnAlerts applies an action to many alerts in one transaction, to each once. An alert to
// which it does not apply does not stop the others. The outcomes are in the order of ids.
// Errors: *usecase.RuleError with every broken rule of the action.
func (s *Alerts) ActOnAlerts(ctx context.Context, actor usecase.Actor, ids []uuid.UUID, action Action) ([]usecase.Outcome, usecase.Mark, error) {
	if n := len(ids); n < 1 || n > maxAlertsAtOnce {
		return nil, usecase.Mark{}, usecase.FieldErrors([]rule.Broken{{
			Pointer: "#/ids", Code: "out_of_range", Detail: fmt.Sprintf("must name 1 to %d alerts", maxAlertsAtOnce),
			Params: map[string]any{"max": maxAlertsAtOnce},
		}})
	}
	return s.actOnAlerts(ctx, actor, ids, action)
}

// AcknowledgeAlert says that the actor knows of an alert. Errors as ActOnAlert.
func (s *Alerts) AcknowledgeAlert(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return s.ActOnAlert(ctx, actor, id, Action{Verb: Acknowledge})
}

// MuteAlert takes an alert out of every count. Errors as ActOnAlert.
func (s *Alerts) MuteAlert(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return s.ActOnAlert(ctx, actor, id, Action{Verb: Mute})
}

// UnmuteAlert lets an alert count again. Errors as ActOnAlert.
func (s *Alerts) UnmuteAlert(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return s.ActOnAlert(ctx, actor, id, Action{Verb: Unmute})
}

// ResolveAlert closes an alert. Errors as ActOnAlert.
func (s *Alerts) ResolveAlert(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return s.ActOnAlert(ctx, actor, id, Action{Verb: Resolve})
}

// decide returns the events of the action on one alert.
func (a Action) decide(on *alert.Alert, seen alert.Seen, now time.Time) (events []alert.Event, err error) {
	switch a.Verb {
	case Acknowledge:
		events, err = on.Acknowledge()
	case Mute:
		events, err = on.Mute(fromNull(a.Until))
	case Unmute:
		events, err = on.Unmute()
	case Resolve:
		events, err = on.Resolve(now, seen)
	default:
		return nil, fmt.Errorf("%q is not an action on an alert", a.Verb)
	}
	if err == nil && a.Note != nil {
		events = append(events, alert.Noted{Note: *a.Note})
	}
	return events, err
}

// checked is the action as it is recorded, or every rule that it breaks. The database's
// clock judges the end of a mute, as it will when that comes.
func (a Action) checked(ctx context.Context, s *Alerts) (Action, error) {
	var broken []rule.Broken
	if a.Note != nil {
		note := strings.TrimSpace(*a.Note)
		switch n := utf8.RuneCountInString(note); {
		case n < 1 || n > alert.MaxNote:
			broken = append(broken, rule.Broken{Pointer: "#/note", Code: "out_of_range", Detail: fmt.Sprintf("must be 1 to %d characters", alert.MaxNote)})
		case !printable.IsText(note):
			broken = append(broken, rule.Broken{Pointer: "#/note", Code: "invalid_text", Detail: printable.TextRule})
		}
		a.Note = &note
	}
	switch {
	case a.Until == nil:
	case a.Verb != Mute:
		broken = append(broken, rule.Broken{Pointer: "#/until", Code: "out_of_range", Detail: "is for mute only"})
	default:
		now, err := statement.One[time.Time](ctx, s.DB, "ask the database for the time", `SELECT clock_timestamp()`)
		if err != nil {
			return a, err
		}
		until := instant.Cut(*a.Until)
		if ahead := until.Sub(now); ahead <= 0 || ahead > alert.MaxMute {
			broken = append(broken, rule.Broken{Pointer: "#/until", Code: "out_of_range", Detail: "must be in the future and at most 366 days ahead"})
		}
		a.Until = &until
	}
	return a, usecase.FieldErrors(broken)
}

// actOnAlerts appends what a person decides about alerts, under the locks of their keys.
// The id of anything else is that of no alert.
func (s *Alerts) actOnAlerts(ctx context.Context, actor usecase.Actor, ids []uuid.UUID, action Action) (outcomes []usecase.Outcome, mark usecase.Mark, err error) {
	action, err = action.checked(ctx, s)
	if err != nil {
		return nil, usecase.Mark{}, err
	}
	mark, err = s.writeAlerts(ctx, actor, func(w *writer) error {
		outcomes = nil
		tracked, err := w.track(ctx, ids)
		if err != nil {
			return err
		}
		acted := make(map[uuid.UUID]bool, len(ids))
		for _, id := range ids {
			if acted[id] {
				continue
			}
			acted[id] = true
			o := usecase.Outcome{ID: id}
			if t := tracked[id]; t == nil {
				o.Refusal = &usecase.NotFoundError{What: "alert"}
			} else if events, err := action.decide(&t.alert, t.seen, w.now); err != nil {
				o.Refusal = usecase.Refused(err)
			} else {
				w.keep(t, events, t.seen)
			}
			outcomes = append(outcomes, o)
		}
		return nil
	})
	return outcomes, mark, err
}

// track locks the keys of alerts and returns the alerts as they are then; ids of
// anything else are left out. An older alert under a key is decided about like any
// other, and leaves the key to the newest.
func (w *writer) track(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]*trackedAlert, error) {
	keys := make(map[uuid.UUID]string, len(ids))
	for _, id := range ids {
		a, _, err := w.load(ctx, id) // for its key, which never changes
		if err != nil {
			return nil, err
		}
		if a.State() != "" {
			keys[id] = a.Key()
		}
	}
	wanted := make([]string, 0, len(keys))
	for _, key := range keys {
		wanted = append(wanted, key)
	}
	slices.Sort(wanted)
	if err := w.lock(ctx, slices.Compact(wanted)); err != nil {
		return nil, err
	}
	tracked := make(map[uuid.UUID]*trackedAlert, len(keys))
	for id, key := range keys {
		t := w.newest[key]
		if t == nil || t.id != id {
			t = &trackedAlert{id: id, key: key, older: true}
			var err error
			if t.alert, t.version, err = w.load(ctx, id); err != nil {
				return nil, err
			}
			t.open = !t.alert.State().Closed()
		}
		tracked[id] = t
	}
	return tracked, nil
}
