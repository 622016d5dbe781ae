package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"muster/internal/cli/installation"
	"muster/internal/concurrency/supervise"
	"muster/internal/config"
	"muster/internal/httpapi/operations"
	"muster/internal/measurements/pgstore/ledger"
	"muster/internal/postgres"
	"muster/internal/postgres/statement"
	"muster/internal/process/readiness"
	"muster/internal/process/telemetry"
	"muster/internal/process/zones"
	"muster/internal/proof/attest"
	"muster/internal/proof/checkpoint"
)

// newBoard has the lines of /readyz, the same in every process.
func (p *process) newBoard(begun <-chan struct{}, facts *readiness.Alarm) (*readiness.Board, error) {
	transport, err := p.Transport()
	if err != nil {
		return nil, err
	}
	checks := []readiness.Need{
		{Name: "database", Required: true, Run: withoutLag(p.DB.PingContext)},
		{Name: "migrations", Required: true, Run: withoutLag(p.migrated)},
		{Name: "writes", Required: true, Run: withoutLag(p.commits.Check)}, // every role writes
		{Name: "projections", Required: true, Run: func(ctx context.Context) (*time.Duration, error) {
			lag, err := p.projectionLag(ctx)
			return &lag, errors.Join(err, p.Runner.Ready(ctx))
		}},
		{Name: "blobs", Run: withoutLag(p.Blobs.Check)},
		{Name: "mail", Run: withoutLag(transport.Check)},
		{Name: "time_zones", Run: withoutLag(p.zonesCurrent)},
		{Name: "clock", Run: withoutLag(func(ctx context.Context) error { return p.clockHolds(ctx, time.Now()) })},
		{Name: "loops", Run: withoutLag(p.loops.Check)},
		{Name: "history", Run: withoutLag(p.historyHolds)},
		{Name: "witnesses", Run: withoutLag(p.witnesses.Check)},
		{Name: "projections_ahead", Run: withoutLag(p.Runner.CheckAhead)},
		{Name: "facts", Run: withoutLag(facts.Check)},
	}
	if p.Clickhouse != nil {
		checks = append(checks, readiness.Need{Name: "measurements", Run: p.blocksThere})
	}
	if p.Config.Demo {
		checks = append(checks, readiness.Need{Name: "demo", Required: true, Run: withoutLag(func(context.Context) error {
			select {
			case <-begun:
				return nil
			default:
				return errors.New("the latest measurements of the demo are being written")
			}
		})})
	}
	return readiness.New(p.Log, checks...), nil
}

// works returns an error where the database does not answer, or answers and does not commit.
func (p *process) works(ctx context.Context) error {
	if err := postgres.Reach(ctx, p.URL); err != nil {
		return err
	}
	return p.commits.Check(ctx)
}

// historyHolds returns an error where this process signs nothing because a log is not the one
// that was signed, or where the verifier found something in one.
func (p *process) historyHolds(ctx context.Context) error {
	if err := p.Checkpoints.Check(ctx); err != nil {
		return err
	}
	verified, err := p.verifier.Verified(ctx)
	if err != nil {
		return err
	}
	for _, v := range verified {
		if n := len(v.Findings); n > 0 {
			return &checkpoint.UnfitError{Log: v.Log, First: v.Findings[0].Sentence, More: n - 1}
		}
	}
	return nil
}

// clockHolds returns an error where reports are recorded at a time that contradicts their time
// stamps, checkpoints and PDF signatures: the database's clock is a day from this machine's, or it
// was a day ahead, and a log goes on from there, for its times never go back.
func (p *process) clockHolds(ctx context.Context, machine time.Time) error {
	const day = 24 * time.Hour
	database := p.Clock.Now()
	if off := database.Sub(machine.Round(0)); attest.Apart(database, machine.Round(0)) {
		side := "ahead of"
		if off < 0 {
			side = "behind"
		}
		return fmt.Errorf("the database's clock is %d days %s this machine's: nobody would trust reports with its time", off.Abs().Round(day)/day, side)
	}
	ahead, found, err := statement.Find[struct {
		Log string    `db:"log"`
		At  time.Time `db:"recorded_at"`
	}](ctx, p.DB, "look at the last events of the logs", `SELECT h.log, e.recorded_at FROM log_head h JOIN events e ON e.log = h.log AND e.position = h.position
		WHERE e.recorded_at > $1 ORDER BY e.recorded_at DESC LIMIT 1`, database.Add(attest.Skew))
	if err == nil && found {
		err = fmt.Errorf("the last event of log %s is dated %s, but the database's clock says %s: the clock was set back. Until it reaches that time, each new event gets that time, and nobody would trust reports with it",
			ahead.Log, ahead.At.UTC().Format(time.RFC3339), database.UTC().Format(time.RFC3339))
	}
	return err
}

