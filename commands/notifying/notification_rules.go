package notifying

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/rule"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/postgres/statement"
)

// NotificationRule is what a rule says, and its name.
type NotificationRule struct {
	Name string
	notification.Terms
}

// CreateNotificationRule records a rule. Errors: *usecase.RuleError with every broken rule.
func (s *Notifications) CreateNotificationRule(ctx context.Context, actor usecase.Actor, r NotificationRule) (uuid.UUID, usecase.Mark, error) {
	r.ChannelIDs = uniqueIDs(r.ChannelIDs)
	if err := s.checkRule(ctx, s.base.DB, actor.OrganizationID, r, notification.Match{}); err != nil {
		return uuid.Nil, usecase.Mark{}, err
	}
	id := usecase.NewID()
	mark, err := s.base.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		if err := usecase.LockStream(ctx, tx, actor.OrganizationID); err != nil {
			return usecase.Mark{}, err
		}
		if err := usecase.Room(ctx, tx, actor.OrganizationID, "notification_rules", "too_many_rules", notification.MaxRules); err != nil {
			return usecase.Mark{}, err
		}
		gone, err := lockChannels(ctx, tx, actor.OrganizationID, r.ChannelIDs)
		if err := cmp.Or(err, usecase.FieldErrors(gone)); err != nil {
			return usecase.Mark{}, err
		}
		now := s.base.Clock()
		if err := s.writeRule(ctx, tx, actor, id, r); err != nil {
			return usecase.Mark{}, err
		}
		return usecase.AppendAll(ctx, s.base, tx, actor, rulePlace(id), usecase.Stream{Version: eventstore.NoStream}, now, []notification.Event{notification.RuleCreated{Terms: r.Terms}})
	})
	return id, mark, err
}

// writeRule stores a rule with the time by the clock that records events: the rule applies to
// events recorded from then on.
func (s *Notifications) writeRule(ctx context.Context, tx *sqlx.Tx, actor usecase.Actor, id uuid.UUID, r NotificationRule) error {
	terms, err := json.Marshal(r.Terms)
	if err != nil {
		return fmt.Errorf("encode a rule: %w", err)
	}
	return statement.Exec(ctx, tx, "add a rule", `INSERT INTO notification_rules (id, organization_id, name, terms, created_at, created_by)
		VALUES ($1, $2, $3, $4, clock_timestamp(), $5)`, id, actor.OrganizationID, strings.TrimSpace(r.Name), string(terms), actorID(actor))
}

// checkRule holds a rule against every one of ours at once. Where q is a transaction, its
// channels stay until that ends. What it names already of was may stay, whether or not it is there
// still.
func (s *Notifications) checkRule(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, r NotificationRule, was notification.Match) error {
	var broken []rule.Broken
	if e := usecase.CheckName("#/name", r.Name); e != nil {
		broken = append(broken, *e)
	}
	broken = append(broken, r.Broken()...)
	if r.Quiet != nil {
		if _, err := usecase.Zone(r.Quiet.TimeZone); err != nil {
			broken = append(broken, rule.Broken{Pointer: "#/quiet/timeZone", Code: "unknown_time_zone", Detail: usecase.UnknownZone})
		}
	}
	places, err := s.brokenPlaces(ctx, organization, r.Match, was)
	if err != nil {
		return err
	}
	channels, err := lockChannels(ctx, q, organization, r.ChannelIDs)
	if err != nil {
		return err
	}
	return usecase.FieldErrors(slices.Concat(broken, places, channels))
}

// CheckMatch holds what a rule would match, and its group, against every rule of ours. Errors: *usecase.RuleError.
func (s *Notifications) CheckMatch(ctx context.Context, organization uuid.UUID, m notification.Match, groupSeconds int) error {
	places, err := s.brokenPlaces(ctx, organization, m, notification.Match{})
	if err != nil {
		return err
	}
	broken := append(m.Broken(), notification.BrokenGroup(groupSeconds)...)
	return usecase.FieldErrors(append(broken, places...))
}

