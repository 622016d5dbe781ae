package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jmoiron/sqlx"
	"github.com/spf13/cobra"

	"muster/commands"
	"muster/eventstore"
	"muster/handlers"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/feed/kept"
	"muster/internal/assessment/logged"
	"muster/internal/concurrency/supervise"
	"muster/internal/config"
	"muster/internal/files/blobs"
	"muster/internal/intake/budgets"
	"muster/internal/intake/collect"
	"muster/internal/intake/push"
	"muster/internal/intake/resolve"
	"muster/internal/intake/senders"
	"muster/internal/mail"
	"muster/internal/measurements/clickhouse"
	"muster/internal/measurements/drops"
	"muster/internal/measurements/pgstore"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/kinds"
	"muster/internal/operate/backup"
	"muster/internal/postgres"
	"muster/internal/process/telemetry"
	"muster/internal/proof"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/signing"
	"muster/internal/report/control"
	"muster/internal/secrets"
	"muster/internal/servers"
	"muster/projections"
	"muster/projections/alerts"
	"muster/projections/audit"
	"muster/projections/exceptions"
	"muster/projections/fleet"
	"muster/projections/health"
	"muster/projections/history"
	"muster/projections/schedules"
)

// closeTimeout bounds how long letting go of the database may take.
const closeTimeout = 30 * time.Second

// installation is everything a subcommand works with, opened.
type installation struct {
	cfg    *config.Config
	log    *slog.Logger
	outage *postgres.Outage // in the log, of the database

	server *postgres.Server // nil where --database-url names one
	url    string
	db     *sqlx.DB
	pool   *pgxpool.Pool
	clock  *postgres.Clock // by which all is judged

	key          *secrets.Ring
	certificates *telemetry.Certificates // that this process signs with or meets
	signing      *signing.Signing
	checkpoints  *checkpoint.Maker
	proofs       *proof.Maker
	blobs        *blobs.Store
	events       *eventstore.Store
	accounts     *accounts.Store
	facts        *assessment.Store
	known        *kept.Store // the release and CVE feed with its updates
	reach        *servers.Reach
	queue        *jobs.Queue
	commands     *commands.Service
	history      *history.Reader
	fleet        *fleet.Reader
	audit        *audit.Reader
	alerts       *alerts.Reader
	exceptions   *exceptions.Reader
	health       *health.Reader
	schedules    *schedules.Reader
	checks       *catalogue.Catalogue
	runner       *projections.Runner
	samples      *pgstore.Store
	clickhouse   *clickhouse.Store // where hours are kept that are over; nil: in db
	ledger       *pgxpool.Pool     // of clickhouse
	drops        *drops.Book
	senders      *senders.Book
	budgets      *budgets.Book
	intake       *push.Intake
	places       *resolve.Resolver
	mailer       mail.Transport // nil until somebody needs it
	altered      func(string)   // is told of altered facts; nil: nobody is
}

// access says how an installation is opened.
type access struct {
	exclusive bool            // serve: the only one on this data directory
	pool      int             // connections of the common pool
	tracer    pgx.QueryTracer // of the common pool; nil: none
	files     bool            // with the blob store
	measured  bool            // with what is measured; without, only with what the database has of it
	waits     func(on string) // is told what is opened next, by the name of its check; nil: nobody is
}

func (a access) next(name string) {
	if a.waits != nil {
		a.waits(name)
	}
}

// withInstallation opens the installation for one command and closes it behind it. It
// has no blob store: what is about the database alone works while that is away.
func withInstallation(ctx context.Context, cfg *config.Config, work func(*installation) error) error {
	return withAccess(ctx, cfg, access{pool: 4}, work)
}

// withFiles is withInstallation with the blob store.
func withFiles(ctx context.Context, cfg *config.Config, work func(*installation) error) error {
	return withAccess(ctx, cfg, access{pool: 4, files: true}, work)
}

func withAccess(ctx context.Context, cfg *config.Config, a access, work func(*installation) error) (err error) {
	quiet(cfg)
	in, err := openInstallation(ctx, cfg, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return work(in)
}

// opened is what a command runs that reads nothing before the installation is open.
func opened(cfg *config.Config, work func(cmd *cobra.Command, args []string, in *installation) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return withInstallation(cmd.Context(), cfg, func(in *installation) error { return work(cmd, args, in) })
	}
}

// say prints what a command answers.
func say(cmd *cobra.Command, format string, args ...any) error {
	_, err := fmt.Fprintf(cmd.OutOrStdout(), format, args...)
	return err
}

// logger says of each line which request or job it belongs to.
func logger(cfg *config.Config) *slog.Logger {
	return slog.New(telemetry.LogHandler(cfg.Logger().Handler()))
}

// quiet keeps the tools' standard error for what went wrong: how the database
// came up is serve's to tell.
func quiet(cfg *config.Config) {
	if cfg.LogLevel == slog.LevelInfo {
		cfg.LogLevel = slog.LevelWarn
	}
}

