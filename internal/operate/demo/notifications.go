package demo

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"github.com/google/uuid"

	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify/channel/alertmanager"
	"muster/internal/notify/channel/chat"
	"muster/internal/notify/channel/webhook"
	"muster/internal/postgres/statement"
)

// channel is a way to tell somebody of the demo.
type channel struct {
	name           string
	kind           notification.Kind
	members        []int // of people
	administrators bool
	url            string
}

// channels are what Jonas sets up, in this order: e-mail, which goes where the reports of
// the demo go, and then names that lead nowhere (RFC 2606 keeps .example from being
// anybody's).
var channels = []channel{
	{name: "Database team", kind: notification.Email, members: []int{ana, jonas}},
	{name: "Administrators", kind: notification.Email, administrators: true},
	{name: "Incident desk", kind: webhook.Name, url: "https://incidents.demo.example/muster"},
	{name: "Chat #databases", kind: chat.Name, url: "https://chat.demo.example/hooks/databases"},
	{name: "Alertmanager of the platform", kind: alertmanager.Name, url: "http://alertmanager.demo.example:9093"},
}

// The places of the first channels in the list, of which mails are sent, and how many those
// and their rules are.
const (
	ofTeam = iota
	ofAdministrators
	mailChannels
	mailRules = 3
)

// noticed is a rule of who is told: through which channels, and what.
type noticed struct {
	name     string
	channels []int
	notification.Terms
}

// rulesOfNotices are in the order in which Jonas makes them. The last is off: whoever looks
// at the demo may switch it on, and see what becomes of what cannot be delivered.
var rulesOfNotices = []noticed{
	{"Critical alerts", []int{ofTeam}, notification.Terms{
		Match: notification.Match{
			Severities: []alert.Severity{alert.Critical}, Events: []notification.EventType{notification.AlertRaised, notification.AlertResolved},
		},
		GroupSeconds: 60, RepeatMinutes: 240, Enabled: true,
	}},
	{"Reports that fail or are missed", []int{ofAdministrators}, notification.Terms{
		Match:   notification.Match{Events: []notification.EventType{notification.ReportFailed, notification.ScheduleMissed}},
		Enabled: true,
	}},
	{"Billing, quiet at night", []int{ofAdministrators}, notification.Terms{
		Match: notification.Match{
			Severities: []alert.Severity{alert.Warning, alert.Critical}, NameContains: "billing",
			Events: []notification.EventType{notification.AlertRaised, notification.AlertResolved, notification.AlertAcknowledged},
		},
		GroupSeconds: 60, Enabled: true,
		Quiet: &notification.Quiet{From: "22:00", To: "07:00", TimeZone: "Europe/Madrid", ExceptCritical: true},
	}},
	{"Everything to the platform team", []int{2, 3, 4}, notification.Terms{
		Match:        notification.Match{Events: []notification.EventType{notification.AlertRaised, notification.AlertResolved}},
		GroupSeconds: 300,
	}},
}

// notifications sets up the first of the channels and rules that are not there yet, by how
// many Jonas ever made: what somebody removed stays removed.
func (d *Demo) notifications(ctx context.Context, organization uuid.UUID, team []uuid.UUID, toChannel, toRule int) error {
	actor := usecase.Actor{OrganizationID: organization, MemberID: team[jonas]}
	ids, err := statement.All[uuid.UUID](ctx, d.DB, "look for channels made before",
		`SELECT id FROM notification_channels WHERE organization_id = $1 AND created_by = $2 ORDER BY id`, organization, team[jonas])
	if err != nil {
		return err
	}
	for len(ids) < toChannel {
		c := channels[len(ids)]
		create := notifying.CreateChannel{Name: c.name, Kind: c.kind, Administrators: c.administrators, Address: notification.Address{URL: c.url}}
		for _, to := range c.members {
			create.MemberIDs = append(create.MemberIDs, team[to])
		}
		if c.kind == webhook.Name {
			create.Secret = webhook.SecretPrefix + base64.StdEncoding.EncodeToString([]byte(rand.Text()))
		}
		id, _, err := d.Commands.CreateChannel(ctx, actor, create)
		if err != nil {
			return fmt.Errorf("the channel %s: %w", c.name, err)
		}
		ids = append(ids, id)
	}
	there, err := d.rulesMade(ctx, organization, team[jonas])
	if err != nil || there >= toRule {
		return err
	}
	for _, r := range rulesOfNotices[there:toRule] {
		rule := notifying.NotificationRule{Name: r.name, Terms: r.Terms}
		for _, through := range r.channels {
			rule.ChannelIDs = append(rule.ChannelIDs, ids[through])
		}
		if _, _, err := d.Commands.CreateNotificationRule(ctx, actor, rule); err != nil {
			return fmt.Errorf("the rule %s: %w", r.name, err)
		}
	}
	return nil
}

// rulesMade is how many rules somebody ever made.
func (d *Demo) rulesMade(ctx context.Context, organization, by uuid.UUID) (int, error) {
	return statement.One[int](ctx, d.DB, "count the rules made before",
		`SELECT count(*) FROM notification_rules WHERE organization_id = $1 AND created_by = $2`, organization, by)
}

// tells says whether it is set up who is told by e-mail: before that, no alert is sent, of
// which they would not be told.
func (d *Demo) tells(ctx context.Context, organization uuid.UUID) (bool, error) {
	team, err := d.team(ctx)
	if err != nil || team == nil {
		return false, err
	}
	made, err := d.rulesMade(ctx, organization, team[jonas])
	return made >= mailRules, err
}
