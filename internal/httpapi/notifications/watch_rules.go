package notifications

import (
	"context"
	"slices"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/watch"
)

func (s *NotificationRoutes) ListWatchRules(ctx context.Context, _ api.ListWatchRulesRequestObject) (api.ListWatchRulesResponseObject, error) {
	settings, err := s.watchSettings(ctx)
	return api.ListWatchRules200JSONResponse{Items: wire.List(watch.Catalogue(), func(d watch.Definition) api.WatchRule {
		return showWatchRule(d, settings)
	})}, err
}

func (s *NotificationRoutes) GetWatchRule(ctx context.Context, r api.GetWatchRuleRequestObject) (api.GetWatchRuleResponseObject, error) {
	shown, err := s.watchRule(ctx, r.WatchRule)
	return api.GetWatchRule200JSONResponse(shown), err
}

func (s *NotificationRoutes) SetWatchRule(ctx context.Context, r api.SetWatchRuleRequestObject) (api.SetWatchRuleResponseObject, error) {
	change, _, err := s.settingOf(ctx, r.WatchRule, r.Body)
	if err != nil {
		return nil, err
	}
	mark, err := s.Commands.SetWatchRule(ctx, wire.Actor(ctx), change)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	shown, err := s.watchRule(ctx, r.WatchRule)
	return api.SetWatchRule200JSONResponse(shown), err
}

func (s *NotificationRoutes) PreviewWatchRule(ctx context.Context, r api.PreviewWatchRuleRequestObject) (api.PreviewWatchRuleResponseObject, error) {
	change, inForce, err := s.settingOf(ctx, r.WatchRule, r.Body)
	if err != nil {
		return nil, err
	}
	settings, broken := change.Would(inForce)
	if len(broken) > 0 {
		return nil, usecase.FieldErrors(broken)
	}
	d, _ := watch.Find(r.WatchRule)
	o, there, err := s.Accounts.Organization(ctx, wire.Caller(ctx).Organization.ID)
	if err := wire.Found(there, err, "organization"); err != nil {
		return nil, err
	}
	p, err := s.History.Preview(ctx, o.ID, d, settings, inForce, o.AdvisoryLocks)
	return api.PreviewWatchRule200JSONResponse{
		From: p.From, To: p.To, Since: p.Since, Alerts: p.Alerts, Servers: p.Servers, NotMeasured: p.Unmeasured, InMaintenance: p.InWindow,
		Current:  api.WatchRuleCounts{Alerts: p.Now.Alerts, Servers: p.Now.Servers},
		Settings: wire.List(settings, showWatchSetting), Items: wire.List(p.Items, showPreviewed),
	}, err
}

func showPreviewed(p watch.Previewed) api.WatchRulePreviewItem {
	return api.WatchRulePreviewItem{
		InstanceId: p.Instance, InstanceName: p.Name, Threshold: p.Setting.Threshold, Alerts: p.Alerts, CurrentAlerts: p.Now,
		LongestSeconds: int(p.Longest.Seconds()),
		Raised: wire.List(p.Raised, func(r watch.Raised) api.WatchRuleRaised {
			return api.WatchRuleRaised{At: r.At.UTC(), Until: wire.UTC(r.Until), Severity: api.AlertSeverity(r.Severity), CurrentToo: r.Now, InMaintenance: r.InWindow}
		}),
		Figures: wire.List(p.Figures, func(f watch.Figure) api.WatchRuleFigure {
			return api.WatchRuleFigure{At: f.At, Value: f.Value}
		}),
	}
}

// watchSettings are the settings in force of the caller's organization, as they are stored now.
func (s *NotificationRoutes) watchSettings(ctx context.Context) (watch.Settings, error) {
	id := wire.Caller(ctx).Organization.ID
	o, there, err := s.Accounts.Organization(ctx, id)
	if err := wire.Found(there, err, "organization"); err != nil {
		return nil, err
	}
	stored, err := s.Accounts.WatchRulesOf(ctx, id)
	return watch.SettingsOf(stored, o.Settings().Watch), err
}

func (s *NotificationRoutes) watchRule(ctx context.Context, id string) (api.WatchRule, error) {
	d, there := watch.Find(id)
	if err := wire.Found(there, nil, "rule"); err != nil {
		return api.WatchRule{}, err
	}
	settings, err := s.watchSettings(ctx)
	return showWatchRule(d, settings), err
}

func showWatchRule(d watch.Definition, settings watch.Settings) api.WatchRule {
	comparison := "above"
	if d.Below {
		comparison = "below"
	}
	return api.WatchRule{
		Id: d.ID, Group: d.Group, Name: d.Name, Watches: d.Watches, Unit: wire.Optional(d.Unit), Comparison: comparison,
		Measured: d.Unmeasured == "", UnmeasuredReason: wire.Optional(d.Unmeasured), Sources: wire.Optional(d.Sources),
		Meaning: d.Meaning, Advice: d.Advice, MinThreshold: d.Min, MaxThreshold: d.Max,
		Default: showWatchSetting(d.Default), Settings: wire.List(settings[watch.Rule(d.ID)], showWatchSetting),
	}
}

func showWatchSetting(s organization.WatchSetting) api.WatchRuleSetting {
	tags := api.WatchTags{}
	for key, values := range s.Tags {
		tags[key] = values
	}
	return api.WatchRuleSetting{Tags: tags, Enabled: s.Enabled, Threshold: s.Threshold, ForSeconds: s.ForSeconds, Severity: api.AlertSeverity(s.Severity)}
}

// settingOf is the change that a request asks for, and the settings in force. What it leaves out stays, or is the rule's default.
func (s *NotificationRoutes) settingOf(ctx context.Context, id string, b *api.SetWatchRule) (c organization.SetWatchRule, inForce []organization.WatchSetting, err error) {
	d, there := watch.Find(id)
	if err := wire.Found(there, nil, "rule"); err != nil {
		return c, nil, err
	}
	settings, err := s.watchSettings(ctx)
	if err != nil {
		return c, nil, err
	}
	was := settings[watch.Rule(d.ID)]
	setting := func(tags *api.WatchTags, enabled *bool, threshold, seconds *int32, severity *api.AlertSeverity) organization.WatchSetting {
		is := d.Default
		is.Tags = fleet.TagFilter(wire.Value(tags))
		if i := slices.IndexFunc(was, is.About); i >= 0 {
			is = was[i]
		}
		is.Enabled, is.Severity = or(enabled, is.Enabled), alert.Severity(or(severity, api.AlertSeverity(is.Severity)))
		is.Threshold, is.ForSeconds = wire.Or(threshold, is.Threshold), wire.Or(seconds, is.ForSeconds)
		return is
	}
	change := organization.SetWatchRule{Rule: d.WatchRule}
	if b.Settings != nil {
		all := wire.List(*b.Settings, func(l api.SetWatchRuleSetting) organization.WatchSetting {
			return setting(l.Tags, l.Enabled, l.Threshold, l.ForSeconds, l.Severity)
		})
		change.All = &all
	}
	if b.Settings == nil || b.Tags != nil || b.Enabled != nil || b.Threshold != nil || b.ForSeconds != nil || b.Severity != nil {
		one := setting(b.Tags, b.Enabled, b.Threshold, b.ForSeconds, b.Severity)
		change.One = &one
	}
	return change, was, nil
}

// or is a value of a request, or what counts where it has none.
func or[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}