// withDatabase opens nothing but the database, and leaves its schema as it is.
func withDatabase(ctx context.Context, cfg *config.Config, a access, work func(*installation) error) (err error) {
	quiet(cfg)
	in := &installation{cfg: cfg, log: logger(cfg), url: postgres.Bounded(cfg.DatabaseURL)}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := in.openDatabase(ctx, a); err != nil {
		return err
	}
	return work(in)
}

// openInstallation attaches to the database, brings its schema up to date and
// checks that key and blob store are the installation's own.
func openInstallation(ctx context.Context, cfg *config.Config, a access) (_ *installation, err error) {
	outage := postgres.NewOutage(cfg.Logger().Handler(), func(ctx context.Context) bool { return telemetry.RequestID(ctx) != "" })
	in := &installation{cfg: cfg, log: slog.New(telemetry.LogHandler(outage)), outage: outage, url: postgres.Bounded(cfg.DatabaseURL), certificates: &telemetry.Certificates{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, in.Close())
		}
	}()
	if err := in.openDatabase(ctx, a); err != nil {
		return in, err
	}
	a.next("migrations")
	if err := in.migrate(ctx); err != nil {
		return in, err
	}
	a.next("blobs")
	if err := in.openSecrets(ctx, a); err != nil {
		return in, err
	}
	if err := in.openSigning(ctx, a); err != nil {
		return in, err
	}
	now := in.clock.Now
	in.events = eventstore.New(in.db).WithClock(now)
	in.accounts = accounts.New(in.db, now)
	in.accounts.Unthrottled = !cfg.RateLimits
	in.facts = assessment.NewStore(in.db, in.key)
	in.facts.Altered = func(sentence string) {
		if in.altered != nil {
			in.altered(sentence)
		}
	}
	in.known = kept.NewStore(in.db)
	own, err := servers.ReadOwnServer(ctx, in.db)
	if err != nil {
		return in, err
	}
	in.reach = &servers.Reach{Networks: cfg.TargetNetworks, Own: own}
	in.queue = jobs.NewQueue(in.db)
	in.history, in.fleet = history.NewReader(in.db), fleet.NewReader(in.db)
	in.audit, in.exceptions = audit.NewReader(in.db), exceptions.NewReader(in.db)
	in.health, in.schedules = health.NewReader(in.db), schedules.NewReader(in.db)
	in.proofs = in.newProofs()
	in.alerts = alerts.NewReader(in.db, in.events, commands.Registry().Decode)
	a.next("measurements")
	if err := in.openMeasurements(ctx, a); err != nil {
		return in, err
	}
	a.next("projections")
	in.samples.KeepsTexts = in.accounts.HoldsTexts
	in.drops = drops.New(in.db, in.log, now)
	in.senders = senders.New(in.db, in.log, now)
	in.budgets = budgets.New(in.db, budgets.Limits(cfg.Budgets), in.log, now)
	in.intake = &push.Intake{DB: in.db, Store: in.samples,
		InstancesOn: []push.InstancesOn{in.samples.InstancesOn, in.fleet.InstancesOn}, InstancesNear: in.fleet.InstancesNear, Now: now,
	}
	in.runner = projections.NewRunner(in.db, in.url, in.log, readModels()...)
	in.runner.Handle(in.dispatcher().Groups()...)
	if in.checks, err = catalogue.Load(); err != nil {
		return in, err
	}
	in.commands = &commands.Service{
		DB: in.db, Events: in.events, Instances: in.fleet, Checks: in.checks, Schedules: in.schedules, Connections: in.facts,
		Jobs: in.queue, Texts: in.samples, Accounts: in.accounts, Seal: in.key, Channels: kinds.Judge{Poster: in.poster()}, Mails: cfg.SMTPURL != "", Now: now, Budgets: in.budgets,
	}
	in.places = &resolve.Resolver{
		Keys: in.commands, Fleet: in.fleet, Hosts: in.intake,
		CatchUp: func(ctx context.Context) (bool, error) { return in.runner.CatchUp(ctx, eventstore.Fleet, fleet.Name) },
	}
	if cfg.RateLimits {
		in.commands.Limits = commands.Limits{CreatesPerHour: 30, BuildingAtOnce: 10}
	}
	if err := in.runner.Prepare(ctx); err != nil {
		return in, err
	}
	return in, nil
}

// poster posts to channels.
func (in *installation) poster() *channel.Poster {
	return &channel.Poster{Networks: in.cfg.ChannelNetworks, UserAgent: "Muster/" + version}
}

// accepted answers which findings do not count in a server's score.
func (in *installation) accepted() collect.Accepted {
	return handlers.Accepted{Exceptions: in.exceptions, Fleet: in.fleet, Now: in.clock.Now}.On
}

