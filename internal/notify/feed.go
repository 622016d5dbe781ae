package notify

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"slices"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/fleet"
	"muster/domain/notification"
	"muster/internal/channel"
	"muster/internal/channel/kinds"
	"muster/internal/statement"
	"muster/internal/supervise"
	"muster/internal/turns"
)

//go:embed sql/claim_feeds.sql
var claimFeeds string

const (
	// feedsAtOnce is how many Alertmanagers of one organization are fed at once, and half of
	// how many of all (internal/turns): some that do not answer leave the others their turn.
	feedsAtOnce = 8
	// roundTimeout is the end of a round. Those that were not fed by then, because others did
	// not answer, are fed in the next, which begins before what fires there ends by itself.
	roundTimeout = 2 * channel.FeedEvery
)

// openRow is an open alert with its server, which may have no name.
type openRow struct {
	openAlert
	Name   *string `db:"name"`
	Engine *string `db:"engine"`
	Now    *string `db:"now"` // its title, where that is another than the log's
}

func (a openRow) subject(servers map[uuid.UUID]server) notification.Subject {
	s := notification.Subject{Type: notification.AlertRaised, Severity: a.Severity}
	if a.InstanceID != nil {
		s.Instances = []uuid.UUID{*a.InstanceID}
	}
	if a.Name != nil {
		s.Name, s.Engine = *a.Name, fleet.Engine(*a.Engine)
	}
	for _, id := range a.others() {
		s.Others = append(s.Others, servers[id].subject())
	}
	return s
}

func (a openRow) fed() channel.Fed {
	f := channel.Fed{ID: a.ID, Label: a.Label, Title: a.Title, Severity: a.Severity, StartsAt: a.RaisedAt}
	if a.Name != nil {
		f.Instance = *a.Name
	}
	if a.Now != nil {
		f.Title = *a.Now
	}
	return f
}

// Feed sends each Alertmanager whose turn it is all open alerts that match, so that they
// stay there until they are over, and then what was resolved lately. Of several processes
// one does it.
func (s *Sender) Feed(ctx context.Context) error {
	channels, err := statement.All[commands.ChannelRow](ctx, s.DB, "claim Alertmanagers", claimFeeds, s.Now(), channel.FeedEvery.Seconds()/2,
		kinds.Names(func(k channel.Kind) bool { return k.Feed != nil }))
	if err != nil {
		return err
	}
	round, over := context.WithTimeout(ctx, roundTimeout)
	defer over()
	gate := turns.NewGate(feedsAtOnce)
	var feeds supervise.Group
	for _, c := range channels {
		feeds.Go(func() error {
			leave, err := gate.Pass(round, c.OrganizationID)
			if err == nil {
				defer leave()
				err = s.feedOpen(round, c)
			}
			if err != nil && ctx.Err() == nil {
				s.Log.WarnContext(ctx, "an Alertmanager was not fed, trying again", "channel", c.ID, "error", err)
			}
			return ctx.Err()
		})
	}
	return feeds.Wait()
}

// feedOpen sends one channel all open alerts that its rules match.
func (s *Sender) feedOpen(ctx context.Context, row commands.ChannelRow) error {
	kind, err := kinds.Find(row.Kind)
	if err != nil {
		return err
	}
	organization, ok, err := s.Accounts.Organization(ctx, row.OrganizationID)
	if err != nil || !ok {
		return err
	}
	rules, err := rulesOf(ctx, s.DB, []uuid.UUID{row.OrganizationID})
	if err != nil {
		return err
	}
	rules = slices.DeleteFunc(rules, func(r ruleRow) bool { return r.Channel != row.ID })
	if len(rules) == 0 {
		return nil
	}
	open, err := s.openAlerts(ctx, row.OrganizationID)
	if err != nil {
		return err
	}
	w := newWorld()
	var others []uuid.UUID
	for _, a := range open {
		others = append(others, a.others()...)
	}
	if err := w.loadServers(ctx, s.DB, statement.IDs(others)); err != nil {
		return err
	}
	var fed []channel.Fed
	for _, a := range open {
		h := happened{Subject: a.subject(w.servers)}
		if !a.Muted && slices.ContainsFunc(rules, func(r ruleRow) bool { return r.has(h) }) {
			fed = append(fed, a.fed())
		}
	}
	return kind.Feed(ctx, s.tools(), channel.Delivery{Channel: row, Message: s.message(organization)}, fed, func(ctx context.Context) error {
		if s.Fed == nil {
			return nil
		}
		return s.Fed(ctx)
	})
}

func (s *Sender) openAlerts(ctx context.Context, organization uuid.UUID) ([]openRow, error) {
	return statement.All[openRow](ctx, s.DB, "read open alerts", `SELECT a.alert_id, a.organization_id, a.title, a.severity, a.instance_id, a.raised_at, a.acknowledged, a.muted, a.label, a.others, i.name, i.engine, s.title AS now
		FROM notification_alerts a LEFT JOIN notification_instances i USING (instance_id)
		LEFT JOIN alert_last_seen s ON s.organization_id = $1 AND s.alert_id = a.alert_id
		WHERE a.organization_id = $1`, organization)
}

// channelOf is a channel that was not removed. Errors: *commands.NotFoundError.
func channelOf(ctx context.Context, q queryer, organization, id uuid.UUID) (commands.ChannelRow, error) {
	row, ok, err := statement.Find[commands.ChannelRow](ctx, q, "read a channel", channelQuery, organization, id)
	if err != nil {
		return row, fmt.Errorf("look up a channel: %w", err)
	}
	if !ok {
		return row, &commands.NotFoundError{What: "channel"}
	}
	return row, nil
}
