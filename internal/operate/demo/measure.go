package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/instant"
	"muster/internal/accounts"
	"muster/internal/concurrency/pause"
	"muster/internal/postgres/statement"
	"muster/internal/watch"
)

var (
	//go:embed sql/unmeasured.sql
	unmeasuredSQL string
	//go:embed sql/measured.sql
	measuredSQL string
)

const (
	// measureLock is held by whoever writes measurements (an advisory lock).
	measureLock = 0x6d757374657273 // "musters"
	// coarse is how often there are samples that come late.
	coarse = 20 * time.Minute
	// A batch is an hour of the recent, or a day of the rest: some 2,500 samples, or 5,000.
	recentBatch, coarseBatch = time.Hour, 24 * time.Hour
	// forever reaches back to the beginning.
	forever = math.MaxInt64
	// caughtUp is how far behind measurements may be that are complete otherwise.
	caughtUp = 5 * time.Minute
	// showPatience is how long a demo that is measured waits to be shown: as long as any
	// sample may take to be in its series.
	showPatience = 15 * time.Second
	// reportEvery is after how many percent the log says how far it is.
	reportEvery = 10
)

// errMeasured is how a batch ends whose minutes another process has written.
var errMeasured = errors.New("these minutes are measured already")

// stretch is a time that has no measurements.
type stretch struct{ Since, Until time.Time }

// Begin does what has to be there before anybody looks: the servers on paper and
// what was measured of them lately.
func (d *Demo) Begin(ctx context.Context, o accounts.Organization) error {
	if d.Intake == nil {
		return nil
	}
	m, err := d.measuring(ctx, o, "the latest measurements")
	if err != nil {
		return err
	}
	for more := true; more; {
		if more, err = m.step(ctx, d.Recent); err != nil {
			return fmt.Errorf("fill the demo's latest measurements: %w", err)
		}
	}
	if err := d.show(ctx); err != nil {
		return fmt.Errorf("show the demo's latest measurements: %w", err)
	}
	return nil
}

// show brings into the series what is measured by now, so that nobody who looks at
// once sees an empty day, for the 30 s that an answer is kept. It does not wait for
// ever: what others have sent, too, may be much.
func (d *Demo) show(ctx context.Context) error {
	for written := time.Now(); time.Since(written) < showPatience; {
		if _, err := d.Series.Roll(ctx); err != nil {
			return err
		}
		if behind, err := d.Series.Behind(ctx); err != nil || behind < time.Since(written) {
			return err
		}
		if err := pause.For(ctx, settleRetry); err != nil { // another process is at the rest
			return err
		}
	}
	return nil
}

// Measure does what agents do, until ctx ends or something fails: it writes what is
// measured of the servers on paper, each minute and, the latest first, whatever is
// missing since Past before the organization was made.
func (d *Demo) Measure(ctx context.Context, o accounts.Organization) error {
	if d.Intake == nil {
		return nil
	}
	m, err := d.measuring(ctx, o, "the history of measurements")
	if err != nil {
		return err
	}
	for {
		began := time.Now()
		more, err := m.step(ctx, forever)
		if err != nil {
			return fmt.Errorf("fill the demo's measurements: %w", err)
		}
		rest := time.Since(began) // one core in two is everybody else's
		if !more {
			rest = d.Now().Truncate(agentInterval).Add(agentInterval).Sub(d.Now())
		}
		if err := pause.For(ctx, rest); err != nil {
			return err
		}
	}
}

// measuring is one process at work on the measurements.
type measuring struct {
	*Demo
	organization accounts.Organization
	paper        []inventory.IDs
	what         string // to say how far it is
	said         int    // percent
}

// measuring begins with the servers on paper, which have to be there.
func (d *Demo) measuring(ctx context.Context, o accounts.Organization, what string) (measuring, error) {
	paper, err := d.fleet(ctx, usecase.Actor{OrganizationID: o.ID, Component: "demo"}, items(o.CreatedAt))
	if err != nil {
		return measuring{}, fmt.Errorf("fill the demo's fleet: %w", err)
	}
	m := measuring{Demo: d, organization: o, paper: paper, what: what}
	there, err := m.remaining(ctx)
	if err != nil {
		return measuring{}, err
	}
	return m, errors.Join(m.pastSizes(ctx, there), m.pastUptime(ctx, there), m.failover(ctx, there))
}

// step writes the latest batch that is missing of the time that reaches so far back,
// and says whether there is more. One process at a time does.
func (m *measuring) step(ctx context.Context, reach time.Duration) (more bool, err error) {
	err = m.locked(ctx, measureLock, func() error {
		// The minute that has begun, too: beside servers that are alive, those on paper
		// would be missing in it.
		now := m.Now().UTC().Truncate(agentInterval).Add(agentInterval)
		since := instant.Later(m.begins(m.organization), now.Add(-reach))
		missing, err := m.unmeasured(ctx, m.organization.ID, since, now)
		if err != nil || len(missing) == 0 {
			return err
		}
		from, until, atOnce := latest(missing[0], now.Add(-m.Recent))
		if err := m.write(ctx, from, until, atOnce); err != nil && !errors.Is(err, errMeasured) {
			return err
		}
		more = len(missing) > 1 || from.After(missing[0].Since)
		m.progress(since, from, now, missing)
		return nil
	})
	return more, err
}

