package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"muster/commands"
	"muster/domain/organization"
	"muster/handlers"
	"muster/internal/accounts"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/concurrency/supervise"
	"muster/internal/concurrency/supervise/falls"
	"muster/internal/config"
	"muster/internal/intake/collect"
	"muster/internal/operate/demo"
	"muster/internal/postgres"
	"muster/internal/process/readiness"
	"muster/internal/process/telemetry"
	"muster/internal/process/telemetry/export"
	"muster/internal/process/zones"
	"muster/internal/proof/checkpoint"
	"muster/internal/watch"
	"muster/projections"
)

const (
	// drainTimeout is how long a stop waits for work in hand (contract, §19).
	drainTimeout = 20 * time.Second
	// httpConnections, and what each worker holds at most, make up the pool.
	httpConnections   = 12
	workerConnections = handlers.Connections
	commitConnections = 1 // postgres.Commits
)

// Command returns the command serve.
func Command(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run the API, the pages, projections, workers and collectors",
		Long: `Runs everything in one process. With --roles it runs a part, so that several machines
share the work on one database. Without --database-url it runs a private PostgreSQL
under --data-dir, which accepts no network connections.

SIGTERM stops the process. It then starts no new work, and within 20 s finishes its
current work or hands it back, so nothing is lost.`,
		Example: `  muster serve --demo
  muster serve --database-url postgres://muster@db/muster --roles api
  muster serve --database-url postgres://muster@db/muster --roles projections,workers,collectors`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg.LogTo = cmd.ErrOrStderr()
			supervise.Spread()
			return serve(cmd.Context(), cfg, cmd.OutOrStdout())
		},
	}
}

// serve runs the process until ctx ends or a part of it fails. It greets people on out.
func serve(ctx context.Context, cfg *config.Config, out io.Writer) (err error) {
	var starts stage
	starts.reach("database")
	// The ports first: a second process on them should not get as far as the database, and
	// whoever asks this one meanwhile is told that it is starting.
	var front, door *entrance
	if cfg.Roles.Has(config.API) {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Listen)
		if err != nil {
			return fmt.Errorf("listen: %w; --listen names another address", err)
		}
		cfg.Listening(listener.Addr())
		front = newEntrance(listener, installation.Logger(cfg), 0, WriteTimeout, starts.name) // how long a body may take is the API's to say
		defer func() { _ = front.server.Close() }()
	}
	listener, err := listenOps(ctx, cfg)
	if err != nil {
		return err
	}
	if listener != nil {
		door = newEntrance(listener, installation.Logger(cfg), readHeaderTimeout, doorTimeout, starts.name)
		defer func() { _ = door.server.Close() }()
	}
	metrics := telemetry.New(command.Version(), command.BuildCommit())
	worker := workerName()
	exporter := export.Start(ctx, command.Version(), worker, metrics, installation.Logger(cfg))
	in, err := installation.Open(ctx, cfg, installation.Access{
		Exclusive: true, Files: true, Measured: true, Pool: httpConnections + workerConnections, Tracer: telemetry.Queries(exporter.Tracer()), Waits: starts.reach,
	})
	if err == nil {
		defer func() { err = errors.Join(err, in.Close()) }()
		err = affordConnections(ctx, in)
	}
	defer exporter.Close() // before the database goes, whose figures are in the last export
	if ctx.Err() != nil {
		return nil // asked to stop before there was anything to stop
	}
	if err != nil {
		return err
	}
	for _, warning := range cfg.Warnings() {
		in.Log.Warn(warning)
	}
	loops := supervise.New(in.Log, supervise.Counts{
		Known:     func(loop string) { metrics.LoopRestarts.WithLabelValues(loop) },
		Restarted: func(loop string) { metrics.LoopRestarts.WithLabelValues(loop).Inc() },
	})
	in.Samples.Loops = loops
	p := &process{Installation: in, out: out, worker: worker, metrics: metrics, exporter: exporter, starts: &starts, front: front, door: door, loops: loops}
	p.falls = &falls.Book{DB: in.DB, Loops: loops, Process: worker, Log: in.Log}
	return p.run(ctx)
}

