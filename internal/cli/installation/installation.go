package installation

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
	"muster/commands/usecase"
	"muster/eventstore"
	"muster/handlers"
	"muster/handlers/gather/standing"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/feed/kept"
	"muster/internal/assessment/logged"
	"muster/internal/cli/command"
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
	"muster/internal/report/serverfacts"
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

// Installation is everything a subcommand works with, opened.
type Installation struct {
	Config *config.Config
	Log    *slog.Logger
	Outage *postgres.Outage // in the log, of the database

	Server *postgres.Server // nil where --database-url names one
	URL    string
	DB     *sqlx.DB
	Pool   *pgxpool.Pool
	Clock  *postgres.Clock // by which all is judged

	Key          *secrets.Ring
	Certificates *telemetry.Certificates // that this process signs with or meets
	Signing      *signing.Signing
	Checkpoints  *checkpoint.Maker
	Proofs       *proof.Maker
	Blobs        *blobs.Store
	Events       *eventstore.Store
	Accounts     *accounts.Store
	Facts        *assessment.Store
	Known        *kept.Store // the release and CVE feed with its updates
	Reach        *servers.Reach
	Queue        *jobs.Queue
	Commands     *commands.Service
	History      *history.Reader
	Fleet        *fleet.Reader
	Audit        *audit.Reader
	Alerts       *alerts.Reader
	Exceptions   *exceptions.Reader
	Health       *health.Reader
	Schedules    *schedules.Reader
	Checks       *catalogue.Catalogue
	Runner       *projections.Runner
	Samples      *pgstore.Store
	Clickhouse   *clickhouse.Store // where hours are kept that are over; nil: in db
	Ledger       *pgxpool.Pool     // of clickhouse
	Drops        *drops.Book
	Senders      *senders.Book
	Budgets      *budgets.Book
	Intake       *push.Intake
	Places       *resolve.Resolver
	mailer       mail.Transport // nil until somebody needs it
	Altered      func(string)   // is told of altered facts; nil: nobody is
}

// Access says how an installation is opened.
type Access struct {
	Exclusive bool            // serve: the only one on this data directory
	Pool      int             // connections of the common pool
	Tracer    pgx.QueryTracer // of the common pool; nil: none
	Files     bool            // with the blob store
	Measured  bool            // with what is measured; without, only with what the database has of it
	Waits     func(on string) // is told what is opened next, by the name of its check; nil: nobody is
}

func (a Access) next(name string) {
	if a.Waits != nil {
		a.Waits(name)
	}
}

// With opens the installation for one command and closes it behind it. It
// has no blob store: what is about the database alone works while that is away.
func With(ctx context.Context, cfg *config.Config, work func(*Installation) error) error {
	return WithAccess(ctx, cfg, Access{Pool: 4}, work)
}

// WithFiles is With with the blob store.
func WithFiles(ctx context.Context, cfg *config.Config, work func(*Installation) error) error {
	return WithAccess(ctx, cfg, Access{Pool: 4, Files: true}, work)
}

// WithAccess opens the installation as a says, runs work, and closes it.
func WithAccess(ctx context.Context, cfg *config.Config, a Access, work func(*Installation) error) (err error) {
	quiet(cfg)
	in, err := Open(ctx, cfg, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return work(in)
}

// Opened is what a command runs that reads nothing before the installation is open.
func Opened(cfg *config.Config, work func(cmd *cobra.Command, args []string, in *Installation) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return With(cmd.Context(), cfg, func(in *Installation) error { return work(cmd, args, in) })
	}
}

// Logger says of each line which request or job it belongs to.
func Logger(cfg *config.Config) *slog.Logger {
	return slog.New(telemetry.LogHandler(cfg.Logger().Handler()))
}

// quiet keeps the tools' standard error for what went wrong: how the database
// came up is serve's to tell.
func quiet(cfg *config.Config) {
	if cfg.LogLevel == slog.LevelInfo {
		cfg.LogLevel = slog.LevelWarn
	}
}

// WithDatabase opens nothing but the database, and leaves its schema as it is.
func WithDatabase(ctx context.Context, cfg *config.Config, a Access, work func(*Installation) error) (err error) {
	quiet(cfg)
	in := &Installation{Config: cfg, Log: Logger(cfg), URL: postgres.Bounded(cfg.DatabaseURL)}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := in.openDatabase(ctx, a); err != nil {
		return err
	}
	return work(in)
}

