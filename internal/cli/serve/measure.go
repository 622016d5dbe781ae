package serve

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/concurrency/pause"
	"muster/internal/engine"
	"muster/internal/intake/budgets"
	"muster/internal/mail"
	"muster/internal/process/telemetry"
	"muster/internal/proof/checkpoint"
	"muster/projections"
)

// measure registers the figures that are read at a scrape.
func (p *process) measure() {
	p.metrics.Pool(p.Pool.Stat)
	p.fromZero()
	var unkept sync.Once
	p.Checkpoints.Unkept = func(log eventstore.Log, err error) {
		unkept.Do(func() {
			p.Log.Warn("the last signed checkpoint could not be stored beside the secret key, so the next process does not know it", "log", log, "error", err)
		})
	}
	p.Checkpoints.Refused = func(log eventstore.Log) { p.metrics.Refused.WithLabelValues(string(log)).Inc() }
	for _, figure := range []struct {
		name, help string
		of         func(projections.Status) float64
	}{
		{"muster_projection_lag_events", "Events that a projection has not applied yet.",
			func(s projections.Status) float64 { return float64(s.LagEvents) }},
		{"muster_projection_lag_seconds", "Age of the oldest event that a projection has not applied.",
			func(s projections.Status) float64 { return s.LagSeconds }},
		{"muster_projection_ahead_events", "Events that a projection had applied and its log has lost, until it is rebuilt.",
			func(s projections.Status) float64 { return float64(s.AheadEvents) }},
		{"muster_projection_parked_events", "Events that a projection has set aside.",
			func(s projections.Status) float64 { return float64(s.Parked) }},
	} {
		p.metrics.Gauge(figure.name, figure.help, []string{"projection"}, func(ctx context.Context) ([]telemetry.Reading, error) {
			statuses, err := p.Runner.Statuses(ctx)
			handlers, handlersErr := p.Runner.Handlers(ctx)
			statuses, err = append(statuses, handlers...), errors.Join(err, handlersErr)
			var readings []telemetry.Reading
			for _, s := range statuses {
				readings = append(readings, telemetry.Reading{Labels: []string{s.Name}, Value: figure.of(s)})
			}
			return readings, err
		})
	}
	for _, figure := range []struct {
		name, help string
		of         func(checkpoint.Verified) float64
	}{
		{"muster_events_verified_position", "Up to this position all events of a log were verified, from data to digest to hash to tree, within muster_events_verified_seconds.",
			func(v checkpoint.Verified) float64 { return float64(v.Position) }},
		{"muster_events_position", "Position of the last event of a log.", func(v checkpoint.Verified) float64 { return float64(v.Head) }},
		{"muster_events_verified_seconds", "Time since the last complete verification of a log began, or could have begun.", func(v checkpoint.Verified) float64 { return v.Age }},
		{"muster_events_misfits", "Changed or deleted events of a log that no operator has accepted, at most 100.",
			func(v checkpoint.Verified) float64 { return float64(len(v.Findings)) }},
	} {
		p.metrics.Gauge(figure.name, figure.help, []string{"log"}, func(ctx context.Context) ([]telemetry.Reading, error) {
			verified, err := p.verifier.Verified(ctx)
			var readings []telemetry.Reading
			for _, v := range verified {
				readings = append(readings, telemetry.Reading{Labels: []string{string(v.Log)}, Value: figure.of(v)})
			}
			return readings, err
		})
	}
	p.budgetGauges()
	p.metrics.Gauge("muster_watch_judged_seconds", "Time since the built-in watch last completed a round.", nil, p.watchReadings)
	p.metrics.Gauge("muster_measurements_behind_seconds", "Age of the oldest sample that is not in the series yet, since its arrival.", nil, p.behindReadings)
	p.metrics.Gauge("muster_measurements_waiting_seconds", "Waiting time of the oldest hour of measurements for ClickHouse; after a day, samples of its host or instance are refused.", nil, p.waitingReadings)
	p.metrics.Gauge("muster_certificate_left_seconds", "Time until a certificate expires that this process uses or receives; negative if it has expired.", []string{"certificate"},
		func(context.Context) ([]telemetry.Reading, error) { return p.Certificates.Left(p.Clock.Now()), nil })
	p.metrics.Gauge("muster_disk_free_ratio", "Free part of the file system of the data directory, and of the files, from 0 to 1.", []string{"disk"}, newDisks(p.Installation).readings)
	p.metrics.Gauge("muster_check_ok", "1 if a check of /readyz passes, by check.", []string{"check"}, p.checkReadings)
	p.metrics.Gauge("muster_jobs", "Unfinished jobs, by kind and status.", []string{"kind", "status"}, p.jobReadings(func(kind string, c jobs.QueueCounts) []telemetry.Reading {
		return []telemetry.Reading{
			{Labels: []string{kind, "queued"}, Value: float64(c.Queued)},
			{Labels: []string{kind, "running"}, Value: float64(c.Running)},
			{Labels: []string{kind, "dead"}, Value: float64(c.Dead)},
		}
	}))
	p.metrics.Gauge("muster_jobs_due_seconds", "How long the oldest waiting job has been due, by kind.", []string{"kind"}, p.jobReadings(func(kind string, c jobs.QueueCounts) []telemetry.Reading {
		return []telemetry.Reading{{Labels: []string{kind}, Value: c.Due.Seconds()}}
	}))
}

