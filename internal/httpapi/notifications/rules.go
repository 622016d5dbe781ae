package notifications

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"muster/commands/notifying"
	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/notification"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/notify"
	"muster/internal/notify/channel"
)

const rulesPath = "/api/v1/notification-rules/"

// defaultGroup is for how long more events are waited for where nobody says, in seconds.
const defaultGroup = 10

func (s *NotificationRoutes) ListNotificationRules(ctx context.Context, _ api.ListNotificationRulesRequestObject) (api.ListNotificationRulesResponseObject, error) {
	rules, err := s.Told.Rules(ctx, wire.Caller(ctx).Organization.ID, nil)
	if err != nil {
		return nil, err
	}
	items, err := s.showRules(ctx, rules)
	return api.ListNotificationRules200JSONResponse{Items: items}, err
}

func (s *NotificationRoutes) GetNotificationRule(ctx context.Context, r api.GetNotificationRuleRequestObject) (api.GetNotificationRuleResponseObject, error) {
	shown, err := s.rule(ctx, r.RuleId)
	return api.GetNotificationRule200JSONResponse(shown), err
}

// rule is one as it is now.
func (s *NotificationRoutes) rule(ctx context.Context, id uuid.UUID) (api.NotificationRule, error) {
	rules, err := s.Told.Rules(ctx, wire.Caller(ctx).Organization.ID, &id)
	if err := wire.Found(len(rules) > 0, err, "rule"); err != nil {
		return api.NotificationRule{}, err
	}
	shown, err := s.showRules(ctx, rules)
	if err != nil {
		return api.NotificationRule{}, err
	}
	return shown[0], nil
}

func (s *NotificationRoutes) CreateNotificationRule(ctx context.Context, r api.CreateNotificationRuleRequestObject) (api.CreateNotificationRuleResponseObject, error) {
	b := r.Body
	id, mark, err := s.Commands.CreateNotificationRule(ctx, wire.Actor(ctx), notifying.NotificationRule{Name: b.Name, Terms: notification.Terms{
		Match: match(b.Match), ChannelIDs: b.ChannelIds, GroupSeconds: wire.Or(b.GroupSeconds, defaultGroup), RepeatMinutes: wire.Or(b.RepeatMinutes, 0),
		Quiet: quiet(b.Quiet), Enabled: b.Enabled == nil || *b.Enabled,
	}})
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	shown, err := s.rule(ctx, id)
	return api.CreateNotificationRule201JSONResponse{Body: shown, Headers: api.CreateNotificationRule201ResponseHeaders{Location: rulesPath + id.String()}}, err
}

func (s *NotificationRoutes) ChangeNotificationRule(ctx context.Context, r api.ChangeNotificationRuleRequestObject) (api.ChangeNotificationRuleResponseObject, error) {
	b := r.Body
	change := notifying.ChangeNotificationRule{
		Name: b.Name, ChannelIDs: b.ChannelIds, GroupSeconds: whole(b.GroupSeconds), RepeatMinutes: whole(b.RepeatMinutes), Enabled: b.Enabled, Quiet: quiet(b.Quiet),
	}
	if b.Match != nil {
		m := match(*b.Match)
		change.Match = &m
	}
	var members map[string]json.RawMessage // null takes quiet hours away, where an absent member leaves them
	if err := json.Unmarshal(wire.CallOf(ctx).Body, &members); err == nil {
		_, change.SetQuiet = members["quiet"]
	}
	mark, err := s.Commands.ChangeNotificationRule(ctx, wire.Actor(ctx), r.RuleId, change)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	shown, err := s.rule(ctx, r.RuleId)
	return api.ChangeNotificationRule200JSONResponse(shown), err
}

func (s *NotificationRoutes) RemoveNotificationRule(ctx context.Context, r api.RemoveNotificationRuleRequestObject) (api.RemoveNotificationRuleResponseObject, error) {
	mark, err := s.Commands.RemoveNotificationRule(ctx, wire.Actor(ctx), r.RuleId)
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return api.RemoveNotificationRule204Response{}, nil
}

func (s *NotificationRoutes) PreviewNotificationRule(ctx context.Context, r api.PreviewNotificationRuleRequestObject) (api.PreviewNotificationRuleResponseObject, error) {
	organization, m, group := wire.Caller(ctx).Organization.ID, match(r.Body.Match), wire.Or(r.Body.GroupSeconds, defaultGroup)
	if err := s.Commands.CheckMatch(ctx, organization, m, group); err != nil {
		return nil, err
	}
	p, err := s.Told.Preview(ctx, organization, m, time.Duration(group)*time.Second)
	if err != nil {
		return nil, err
	}
	return api.PreviewNotificationRule200JSONResponse{From: p.From, To: p.To, Events: p.Events, Notifications: p.Notifications, Items: wire.List(p.Newest, notice)}, nil
}

