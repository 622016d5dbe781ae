package alerting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/commands/alerting/people"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/instant"
	"muster/domain/printable"
	"muster/internal/postgres/statement"
)

// Bounds of what a machine's firing may hold: a longer text is cut, a longer key
// drops the firing.
const (
	maxKeyBytes         = 1_000
	maxDescriptionRunes = 2_000
	maxRuleRunes        = 200
)

// RecordFirings records a machine's observations, in their order for each key. It never undoes
// a person's action: an alert that a person resolved stays resolved until a later StartsAt.
// dropped is the number of unusable ones: their text cannot be stored, or they are beyond the
// instances of an ingest token.
func (s *Alerts) RecordFirings(ctx context.Context, actor usecase.Actor, firings []alert.Firing) (dropped int, mark usecase.Mark, err error) {
	taken := make([]alert.Firing, 0, len(firings))
	names := make([]alertName, 0, len(firings))
	for _, f := range firings {
		if usable(f) && actor.Limit.Allows(f.InstanceID) {
			taken = append(taken, f)
			names = append(names, alertName{key: f.Key, former: f.FormerKey, instance: f.InstanceID, machine: true})
		}
	}
	mark, err = s.writeAlerts(ctx, actor, func(w *writer) error {
		w.sender = actor.Token
		if err := w.lockNames(ctx, names); err != nil {
			return err
		}
		for i, f := range taken {
			f.Limited = actor.Limit != nil
			w.recordFiring(f, names[i])
		}
		return nil
	})
	return len(firings) - len(taken), mark, err
}

// recordFiring decides about one firing.
func (w *writer) recordFiring(f alert.Firing, name alertName) {
	f = kept(f).Received(w.now)
	f.Key = w.keyOf(name)
	salt := salted(&f)
	t := w.newest[f.Key]
	if t == nil {
		if former := w.former(name); former != nil {
			w.lapse(former)
			if o := former.alert.Fire(f, former.seen); !o.Anew {
				w.take(former.key, o)
				w.name(former, f, o, salt)
				return
			}
		}
		t = new(trackedAlert)
	} else {
		w.lapse(t)
	}
	o := t.alert.Fire(f, t.seen)
	w.take(f.Key, o)
	w.name(w.newest[f.Key], f, o, salt)
}

// salted gives the tree of a firing the digest of its people, and returns the salt of that; nil: there are no people.
func salted(f *alert.Firing) []byte {
	if f.Blocking == nil || len(f.People) == 0 {
		return nil
	}
	salt := people.Salt()
	tree := *f.Blocking
	tree.People = alert.PeopleDigest(salt, f.People)
	f.Blocking = &tree
	return salt
}

// named is whom an alert names from now on.
type named struct {
	alert  uuid.UUID
	people []alert.Person
	salt   []byte // nil: they are not those of its tree
}

// name notes whose sessions an alert speaks of: all of its tree when it is raised, later those whom its title names.
func (w *writer) name(t *trackedAlert, f alert.Firing, o alert.Outcome, salt []byte) {
	switch {
	case t == nil || salt == nil:
	case o.Anew:
		w.people = append(w.people, named{t.id, f.People, salt})
	case !t.alert.State().Closed():
		if of := alert.Mentioned(f.Title, f.People); len(of) > 0 {
			w.people = append(w.people, named{t.id, of, nil})
		}
	}
}

// writePeople keeps whom alerts name.
func (w *writer) writePeople(ctx context.Context) error {
	for _, n := range w.people {
		keep := func() error { return people.Add(ctx, w.tx, w.actor.OrganizationID, n.alert, w.now, n.people) }
		if n.salt != nil {
			keep = func() error {
				return people.Keep(ctx, w.tx, w.actor.OrganizationID, n.alert, w.now, n.salt, n.people)
			}
		}
		if err := keep(); err != nil {
			return err
		}
	}
	return nil
}

