// Package alertmanager keeps an Alertmanager fed with alerts, in the form of version 2 of its
// API. Routing, grouping, repeats and silences stay there.
//
// An alert with other labels is another alert to an Alertmanager. So the title is an annotation,
// and the label alertname has a text that does not change: the rule's name, else the first
// title. Some labels change all the same, as the severity by which alerts are routed. The same
// post then ends the alert with the old labels, which notification_fed has.
package alertmanager

import (
	"context"
	_ "embed" // the statements
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/notification"
	"muster/domain/rule"
	"muster/internal/notify/channel"
	"muster/internal/postgres/statement"
)

// Name is the name of the kind.
const Name notification.Kind = "alertmanager"

var (
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
	// fedFor is for how long an alert fires there without being sent again: four rounds and one.
	fedFor = 5 * channel.FeedEvery
	// overFor is for how long it is said again that an alert is over, as by Prometheus. A round
	// that came too late for that has said for at most fedFor that it fires.
	overFor = 15 * time.Minute
	// fedKept is for how long it is kept with which labels an alert was told, which is noted twice an
	// hour while it fires.
	fedKept = 2 * time.Hour
	// feedBatch is how many alerts go in one request.
	feedBatch = 500
)

// Kind is alerts in the form of Prometheus' Alertmanager. It must learn when an alert is over.
func Kind() channel.Kind {
	return channel.Kind{
		Name: Name, Title: "Alertmanager", Follows: []notification.EventType{notification.AlertRaised, notification.AlertResolved}, OwnPace: true,
		Validate: validate, Shown: channel.ShownURL, Send: send, Feed: feedAll,
	}
}

func validate(c notification.Channel) []rule.Broken {
	return append(channel.Refuse(c, channel.URL), channel.BrokenURL(c.URL)...)
}

// send tells an Alertmanager what a delivery says: of each alert the latest.
func send(ctx context.Context, with channel.Tools, d channel.Delivery) (int, error) {
	if d.Test {
		return feed(ctx, with, d, nil)
	}
	events, err := statement.All[fedEvent](ctx, with.DB, "read what an Alertmanager is told", fedEvents, d.ID)
	if err != nil {
		return 0, err
	}
	return feed(ctx, with, d, fedOf(events, with.Now()))
}

// feedAll sends all that is open, and then what was resolved lately. That may have been said
// to be over before we, or somebody who died since, said that it fires. So it is said again
// behind each round.
func feedAll(ctx context.Context, with channel.Tools, to channel.Delivery, open []channel.Fed, between func(context.Context) error) error {
	for i := range open {
		open[i].EndsAt = with.Now().Add(fedFor)
	}
	if _, err := feed(ctx, with, to, open); err != nil {
		return err
	}
	if err := statement.Exec(ctx, with.DB, "forget what an Alertmanager was told long ago",
		`DELETE FROM notification_fed WHERE channel_id = $1 AND fed_at < $2`, to.Channel.ID, with.Now().Add(-fedKept)); err != nil {
		return err
	}
	if err := between(ctx); err != nil {
		return err
	}
	over, err := statement.All[fedEvent](ctx, with.DB, "read what an Alertmanager was told is over", fedOver,
		to.OrganizationID, to.Channel.ID, with.Now().Add(-overFor))
	if err != nil || len(over) == 0 {
		return err
	}
	_, err = feed(ctx, with, to, fedOf(over, with.Now()))
	return err
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
	Owner    string                 `db:"owner"`
}

func fedOf(events []fedEvent, now time.Time) []channel.Fed {
	fed := make([]channel.Fed, len(events))
	for i, e := range events {
		fed[i] = channel.Fed{ID: e.ID, Label: e.Label, Title: e.Title, Severity: e.Severity, Instance: e.Instance, Owner: e.Owner, StartsAt: e.RaisedAt, EndsAt: now.Add(fedFor)}
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
func feed(ctx context.Context, with channel.Tools, d channel.Delivery, alerts []channel.Fed) (code int, err error) {
	address, err := d.Channel.Address(with.Seal)
	if err != nil {
		return 0, err
	}
	for {
		n := min(len(alerts), feedBatch)
		if err := name(ctx, with, d, alerts[:n]); err != nil {
			return 0, err
		}
		posted, fires, err := relabelled(ctx, with, d, alerts[:n])
		if err != nil {
			return 0, err
		}
		body, err := Alerts(posted, d.Organization, d.PublicURL)
		if err != nil {
			return 0, err
		}
		if code, err = with.Poster.Post(ctx, alertsURL(address.URL), http.Header{}, body); err != nil {
			return code, err
		}
		if err := noteFed(ctx, with, d, fires); err != nil {
			return code, err
		}
		if alerts = alerts[n:]; len(alerts) == 0 {
			return code, nil
		}
	}
}

// name puts into the titles whose sessions they speak of, where that is kept.
func name(ctx context.Context, with channel.Tools, d channel.Delivery, alerts []channel.Fed) error {
	notices := make([]channel.Notice, len(alerts))
	for i, a := range alerts {
		notices[i] = channel.Notice{AlertID: &a.ID, Title: a.Title}
	}
	err := channel.Name(ctx, with.DB, d.OrganizationID, notices)
	for i := range alerts {
		alerts[i].Title = notices[i].Title
	}
	return err
}

// labelled is an alert with its labels as JSON.
type labelled struct {
	ID     uuid.UUID `db:"alert_id"`
	Labels string    `db:"labels"`
}

// relabelled adds what ends an alert under the labels that it had, where they are others now,
// as when its severity changed or its server was renamed: there it is another alert. One that
// is over ends under those that it had. fires are those that fire from now on.
func relabelled(ctx context.Context, with channel.Tools, d channel.Delivery, alerts []channel.Fed) (posted []channel.Fed, fires []labelled, err error) {
	ids := make([]uuid.UUID, len(alerts))
	for i, a := range alerts {
		ids[i] = a.ID
	}
	told, err := statement.All[labelled](ctx, with.DB, "read with which labels alerts were told", fedLabels, d.Channel.ID, statement.IDs(ids))
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
	now := with.Now()
	for _, a := range alerts {
		labels, fired := labelSet(a, d.Organization), before[a.ID]
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

func noteFed(ctx context.Context, with channel.Tools, d channel.Delivery, fires []labelled) error {
	if len(fires) == 0 {
		return nil
	}
	return statement.Exec(ctx, with.DB, "note with which labels alerts were told", writeFed,
		append([]any{d.Channel.ID, d.OrganizationID, with.Now()}, statement.Columns(fires)...)...)
}
