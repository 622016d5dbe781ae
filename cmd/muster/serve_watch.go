package main

import (
	"context"
	"time"

	"muster/commands"
	"muster/internal/telemetry"
	"muster/internal/watch"
)

// newWatch returns the built-in watch; the roles say what of it runs.
func (p *process) newWatch() *watch.Watch {
	return &watch.Watch{
		DB: p.db, Events: p.events, Organizations: p.accounts, Fleet: p.fleet, Waiter: p.runner,
		Alerts: p.commands, Now: time.Now, Log: p.log, Judged: p.countBreaches,
		Recorded: func(ctx context.Context, m commands.Mark) { p.runner.Announce(ctx, m.Log) },
	}
}

func (p *process) countBreaches(j watch.Judgement) {
	for _, rule := range watch.Rules() {
		p.metrics.Breaches.WithLabelValues(string(rule), "began").Add(float64(j.Began[rule]))
		p.metrics.Breaches.WithLabelValues(string(rule), "ended").Add(float64(j.Ended[rule]))
	}
}

// watchReadings is absent where nothing was ever judged.
func (p *process) watchReadings(ctx context.Context) ([]telemetry.Reading, error) {
	age, ok, err := p.watch.SinceJudged(ctx)
	if err != nil || !ok {
		return nil, err
	}
	return []telemetry.Reading{{Value: age.Seconds()}}, nil
}