// process is one running serve.
type process struct {
	*installation.Installation
	out       io.Writer // for people
	worker    string    // names the process
	watch     *watch.Watch
	metrics   *telemetry.Metrics
	exporter  *export.Exporter
	starts    *stage
	front     *entrance // nil without the role api
	door      *entrance // for operators; nil: none
	commits   *postgres.Commits
	ready     *readiness.Board
	verifier  *checkpoint.Verifier
	witnesses *checkpoint.Witnesses
	loops     *supervise.Supervisor
	falls     *falls.Book
}

// loop runs what works until the process stops, and starts it again where it falls.
func (p *process) loop(ctx context.Context, group *supervise.Group, name string, run func(context.Context) error) {
	group.Go(func() error { return p.loops.Run(ctx, name, run) })
}

// run starts what the roles ask for and stops it in two stages: first who takes
// new work, then the ground they stand on while they finish.
func (p *process) run(ctx context.Context) (err error) {
	p.starts.reach("writes") // all that is left are small ones, and the demo's
	p.watch = p.newWatch()
	p.commits = postgres.NewCommits(p.URL, p.worker, p.DB)
	defer p.commits.Close()
	p.verifier = checkpoint.NewVerifier(p.DB, p.Log)
	facts := &readiness.Alarm{Now: p.Clock.Now, Lasts: alteredFor}
	p.Altered = p.factsAltered(facts)
	p.witnesses = &checkpoint.Witnesses{DB: p.DB, Maker: p.Checkpoints, Now: p.Clock.Now, Log: p.Log}
	begun := make(chan struct{}) // closed when there is enough of the demo to look at
	if p.ready, err = p.newBoard(begun, facts); err != nil {
		return err
	}
	data := zones.Current()
	p.Log.Info("time zone data", "release", data.Release, "source", data.Source)
	if err := p.Signing.Publish(ctx); ctx.Err() != nil {
		return nil // asked to stop before there was anything to stop
	} else if err != nil {
		return err
	}
	if err := p.beginMarks(ctx); err != nil {
		return err
	}
	p.measure()
	stop, stopGround := context.WithCancel(context.WithoutCancel(ctx))
	defer stopGround()
	ground, groundFailed := supervise.WithContext(stop)
	p.startGround(groundFailed, ground)
	p.startDoor(groundFailed, ground)

	taking, stopTaking := context.WithCancel(groundFailed)
	defer stopTaking()
	takers, failed := supervise.WithContext(taking)
	web, err := p.startTakers(failed, takers, begun)
	if err == nil {
		debug.FreeOSMemory() // what the start took, the hash of a password above all, is not kept for minutes
		select {
		case <-ctx.Done():
			p.Log.Info("stopping: no new work is taken")
		case <-failed.Done():
		}
	}
	stopTaking()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	err = errors.Join(err, stopHTTP(drain, web), takers.Wait())
	stopGround()
	return errors.Join(err, ground.Wait())
}

// startGround starts what the others need until the end: the private server's
// keeper and the projections, which writes are answered after.
func (p *process) startGround(ctx context.Context, group *supervise.Group) {
	p.loop(ctx, group, "watch the database", func(ctx context.Context) error {
		p.Outage.Watch(ctx, p.works)
		return ctx.Err()
	})
	p.loop(ctx, group, "write falls down", p.falls.Run)
	p.loop(ctx, group, "keep the clock", func(ctx context.Context) error { return p.Clock.Keep(ctx, p.Log) })
	if p.Server != nil {
		p.loop(ctx, group, "keep the private server", p.Server.Supervise)
	}
	if p.Config.Roles.Has(config.Projections) {
		p.loop(ctx, group, "fill projections", p.Runner.Run)
	}
	p.loop(ctx, group, "hold the logs against what was signed", p.holdLogs)
}