// Open attaches to the database, brings its schema up to date and
// checks that key and blob store are the installation's own.
func Open(ctx context.Context, cfg *config.Config, a Access) (_ *Installation, err error) {
	outage := postgres.NewOutage(cfg.Logger().Handler(), func(ctx context.Context) bool { return telemetry.RequestID(ctx) != "" })
	in := &Installation{Config: cfg, Log: slog.New(telemetry.LogHandler(outage)), Outage: outage, URL: postgres.Bounded(cfg.DatabaseURL), Certificates: &telemetry.Certificates{}}
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
	now := in.Clock.Now
	in.Events = eventstore.New(in.DB).WithClock(now)
	in.Accounts = accounts.New(in.DB, now)
	in.Accounts.Unthrottled = !cfg.RateLimits
	in.Facts = assessment.NewStore(in.DB, in.Key)
	in.Facts.Altered = func(sentence string) {
		if in.Altered != nil {
			in.Altered(sentence)
		}
	}
	in.Known = kept.NewStore(in.DB)
	own, err := servers.ReadOwnServer(ctx, in.DB)
	if err != nil {
		return in, err
	}
	in.Reach = &servers.Reach{Networks: cfg.TargetNetworks, Own: own}
	in.Queue = jobs.NewQueue(in.DB)
	in.History, in.Fleet = history.NewReader(in.DB), fleet.NewReader(in.DB)
	in.Audit, in.Exceptions = audit.NewReader(in.DB), exceptions.NewReader(in.DB)
	in.Health, in.Schedules = health.NewReader(in.DB), schedules.NewReader(in.DB)
	in.Proofs = in.newProofs()
	in.Alerts = alerts.NewReader(in.DB, in.Events, usecase.Registry().Decode)
	a.next("measurements")
	if err := in.openMeasurements(ctx, a); err != nil {
		return in, err
	}
	in.Facts.Standing = standing.Source{Feed: in.Known, Fleet: in.Fleet, Alerts: in.Alerts, Facts: in.serverFacts(), Now: now}.Of
	in.Facts.Unscored = func(ctx context.Context, err error) {
		in.Log.ErrorContext(ctx, "what caps scores cannot be read", "error", err)
	}
	a.next("projections")
	in.Samples.KeepsTexts = in.Accounts.HoldsTexts
	in.Samples.KeepsPeople, in.Samples.HoldsPeople = in.Accounts.KeepsPeople, in.Accounts.HoldsPeople
	in.Drops = drops.New(in.DB, in.Log, now)
	in.Senders = senders.New(in.DB, in.Log, now)
	in.Budgets = budgets.New(in.DB, budgets.Limits(cfg.Budgets), in.Log, now)
	in.Intake = &push.Intake{DB: in.DB, Store: in.Samples,
		InstancesOn: []push.InstancesOn{in.Samples.InstancesOn, in.Fleet.InstancesOn}, InstancesNear: in.Fleet.InstancesNear, Now: now,
	}
	in.Runner = projections.NewRunner(in.DB, in.URL, in.Log, ReadModels()...)
	in.Runner.Handle(in.Dispatcher().Groups()...)
	if in.Checks, err = catalogue.Load(); err != nil {
		return in, err
	}
	in.Commands = commands.New(usecase.Base{DB: in.DB, Events: in.Events, Accounts: in.Accounts, Now: now, Budgets: in.Budgets}, commands.Needs{
		Instances: in.Fleet, Checks: in.Checks, Risks: in.Facts, Schedules: in.Schedules, Connections: in.Facts, Jobs: in.Queue, Texts: in.Samples, Seal: in.Key, Channels: kinds.Judge{Poster: in.Poster()}, Mails: cfg.SMTPURL != "",
	})
	in.Places = &resolve.Resolver{
		Keys: in.Commands, Fleet: in.Fleet, Hosts: in.Intake,
		CatchUp: func(ctx context.Context) (bool, error) { return in.Runner.CatchUp(ctx, eventstore.Fleet, fleet.Name) },
	}
	if cfg.RateLimits {
		in.Commands.Limits = commands.Limits{CreatesPerHour: 30, BuildingAtOnce: 10}
	}
	if err := in.Runner.Prepare(ctx); err != nil {
		return in, err
	}
	return in, nil
}

// Poster posts to channels.
func (in *Installation) Poster() *channel.Poster {
	return &channel.Poster{Networks: in.Config.ChannelNetworks, UserAgent: "Muster/" + command.Version()}
}

// Accepted answers which findings do not count in a server's score.
func (in *Installation) Accepted() collect.Accepted {
	return handlers.Accepted{Exceptions: in.Exceptions, Fleet: in.Fleet, Now: in.Clock.Now}.On
}