// brokenPlaces are the teams and servers of a match that do not exist.
func (s *Notifications) brokenPlaces(ctx context.Context, organization uuid.UUID, m, was notification.Match) (broken []rule.Broken, err error) {
	if len(m.TeamIDs) > 0 {
		teams, err := s.base.Accounts.Teams(ctx, organization)
		if err != nil {
			return nil, err
		}
		for i, id := range m.TeamIDs {
			if !slices.ContainsFunc(teams, func(t accounts.Team) bool { return t.ID == id }) && !slices.Contains(was.TeamIDs, id) {
				broken = append(broken, rule.Broken{Pointer: fmt.Sprintf("#/match/teamIds/%d", i), Code: "unknown_team", Detail: "unknown team"})
			}
		}
	}
	if len(m.InstanceIDs) == 0 || len(m.InstanceIDs) > notification.MaxInstances {
		return broken, nil
	}
	names, err := s.needs.Instances.InstanceNames(ctx, organization, m.InstanceIDs)
	if err != nil {
		return nil, fmt.Errorf("look up instances: %w", err)
	}
	for i, id := range m.InstanceIDs {
		if _, ok := names[id]; !ok && !slices.Contains(was.InstanceIDs, id) {
			broken = append(broken, rule.Broken{Pointer: fmt.Sprintf("#/match/instanceIds/%d", i), Code: "instance_not_in_organization", Detail: "unknown instance"})
		}
	}
	return broken, nil
}

// lockChannels keeps the channels that a rule names from being removed until the transaction
// ends, and returns those that are not there.
func lockChannels(ctx context.Context, q sqlx.QueryerContext, organization uuid.UUID, ids []uuid.UUID) (unknown []rule.Broken, err error) {
	found, err := statement.All[uuid.UUID](ctx, q, "lock channels", `SELECT id FROM notification_channels
		WHERE organization_id = $1 AND id = ANY($2) AND removed_at IS NULL ORDER BY id FOR SHARE`, organization, statement.IDs(ids))
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if !slices.Contains(found, id) {
			unknown = append(unknown, rule.Broken{Pointer: fmt.Sprintf("#/channelIds/%d", i), Code: "unknown_channel", Detail: "unknown channel"})
		}
	}
	return unknown, nil
}

// ChangeNotificationRule changes what it names; nil stays. Quiet is set where SetQuiet is.
type ChangeNotificationRule struct {
	Name          *string
	Match         *notification.Match
	ChannelIDs    *[]uuid.UUID
	GroupSeconds  *int
	RepeatMinutes *int
	SetQuiet      bool
	Quiet         *notification.Quiet
	Enabled       *bool
}

// to is the rule as it will be.
func (c ChangeNotificationRule) to(r NotificationRule) NotificationRule {
	usecase.Set(&r.Name, c.Name)
	usecase.Set(&r.Match, c.Match)
	usecase.Set(&r.ChannelIDs, c.ChannelIDs)
	usecase.Set(&r.GroupSeconds, c.GroupSeconds)
	usecase.Set(&r.RepeatMinutes, c.RepeatMinutes)
	usecase.Set(&r.Enabled, c.Enabled)
	if c.SetQuiet {
		r.Quiet = c.Quiet
	}
	r.Name, r.ChannelIDs = strings.TrimSpace(r.Name), uniqueIDs(r.ChannelIDs)
	return r
}

// ChangeNotificationRule records it. Errors: *usecase.NotFoundError, *usecase.RuleError.
func (s *Notifications) ChangeNotificationRule(ctx context.Context, actor usecase.Actor, id uuid.UUID, c ChangeNotificationRule) (usecase.Mark, error) {
	return s.decideLife(ctx, actor, rulePlace(id), "rule", func(tx *sqlx.Tx) ([]notification.Event, error) {
		was, err := s.rule(ctx, tx, actor.OrganizationID, id)
		if err != nil {
			return nil, err
		}
		will := c.to(was)
		if err := s.checkRule(ctx, tx, actor.OrganizationID, will, was.Match); err != nil {
			return nil, err
		}
		before, err := json.Marshal(was.Terms)
		if err != nil {
			return nil, err
		}
		terms, err := json.Marshal(will.Terms)
		if err != nil {
			return nil, err
		}
		if string(before) == string(terms) && was.Name == will.Name {
			return nil, nil
		}
		changed := notification.RuleChanged{NameChanged: was.Name != will.Name, Terms: will.Terms}
		return []notification.Event{changed}, statement.Exec(ctx, tx, "change a rule", `UPDATE notification_rules SET name = $2, terms = $3 WHERE id = $1`, id, will.Name, string(terms))
	})
}

