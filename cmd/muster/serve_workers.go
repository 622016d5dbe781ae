package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/google/uuid"

	"muster/commands"
	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/intake/collect"
	"muster/internal/intake/monitor"
	"muster/internal/intake/ownhost"
	"muster/internal/mail"
	"muster/internal/measurements"
	"muster/internal/process/telemetry"
	"muster/internal/proof/attest"
	"muster/internal/proof/checkpoint"
	"muster/internal/report/pdf"
	"muster/internal/watch"
	"muster/projections/fleet"
)

// newWorkers puts the handlers of reports on the job queue.
func (p *process) newWorkers(collector *collect.Collector) (*handlers.Workers, error) {
	parts, err := p.parts(collector)
	if err != nil {
		return nil, err
	}
	workers := handlers.NewWorkers(p.queue, handlers.WorkersConfig{
		Config: jobs.Config{Worker: p.worker, Lease: p.cfg.JobLease, Log: p.log, Settled: p.countJob, Loops: p.loops}, Tracer: p.export.Tracer(),
		Recorded: func(ctx context.Context) { p.runner.Announce(ctx, eventstore.Reports) },
	})
	parts.Transport = countingTransport{parts.Transport, p.metrics.Mails}
	parts.Ended = p.countReport
	handlers.Register(workers, parts)
	sender, err := p.sender()
	if err != nil {
		return nil, err
	}
	p.addNotifications(workers, sender)
	workers.Every("keep the trees of the logs", keepTreesEvery, p.keepTrees)
	workers.Every("close alerts of removed servers", watch.VanishedEvery, func(ctx context.Context) error {
		return p.watch.CloseVanished(ctx, p.alerts)
	})
	workers.Every("sign checkpoints", checkpointsEvery, p.signCheckpoints)
	workers.Every("verify the logs", checkpoint.VerifyEvery, p.verifier.Step)
	workers.Every("time-stamp proofs", stampEvery, p.stampProofs)
	workers.Every("note where marks begin", marksEvery, p.beginMarks)
	return workers, nil
}

// keepTreesEvery is how long events wait until their tile of the tree is kept. Proofs do
// not wait for it.
const keepTreesEvery = time.Minute

