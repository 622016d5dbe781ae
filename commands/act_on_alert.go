package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/instant"
	"muster/domain/printable"
	"muster/domain/rule"
	"muster/internal/postgres/statement"
)

// AlertVerb is what a person may do with an alert.
type AlertVerb string

// The verbs.
const (
	AcknowledgeVerb AlertVerb = "acknowledge"
	MuteVerb        AlertVerb = "mute"
	UnmuteVerb      AlertVerb = "unmute"
	ResolveVerb     AlertVerb = "resolve"
)

// AlertAction is a person's action on alerts, with their note.
type AlertAction struct {
	Verb  AlertVerb
	Note  *string    // nil: nothing was written
	Until *time.Time // when a mute ends by itself; nil: it stays
}

// Outcome is what came of an action for one of many: done, where Refusal is nil.
type Outcome struct {
	ID      uuid.UUID
	Refusal error // *NotFoundError, *RuleError with invalid_state
}

// maxAlertsAtOnce bounds an action on many.
const maxAlertsAtOnce = 500

// ActOnAlert does something with one alert. Errors: *NotFoundError, *RuleError with
// invalid_state or with every broken rule of the action.
func (s *Service) ActOnAlert(ctx context.Context, actor Actor, id uuid.UUID, action AlertAction) (Mark, error) {
	outcomes, mark, err := s.actOnAlerts(ctx, actor, []uuid.UUID{id}, action)
	if err != nil {
		return Mark{}, err
	}
	return mark, outcomes[0].Refusal
}

// ActOnAlerts applies an action to many alerts in one transaction, to each once. An alert to
// which it does not apply does not stop the others. The outcomes are in the order of ids.
// Errors: *RuleError with every broken rule of the action.
func (s *Service) ActOnAlerts(ctx context.Context, actor Actor, ids []uuid.UUID, action AlertAction) ([]Outcome, Mark, error) {
	if n := len(ids); n < 1 || n > maxAlertsAtOnce {
		return nil, Mark{}, fieldErrors([]rule.Broken{{
			Pointer: "#/ids", Code: "out_of_range", Detail: fmt.Sprintf("must name 1 to %d alerts", maxAlertsAtOnce),
			Params: map[string]any{"max": maxAlertsAtOnce},
		}})
	}
	return s.actOnAlerts(ctx, actor, ids, action)
}

// AcknowledgeAlert says that the actor knows of an alert. Errors as ActOnAlert.
func (s *Service) AcknowledgeAlert(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	return s.ActOnAlert(ctx, actor, id, AlertAction{Verb: AcknowledgeVerb})
}

// MuteAlert takes an alert out of every count. Errors as ActOnAlert.
func (s *Service) MuteAlert(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	return s.ActOnAlert(ctx, actor, id, AlertAction{Verb: MuteVerb})
}

// UnmuteAlert lets an alert count again. Errors as ActOnAlert.
func (s *Service) UnmuteAlert(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	return s.ActOnAlert(ctx, actor, id, AlertAction{Verb: UnmuteVerb})
}

// ResolveAlert closes an alert. Errors as ActOnAlert.
func (s *Service) ResolveAlert(ctx context.Context, actor Actor, id uuid.UUID) (Mark, error) {
	return s.ActOnAlert(ctx, actor, id, AlertAction{Verb: ResolveVerb})
}

// decide returns the events of the action on one alert.
func (a AlertAction) decide(on *alert.Alert, seen alert.Seen, now time.Time) (events []alert.Event, err error) {
	switch a.Verb {
	case AcknowledgeVerb:
		events, err = on.Acknowledge()
	case MuteVerb:
		events, err = on.Mute(fromNull(a.Until))
	case UnmuteVerb:
		events, err = on.Unmute()
	case ResolveVerb:
		events, err = on.Resolve(now, seen)
	default:
		return nil, fmt.Errorf("nobody can %q an alert", a.Verb)
	}
	if err == nil && a.Note != nil {
		events = append(events, alert.Noted{Note: *a.Note})
	}
	return events, err
}

// checked is the action as it is recorded, or every rule that it breaks. The database's
// clock judges the end of a mute, as it will when that comes.
func (a AlertAction) checked(ctx context.Context, s *Service) (AlertAction, error) {
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
	case a.Verb != MuteVerb:
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
	return a, fieldErrors(broken)
}

// actOnAlerts appends what a person decides about alerts, under the locks of their keys.
// The id of anything else is that of no alert.
func (s *Service) actOnAlerts(ctx context.Context, actor Actor, ids []uuid.UUID, action AlertAction) (outcomes []Outcome, mark Mark, err error) {
	action, err = action.checked(ctx, s)
	if err != nil {
		return nil, Mark{}, err
	}
	mark, err = s.writeAlerts(ctx, actor, func(w *alertWriter) error {
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
			o := Outcome{ID: id}
			if t := tracked[id]; t == nil {
				o.Refusal = &NotFoundError{What: "alert"}
			} else if events, err := action.decide(&t.alert, t.seen, w.now); err != nil {
				o.Refusal = refused(err)
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
func (w *alertWriter) track(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]*trackedAlert, error) {
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
