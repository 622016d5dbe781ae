package alerting

import (
	"context"
	_ "embed" // the statement
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/internal/postgres/statement"
)

//go:embed sql/own_alert_keys.sql
var ownAlertKeys string

// alertName is a message's name for an alert: its sender's key, and its place. Two instances
// may have alerts under one key.
//
// The first alert under a key has the key as it is, as every alert of earlier releases does, so
// both releases find the alerts of the other. The key stays that instance's, even after the
// alert is over. Alerts from other places under the same key have a key of their own (own).
type alertName struct {
	key      string
	former   string // that of earlier releases, where it is another
	instance uuid.UUID
	machine  bool // it names a label set, which is one alert to tokens that are not limited
}

// ownMark is between a key and the instance whose own it is. No external id, fingerprint
// or name of a rule has it.
const ownMark = "\n"

func (n alertName) own() string { return n.key + ownMark + n.instance.String() }

// elsewhere is the key of what tokens that are not limited say of a label set whose plain
// key is that of a limited token's instance.
func (n alertName) elsewhere() string { return n.key + ownMark + uuid.Nil.String() }

func isOwn(key string) bool { return strings.Contains(key, ownMark) }

// plainKey is a key without the instance whose own it is.
func plainKey(key string) string {
	plain, _, _ := strings.Cut(key, ownMark)
	return plain
}

// lockNames locks the keys under which names have alerts, or will have.
func (w *writer) lockNames(ctx context.Context, names []alertName) error {
	plain := make([]string, 0, len(names))
	var former []string
	for _, n := range names {
		plain = append(plain, n.key)
		if n.former != "" {
			former = append(former, n.former)
		}
	}
	before, err := w.s.Events.FindKeys(ctx, w.tx, w.actor.OrganizationID, alert.StreamType, former)
	if err != nil {
		return fmt.Errorf("find former keys of alerts: %w", err)
	}
	for key := range before {
		plain = append(plain, key)
	}
	if err := w.lock(ctx, plain); err != nil {
		return err
	}
	taken := map[string]uuid.UUID{} // the instances whose names take a plain key in this call
	var needed, perhaps []string
	for _, n := range names {
		var at uuid.UUID
		limited := w.actor.Limit != nil
		if t := w.newest[n.key]; t != nil {
			at, limited = t.alert.InstanceID(), t.alert.Limited()
		} else if first, is := taken[n.key]; is {
			at = first
		} else {
			taken[n.key] = n.instance
			continue
		}
		switch {
		case n.machine && w.actor.Limit == nil && !limited:
		case n.machine && w.actor.Limit == nil:
			perhaps = append(perhaps, n.elsewhere())
			if at != n.instance {
				needed = append(needed, n.elsewhere())
			}
		case at != n.instance:
			needed = append(needed, n.own())
		case w.actor.Limit != nil:
			perhaps = append(perhaps, n.own())
		}
	}
	known, err := w.s.Events.FindKeys(ctx, w.tx, w.actor.OrganizationID, alert.StreamType, perhaps)
	if err != nil {
		return fmt.Errorf("find keys of alerts: %w", err)
	}
	for key := range known {
		needed = append(needed, key)
	}
	return w.lock(ctx, needed)
}

// keyOf is the key under which a name has its alert, or will have; its keys are locked.
func (w *writer) keyOf(n alertName) string {
	t, own := w.newest[n.key], n.own()
	if n.machine && w.actor.Limit == nil {
		if t == nil || !t.alert.Limited() {
			return n.key
		}
		own = n.elsewhere()
	}
	if w.newest[own] == nil && (t == nil || t.alert.InstanceID() == n.instance) {
		return n.key
	}
	return own
}

// former is the alert that an earlier release raised under another key, if the actor may speak
// of it.
func (w *writer) former(n alertName) *trackedAlert {
	t := w.newest[n.former]
	if t == nil || w.actor.Limit != nil && t.alert.InstanceID() != n.instance {
		return nil
	}
	return t
}

// lockAllOf locks the keys of all instances under plain keys that are locked, so that no
// other can come meanwhile.
func (w *writer) lockAllOf(ctx context.Context, plain []string) error {
	plain = slices.DeleteFunc(plain, func(key string) bool { return w.newest[key] == nil }) // whose first is of this call
	if len(plain) == 0 {
		return nil
	}
	keys, err := statement.All[string](ctx, w.tx, "find the keys of alerts at instances", ownAlertKeys, w.actor.OrganizationID, alert.StreamType, plain, ownMark)
	if err != nil {
		return err
	}
	return w.lock(ctx, keys)
}

// keyOfEnd is the key of the alert that a notice closes without naming an instance. It is the
// organization's own alert if that is open or was closed in this way, otherwise the only open
// alert of any instance. If none is open, it is the one that was closed last, to which the
// notice then adds nothing, or a new one of the organization. several says that more than one
// is open. Alerts of limited tokens do not count, because such a token could have the end of
// another's alert refused.
func (w *writer) keyOfEnd(n alertName, says alert.Notice) (key string, several bool) {
	exact := w.keyOf(n)
	if w.takes(exact, says) {
		return exact, false
	}
	var open []string
	var last *trackedAlert
	for _, key := range append([]string{n.key}, w.own[n.key]...) {
		switch t := w.newest[key]; {
		case t == nil || t.alert.Limited():
		case !t.alert.State().Closed():
			open = append(open, key)
		case last == nil || t.alert.ResolvedAt().After(last.alert.ResolvedAt()):
			last = t
		}
	}
	switch {
	case len(open) == 1:
		return open[0], false
	case len(open) > 1:
		return "", true
	case w.newest[exact] == nil && last != nil && w.takes(last.key, says):
		return last.key, false
	}
	return exact, false
}

// takes reports whether there is an alert under a key that a notice is about, be it over.
func (w *writer) takes(key string, says alert.Notice) bool {
	t := w.newest[key]
	return t != nil && !t.alert.Update(key, says, t.seen).Anew
}
