package commands

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/eventstore"
)

// SetWatchRule sets a watch rule of the organization. Errors: *usecase.RuleError.
func (s *Service) SetWatchRule(ctx context.Context, actor usecase.Actor, c organization.SetWatchRule) (usecase.Mark, error) {
	if err := usecase.FieldErrors(c.Broken()); err != nil {
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
			will, broken := c.Would(was)
			if len(broken) > 0 {
				return nil, usecase.FieldErrors(broken)
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
