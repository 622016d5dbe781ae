package main

import (
	"context"

	"github.com/google/uuid"

	"muster/internal/telemetry"
	"muster/projections"
)

// measure registers the figures that are read from the database at a scrape.
func (p *process) measure() {
	for _, figure := range []struct {
		name, help string
		of         func(projections.Status) float64
	}{
		{"muster_projection_lag_events", "Events that a projection has not applied yet.",
			func(s projections.Status) float64 { return float64(s.LagEvents) }},
		{"muster_projection_lag_seconds", "Age of the oldest event that a projection has not applied.",
			func(s projections.Status) float64 { return s.LagSeconds }},
		{"muster_projection_parked_events", "Events that a projection has set aside.",
			func(s projections.Status) float64 { return float64(s.Parked) }},
	} {
		p.metrics.Gauge(figure.name, figure.help, []string{"projection"}, func(ctx context.Context) ([]telemetry.Reading, error) {
			statuses, err := p.runner.Statuses(ctx)
			var readings []telemetry.Reading
			for _, s := range statuses {
				readings = append(readings, telemetry.Reading{Labels: []string{s.Name}, Value: figure.of(s)})
			}
			return readings, err
		})
	}
	p.metrics.Gauge("muster_jobs", "Unfinished jobs, by kind and status.", []string{"kind", "status"}, p.jobReadings)
}

func (p *process) jobReadings(ctx context.Context) ([]telemetry.Reading, error) {
	counts, err := p.queue.Counts(ctx, uuid.Nil)
	var readings []telemetry.Reading
	for kind, c := range counts {
		readings = append(readings,
			telemetry.Reading{Labels: []string{string(kind), "queued"}, Value: float64(c.Queued)},
			telemetry.Reading{Labels: []string{string(kind), "running"}, Value: float64(c.Running)},
			telemetry.Reading{Labels: []string{string(kind), "dead"}, Value: float64(c.Dead)})
	}
	return readings, err
}
