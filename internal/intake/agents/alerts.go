package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"muster/domain/alert"
	"muster/internal/intake"
	"muster/internal/intake/alertmanager"
	"muster/internal/intake/places"
)

// FiringDoor takes what Prometheus' tools tell of alerts.
type FiringDoor struct {
	Config
	decode func(body []byte, receipt time.Time) (*alertmanager.Message, error)
}

// firingsAtOnce is how many firings are placed by one look-up.
const firingsAtOnce = 1000

// Take records what an agent saw, in one transaction: at most alertmanager.Most firings.
// Errors: *intake.UnreadableError, and those of the budgets.
func (d *FiringDoor) Take(ctx context.Context, from intake.Caller, body []byte) (intake.Receipt, error) {
	message, err := d.decode(body, d.Now())
	if err != nil {
		return intake.Receipt{}, err
	}
	receipt := &message.Receipt
	var all []alert.Firing
	for alerts := message.Next(firingsAtOnce); len(alerts) > 0; alerts = message.Next(firingsAtOnce) {
		firings, err := d.placeAlerts(ctx, from, receipt, alerts)
		if err != nil {
			return *receipt, err
		}
		all = append(all, firings...)
	}
	if len(all) == 0 {
		return *receipt, nil
	}
	dropped, mark, err := d.Commands.RecordFirings(ctx, intake.Machine(from), all)
	if err != nil {
		return *receipt, err
	}
	receipt.Mark = mark
	receipt.Record(intake.Alert, len(all)-dropped)
	if dropped > 0 {
		receipt.Drop(intake.Malformed, dropped)
	}
	return *receipt, nil
}

// placeAlerts finds the instance and the database of every alert, with one look-up for all
// of them, and drops what a limited token may not say.
func (d *FiringDoor) placeAlerts(ctx context.Context, from intake.Caller, receipt *intake.Receipt, alerts []alertmanager.Alert) ([]alert.Firing, error) {
	labels := make([]places.Labels, 0, len(alerts))
	for _, a := range alerts {
		labels = append(labels, a.Labels)
	}
	directory, err := d.Places.Labelled(ctx, from.OrganizationID, labels)
	if err != nil {
		return nil, err
	}
	firings := make([]alert.Firing, 0, len(alerts))
	for _, a := range alerts {
		found := directory.Find(a.Labels, from.Limit)
		if !from.Limit.Allows(found.Instance) {
			receipt.Drop(intake.Forbidden, 1)
			continue
		}
		if found.Ambiguous {
			receipt.Drop(intake.Ambiguous, 1)
		}
		a.InstanceID, a.DatabaseID = found.Instance, found.Database
		a.Sender = senderOf(from, a.Sender)
		firings = append(firings, a.Firing)
	}
	return firings, nil
}

// senderOf tells one sender from another by its token and by what it says of itself. It is
// kept beside each alert, and shown nowhere: a digest is enough.
func senderOf(from intake.Caller, says string) string {
	sum := sha256.Sum256([]byte(from.Token.String() + " " + says))
	return hex.EncodeToString(sum[:8])
}
