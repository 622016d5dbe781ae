package main

import (
	"context"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"muster/internal/intake/monitor"
	"muster/internal/intake/ownhost"
	"muster/internal/measurements"
)

// tiles are the dashboard's, read from the samples.
func (p *process) tiles() *measurements.Tiles {
	dropped := func(d measurements.Drop) {
		p.metrics.EnginesDropped.WithLabelValues(d.Tile, string(d.Engine)).Inc()
		p.drops.Note(d)
	}
	return &measurements.Tiles{Store: p.samples, Log: p.log, Dropped: dropped}
}

// startMonitor starts measuring the registered servers and, unless it is switched
// off, the machine this runs on.
func (p *process) startMonitor(ctx context.Context, group *errgroup.Group) {
	servers := monitor.New(monitor.Config{
		DB: p.db, Connections: p.facts, Reach: p.reach, Fleet: p.commands, Instances: p.fleet, Intake: p.intake,
		Log: p.log, Now: p.intake.Now, Kept: p.countSamples,
	})
	group.Go(func() error { return unlessStopped(servers.Run(ctx)) })
	if !p.cfg.CollectOwnHost {
		return
	}
	host := &ownhost.Host{
		Connections: p.facts, Organizations: p.organizationIDs, Intake: p.intake,
		Log: p.log, Now: p.intake.Now, Kept: p.countSamples,
	}
	group.Go(func() error { return unlessStopped(host.Run(ctx)) })
}

func (p *process) organizationIDs(ctx context.Context) ([]uuid.UUID, error) {
	all, err := p.accounts.Organizations(ctx)
	ids := make([]uuid.UUID, len(all))
	for i, o := range all {
		ids[i] = o.ID
	}
	return ids, err
}

// countSamples counts what Muster has measured itself beside what it was sent.
func (p *process) countSamples(receipt measurements.Receipt) {
	p.metrics.CountSamples(receipt.Accepted.Hosts, receipt.Accepted.Sessions, receipt.Accepted.Statements)
}
