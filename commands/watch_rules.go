package commands

import (
	"context"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/rule"
	"muster/eventstore"
)

// SetWatchRule is how a watch rule is to be set: One in the place of the setting about the same
// tags, or All in the place of all. Exactly one of them is there.
type SetWatchRule struct {
	Rule organization.WatchRule
	One  *organization.WatchSetting
	All  *[]organization.WatchSetting
}

// Check returns a *usecase.RuleError with every rule that a setting breaks.
func (c SetWatchRule) Check() error {
	var broken []rule.Broken
	switch {
	case (c.One == nil) == (c.All == nil):
		broken = append(broken, rule.Broken{Pointer: "#/settings", Code: "conflicting_parameters", Detail: "must be alone: send one setting, or settings, which replace all"})
	case c.One != nil:
		broken = c.Rule.BrokenBy(*c.One)
	default:
		broken = c.Rule.Broken(*c.All, "#/settings")
	}
	return usecase.FieldErrors(broken)
}

// Would are the settings after those that are in force. Errors: *usecase.RuleError with every rule that they break.
func (c SetWatchRule) Would(was []organization.WatchSetting) ([]organization.WatchSetting, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.All != nil {
		return slices.Clone(*c.All), nil
	}
	will := organization.Put(was, *c.One)
	return will, usecase.FieldErrors(c.Rule.Broken(will, "#/settings")) // one more than there may be
}

// SetWatchRule sets a watch rule of the organization. Errors: *usecase.RuleError.
func (s *Service) SetWatchRule(ctx context.Context, actor usecase.Actor, c SetWatchRule) (usecase.Mark, error) {
	if err := c.Check(); err != nil {
		return usecase.Mark{}, err
	}
	return s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		var is organization.Settings
		var stored []organization.WatchSetting
		var changed []organization.Event
		// The organization's stream is locked also where only the rule's gets an event: a threshold may be with either.
		mark, err := s.decideOrganization(ctx, tx, actor, func(*organization.Organization) (events []organization.Event, err error) {
			o, err := s.Accounts.LockOrganization(ctx, tx, actor.OrganizationID)
			if err != nil {
				return nil, err
			}
			known, err := s.Accounts.WatchRule(ctx, tx, actor.OrganizationID, c.Rule.ID)
			if err != nil {
				return nil, err
			}
			was := c.Rule.Settings(known, o.Settings().Watch)
			will, err := c.Would(was)
			if err != nil {
				return nil, err
			}
			var change organization.ChangeSettings
			stored, change, changed = c.Rule.Change(was, will)
			is, events = o.Settings().Change(change)
			if len(changed) == 0 {
				return nil, nil
			}
			return events, s.Accounts.SaveWatchRule(ctx, tx, actor.OrganizationID, c.Rule.ID, stored)
		}, func([]organization.Event) error {
			_, err := s.Accounts.UpdateSettings(ctx, tx, actor.OrganizationID, is)
			return err
		})
		if err != nil || len(changed) == 0 {
			return mark, err
		}
		return s.appendWatchRule(ctx, tx, actor, c.Rule.ID, changed)
	})
}

// appendWatchRule records what changed about a rule, behind what is in its stream.
func (s *Service) appendWatchRule(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id string, events []organization.Event) (usecase.Mark, error) {
	to := usecase.StreamPlace{Log: eventstore.Organization, StreamType: organization.WatchRuleStream, ID: organization.WatchRuleID(actor.OrganizationID, id)}
	at, err := usecase.Fold(ctx, s.Base, tx, actor.OrganizationID, to.ID, func(any, time.Time) {})
	if err != nil {
		return usecase.Mark{}, err
	}
	return usecase.AppendAll(ctx, s.Base, tx, actor, to, at, s.Clock(), events)
}