// alteredFor is how long an altered fact degrades a process: nobody looks for it again.
const alteredFor = time.Hour

// factsAltered tells of assessments that were used and are not the ones that the log recorded.
func (p *process) factsAltered(facts *readiness.Alarm) func(string) {
	return func(sentence string) {
		facts.Ring(sentence)
		p.metrics.FactsAltered.Inc()
		p.Log.Error("facts were altered", "error", sentence)
	}
}

// zonesCurrent returns an error where the rules of time zones are older than a year: due
// times may be an hour off.
func (p *process) zonesCurrent(context.Context) error {
	return zones.Current().Check(p.Clock.Now())
}

// blocksThere asks each shard, and looks for how long hours have waited for one: a disk that is
// full keeps none from answering.
func (p *process) blocksThere(ctx context.Context) (*time.Duration, error) {
	waiting, err := p.Samples.Waiting(ctx)
	if err == nil && waiting.Series > 0 {
		err = fmt.Errorf("%d series of hosts and instances have hours that have waited for ClickHouse for %s: they are kept in PostgreSQL, and after %s no more is taken in of them",
			waiting.Series, waiting.Since.Round(time.Second), ledger.HeadBound)
	}
	return &waiting.Since, errors.Join(p.Clickhouse.Check(ctx), err)
}

func withoutLag(check func(context.Context) error) func(context.Context) (*time.Duration, error) {
	return func(ctx context.Context) (*time.Duration, error) { return nil, check(ctx) }
}

// checkReadings are 1 for a check that passes.
func (p *process) checkReadings(ctx context.Context) ([]telemetry.Reading, error) {
	_, findings := p.ready.Ask(ctx)
	readings := make([]telemetry.Reading, len(findings))
	for i, f := range findings {
		readings[i].Labels = []string{f.Name}
		if f.OK {
			readings[i].Value = 1
		}
	}
	return readings, nil
}

// listenOps opens the door for operators; nil: there is none. Where its default port
// is taken, most likely by another process of this machine, this one goes without.
func listenOps(ctx context.Context, cfg *config.Config) (net.Listener, error) {
	address, set := cfg.OpsAddress()
	if address == "" {
		return nil, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		return listener, nil
	case set:
		return nil, fmt.Errorf("listen for operators: %w; --ops-listen names another address", err)
	}
	installation.Logger(cfg).Warn("this process shows neither health nor figures: its address is taken; --ops-listen names another", "address", address, "error", err)
	return nil, nil
}

// startDoor lets operators look at the process, to its very end.
func (p *process) startDoor(ctx context.Context, group *supervise.Group) {
	if p.door == nil {
		return
	}
	p.door.opens(operations.Door(p.ready, p.metrics.Handler()))
	p.Log.Info("health and figures of this process are shown", "address", p.door.address)
	group.Go(func() error { return p.door.serve("operators") })
	group.Go(func() error {
		<-ctx.Done()
		return p.door.server.Close()
	})
}

// doorTimeout bounds an answer to an operator: figures take two seconds at most, each.
const doorTimeout = time.Minute

// migrated returns an error where this binary must not run on the schema: it lacks
// something, or a newer one has finished an upgrade beside us.
func (p *process) migrated(ctx context.Context) error {
	migrations, err := postgres.MigrationStatus(ctx, p.DB)
	if err != nil {
		return err
	}
	for _, m := range migrations {
		if m.AppliedAt == nil && !m.Waits() {
			return fmt.Errorf("migration %s is pending", m.File)
		}
	}
	return postgres.CheckSchema(ctx, p.DB)
}

func (p *process) projectionLag(ctx context.Context) (time.Duration, error) {
	statuses, err := p.Runner.Statuses(ctx)
	if err != nil {
		return 0, err
	}
	var worst float64
	for _, s := range statuses {
		worst = max(worst, s.LagSeconds)
	}
	return time.Duration(worst * float64(time.Second)), nil
}
