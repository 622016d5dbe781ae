package agents

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/engine"
	"muster/internal/intake"
	"muster/internal/intake/receivers"
	"muster/internal/intake/resolve"
	"muster/internal/measurements"
)

// LogDoor takes what a collector's receivers of databases tell as events.
type LogDoor struct {
	Config
	decode func(body []byte, receipt time.Time) (*receivers.Message, error)
}

// Take records what a message says of sessions and statements. sender is who counted the
// statements; empty: it does not say. Error: *intake.UnreadableError.
func (d *LogDoor) Take(ctx context.Context, from intake.Caller, sender string, body []byte) (intake.Receipt, error) {
	message, err := d.decode(body, d.Now())
	if err != nil {
		return intake.Receipt{}, err
	}
	err = d.takeLooks(ctx, from, sender, &message.Receipt, message.Looks())
	return message.Receipt, err
}

// looksAtOnce is how many are written in one transaction.
const looksAtOnce = 5000

// receiverInterval is a receiver's interval if it does not state it: its default.
const receiverInterval = time.Minute

// placed is a look at an existing database.
type placed struct {
	*receivers.Look
	instance, database uuid.UUID
}

// takeLooks records looks, all of which are partial.
func (c Config) takeLooks(ctx context.Context, from intake.Caller, sender string, receipt *intake.Receipt, looks []*receivers.Look) error {
	for batch := range slices.Chunk(looks, looksAtOnce) {
		all, err := c.placeLooks(ctx, from, receipt, batch)
		if err != nil {
			return err
		}
		if err := c.recordLooks(ctx, from, sender, receipt, all); err != nil {
			return err
		}
	}
	return nil
}

// placeLooks finds the databases of looks, and drops those that have none and those that
// a limited token may not say.
func (c Config) placeLooks(ctx context.Context, from intake.Caller, receipt *intake.Receipt, looks []*receivers.Look) ([]placed, error) {
	labels := make([]resolve.Labels, 0, 2*len(looks))
	for _, l := range looks {
		labels = append(labels, l.Place.Labels(0), l.Place.Labels(1))
	}
	directory, err := c.Places.Labelled(ctx, from.OrganizationID, labels)
	if err != nil {
		return nil, err
	}
	found := make([]placed, 0, len(looks))
	instances := make([]uuid.UUID, 0, len(looks))
	for _, l := range looks {
		p, at := placed{Look: l}, resolve.Found{}
		for i := range l.Place.Databases {
			if at.Database == uuid.Nil {
				at = directory.FindEngine(l.Place.Labels(i), l.Engine, from.Limit)
			}
		}
		if at.Ambiguous {
			receipt.Drop(intake.Ambiguous, l.Records)
		}
		p.instance, p.database = at.Instance, at.Database
		found, instances = append(found, p), append(instances, p.instance)
	}
	engines, err := c.Places.Fleet.Engines(ctx, from.OrganizationID, instances)
	if err != nil {
		return nil, err
	}
	return joined(slices.DeleteFunc(found, func(p placed) bool {
		reason := whyNot(from.Limit, p, engines)
		if reason != "" {
			receipt.Drop(reason, p.Records)
		}
		return reason != "" || p.Records == 0
	})), nil
}

// joined puts looks at one database and time together, which have it by two names.
func joined(looks []placed) []placed {
	type sample struct {
		database           uuid.UUID
		at                 time.Time
		counts, statements bool
	}
	first := map[sample]*receivers.Look{}
	return slices.DeleteFunc(looks, func(p placed) bool {
		key := sample{p.database, p.At, p.Counts != nil, p.Statements != nil}
		if known := first[key]; known != nil {
			known.Add(p.Look)
			return true
		}
		first[key] = p.Look
		return false
	})
}

// whyNot says why a look is not taken.
func whyNot(limit fleet.Limit, p placed, engines map[uuid.UUID]fleet.Engine) intake.Reason {
	engine, known := engines[p.instance]
	switch {
	case limit != nil && !limit.Allows(p.instance):
		return intake.Forbidden
	case !known || engine != p.Engine:
		return intake.NoInstance
	case p.database == uuid.Nil:
		return intake.NoDatabase
	}
	return ""
}

// recordLooks keeps looks but those of instances that Muster measures itself, and the
// statements of those that another sender holds: both would count twice.
func (c Config) recordLooks(ctx context.Context, from intake.Caller, sender string, receipt *intake.Receipt, looks []placed) error {
	keeps, err := c.keepsTexts(ctx, from.OrganizationID, looks)
	if err != nil {
		return err
	}
	for len(looks) > 0 {
		batch := batchOf(looks, keeps)
		batch.Organization, batch.Token, batch.Sender = from.OrganizationID, from.Token, &sender
		instances := make([]uuid.UUID, 0, len(looks))
		for _, l := range looks {
			instances = append(instances, l.instance)
		}
		batch.Guard = func(ctx context.Context, tx sqlx.ExtContext) error {
			return c.Collected.RefuseCollected(ctx, tx, from.OrganizationID, instances)
		}
		batch.Reached = connected(looks)
		written, err := c.Store.Record(ctx, batch)
		var collected *assessment.CollectedError
		var held *measurements.HeldError
		switch {
		case errors.As(err, &collected):
			looks = without(looks, receipt, func(p placed) bool { return slices.Contains(collected.Instances, p.instance) })
			continue
		case errors.As(err, &held): // other looks there have places of their own
			looks = without(looks, receipt, func(p placed) bool { return p.Statements != nil && slices.Contains(held.Instances, p.instance) })
			continue
		}
		receipt.RecordSamples(written)
		return err
	}
	return nil
}

// without drops looks that others measure.
func without(looks []placed, receipt *intake.Receipt, dropped func(placed) bool) []placed {
	return slices.DeleteFunc(looks, func(p placed) bool {
		if !dropped(p) {
			return false
		}
		receipt.Drop(intake.Held, p.Records)
		return true
	})
}

func (c Config) keepsTexts(ctx context.Context, organization uuid.UUID, looks []placed) (bool, error) {
	sent := slices.ContainsFunc(looks, func(p placed) bool {
		return slices.ContainsFunc(p.Statements, func(one measurements.Statement) bool { return one.Text != "" })
	})
	if !sent {
		return false, nil
	}
	return c.Texts.KeepsTexts(ctx, organization)
}

// batchOf makes samples of looks. No text is in them as it was sent.
func batchOf(looks []placed, keepsTexts bool) (b measurements.Batch) {
	for _, l := range looks {
		if l.Waits != nil || l.Counts != nil {
			s := measurements.SessionSample{
				Instance: l.instance, Engine: l.Engine, Database: l.database, At: l.At, Interval: receiverInterval, Waits: l.Waits,
				Part: measurements.OnlyWaits, Partial: true,
			}
			if l.Counts != nil {
				s.Part, s.Active, s.Idle, s.Other = measurements.OnlyCounts, l.Counts.Active, l.Counts.Idle, l.Counts.Other
			}
			b.Sessions = append(b.Sessions, s)
		}
		if l.Statements == nil {
			continue
		}
		s := measurements.StatementSample{
			Instance: l.instance, Engine: l.Engine, Database: l.database, At: l.At, Interval: receiverInterval, Partial: true,
		}
		for _, one := range l.Statements {
			if keepsTexts {
				one.Text = engine.Normalize(l.Engine, one.Text)
			} else {
				one.Text = ""
			}
			s.Statements = append(s.Statements, one)
		}
		b.Statements = append(b.Statements, s)
	}
	return b
}