// controls answers how a check stood over a period.
func (in *installation) controls() *control.Reader {
	return &control.Reader{Assessments: in.facts, Log: in.events, Fleet: in.fleet, Decode: commands.Registry().Decode, Logged: in.logged()}
}

// logged holds assessments against the log.
func (in *installation) logged() *logged.Reader {
	return &logged.Reader{Facts: in.facts, Log: in.events, Decode: commands.Registry().Decode, Altered: in.altered}
}

// readModels are the projections of this program.
func readModels() []projections.Projection {
	decode := commands.Registry().Decode
	return []projections.Projection{history.Projection(decode), audit.Projection(), fleet.Projection(decode), alerts.Projection(decode), exceptions.Projection(decode), health.Projection(decode), schedules.Projection(decode)}
}

func (in *installation) openDatabase(ctx context.Context, a access) error {
	if in.url == "" {
		server, err := postgres.Open(ctx, postgres.Options{DataDir: in.cfg.DataDir, Logger: in.log, Exclusive: a.exclusive})
		if err != nil {
			return unusable("data-dir", err)
		}
		in.server = server
		in.url = server.URL()
	}
	err := projections.RequireSessions(ctx, in.url)
	if err != nil {
		return err
	}
	in.db, in.pool, err = postgres.Connect(ctx, in.url, postgres.PoolOptions{Name: "main", Max: a.pool, Tracer: a.tracer, Met: in.certificates.Met("database")})
	if err != nil {
		return err
	}
	in.clock, err = postgres.NewClock(ctx, in.db)
	return err
}

// migrate brings the schema up to date, unless a restore is not finished, or the database
// is that of an installation with another key. A restore may also begin, and load its
// dump, while we wait to migrate.
func (in *installation) migrate(ctx context.Context) error {
	if err := backup.RequireFinished(ctx, in.db); err != nil {
		return err
	}
	if err := secrets.RequireKeys(ctx, in.db, in.cfg.SecretKeyFile); err != nil {
		return err
	}
	if err := postgres.Migrate(ctx, in.db, in.log); err != nil {
		return err
	}
	return backup.RequireFinished(ctx, in.db)
}

// openSecrets loads the key and, where it is wanted, the blob store, and holds their
// fingerprints to those that the database was made with.
func (in *installation) openSecrets(ctx context.Context, a access) error {
	if err := os.MkdirAll(in.cfg.DataDir, 0o700); err != nil {
		return unusable("data-dir", fmt.Errorf("make the data directory: %w", err))
	}
	var err error
	if in.key, err = secrets.LoadOrCreate(in.cfg.SecretKeyFile); err != nil {
		return unusable("secret-key-file", err)
	}
	if err := secrets.CheckKeys(ctx, in.db, in.key); err != nil {
		return err
	}
	if !a.files {
		return nil
	}
	return in.openFiles(ctx, a)
}

// openSigning loads what signs. The operator's certificate is serve's: nothing else
// signs a PDF, and one that has ended stands in the way of no other command.
func (in *installation) openSigning(ctx context.Context, a access) (err error) {
	var own *signing.Certificate
	if a.exclusive && in.cfg.SigningCert != "" {
		if own, err = signing.LoadCertificate(in.cfg.SigningCert, in.cfg.SigningKey, in.clock.Now); err != nil {
			return err
		}
	}
	if in.signing, err = signing.Open(ctx, in.db, in.key, own, in.cfg.DataDir); err != nil {
		return err
	}
	signs, err := in.signing.PDFSigner()
	if err != nil {
		return err
	}
	in.certificates.Know("pdf", signs.Chain[0].NotAfter)
	in.checkpoints = in.newCheckpoints()
	return nil
}

// Close lets go of everything, in the reverse order of opening.
func (in *installation) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var errs []error
	if in.blobs != nil {
		errs = append(errs, in.blobs.Close())
	}
	if in.clickhouse != nil {
		in.clickhouse.Close()
	}
	for name, pool := range map[string]*pgxpool.Pool{"ledger's": in.ledger, "common": in.pool} {
		if pool != nil {
			errs = append(errs, closePool(name, pool))
		}
	}
	if in.server != nil {
		errs = append(errs, in.server.Close(ctx))
	}
	return errors.Join(errs...)
}

// poolTimeout bounds the wait for connections that are in use though nobody works any more:
// code of a driver that panicked has not given its own back, and never will.
const poolTimeout = 2 * time.Second

// closePool closes what is idle at once, and what is in use when it is given back.
func closePool(name string, pool *pgxpool.Pool) error {
	closed := make(chan error, 1)
	go func() {
		closed <- supervise.Call(func() error {
			pool.Close()
			return nil
		})
	}()
	select {
	case err := <-closed:
		return err
	case <-time.After(poolTimeout):
		return fmt.Errorf("close the %s pool: %d connections were not given back within %s", name, pool.Stat().AcquiredConns(), poolTimeout)
	}
}
