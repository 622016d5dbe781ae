package main

import (
	"muster/handlers"
	"muster/internal/intake/collect"
	"muster/internal/mail"
)

func (p *process) outbox() *mail.Outbox { return nil }

func (p *process) newWorkers(*collect.Collector) (*handlers.Workers, error) {
	return handlers.NewWorkers(p.queue, handlers.WorkersConfig{Log: p.log, Lease: p.cfg.JobLease}), nil
}