// latest is the last batch of a time without measurements, and of how much time its
// samples are: of every minute from recent on.
func latest(missing stretch, recent time.Time) (from, until time.Time, atOnce time.Duration) {
	batch, atOnce, oldest := recentBatch, agentInterval, recent
	if !missing.Until.After(recent) {
		batch, atOnce, oldest = coarseBatch, coarse, missing.Since
	}
	from = instant.Later(instant.Later(missing.Until.Add(-time.Minute).Truncate(batch), oldest), missing.Since)
	return from.UTC(), missing.Until.UTC(), atOnce
}

// begins is when the measurements do.
func (d *Demo) begins(o accounts.Organization) time.Time {
	return o.CreatedAt.UTC().Truncate(time.Hour).Add(-d.Past)
}

func (d *Demo) unmeasured(ctx context.Context, organization uuid.UUID, since, until time.Time) ([]stretch, error) {
	return statement.All[stretch](ctx, d.DB, "look for what is not measured", unmeasuredSQL, organization, since, until)
}

// write sends what the agents have to say of some minutes, and notes in the same
// transaction that they have said it.
func (m *measuring) write(ctx context.Context, from, until time.Time, atOnce time.Duration) error {
	there, err := m.remaining(ctx)
	if err != nil {
		return err
	}
	var signs []watch.Sign
	if server := idOf(there, heldServer); server != uuid.Nil {
		if err := m.block(ctx, server, from, until); err != nil {
			return err
		}
		signs = append(signs, waitSign(m.organization.ID, server, m.organization.CreatedAt, until.Add(-agentInterval)))
	}
	batch := newAgents(m.organization.CreatedAt, there).samples(from, until, atOnce)
	lags, newest := replicate(m.organization.CreatedAt, there, from, until, atOnce)
	batch.Room = rooms(m.organization.CreatedAt, there, until.Add(-agentInterval))
	signs = append(signs, roomSigns(m.organization.ID, there, &batch)...)
	batch.Servers, batch.Replication = append(batch.Servers, lags...), newest
	batch.Backups = backedUp(m.organization.CreatedAt, there, until)
	batch.Organization, batch.Sender = m.organization.ID, new(string) // a feed's: Muster itself connects to none of them
	batch.Guard = func(ctx context.Context, tx sqlx.ExtContext) error {
		return note(ctx, tx, m.organization.ID, from, until)
	}
	if batch.Len() == 0 { // nobody is left, or nothing was measured
		return note(ctx, m.DB, m.organization.ID, from, until)
	}
	_, err = m.Intake.Record(ctx, batch, signs...)
	return err
}

// note notes that some minutes are measured; errMeasured: they were before.
func note(ctx context.Context, tx sqlx.ExtContext, organization uuid.UUID, from, until time.Time) error {
	n, err := statement.Affected(ctx, tx, "note what is measured", measuredSQL, organization, from, until)
	if err == nil && n == 0 {
		err = errMeasured
	}
	return err
}

// remaining are the servers on paper that nobody has removed.
func (m *measuring) remaining(ctx context.Context) ([]inventory.IDs, error) {
	ids := make([]uuid.UUID, len(m.paper))
	for i, p := range m.paper {
		ids[i] = p.ID
	}
	names, err := m.Commands.Instances.InstanceNames(ctx, m.organization.ID, ids)
	if err != nil {
		return nil, fmt.Errorf("look which servers are left: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(m.paper), func(p inventory.IDs) bool { _, there := names[p.ID]; return !there }), nil
}

// progress tells how far it is, every few percent.
func (m *measuring) progress(since, from, now time.Time, missing []stretch) {
	left := from.Sub(missing[0].Since)
	for _, s := range missing[1:] {
		left += s.Until.Sub(s.Since)
	}
	percent := int(100 * (1 - left.Seconds()/now.Sub(since).Seconds()))
	if percent/reportEvery > m.said/reportEvery {
		m.said = percent
		m.Log.Info("the demo writes "+m.what, "percent", percent, "from", from)
	}
}

// complete waits until everything is measured, and rolled up: until nothing waits for
// that which came before all was there.
func (d *Demo) complete(ctx context.Context, o accounts.Organization) error {
	var there time.Time
	for d.Intake != nil {
		now := d.Now()
		missing, err := d.unmeasured(ctx, o.ID, d.begins(o), now)
		if err != nil {
			return err
		}
		if len(missing) > 0 && missing[len(missing)-1].Since.Before(now.Add(-caughtUp)) {
			there = time.Time{}
		} else if there.IsZero() {
			there = time.Now()
		} else if behind, err := d.Series.Behind(ctx); err != nil || behind < time.Since(there) {
			return err
		}
		if err := pause.For(ctx, completeRetry); err != nil {
			return err
		}
	}
	return nil
}

// completeRetry is how often it is looked whether the measurements are complete.
const completeRetry = time.Second