// keepTrees keeps the whole tiles of each log's tree. A log in which events are missing or
// broken keeps no other from its tree: the verifier tells of it.
func (p *process) keepTrees(ctx context.Context) error {
	trees := tree.New(p.db)
	var failed error
	for _, log := range eventstore.Logs {
		if err := p.keepTree(ctx, trees, log); !tree.Unfit(err) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// keepTree says of a long log that had no tree how far it has come.
func (p *process) keepTree(ctx context.Context, trees *tree.Trees, log eventstore.Log) error {
	for filled := int64(0); ; {
		events, err := trees.Fill(ctx, log)
		if err != nil || events == 0 {
			return err
		}
		if filled += events; filled/treeProgress > (filled-events)/treeProgress {
			p.log.Info("the tree of a log is made", "log", log, "events", filled)
		}
	}
}

// treeProgress is how many events lie between two lines of progress.
const treeProgress = 100_000

// checkpointsEvery is how old the last checkpoint of a log that goes on becomes.
const checkpointsEvery = time.Minute

// signCheckpoints signs the logs that have grown. A log whose history was changed is an
// error each time, and keeps no other from its checkpoint.
func (p *process) signCheckpoints(ctx context.Context) error {
	var failed error
	for _, log := range eventstore.Logs {
		err := p.checkpoints.Grown(ctx, log)
		if checkpoint.Changed(err) {
			p.log.Error("a log is not the one that was signed before", "log", log, "error", err)
			continue
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// heldEvery is how often the logs are held again against everything that was signed of them.
const heldEvery = time.Hour

// holdLogs holds each log against everything that was signed of it: at start, beside the rest
// of it, for signing waits until it is done; again each hour; and each minute where
// something did not fit.
func (p *process) holdLogs(ctx context.Context) error {
	for {
		again := heldEvery
		for _, log := range eventstore.Logs {
			held, err := p.checkpoints.Hold(ctx, log)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				p.log.WarnContext(ctx, "a log is not held against what was signed of it yet", "log", log, "error", err)
			case held.Misfits > 0:
				p.log.ErrorContext(ctx, "a log is not the one that was signed before", "log", log, "misfits", held.Misfits, "first", held.Sentences[0])
			default:
				continue
			}
			again = checkpointsEvery
		}
		if err := pause.For(ctx, again); err != nil {
			return err
		}
	}
}

// startWitnesses has others cosign the checkpoints, where there are any. Nobody waits
// for them.
func (p *process) startWitnesses(ctx context.Context, group *supervise.Group) error {
	if p.cfg.Witnesses == "" {
		return nil
	}
	file, err := os.ReadFile(p.cfg.Witnesses)
	if err != nil {
		return fmt.Errorf("--witnesses: %w", err)
	}
	witnesses, err := attest.ParseWitnesses(file)
	if err != nil {
		return fmt.Errorf("--witnesses %s: %w", p.cfg.Witnesses, err)
	}
	for _, w := range witnesses {
		if w.URL == nil {
			return fmt.Errorf("--witnesses %s: %s has no URL, so it cannot be asked", p.cfg.Witnesses, w.Name())
		}
	}
	made := make(chan struct{}, 1)
	p.checkpoints.Made = func(eventstore.Log) {
		select {
		case made <- struct{}{}:
		default: // they are about to look anyway
		}
	}
	for _, w := range witnesses { // a series that begins with its first refusal shows no increase
		for _, log := range eventstore.Logs {
			for _, a := range checkpoint.WitnessAnswers() {
				p.metrics.Witnessed.WithLabelValues(w.Name(), string(log), string(a))
			}
		}
	}
	asking := p.witnesses
	asking.Ask = witnesses
	asking.Answered = func(witness string, log eventstore.Log, a checkpoint.WitnessAnswer) {
		p.metrics.Witnessed.WithLabelValues(witness, string(log), string(a)).Inc()
	}
	p.loop(ctx, group, "ask witnesses", func(ctx context.Context) error { return asking.Run(ctx, made) })
	return nil
}

// workerName names this process in the job table and in audit trails. Host and
// process id are for people; the rest tells it from the process that had the
// same ones before a container was restarted.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:6])
}

// parts is everything that the handlers of reports need.
func (in *installation) parts(collector *collect.Collector) (handlers.Parts, error) {
	renderer, err := pdf.New(pdf.Build{Version: version, Commit: buildCommit()})
	if err != nil {
		return handlers.Parts{}, err
	}
	from, err := mail.ParseFrom(in.cfg.MailFrom)
	if err != nil {
		return handlers.Parts{}, err
	}
	transport, err := in.transport()
	if err != nil {
		return handlers.Parts{}, err
	}
	return handlers.Parts{
		DB: in.db, Queue: in.queue, Events: in.events, Registry: commands.Registry(),
		Reports: in.commands, Accounts: in.accounts, Blobs: in.blobs, Renderer: renderer,
		Gatherer: &handlers.Inputs{
			Events: in.events, Fleet: in.fleet, Facts: in.facts, Logged: in.logged(), Keys: in.signing,
			Assessor: collector, Accounts: in.accounts, History: in.history, Exceptions: in.exceptions, Health: in.health, Alerts: in.alerts, Measurements: in.samples,
			Waiter: in.runner, Blobs: in.blobs,
			Catalogue: in.checks, Feed: in.known,
			PublicURL: in.cfg.PublicURL, Now: in.clock.Now,
		},
		Retention: in.cfg.ReportRetention, MailWait: handlers.MailWait,
		Composer: &mail.Composer{From: from, Now: in.clock.Now}, Transport: transport, PublicURL: in.cfg.PublicURL, Proofs: in.proofs, Now: in.clock.Now, Log: in.log,
	}, nil
}

// transport is the mail server, or the outbox where none is set. There is one in a
// process: its check knows what became of its mails.
func (in *installation) transport() (mail.Transport, error) {
	if in.mailer != nil {
		return in.mailer, nil
	}
	if in.cfg.SMTPURL == "" {
		outbox, err := mail.NewOutbox(in.cfg.Outbox())
		if err != nil {
			return nil, err
		}
		in.mailer = outbox
		return outbox, nil
	}
	c, err := mail.ParseSMTPURL(in.cfg.SMTPURL)
	if err != nil {
		return nil, err
	}
	c.Hello = in.cfg.SMTPHello
	c.Met = in.certificates.Met("mail")
	server, err := mail.NewSMTP(c)
	if err != nil {
		return nil, err
	}
	in.mailer = server
	return server, nil
}

// newWatch returns the built-in watch; the roles say what of it runs.
func (p *process) newWatch() *watch.Watch {
	return &watch.Watch{
		DB: p.db, Events: p.events, Organizations: p.accounts, Fleet: p.fleet, Waiter: p.runner,
		Alerts: p.commands, Now: p.clock.Now, Log: p.log, Judged: p.countBreaches,
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
func (p *process) startMonitor(ctx context.Context, group *supervise.Group) {
	servers := monitor.New(monitor.Config{
		DB: p.db, Connections: p.facts, Reach: p.reach, Fleet: p.commands, Instances: p.fleet, Intake: p.intake,
		Texts: p.accounts, Log: p.log, Loops: p.loops, Now: p.intake.Now, Kept: p.countSamples,
	})
	p.loop(ctx, group, "share out servers", servers.Run)
	if !p.cfg.CollectOwnHost {
		return
	}
	host := &ownhost.Host{
		Connections: p.facts, Organizations: p.organizationIDs, Hosts: p.hostsOf, Intake: p.intake,
		Log: p.log, Now: p.intake.Now, Kept: p.countSamples,
	}
	p.loop(ctx, group, "measure this machine", host.Run)
}

// hostsOf are the hosts of an organization's servers, "" where one is not known.
func (p *process) hostsOf(ctx context.Context, organization uuid.UUID) ([]string, error) {
	servers, _, err := p.fleet.Instances(ctx, fleet.Query{Organization: organization, Page: 1, Size: math.MaxInt32})
	hosts := make([]string, len(servers))
	for i, s := range servers {
		hosts[i] = s.Host
	}
	return hosts, err
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