func (s *NotificationRoutes) ListInstanceNotificationRules(ctx context.Context, r api.ListInstanceNotificationRulesRequestObject) (api.ListInstanceNotificationRulesResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	there, err := s.Fleet.InstanceNames(ctx, organization, []uuid.UUID{r.InstanceId})
	if err := wire.Found(len(there) > 0 && wire.Sees(ctx, r.InstanceId), err, "instance"); err != nil {
		return nil, err
	}
	rules, err := s.Told.OfInstance(ctx, organization, r.InstanceId, s.Accounts)
	if err != nil {
		return nil, err
	}
	var people []uuid.UUID
	for _, rule := range rules {
		for _, c := range rule.Channels {
			people = append(people, c.Recipients...)
		}
	}
	names, err := wire.MemberNames(ctx, s.Accounts, people)
	if err != nil {
		return nil, err
	}
	return api.ListInstanceNotificationRules200JSONResponse{Items: wire.List(rules, func(rule notify.InstanceRule) api.InstanceRule {
		terms := rule.Terms.Value
		return api.InstanceRule{
			Rule: api.Reference{Id: rule.ID, Name: rule.Name}, Severity: wire.List(terms.Match.Severities, severity), Event: wire.List(terms.Match.Events, eventType),
			Quiet: showQuiet(terms.Quiet), Channels: wire.List(rule.Channels, func(c notify.InstanceChannel) api.ToldThrough {
				return api.ToldThrough{Id: c.ID, Name: c.Name, Kind: c.Kind, Recipients: persons(c.Recipients, names)}
			}),
		}
	})}, nil
}

// persons are members by their names of today, each once; those who were erased have none.
func persons(ids []uuid.UUID, names map[uuid.UUID]string) []api.Person {
	all, seen := []api.Person{}, map[uuid.UUID]bool{}
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			all = append(all, api.Person{Id: id, Name: names[id]})
		}
	}
	return all
}

func severity(s alert.Severity) api.AlertSeverity          { return api.AlertSeverity(s) }
func eventType(t notification.EventType) api.NotifiedEvent { return api.NotifiedEvent(t) }
func engine(e fleet.Engine) api.Engine                     { return api.Engine(e) }

func match(m api.RuleMatch) notification.Match {
	return notification.Match{
		Severities: wire.Words[alert.Severity](wire.Value(m.Severity)), Engines: wire.Words[fleet.Engine](wire.Value(m.Engine)),
		InstanceIDs: wire.Value(m.InstanceIds), NameContains: wire.Value(m.NameContains), Events: wire.Words[notification.EventType](wire.Value(m.Event)),
		Tags: fleet.TagFilter(wire.Value(m.Tags)), TeamIDs: wire.Value(m.TeamIds),
	}
}

func quiet(q *api.QuietHours) *notification.Quiet {
	if q == nil {
		return nil
	}
	return &notification.Quiet{From: q.From, To: q.To, TimeZone: q.TimeZone, ExceptCritical: q.ExceptCritical}
}

func showQuiet(q *notification.Quiet) *api.QuietHours {
	if q == nil {
		return nil
	}
	return &api.QuietHours{From: q.From, To: q.To, TimeZone: q.TimeZone, ExceptCritical: q.ExceptCritical}
}

// whole is a number of the wire; nil stays.
func whole(n *int32) *int {
	if n == nil {
		return nil
	}
	v := int(*n)
	return &v
}

func (s *NotificationRoutes) showRules(ctx context.Context, rules []notify.Rule) ([]api.NotificationRule, error) {
	var people []uuid.UUID
	for _, r := range rules {
		if r.CreatedBy != nil {
			people = append(people, *r.CreatedBy)
		}
	}
	names, err := wire.MemberNames(ctx, s.Accounts, people)
	if err != nil {
		return nil, err
	}
	return wire.List(rules, func(r notify.Rule) api.NotificationRule {
		terms := r.Terms.Value
		shown := api.NotificationRule{
			Id: r.ID, Name: r.Name, ChannelIds: wire.NeverNull(terms.ChannelIDs), GroupSeconds: terms.GroupSeconds, RepeatMinutes: terms.RepeatMinutes,
			Quiet: showQuiet(terms.Quiet), Enabled: terms.Enabled, CreatedAt: r.CreatedAt.UTC(), CreatedBy: person(r.CreatedBy, names),
		}
		shown.Match.Severity, shown.Match.Engine = wire.List(terms.Match.Severities, severity), wire.List(terms.Match.Engines, engine)
		shown.Match.InstanceIds, shown.Match.NameContains = wire.NeverNull(terms.Match.InstanceIDs), wire.Optional(terms.Match.NameContains)
		shown.Match.Tags = wire.Tags(terms.Match.Tags)
		if ids := terms.Match.TeamIDs; len(ids) > 0 {
			shown.Match.TeamIds = &ids
		}
		shown.Match.Event = wire.List(terms.Match.Events, eventType)
		return shown
	}), nil
}

func notice(n channel.Notice) api.Notice {
	shown := api.Notice{
		Id: n.ID, Type: string(n.Type), At: n.At.UTC(), Title: n.Title, AlertId: n.AlertID, ReportId: n.ReportID, ScheduleId: n.ScheduleID,
		DueAt: wire.UTC(n.DueAt), Reason: n.Reason, CheckId: n.CheckID, FindingSeverity: n.FindingSeverity,
	}
	if n.Severity != nil {
		shown.Severity = wire.Optional(string(*n.Severity))
	}
	if n.Instance != nil {
		shown.Instance = &api.Reference{Id: n.Instance.ID, Name: n.Instance.Name}
	}
	if n.Owner != nil {
		shown.Owner = &api.Reference{Id: n.Owner.ID, Name: n.Owner.Name}
	}
	return shown
}