// budgetGauges show what is used of the budgets by organization, and what may be.
func (p *process) budgetGauges() {
	p.metrics.Gauge("muster_budget_used", "Used part of a budget, by an organization and by its busiest token: today in UTC, or open alerts.", []string{"organization", "budget", "of"},
		func(ctx context.Context) ([]telemetry.Reading, error) {
			totals, err := p.Budgets.Totals(ctx)
			var readings []telemetry.Reading
			for _, t := range totals {
				readings = append(readings,
					telemetry.Reading{Labels: []string{t.Organization.String(), string(t.Name), "organization"}, Value: float64(t.Used)},
					telemetry.Reading{Labels: []string{t.Organization.String(), string(t.Name), "token"}, Value: float64(t.UsedByToken)})
			}
			return readings, err
		})
	p.metrics.Gauge("muster_budget_limit", "Budget of an organization, and of each of its tokens.", []string{"budget", "of"},
		func(context.Context) (readings []telemetry.Reading, _ error) {
			for _, name := range budgets.Names() {
				readings = append(readings,
					telemetry.Reading{Labels: []string{string(name), "organization"}, Value: float64(p.Budgets.Limits().Of(name))},
					telemetry.Reading{Labels: []string{string(name), "token"}, Value: float64(p.Budgets.Limits().OfToken(name))})
			}
			return readings, nil
		})
}

// countOpenAlerts counts open alerts anew where a program from before did not.
func (p *process) countOpenAlerts(ctx context.Context) error {
	for {
		if err := p.Budgets.Recount(ctx, p.Commands.OpenAlerts); err != nil && ctx.Err() == nil {
			p.Log.WarnContext(ctx, "open alerts are not counted", "error", err)
		}
		if err := pause.For(ctx, time.Hour); err != nil {
			return err
		}
	}
}

// fromZero shows what is counted before the first time: a series that begins with its
// first failure shows no increase.
func (p *process) fromZero() {
	for _, kind := range report.Kinds() {
		for _, end := range []report.Status{report.StatusReady, report.StatusFailed} {
			p.metrics.Builds.WithLabelValues(string(kind), strings.ToLower(string(end)))
		}
	}
	for _, outcome := range []string{"sent", "deferred", "refused"} {
		p.metrics.Mails.WithLabelValues(outcome)
	}
	for _, method := range []string{"password", "oidc"} {
		for _, outcome := range []string{"signed_in", "refused", "throttled", "failed"} {
			p.metrics.SignIns.WithLabelValues(method, outcome)
		}
	}
	for _, tile := range []string{"connections", "query-performance", "wait-events"} {
		for _, engine := range engine.Measured() {
			p.metrics.EnginesDropped.WithLabelValues(tile, string(engine))
		}
	}
	for _, log := range eventstore.Logs {
		p.metrics.Refused.WithLabelValues(string(log))
	}
}

func (p *process) behindReadings(ctx context.Context) ([]telemetry.Reading, error) {
	behind, err := p.Samples.Behind(ctx)
	return []telemetry.Reading{{Value: behind.Seconds()}}, err
}

func (p *process) waitingReadings(ctx context.Context) ([]telemetry.Reading, error) {
	waiting, err := p.Samples.Waiting(ctx)
	return []telemetry.Reading{{Value: waiting.Since.Seconds()}}, err
}

func (p *process) jobReadings(of func(kind string, c jobs.QueueCounts) []telemetry.Reading) func(context.Context) ([]telemetry.Reading, error) {
	return func(ctx context.Context) ([]telemetry.Reading, error) {
		counts, err := p.Queue.Counts(ctx, uuid.Nil)
		var readings []telemetry.Reading
		for _, kind := range jobs.Kinds() { // a series that comes and goes with its jobs misleads
			readings = append(readings, of(string(kind), counts[kind])...)
		}
		return readings, err
	}
}

func (p *process) countJob(kind jobs.JobKind, outcome jobs.RunOutcome, took time.Duration) {
	p.metrics.Jobs.WithLabelValues(string(kind), string(outcome)).Observe(took.Seconds())
}

func (p *process) countReport(kind report.Kind, status report.Status, after time.Duration) {
	p.metrics.Builds.WithLabelValues(string(kind), strings.ToLower(string(status))).Observe(after.Seconds())
}

// countingTransport counts what becomes of mails.
type countingTransport struct {
	mail.Transport
	mails *prometheus.CounterVec
}

// Send delivers one message. Errors: *mail.DeliveryError.
func (t countingTransport) Send(ctx context.Context, m mail.ComposedMail) (mail.Handover, error) {
	ctx, end := telemetry.Step(ctx, "send mail")
	receipt, err := t.Transport.Send(ctx, m)
	end(err)
	outcome := "sent"
	if err != nil {
		outcome = "deferred"
		var refused *mail.DeliveryError
		if errors.As(err, &refused) && !refused.Temporary {
			outcome = "refused"
		}
	}
	t.mails.WithLabelValues(outcome).Inc()
	return receipt, err
}