// Controls answers how a check stood over a period.
func (in *Installation) Controls() *control.Reader {
	return &control.Reader{
		Assessments: in.Facts, Log: in.Events, Fleet: in.Fleet, Decode: usecase.Registry().Decode, Logged: in.logged(),
		Backups: in.serverFacts(),
	}
}

// serverFacts reads what is known of servers beside their checks.
func (in *Installation) serverFacts() serverfacts.Source {
	return serverfacts.Source{DB: in.DB, Accounts: in.Accounts, Fleet: in.Fleet, Facts: in.Facts, Measurements: in.Samples}
}

// logged holds assessments against the log.
func (in *Installation) logged() *logged.Reader {
	return &logged.Reader{Facts: in.Facts, Log: in.Events, Decode: usecase.Registry().Decode, Altered: in.Altered}
}

// ReadModels are the projections of this program.
func ReadModels() []projections.Projection {
	decode := usecase.Registry().Decode
	return []projections.Projection{history.Projection(decode), audit.Projection(), fleet.Projection(decode), alerts.Projection(decode), exceptions.Projection(decode), health.Projection(decode), schedules.Projection(decode)}
}

func (in *Installation) openDatabase(ctx context.Context, a Access) error {
	if in.URL == "" {
		server, err := postgres.Open(ctx, postgres.Options{DataDir: in.Config.DataDir, Logger: in.Log, Exclusive: a.Exclusive})
		if err != nil {
			return unusable("data-dir", err)
		}
		in.Server = server
		in.URL = server.URL()
	}
	var err error
	in.DB, in.Pool, err = postgres.Connect(ctx, in.URL, postgres.PoolOptions{Name: "main", Max: a.Pool, Tracer: a.Tracer, Met: in.Certificates.Met("database")})
	if err != nil {
		return err
	}
	if err := projections.RequireSessions(ctx, in.Pool); err != nil {
		return err
	}
	in.Clock, err = postgres.NewClock(ctx, in.DB)
	return err
}

// migrate brings the schema up to date, unless a restore is not finished, or the database
// is that of an installation with another key. A restore may also begin, and load its
// dump, while we wait to migrate.
func (in *Installation) migrate(ctx context.Context) error {
	if err := backup.RequireFinished(ctx, in.DB); err != nil {
		return err
	}
	if err := secrets.RequireKeys(ctx, in.DB, in.Config.SecretKeyFile); err != nil {
		return err
	}
	if err := postgres.Migrate(ctx, in.DB, in.Log); err != nil {
		return err
	}
	return backup.RequireFinished(ctx, in.DB)
}

// openSecrets loads the key and, where it is wanted, the blob store, and holds their
// fingerprints to those that the database was made with.
func (in *Installation) openSecrets(ctx context.Context, a Access) error {
	if err := os.MkdirAll(in.Config.DataDir, 0o700); err != nil {
		return unusable("data-dir", fmt.Errorf("make the data directory: %w", err))
	}
	var err error
	if in.Key, err = secrets.LoadOrCreate(in.Config.SecretKeyFile); err != nil {
		return unusable("secret-key-file", err)
	}
	if err := secrets.CheckKeys(ctx, in.DB, in.Key); err != nil {
		return err
	}
	if !a.Files {
		return nil
	}
	return in.openFiles(ctx, a)
}

// openSigning loads what signs. The operator's certificate is serve's: nothing else
// signs a PDF, and one that has ended stands in the way of no other command.
func (in *Installation) openSigning(ctx context.Context, a Access) (err error) {
	var own *signing.Certificate
	if a.Exclusive && in.Config.SigningCert != "" {
		if own, err = signing.LoadCertificate(in.Config.SigningCert, in.Config.SigningKey, in.Clock.Now); err != nil {
			return err
		}
	}
	if in.Signing, err = signing.Open(ctx, in.DB, in.Key, own, in.Config.DataDir); err != nil {
		return err
	}
	signs, err := in.Signing.PDFSigner()
	if err != nil {
		return err
	}
	in.Certificates.Know("pdf", signs.Chain[0].NotAfter)
	in.Checkpoints = in.NewCheckpoints()
	return nil
}

// Close lets go of everything, in the reverse order of opening.
func (in *Installation) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var errs []error
	if in.Blobs != nil {
		errs = append(errs, in.Blobs.Close())
	}
	if in.Clickhouse != nil {
		in.Clickhouse.Close()
	}
	for name, pool := range map[string]*pgxpool.Pool{"ledger's": in.Ledger, "common": in.Pool} {
		if pool != nil {
			errs = append(errs, closePool(name, pool))
		}
	}
	if in.Server != nil {
		errs = append(errs, in.Server.Close(ctx))
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