// startTakers starts whoever takes new work until ctx ends. HTTP comes last,
// when there is somebody to sign in.
func (p *process) startTakers(ctx context.Context, group *supervise.Group, begun chan struct{}) (*http.Server, error) {
	collector, err := collect.New(p.Facts, p.Commands, p.Fleet, p.Accepted(), p.Reach, p.Log, p.Clock.Now)
	if err != nil {
		return nil, err
	}
	collector.JudgeBy(p.Known)
	collector.Loops = p.loops
	if p.Config.Roles.Has(config.Collectors) {
		p.loop(ctx, group, "assess", collector.Run)
		p.startMonitor(ctx, group)
	}
	if p.Config.Roles.Has(config.Workers) {
		if err := p.startWitnesses(ctx, group); err != nil {
			return nil, err
		}
		workers, err := p.newWorkers(collector)
		if err != nil {
			return nil, err
		}
		p.loop(ctx, group, "work on jobs", workers.Run)
		p.loop(ctx, group, "watch servers", p.watch.Run)
		p.loop(ctx, group, "keep samples", p.Samples.Run)
	}
	filler := p.newDemo(collector)
	if err := p.firstRun(ctx, filler); err != nil {
		return nil, err
	}
	if err := p.startDemos(ctx, group, filler, begun); err != nil {
		return nil, err
	}
	fill := func(o accounts.Organization) {
		group.Go(func() error { return p.runDemo(ctx, filler, o, func() {}) })
	}
	if p.Config.Roles.Has(config.API) || p.Config.Roles.Has(config.Collectors) {
		p.loop(ctx, group, "note that servers are heard", p.watch.Listen) // both take in samples
	}
	if p.Config.Roles.Has(config.API) {
		p.loop(ctx, group, "count dropped engines", p.Drops.Run)
		p.loop(ctx, group, "count what senders sent", p.Senders.Run)
		p.loop(ctx, group, "keep budgets", p.Budgets.Run)
		p.loop(ctx, group, "count open alerts", p.countOpenAlerts)
		p.loop(ctx, group, "note that samples are taken in", p.Samples.Attend)
	}
	return p.startHTTP(ctx, group, collector, fill, begun)
}

func stopHTTP(ctx context.Context, server *http.Server) error {
	if server == nil {
		return nil
	}
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("requests were cut off after %s: %w", drainTimeout, err), server.Close())
	}
	return nil
}

// firstRun makes what a fresh installation needs to be signed in to. Every step
// can be repeated, and replicas may do them at once.
func (p *process) firstRun(ctx context.Context, filler *demo.Demo) error {
	admin, err := p.configuredAdmin()
	if err != nil {
		return err
	}
	if p.Config.Demo {
		_, err := filler.Organization(ctx, admin)
		return err
	}
	if admin == nil {
		return nil
	}
	created, err := p.Commands.EnsureAdmin(ctx, p.Config.Organization, admin.Email, admin.Password)
	if err != nil {
		return fmt.Errorf("make the administrator named by MUSTER_ADMIN_EMAIL: %w", err)
	}
	if created {
		p.Log.Info("made the organization's first administrator")
	}
	return nil
}

// greet prints where to go: standard output is for people, the log for machines.
func (p *process) greet(ctx context.Context) error {
	required, err := p.Accounts.SetupRequired(ctx)
	if err != nil {
		return err
	}
	p.NoteAddress()
	fmt.Fprintf(p.out, "\nMuster is at %s\n", p.Config.PublicURL)
	if !required {
		return nil
	}
	link, err := p.SetupLink(ctx)
	if err != nil {
		return err
	}
	does := "No administrator yet. This link makes one"
	if p.Config.Demo {
		does = "This link signs you in to the demo"
	}
	fmt.Fprintf(p.out, "%s; it works once, for 30 minutes\n('muster setup-link' prints a new one):\n\n  %s\n\n", does, link)
	return nil
}

// configuredAdmin is who MUSTER_ADMIN_EMAIL and its password file name; nil: nobody.
func (p *process) configuredAdmin() (*commands.NewMember, error) {
	if p.Config.AdminEmail == "" {
		return nil, nil
	}
	password, err := command.ReadPassword(p.Config.AdminPasswordFile)
	if err != nil {
		return nil, err
	}
	return &commands.NewMember{
		Email: p.Config.AdminEmail, Name: command.NameFromAddress(p.Config.AdminEmail), Role: organization.Admin, Password: password,
	}, nil
}

// affordConnections refuses to start where the server cannot give the
// connections that this process may open, and names the shortfall.
func affordConnections(ctx context.Context, in *installation.Installation) error {
	pools := projections.Pools{HTTP: httpConnections, Workers: workerConnections + commitConnections, Open: int(in.Pool.Stat().TotalConns())}
	if in.Ledger != nil {
		pools.Workers += installation.LedgerConnections
		pools.Open += int(in.Ledger.Stat().TotalConns())
	}
	if in.Config.Roles.Has(config.Projections) {
		pools.Subscribers = in.Runner.Connections()
	}
	return projections.ConnectionBudget(ctx, in.DB, pools)
}
