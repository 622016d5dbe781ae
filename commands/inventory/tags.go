package inventory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/rule"
)

// tags holds tags that are set to the rules of keys and values.
func checkTags(c *usecase.Check, pointer string, tags map[string]string) {
	if len(tags) > fleet.MaxTags {
		c.Refuse(pointer, "too_many_items", fmt.Sprintf("has %d tags; at most %d are allowed", len(tags), fleet.MaxTags))
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		switch at := pointer + "/" + rule.Escape(key); {
		case !fleet.ValidTagKey(key):
			c.Refuse(at, "invalid_name", "has an invalid key: it "+fleet.TagKeyRule)
		case !fleet.ValidTagValue(tags[key]):
			c.Refuse(at, "invalid_parameter", fleet.TagValueRule)
		}
	}
}

// protectedTags refuses tags that only administrators set.
func protectedTags(keys []string) error {
	e := &usecase.RuleError{Code: "protected_tag", Detail: "Only administrators set the tags " + strings.Join(keys, ", ") + "."}
	for _, key := range keys {
		e.Fields = append(e.Fields, rule.Broken{Pointer: "#/tags/" + rule.Escape(key), Code: "protected_tag", Detail: "is for administrators to set"})
	}
	return e
}

// tag decides about the tags of an instance. What a machine may not set stays as it is, and kept
// has its keys. Error: *usecase.RuleError.
func (w *writer) tag(ctx context.Context, instance *fleet.Instance, c fleet.ChangeTags) (events []fleet.Event, kept []string, err error) {
	if len(c.Set) == 0 && len(c.Remove) == 0 && !c.All {
		return nil, nil, nil
	}
	if c.Protected, err = w.protected(ctx); err != nil {
		return nil, nil, err
	}
	events, kept, err = instance.Tag(c)
	var many *fleet.TooManyTagsError
	switch {
	case errors.As(err, &many):
		return nil, nil, usecase.FieldError("#/tags", "too_many_items", fmt.Sprintf("would be %d on one instance; at most %d are allowed", many.Would, fleet.MaxTags))
	case err == nil && len(kept) > 0 && c.By == fleet.ByPerson:
		return nil, nil, protectedTags(kept)
	}
	return events, kept, err
}

// protected are the keys of tags that the actor may not set or remove.
func (w *writer) protected(ctx context.Context) ([]string, error) {
	if w.actor.Administers || w.protectedTags != nil {
		return w.protectedTags, nil
	}
	keys, err := w.f.Accounts.HoldsProtectedTags(ctx, w.tx, w.actor.OrganizationID)
	w.protectedTags = keys
	return keys, err
}

// fed are the tags that a feed sends; nil leaves those that it set before.
func (w *writer) fed(tags *map[string]string) fleet.ChangeTags {
	c := fleet.ChangeTags{By: fleet.ByFeed(w.actor.Sender)}
	if tags != nil {
		c.Set, c.All = *tags, true
	}
	return c
}

// maxTagged is how many instances one call tags at most.
const maxTagged = 1000

// TagInstances sets and removes the same tags of many instances, in one transaction. An
// instance to which the change does not apply does not stop the others. The outcomes are in the
// order of ids, and an id that is named twice has one. Error: *usecase.RuleError.
func (f *Fleet) TagInstances(ctx context.Context, actor usecase.Actor, ids []uuid.UUID, c fleet.ChangeTags) (outcomes []usecase.Outcome, mark usecase.Mark, err error) {
	var check usecase.Check
	if n := len(ids); n < 1 || n > maxTagged {
		check.Refuse("#/ids", "out_of_range", fmt.Sprintf("must be 1 to %d ids", maxTagged))
	}
	if len(c.Set) == 0 && len(c.Remove) == 0 {
		check.Refuse("#/setTags", "invalid_parameter", "or removeTags must name a tag")
	}
	checkTags(&check, "#/setTags", c.Set)
	for i, key := range c.Remove {
		at := fmt.Sprintf("#/removeTags/%d", i)
		if !fleet.ValidTagKey(key) {
			check.Refuse(at, "invalid_name", fleet.TagKeyRule)
		} else if _, set := c.Set[key]; set {
			check.Refuse(at, "invalid_parameter", "is set in the same call")
		}
	}
	if err := check.Err(); err != nil {
		return nil, usecase.Mark{}, err
	}
	mark, err = f.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		w := f.newWriter(tx, actor)
		outcomes, err = w.eachInstance(ctx, ids, func(id uuid.UUID, i *fleet.Instance, at usecase.Stream) error {
			events, _, err := w.tag(ctx, i, c)
			if err != nil {
				return err
			}
			return w.keepInstance(id, at, i, i.ExternalID(), events)
		})
		if err != nil {
			return usecase.Mark{}, err
		}
		return w.write(ctx)
	})
	return outcomes, mark, err
}