// lapse closes an alert whose end has passed. Every message to it begins with
// that, so that it does not matter when EndFirings comes.
func (w *writer) lapse(t *trackedAlert) bool {
	events := t.alert.Lapse(w.now, t.seen)
	w.keep(t, events, t.seen)
	return len(events) > 0
}

// usable reports whether the log, its keys and the read models can hold it.
func usable(f alert.Firing) bool {
	if f.Key == "" || len(f.Key) > maxKeyBytes || f.Title == "" {
		return false
	}
	texts := []string{f.Key, f.FormerKey, f.Title, f.Description}
	if f.Rule != nil {
		texts = append(texts, f.Rule.ID, f.Rule.Name, f.Rule.Unit)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return false
		}
	}
	return true
}

// kept is what is kept of a firing: a machine that was refused would send the same again.
func kept(f alert.Firing) alert.Firing {
	if f.Rule != nil {
		r := *f.Rule
		r.ID, r.Name = cut(printable.Clean(r.ID), maxRuleRunes), cut(printable.Clean(r.Name), maxRuleRunes)
		f.Rule = &r
	}
	f.Title, f.Description = cut(printable.Clean(f.Title), maxTitleRunes), cut(printable.Text(f.Description), maxDescriptionRunes)
	f.StartsAt, f.SeenAt, f.EndsAt = instant.Cut(f.StartsAt), instant.Cut(f.SeenAt), instant.Cut(f.EndsAt)
	return f
}

// cut is the beginning of a text that is longer than n characters.
func cut(text string, n int) string {
	runes, last := 0, 0
	for at := range text {
		if runes++; runes == n {
			last = at // where the last one that fits begins
		} else if runes > n {
			return text[:last] + "…"
		}
	}
	return text
}

// ending is an alert whose end may have passed.
type ending struct {
	Organization uuid.UUID `db:"organization_id"`
	Key          string    `db:"key"`
}

// EndFirings closes the alerts whose end has passed without another message, at most limit of
// them, and returns their number. Two calls at once close each of them once. Each organization
// has a transaction of its own, so one that fails does not hold up the others. It reads all
// open alerts, 5 ms for 100,000: an index on an end that moves every minute would cost more
// than all these reads.
func (s *Alerts) EndFirings(ctx context.Context, limit int) (ended int, mark usecase.Mark, err error) {
	due, err := statement.All[ending](ctx, s.DB, "find alerts whose end has passed", `SELECT organization_id, key FROM alert_last_seen
		WHERE ends_at <= $1 ORDER BY ends_at, alert_id LIMIT $2`, s.Clock(), limit)
	if err != nil {
		return 0, usecase.Mark{}, err
	}
	keys := make(map[uuid.UUID][]string)
	for _, e := range due {
		keys[e.Organization] = append(keys[e.Organization], e.Key)
	}
	var errs []error
	for organization, keys := range keys {
		n, at, err := s.endFirings(ctx, usecase.Actor{OrganizationID: organization, Component: "ingest"}, keys)
		if err != nil {
			errs = append(errs, fmt.Errorf("close alerts of organization %s: %w", organization, err))
			continue
		}
		ended += n
		mark = usecase.Mark{Log: at.Log, Position: max(mark.Position, at.Position)}
	}
	return ended, mark, errors.Join(errs...)
}

func (s *Alerts) endFirings(ctx context.Context, actor usecase.Actor, keys []string) (ended int, mark usecase.Mark, err error) {
	mark, err = s.writeAlerts(ctx, actor, func(w *writer) error {
		if err := w.lock(ctx, keys); err != nil {
			return err
		}
		ended = 0
		for _, t := range slices.SortedFunc(maps.Values(w.newest), func(a, b *trackedAlert) int { return cmp.Compare(a.key, b.key) }) {
			if w.lapse(t) {
				ended++
			}
		}
		return nil
	})
	return ended, mark, err
}