// rule returns a rule that is not removed. Errors: *usecase.NotFoundError.
func (s *Notifications) rule(ctx context.Context, tx *sqlx.Tx, organization, id uuid.UUID) (r NotificationRule, err error) {
	row, ok, err := statement.Find[struct {
		Name  string `db:"name"`
		Terms []byte `db:"terms"`
	}](ctx, tx, "look up a rule", `SELECT name, terms FROM notification_rules WHERE organization_id = $1 AND id = $2 AND removed_at IS NULL`, organization, id)
	switch {
	case err != nil:
		return r, err
	case !ok:
		return r, &usecase.NotFoundError{What: "rule"}
	}
	r.Name = row.Name
	return r, json.Unmarshal(row.Terms, &r.Terms)
}

// RemoveNotificationRule takes it away. Errors: *usecase.NotFoundError.
func (s *Notifications) RemoveNotificationRule(ctx context.Context, actor usecase.Actor, id uuid.UUID) (usecase.Mark, error) {
	return s.decideLife(ctx, actor, rulePlace(id), "rule", func(tx *sqlx.Tx) ([]notification.Event, error) {
		return []notification.Event{notification.RuleRemoved{}}, statement.Exec(ctx, tx, "remove a rule",
			`UPDATE notification_rules SET removed_at = $2 WHERE id = $1 AND removed_at IS NULL`, id, s.base.Clock())
	})
}

// BeginNotifications gives an organization that has neither channels nor rules yet, and never got
// it before, the rule of the beginning: its administrators are mailed of critical and warning
// alerts, of reports that failed, and of what a schedule missed. Twice is once. It is for
// organizations that were made when no mail server was set: found does it for the others.
func (s *Notifications) BeginNotifications(ctx context.Context, organization uuid.UUID) (usecase.Mark, error) {
	return s.base.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) { return s.BeginNotificationsIn(ctx, tx, organization) })
}

// BeginNotificationsIn is BeginNotifications in the caller's transaction.
func (s *Notifications) BeginNotificationsIn(ctx context.Context, tx *sqlx.Tx, organization uuid.UUID) (usecase.Mark, error) {
	actor, none := usecase.Actor{OrganizationID: organization, Component: "notifications"}, usecase.Mark{Log: eventstore.Organization}
	n, err := statement.Affected(ctx, tx, "begin notifications", `INSERT INTO notification_beginnings VALUES ($1) ON CONFLICT DO NOTHING`, organization)
	if err != nil || n == 0 {
		return none, err
	}
	own, err := statement.One[bool](ctx, tx, "look for rules", `SELECT EXISTS (SELECT FROM notification_channels WHERE organization_id = $1)`, organization)
	if err != nil || own {
		return none, err
	}
	channel := CreateChannel{Name: "Administrators", Kind: notification.Email, Administrators: true}
	rule := NotificationRule{Name: "Critical and warning alerts, failed reports", Terms: notification.Terms{
		Match: notification.Match{Severities: []alert.Severity{alert.Critical, alert.Warning}, Events: []notification.EventType{
			notification.AlertRaised, notification.AlertResolved, notification.ReportFailed, notification.ScheduleMissed,
		}},
		GroupSeconds: 10, Enabled: true,
	}}
	channelID, ruleID, now := usecase.NewID(), usecase.NewID(), s.base.Clock()
	rule.ChannelIDs = []uuid.UUID{channelID}
	if err := s.writeChannel(ctx, tx, actor, channelID, channel, now); err != nil {
		return none, err
	}
	if err := s.writeRule(ctx, tx, actor, ruleID, rule); err != nil {
		return none, err
	}
	fresh := usecase.Stream{Version: eventstore.NoStream}
	ofChannel, err := usecase.BatchOf(actor, channelPlace(channelID), fresh, now, []notification.Event{created(channel)})
	if err != nil {
		return none, err
	}
	ofRule, err := usecase.BatchOf(actor, rulePlace(ruleID), fresh, now, []notification.Event{notification.RuleCreated{Terms: rule.Terms}})
	if err != nil {
		return none, err
	}
	return s.base.Append(ctx, tx, eventstore.Organization, ofChannel, ofRule)
}

func rulePlace(id uuid.UUID) usecase.StreamPlace {
	return usecase.StreamPlace{Log: eventstore.Organization, StreamType: notification.RuleStream, ID: id}
}
