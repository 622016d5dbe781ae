package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/internal/intake"
	"muster/internal/intake/alertmanager"
	"muster/internal/intake/budgets"
	"muster/internal/intake/resolve"
)

// FiringDoor accepts the alerts of Prometheus' tools.
type FiringDoor struct {
	Config
	decode func(body []byte, receipt time.Time) (*alertmanager.Message, error)
}

// firingsAtOnce is how many firings a transaction writes. The commit ends each one's hold of the
// log's head, on which every organization's appends wait: 5 ms with 250 new alerts, 260 ms with
// the 10,000 that a message may have. 10,000 take the same half a second either way
// (2 cores, 2026-11-28).
const firingsAtOnce = 250

// Take records what an agent saw, firingsAtOnce at a time: at most alertmanager.Most firings.
// A budget that refuses some of them does not refuse those that follow: they may be ends.
// Errors: *intake.UnreadableError, and those of the budgets. What was recorded before an error
// stays, and changes nothing more when the message comes again.
func (d *FiringDoor) Take(ctx context.Context, from intake.Caller, body []byte) (intake.Receipt, error) {
	message, err := d.decode(body, d.Now())
	if err != nil {
		return intake.Receipt{}, err
	}
	receipt := &message.Receipt
	var exhausted *budgets.ExhaustedError
	for alerts := message.Next(firingsAtOnce); len(alerts) > 0; alerts = message.Next(firingsAtOnce) {
		firings, err := d.placeAlerts(ctx, from, receipt, alerts)
		if err != nil {
			return *receipt, err
		}
		if err := d.record(ctx, from, receipt, firings); err != nil && !errors.As(err, &exhausted) {
			return *receipt, err
		}
	}
	if exhausted != nil {
		return *receipt, exhausted
	}
	return *receipt, nil
}

// record writes firings in one transaction.
func (d *FiringDoor) record(ctx context.Context, from intake.Caller, receipt *intake.Receipt, firings []alert.Firing) error {
	if len(firings) == 0 {
		return nil
	}
	dropped, mark, err := d.Commands.RecordFirings(ctx, intake.Machine(from), firings)
	if err != nil {
		return err
	}
	receipt.Mark = usecase.Mark{Log: mark.Log, Position: max(receipt.Mark.Position, mark.Position)}
	receipt.Record(intake.Alert, len(firings)-dropped)
	if dropped > 0 {
		receipt.Drop(intake.Malformed, dropped)
	}
	return nil
}

// placeAlerts finds the instance and the database of every alert, with one look-up for all
// of them, and drops what a limited token may not say.
func (d *FiringDoor) placeAlerts(ctx context.Context, from intake.Caller, receipt *intake.Receipt, alerts []alertmanager.Alert) ([]alert.Firing, error) {
	labels := make([]resolve.Labels, 0, len(alerts))
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
