package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting/people"
	"muster/commands/maintenance"
	"muster/commands/marks"
	"muster/commands/usecase"
	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/cli/installation"
	"muster/internal/concurrency/pause"
	"muster/internal/concurrency/supervise"
	"muster/internal/intake/collect"
	"muster/internal/intake/monitor"
	"muster/internal/intake/ownhost"
	"muster/internal/measurements"
	"muster/internal/process/telemetry"
	"muster/internal/proof/attest"
	"muster/internal/proof/checkpoint"
	"muster/internal/watch"
	"muster/internal/watch/uptime"
	"muster/projections/fleet"
)

// newWorkers puts the handlers of reports on the job queue.
func (p *process) newWorkers(collector *collect.Collector) (*handlers.Workers, error) {
	parts, err := p.Parts(collector)
	if err != nil {
		return nil, err
	}
	workers := handlers.NewWorkers(p.Queue, handlers.WorkersConfig{
		Config: jobs.Config{Worker: p.worker, Lease: p.Config.JobLease, Log: p.Log, Settled: p.countJob, Loops: p.loops}, Tracer: p.exporter.Tracer(),
		Recorded: func(ctx context.Context) { p.Runner.Announce(ctx, eventstore.Reports) },
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
	workers.Every("judge the age of backups", watch.BackupsEvery, func(ctx context.Context) error {
		return p.watch.AgeBackups(ctx, p.Fleet)
	})
	workers.Every("close alerts of removed servers", watch.VanishedEvery, func(ctx context.Context) error {
		return p.watch.CloseVanished(ctx, p.Alerts)
	})
	workers.Every("erase whose sessions old alerts name", time.Hour, func(ctx context.Context) error {
		_, err := people.Prune(ctx, p.DB)
		return err
	})
	workers.Every("delete old marks of charts", time.Hour, func(ctx context.Context) error {
		_, err := marks.Prune(ctx, p.DB, p.Clock.Now())
		return err
	})
	workers.Every("delete old maintenance windows", time.Hour, func(ctx context.Context) error {
		return maintenance.Prune(ctx, p.DB, p.Clock.Now())
	})
	workers.Every("delete old times of servers", time.Hour, func(ctx context.Context) error {
		return uptime.Forget(ctx, p.DB, p.Clock.Now())
	})
	workers.Every("sign checkpoints", checkpointsEvery, p.signCheckpoints)
	workers.Every("verify the logs", checkpoint.VerifyEvery, p.verifier.Step)
	workers.Every("time-stamp proofs", installation.StampEvery, p.StampProofs)
	workers.Every("note where marks begin", marksEvery, p.beginMarks)
	return workers, nil
}

// keepTreesEvery is how long events wait until their tile of the tree is kept. Proofs do
// not wait for it.
const keepTreesEvery = time.Minute

// keepTrees keeps the whole tiles of each log's tree. A log in which events are missing or
// broken keeps no other from its tree: the verifier tells of it.
func (p *process) keepTrees(ctx context.Context) error {
	trees := tree.New(p.DB)
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
			p.Log.Info("the tree of a log is made", "log", log, "events", filled)
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
		err := p.Checkpoints.Grown(ctx, log)
		if checkpoint.Changed(err) {
			p.Log.Error("a log is not the one that was signed before", "log", log, "error", err)
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
			held, err := p.Checkpoints.Hold(ctx, log)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				p.Log.WarnContext(ctx, "a log is not held against what was signed of it yet", "log", log, "error", err)
			case held.Misfits > 0:
				p.Log.ErrorContext(ctx, "a log is not the one that was signed before", "log", log, "misfits", held.Misfits, "first", held.Sentences[0])
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
	if p.Config.Witnesses == "" {
		return nil
	}
	file, err := os.ReadFile(p.Config.Witnesses)
	if err != nil {
		return fmt.Errorf("--witnesses: %w", err)
	}
	witnesses, err := attest.ParseWitnesses(file)
	if err != nil {
		return fmt.Errorf("--witnesses %s: %w", p.Config.Witnesses, err)
	}
	for _, w := range witnesses {
		if w.URL == nil {
			return fmt.Errorf("--witnesses %s: %s has no URL, so it cannot be asked", p.Config.Witnesses, w.Name())
		}
	}
	made := make(chan struct{}, 1)
	p.Checkpoints.Made = func(eventstore.Log) {
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

// newWatch returns the built-in watch; the roles say what of it runs.
func (p *process) newWatch() *watch.Watch {
	return &watch.Watch{
		DB: p.DB, Events: p.Events, Organizations: p.Accounts, Fleet: p.Fleet, Waiter: p.Runner,
		Alerts: p.Commands, Now: p.Clock.Now, Log: p.Log, Judged: p.countBreaches,
		Recorded: func(ctx context.Context, m usecase.Mark) { p.Runner.Announce(ctx, m.Log) },
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
		p.Drops.Note(d)
	}
	return &measurements.Tiles{Store: p.Samples, Log: p.Log, Dropped: dropped}
}

// startMonitor starts measuring the registered servers and, unless it is switched
// off, the machine this runs on.
func (p *process) startMonitor(ctx context.Context, group *supervise.Group) {
	servers := monitor.New(monitor.Config{
		DB: p.DB, Connections: p.Facts, Reach: p.Reach, Fleet: p.Commands, Instances: p.Fleet, Intake: p.Intake,
		Texts: p.Accounts, Log: p.Log, Loops: p.loops, Now: p.Intake.Now, Kept: p.countSamples,
	})
	p.loop(ctx, group, "share out servers", servers.Run)
	if !p.Config.CollectOwnHost {
		return
	}
	host := &ownhost.Host{
		Connections: p.Facts, Organizations: p.organizationIDs, Hosts: p.hostsOf, Intake: p.Intake,
		Log: p.Log, Now: p.Intake.Now, Kept: p.countSamples,
	}
	p.loop(ctx, group, "measure this machine", host.Run)
}

// hostsOf are the hosts of an organization's servers, "" where one is not known.
func (p *process) hostsOf(ctx context.Context, organization uuid.UUID) ([]string, error) {
	servers, _, err := p.Fleet.Instances(ctx, fleet.Query{Organization: organization, Page: 1, Size: math.MaxInt32})
	hosts := make([]string, len(servers))
	for i, s := range servers {
		hosts[i] = s.Host
	}
	return hosts, err
}

func (p *process) organizationIDs(ctx context.Context) ([]uuid.UUID, error) {
	all, err := p.Accounts.Organizations(ctx)
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
