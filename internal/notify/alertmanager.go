package notify

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/domain/notification"
	"muster/internal/accounts"
	"muster/internal/notify/send"
	"muster/internal/statement"
	"muster/internal/supervise"
	"muster/internal/turns"
)

var (
	//go:embed sql/claim_feeds.sql
	claimFeeds string
	//go:embed sql/fed_events.sql
	fedEvents string
	//go:embed sql/fed_over.sql
	fedOver string
	//go:embed sql/fed_labels.sql
	fedLabels string
	//go:embed sql/write_fed.sql
	writeFed string
)

const (
	// FeedEvery is how often an Alertmanager is sent all that is open, as Prometheus does.
	FeedEvery = time.Minute
	// fedFor is for how long an alert fires there without being sent again: four rounds and one.
	fedFor = 5 * FeedEvery
	// overFor is for how long it is said again that an alert is over, as by Prometheus. A round
	// that came too late for that has said for at most fedFor that it fires.
	overFor = 15 * time.Minute
	// fedKept is for how long it is kept with which labels an alert was told, which is noted twice an
	// hour while it fires.
	fedKept = 2 * time.Hour
	// feedsAtOnce is how many Alertmanagers of one organization are fed at once, and half of
	// how many of all (internal/turns): some that do not answer leave the others their turn.
	feedsAtOnce = 8
	// roundTimeout is the end of a round. Those that were not fed by then, because others did
	// not answer, are fed in the next, which begins before what fires there ends by itself.
	roundTimeout = 2 * FeedEvery
	// feedBatch is how many alerts go in one request.
	feedBatch = 500
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

func (a openRow) fed(endsAt time.Time) send.Fed {
	f := send.Fed{ID: a.ID, Label: a.Label, Title: a.Title, Severity: a.Severity, StartsAt: a.RaisedAt, EndsAt: endsAt}
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
	channels, err := statement.All[commands.ChannelRow](ctx, s.DB, "claim Alertmanagers", claimFeeds, s.Now(), FeedEvery.Seconds()/2)
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

func (s *Sender) feedOpen(ctx context.Context, channel commands.ChannelRow) error {
	organization, ok, err := s.Accounts.Organization(ctx, channel.OrganizationID)
	if err != nil || !ok {
		return err
	}
	rules, err := rulesOf(ctx, s.DB, []uuid.UUID{channel.OrganizationID})
	if err != nil {
		return err
	}
	rules = slices.DeleteFunc(rules, func(r ruleRow) bool { return r.Channel != channel.ID })
	if len(rules) == 0 {
		return nil
	}
	open, err := s.openAlerts(ctx, channel.OrganizationID)
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
	var fed []send.Fed
	for _, a := range open {
		h := happened{Subject: a.subject(w.servers)}
		if !a.Muted && slices.ContainsFunc(rules, func(r ruleRow) bool { return r.has(h) }) {
			fed = append(fed, a.fed(s.Now().Add(fedFor)))
		}
	}
	if _, err := s.feed(ctx, channel, organization, fed); err != nil {
		return err
	}
	if err := statement.Exec(ctx, s.DB, "forget what an Alertmanager was told long ago",
		`DELETE FROM notification_fed WHERE channel_id = $1 AND fed_at < $2`, channel.ID, s.Now().Add(-fedKept)); err != nil {
		return err
	}
	if s.Fed != nil {
		if err := s.Fed(ctx); err != nil {
			return err
		}
	}
	// What was resolved may have been said to be over before we, or somebody who died since,
	// said that it fires. So it is said again behind each round.
	over, err := statement.All[fedEvent](ctx, s.DB, "read what an Alertmanager was told is over", fedOver,
		channel.OrganizationID, channel.ID, s.Now().Add(-overFor))
	if err != nil || len(over) == 0 {
		return err
	}
	_, err = s.feed(ctx, channel, organization, s.fedEvents(over))
	return err
}

func (s *Sender) openAlerts(ctx context.Context, organization uuid.UUID) ([]openRow, error) {
	return statement.All[openRow](ctx, s.DB, "read open alerts", `SELECT a.alert_id, a.organization_id, a.title, a.severity, a.instance_id, a.raised_at, a.acknowledged, a.muted, a.label, a.others, i.name, i.engine, s.title AS now
		FROM notification_alerts a LEFT JOIN notification_instances i USING (instance_id)
		LEFT JOIN alert_last_seen s ON s.organization_id = $1 AND s.alert_id = a.alert_id
		WHERE a.organization_id = $1`, organization)
}

// fedEvent is the latest of a delivery's events about an alert.
type fedEvent struct {
	ID       uuid.UUID              `db:"alert_id"`
	Type     notification.EventType `db:"type"`
	At       time.Time              `db:"at"`
	RaisedAt time.Time              `db:"raised_at"`
	Title    string                 `db:"title"`
	Severity alert.Severity         `db:"severity"`
	Label    string                 `db:"label"`
	Instance string                 `db:"instance"`
}

// feedEvents tells an Alertmanager what a delivery says: of each alert the latest.
func (s *Sender) feedEvents(ctx context.Context, d deliveryRow, by through, organization accounts.Organization) (int, error) {
	events, err := statement.All[fedEvent](ctx, s.DB, "read what an Alertmanager is told", fedEvents, d.ID)
	if err != nil {
		return 0, err
	}
	return s.feed(ctx, by.ChannelRow, organization, s.fedEvents(events))
}

func (s *Sender) fedEvents(events []fedEvent) []send.Fed {
	now := s.Now()
	fed := make([]send.Fed, len(events))
	for i, e := range events {
		fed[i] = send.Fed{ID: e.ID, Label: e.Label, Title: e.Title, Severity: e.Severity, Instance: e.Instance, StartsAt: e.RaisedAt, EndsAt: now.Add(fedFor)}
		if e.Type == notification.AlertResolved {
			fed[i].EndsAt = e.At
			if now.Before(e.At) { // it fires there until then
				fed[i].EndsAt = now
			}
		}
	}
	return fed
}

// feed posts alerts in batches; none are posted, too, to see whether somebody takes them.
func (s *Sender) feed(ctx context.Context, channel commands.ChannelRow, organization accounts.Organization, alerts []send.Fed) (code int, err error) {
	address, err := channel.Address(s.Seal)
	if err != nil {
		return 0, err
	}
	for {
		n := min(len(alerts), feedBatch)
		posted, fires, err := s.relabelled(ctx, channel, organization, alerts[:n])
		if err != nil {
			return 0, err
		}
		body, err := send.Alerts(posted, organization.Name, s.PublicURL)
		if err != nil {
			return 0, err
		}
		if code, err = s.Poster.Post(ctx, send.AlertsURL(address.URL), http.Header{}, body); err != nil {
			return code, err
		}
		if err := s.noteFed(ctx, channel, organization, fires); err != nil {
			return code, err
		}
		if alerts = alerts[n:]; len(alerts) == 0 {
			return code, nil
		}
	}
}

// labelled is an alert with its labels as JSON.
type labelled struct {
	ID     uuid.UUID `db:"alert_id"`
	Labels string    `db:"labels"`
}

// relabelled adds what ends an alert under the labels that it had, where they are others now,
// as when its severity changed or its server was renamed: there it is another alert. One that
// is over ends under those that it had. fires are those that fire from now on.
func (s *Sender) relabelled(ctx context.Context, channel commands.ChannelRow, organization accounts.Organization, alerts []send.Fed) (posted []send.Fed, fires []labelled, err error) {
	ids := make([]uuid.UUID, len(alerts))
	for i, a := range alerts {
		ids[i] = a.ID
	}
	told, err := statement.All[labelled](ctx, s.DB, "read with which labels alerts were told", fedLabels, channel.ID, statement.IDs(ids))
	if err != nil {
		return nil, nil, err
	}
	before := make(map[uuid.UUID]map[string]string, len(told))
	for _, t := range told {
		var labels map[string]string
		if err := json.Unmarshal([]byte(t.Labels), &labels); err != nil {
			return nil, nil, fmt.Errorf("read the labels of alert %s: %w", t.ID, err)
		}
		before[t.ID] = labels
	}
	now := s.Now()
	for _, a := range alerts {
		labels, fired := a.LabelSet(organization.Name), before[a.ID]
		changed := fired != nil && !maps.Equal(labels, fired)
		if !a.EndsAt.After(now) {
			if changed {
				a.Labels = fired
			}
			posted = append(posted, a)
			continue
		}
		if changed {
			over := a
			over.Labels, over.EndsAt = fired, now
			posted = append(posted, over)
		}
		posted = append(posted, a)
		text, err := json.Marshal(labels)
		if err != nil {
			return nil, nil, fmt.Errorf("encode the labels of alert %s: %w", a.ID, err)
		}
		fires = append(fires, labelled{a.ID, string(text)})
	}
	return posted, fires, nil
}

func (s *Sender) noteFed(ctx context.Context, channel commands.ChannelRow, organization accounts.Organization, fires []labelled) error {
	if len(fires) == 0 {
		return nil
	}
	return statement.Exec(ctx, s.DB, "note with which labels alerts were told", writeFed,
		append([]any{channel.ID, organization.ID, s.Now()}, statement.Columns(fires)...)...)
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
