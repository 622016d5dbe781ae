package notify

import (
	"context"
	_ "embed" // the statements
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/commands/maintenance"
	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/concurrency/fairslots"
	"muster/internal/concurrency/supervise"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/kinds"
	"muster/internal/postgres/statement"
)

var (
	//go:embed sql/claim_feeds.sql
	claimFeeds string
	//go:embed sql/open_alerts.sql
	openAlertsSQL   string
	openAlertsQuery = ofAlerts(openAlertsSQL)
)

const (
	// feedsAtOnce is how many Alertmanagers of one organization are fed at once, and half of
	// how many of all (internal/concurrency/fairslots): some that do not answer leave the others their turn.
	feedsAtOnce = 8
	// roundTimeout is the end of a round. Those that were not fed by then, because others did
	// not answer, are fed in the next, which begins before what fires there ends by itself.
	roundTimeout = 2 * channel.FeedEvery
)

// openRow is an alert that is open, as its read model has it.
type openRow struct {
	ID         uuid.UUID      `db:"id"`
	Title      string         `db:"title"`
	Severity   alert.Severity `db:"severity"`
	InstanceID *uuid.UUID     `db:"instance_id"`
	RaisedAt   time.Time      `db:"raised_at"`
	Label      string         `db:"label"`
	Others     string         `db:"other_instance_ids"` // with commas between
	Now        *string        `db:"now"`                // its title, where that is another than the log's
	InWindow   bool           `db:"in_window"`          // it was raised in a maintenance window
}

// others are further servers that it concerns.
func (a openRow) others() (others []uuid.UUID, err error) {
	for text := range strings.SplitSeq(a.Others, ",") {
		if text == "" {
			continue
		}
		id, err := uuid.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("read where alert %s is: %w", a.ID, err)
		}
		others = append(others, id)
	}
	return others, nil
}

// open is an open alert with its servers.
type open struct {
	openRow
	at     *server
	others []server
}

func (a open) subject() notification.Subject {
	s := notification.Subject{}
	if a.at != nil {
		s = a.at.subject()
	}
	s.Type, s.Severity = notification.AlertRaised, a.Severity
	for _, o := range a.others {
		s.Others = append(s.Others, o.subject())
	}
	return s
}

func (a open) fed() channel.Fed {
	f := channel.Fed{ID: a.ID, Label: a.Label, Title: a.Title, Severity: a.Severity, StartsAt: a.RaisedAt}
	if a.at != nil {
		f.Instance = a.at.Name
		if a.at.Owner != nil {
			f.Owner = a.at.Owner.Name
		}
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
	if err := caughtUp(ctx, s.Alerts); err != nil {
		return err
	}
	channels, err := statement.All[notifying.ChannelRow](ctx, s.DB, "claim Alertmanagers", claimFeeds, s.Now(), channel.FeedEvery.Seconds()/2,
		kinds.Names(func(k channel.Kind) bool { return k.Feed != nil }))
	if err != nil {
		return err
	}
	round, over := context.WithTimeout(ctx, roundTimeout)
	defer over()
	gate := fairslots.NewGate(feedsAtOnce)
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
func (s *Sender) feedOpen(ctx context.Context, row notifying.ChannelRow) error {
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
	all, err := s.openAlerts(ctx, row.OrganizationID)
	if err != nil {
		return err
	}
	var fed []channel.Fed
	for _, a := range all {
		h := happened{Subject: a.subject()}
		if slices.ContainsFunc(rules, func(r ruleRow) bool { return r.has(h) }) {
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

// openAlerts are those that are not muted, without those that were raised in a maintenance window which is not over.
func (s *Sender) openAlerts(ctx context.Context, organization uuid.UUID) ([]open, error) {
	rows, err := statement.All[openRow](ctx, s.DB, "read open alerts", openAlertsQuery, organization)
	if err != nil {
		return nil, err
	}
	all, places := make([]open, len(rows)), ids{}
	others := make([][]uuid.UUID, len(rows))
	for i, row := range rows {
		all[i].openRow = row
		if others[i], err = row.others(); err != nil {
			return nil, err
		}
		for _, id := range others[i] {
			places[id] = organization
		}
		if row.InstanceID != nil {
			places[*row.InstanceID] = organization
		}
	}
	called, err := history{registry: s.Registry}.names(ctx, s.DB, places)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if id := all[i].InstanceID; id != nil {
			at, _ := called.server(*id, math.MaxInt64)
			all[i].at = &at
		}
		for _, id := range others[i] {
			other, _ := called.server(id, math.MaxInt64)
			all[i].others = append(all[i].others, other)
		}
	}
	now := s.Now()
	versions, err := maintenance.Versions(ctx, s.DB, organization, now)
	return slices.DeleteFunc(all, func(a open) bool { return a.InWindow && inWindow(versions, a.subject(), now) }), err
}

// channelOf is a channel that was not removed. Errors: *usecase.NotFoundError.
func channelOf(ctx context.Context, q queryer, organization, id uuid.UUID) (notifying.ChannelRow, error) {
	row, ok, err := statement.Find[notifying.ChannelRow](ctx, q, "read a channel", channelQuery, organization, id)
	if err != nil {
		return row, fmt.Errorf("look up a channel: %w", err)
	}
	if !ok {
		return row, &usecase.NotFoundError{What: "channel"}
	}
	return row, nil
}
