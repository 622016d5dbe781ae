package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"muster/internal/intake/collect"
	"muster/internal/mail"
)

type workers struct{}

func (*workers) stop(context.Context) error { return nil }

func (p *process) startWorkers(ctx context.Context, group *errgroup.Group, c *collect.Collector) (*workers, error) {
	return &workers{}, nil
}

func (p *process) outbox() *mail.Outbox { return nil }

func (p *process) newCollector() (*collect.Collector, error) {
	return collect.New(p.facts, p.commands, p.fleet, p.log, time.Now)
}
